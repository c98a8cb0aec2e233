"""What is said of a note that cannot be read, where a note is looked at without an index."""

from __future__ import annotations

from pathlib import Path

from vault_indexer.chunk import chunker_for
from vault_indexer.config.settings import FilesSettings
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.index.reading.inspection import Inspection, Inspector
from vault_indexer.model import SkippedFile


def test_what_cannot_be_read_is_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    (tmp_path / "Whole.md").write_text("# Whole\n\nText.\n")
    (tmp_path / "Broken.md").write_bytes(b"\xff\xfe\x00not text")
    (tmp_path / "Long.md").write_text("x" * 2000)
    inspector = Inspector(tmp_path, FilesSettings(max_file_bytes=1024), chunker_for(ChunkingSettings()))
    long, broken, none, whole = inspector.inspect(["Long", "Broken.md", "Nowhere", "./Whole.md"])
    assert isinstance(long, SkippedFile) and long.path == "Long.md" and long.reason
    assert isinstance(broken, SkippedFile) and broken.path == "Broken.md" and broken.reason
    assert none == SkippedFile("Nowhere", "no such note in the vault")
    assert isinstance(whole, Inspection) and whole.note.title == "Whole"


def test_a_grammar_that_is_missing_is_named_once(tmp_path: Path) -> None:
    block = "```cobol\nDISPLAY 1.\n```\n\n"
    (tmp_path / "Code.md").write_text(f"# Code\n\n{block * 9}", "utf-8")
    chunker = chunker_for(ChunkingSettings.model_validate({"strategy": "code", "max_chunk_size": 100}))
    (found,) = Inspector(tmp_path, FilesSettings(), chunker).inspect(["Code.md"])
    assert isinstance(found, Inspection)
    assert [(one.detail, one.line) for one in found.diagnostics] == [("no grammar for cobol", 1)]
