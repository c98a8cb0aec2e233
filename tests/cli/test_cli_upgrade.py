"""An index that an earlier version built is built anew by itself, and says so once.

Each archive of `fixtures/indices` has a vault and its index as `indexer rebuild` of that day left it, without
the files of its lock. A new one comes with each change of what stands on disk.
"""

import tarfile
from pathlib import Path

import pytest
from cli_sandbox import PLAIN_MODEL, Sandbox
from command_here import CommandHere

INDICES = Path(__file__).parent / "fixtures" / "indices"


@pytest.mark.long
@pytest.mark.parametrize("archive", sorted(INDICES.glob("*.tar.xz")), ids=lambda path: path.name[:10])
def test_an_index_of_an_earlier_version_is_rebuilt_by_the_first_search(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tarfile.open(archive) as made:
        made.extractall(tmp_path, filter="data")
    upgraded = CommandHere(Sandbox(tmp_path, PLAIN_MODEL), capsys, monkeypatch)
    first = upgraded.indexer("search", "velvet")
    assert first.out.startswith("Folder/Sofa.md")
    assert first.complains("Index rebuilt: another version of vault-indexer built it\n")
    assert "Index rebuilt" not in upgraded.indexer("search", "Gärten").err
    assert upgraded.indexer("check").code == 0
    assert "Folder/Sofa.md" in upgraded.indexer("links", "Kitten").out
