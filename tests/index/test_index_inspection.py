"""What is said of a note that cannot be read, where a note is looked at without an index."""

from pathlib import Path

from vault_indexer.chunk import ChoosingChunker, chunker_for
from vault_indexer.config import Settings
from vault_indexer.config.settings import FilesSettings
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.index.reading import Inspection, Inspector
from vault_indexer.model import SkippedFile


def test_what_cannot_be_read_is_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    (tmp_path / "Whole.md").write_text("# Whole\n\nText.\n")
    (tmp_path / "Broken.md").write_bytes(b"\xff\xfe\x00not text")
    (tmp_path / "Long.md").write_text("x" * 2000)
    inspector = Inspector(
        tmp_path, Settings(files=FilesSettings(max_file_bytes=1024)), chunker_for(ChunkingSettings())
    )
    long, broken, none, whole = inspector.inspect(["Long", "Broken.md", "Nowhere", "./Whole.md"])
    assert isinstance(long, SkippedFile) and long.path == "Long.md" and long.reason
    assert isinstance(broken, SkippedFile) and broken.path == "Broken.md" and broken.reason
    assert none == SkippedFile("Nowhere", "no such note in the vault")
    assert isinstance(whole, Inspection) and whole.note.title == "Whole"


def test_a_grammar_that_is_missing_is_named_once(tmp_path: Path) -> None:
    block = "```cobol\nDISPLAY 1.\n```\n\n"
    (tmp_path / "Code.md").write_text(f"# Code\n\n{block * 9}", "utf-8")
    chunker = chunker_for(ChunkingSettings.model_validate({"strategy": "code", "max_chunk_size": 100}))
    (found,) = Inspector(tmp_path, Settings(), chunker).inspect(["Code.md"])
    assert isinstance(found, Inspection)
    assert [(one.detail, one.line) for one in found.diagnostics] == [("no grammar for cobol", 1)]


def test_a_note_is_shown_with_its_links_and_chunks(tmp_path: Path) -> None:
    (tmp_path / "Other.md").write_text("# Other\n")
    (tmp_path / "Note.md").write_text(
        "---\naliases: [Nota]\ntags: [area]\n---\n# Note\n\nTo [[Other#Part|there]] and [[Gone]]. ^here\n"
    )
    (tmp_path / ".hidden.md").write_text("x")
    (tmp_path / "pic.png").write_bytes(b"x")
    inspector = Inspector(tmp_path, Settings(), chunker_for(ChunkingSettings()))
    assert inspector.all_notes() == ["Note.md", "Other.md"]
    (found,) = inspector.inspect(["note"])
    assert isinstance(found, Inspection)
    shown = found.answer()
    assert (shown.path, shown.title, shown.aliases, shown.tags) == ("Note.md", "Note", ("Nota",), ("area",))
    assert [(one.target, one.subpath, one.display, one.line, one.resolved) for one in shown.links] == [
        ("Other", "Part", "there", 7, "Other.md"),
        ("Gone", "", None, 7, None),
    ]
    assert [one.text for one in shown.headings] == ["Note"]
    assert [one.id for one in shown.blocks] == ["here"]
    assert (shown.chunks, shown.diagnostics) == (found.chunks, ())
    assert found.chunks
    assert shown.frontmatter == {"aliases": ["Nota"], "tags": ["area"]}


def test_diagnostics_come_from_the_note_and_from_the_options_it_chose(tmp_path: Path) -> None:
    (tmp_path / "Note.md").write_text("---\nchunking: {strategy: nonsense}\nbroken: [\n---\n# Note\n")
    (tmp_path / "Own.md").write_text("---\nchunking: {strategy: nonsense}\n---\n# Own\n\nText.\n")
    inspector = Inspector(tmp_path, Settings(), ChoosingChunker(ChunkingSettings()))
    broken, own = inspector.inspect(["Note.md", "Own.md"])
    assert isinstance(broken, Inspection)
    assert isinstance(own, Inspection)
    (of_note,) = broken.note.diagnostics
    assert of_note in broken.diagnostics
    ((kind, detail),) = ((one.kind, one.detail) for one in own.diagnostics)
    assert kind == "chunking"
    assert detail.startswith(
        'chunking in the frontmatter is ignored: strategy = "nonsense": one of: header_based, '
    )
