from collections.abc import Iterator

import pytest
from serve_api import Api
from windows_lab import Windows, missing

NOTES = {
    "Welcome.md": "# Welcome\r\n\r\nStart with [[Bread]].\r\n\r\n## Later\r\n\r\nThen [[Nowhere]].\r\n",
    "Kitchen/Bread.md": "---\naliases: [Sourdough]\ntags: [kitchen]\n---\n# Bread\n\nFlour and yeast.\n",
    "Sky/Night sky.md": "# Night sky\n\nA telescope shows rings of Saturn.\n\nSee [[Bread#Dough|bread]].\n",
    "Café/Crème brûlée.md": "# Crème brûlée\n\nVanilla, cream and 日本 sugar, → torch.\n",
    "Old.md": "# Caf\xe9\n\nWritten in a codepage, na\xefve and d\xe9j\xe0 vu; the quokka sleeps.\n".encode(
        "cp1252"
    ),
}


@pytest.fixture(scope="session")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Windows:
    """A vault of `NOTES`."""
    if reason := missing():
        pytest.skip(reason)
    made = Windows(tmp_path_factory.mktemp("windows"))
    for path, text in NOTES.items():
        made.write(path, text)
    return made


@pytest.fixture(scope="session")
def daemon(windows: Windows) -> Iterator[Api]:
    """The daemon, which has built the index."""
    yield windows.start()
    windows.indexer("stop")
