"""What is said of a note that cannot be read, where a note is looked at without an index."""

from pathlib import Path

from vault_indexer.chunk import ChoosingChunker, chunker_for
from vault_indexer.config import Settings
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.index.reading import Inspection, Inspector


def test_a_grammar_that_is_missing_is_named_once(tmp_path: Path) -> None:
    block = "```cobol\nDISPLAY 1.\n```\n\n"
    (tmp_path / "Code.md").write_text(f"# Code\n\n{block * 9}", "utf-8")
    chunker = chunker_for(ChunkingSettings.model_validate({"strategy": "code", "max_chunk_size": 100}))
    (found,) = Inspector(tmp_path, Settings(), chunker).inspect(["Code.md"])
    assert isinstance(found, Inspection)
    assert [(one.detail, one.line) for one in found.diagnostics] == [("no grammar for cobol", 1)]


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
