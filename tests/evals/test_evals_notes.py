"""The notes that citations are checked against, and the files that a run may read."""

from pathlib import Path

import pytest
from eval_lab import NOTES, FakeService, write_vault

from vault_evals.citations import IndexedNotes, NoteText, VaultFiles, vault_file_check
from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import NoteError


def test_a_note_that_left_the_index_since_has_no_text(tmp_path: Path) -> None:
    service = FakeService(tmp_path)
    notes = IndexedNotes(service)
    del service.notes["Sky.md"]
    assert notes.paths() == sorted(NOTES)
    assert notes.text("Sky.md") is None
    assert notes.text("Kitchen/Bread.md") == NOTES["Kitchen/Bread.md"]
    service.notes["New.md"] = "new"
    assert notes.text("New.md") is None, "the paths are those of the beginning"


def test_the_files_of_a_vault_are_read_as_they_are_now(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault")
    (vault / "Draft.md").write_text("not yet")
    (vault / "picture.png").write_bytes(b"")
    notes = VaultFiles(vault, FilesSettings(exclude=("Draft.md",), max_file_bytes=1024))
    assert notes.paths() == sorted(NOTES)
    assert notes.text("Draft.md") is None
    (vault / "New.md").write_text("new")
    assert notes.text("New.md") is None, "the files are listed once"
    (vault / "Sky.md").write_bytes(b"# Other\n")
    assert notes.text("Sky.md") == "# Other\n"
    (vault / "Kitchen" / "Bread.md").write_text("x" * 1025)
    with pytest.raises(NoteError, match=r"^Kitchen/Bread\.md: "):
        notes.text("Kitchen/Bread.md")
    (vault / "Sky.md").unlink()
    assert notes.text("Sky.md") is None


@pytest.mark.posix("symbolic links")
def test_a_run_of_an_agent_reads_small_files_of_the_vault_that_no_rule_excludes(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault")
    (vault / "Draft.md").write_text("not yet")
    (vault / "large.yaml").write_text("x" * 1025)
    (vault / "full.yaml").write_text("x" * 1024)
    (tmp_path / "outside.md").write_text("secret")
    links = {"in.md": "Sky.md", "out.md": "../outside.md", "excluded.md": "Draft.md", "gone.md": "none.md"}
    for name, target in links.items():
        (vault / name).symlink_to(target)
    may_read = vault_file_check(vault, FilesSettings(exclude=("Draft.md",), max_file_bytes=1024))
    assert {one.name for one in vault.iterdir() if may_read(one)} == {"Sky.md", "in.md", "full.yaml"}
    assert not may_read(tmp_path / "outside.md")


TWICE = "before\n\n# One\n\nText. ^Id-1\n\n## Same\n\nFirst.\n\n## Same\n\nSecond.\n"


def test_a_place_of_a_note_has_a_heading_a_block_and_a_line() -> None:
    note = NoteText.of("a.md", TWICE)
    one, same = TWICE.index("# One"), TWICE.index("## Same")
    again = TWICE.rindex("## Same")
    assert [note.heading_at(at) for at in (0, one - 1, one, same - 1, same, again, len(TWICE))] == [
        *("", "", "One", "One", "Same", "Same", "Same")
    ]
    assert [start for start, _ in note.section_spans("Same")] == [same, again]
    assert note.section_spans("same") == []
    span = note.block_span("^ID-1")
    assert span is not None
    assert TWICE[slice(*span)].startswith("Text.")
    assert (note.block_span("id-1"), note.block_span("id")) == (span, None)
    assert [note.line_at(at) for at in (0, 6, 7, one, len(TWICE))] == [1, 1, 2, 3, 14]
