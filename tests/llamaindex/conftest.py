from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home without a configuration, and the model that loads fastest."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.delenv("XDG_STATE_HOME", raising=False)
        patch.setenv("XDG_CONFIG_HOME", str(folder / "no-config"))
        patch.setenv("INDEXER_EMBEDDING_PROVIDER", "wordllama")
        yield folder
