"""A note that is looked at: what is said of one that cannot be read, without an index, and how another
strategy would split one that the index holds."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from indexed_vault import write_notes

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.chunk import ChoosingChunker, chunker_for
from vault_indexer.config import Settings
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.index.reading import Inspector
from vault_indexer.model import InspectedNote


def test_a_grammar_that_is_missing_is_named_once(tmp_path: Path) -> None:
    block = "```cobol\nDISPLAY 1.\n```\n\n"
    (tmp_path / "Code.md").write_text(f"# Code\n\n{block * 9}", "utf-8")
    chunker = chunker_for(ChunkingSettings.model_validate({"strategy": "code", "max_chunk_size": 100}))
    (found,) = Inspector(tmp_path, Settings(), chunker).inspect(["Code.md"])
    assert isinstance(found, InspectedNote)
    assert [(one.detail, one.line) for one in found.diagnostics] == [("no grammar for cobol", 1)]


def test_diagnostics_come_from_the_note_and_from_the_options_it_chose(tmp_path: Path) -> None:
    (tmp_path / "Note.md").write_text("---\nchunking: {strategy: nonsense}\nbroken: [\n---\n# Note\n")
    (tmp_path / "Own.md").write_text("---\nchunking: {strategy: nonsense}\n---\n# Own\n\nText.\n")
    inspector = Inspector(tmp_path, Settings(), ChoosingChunker(ChunkingSettings()))
    broken, own = inspector.inspect(["Note.md", "Own.md"])
    assert isinstance(broken, InspectedNote)
    assert isinstance(own, InspectedNote)
    assert "frontmatter" in {one.kind for one in broken.diagnostics}
    ((kind, detail),) = ((one.kind, one.detail) for one in own.diagnostics)
    assert kind == "chunking"
    assert detail.startswith(
        'chunking in the frontmatter is ignored: strategy = "nonsense": one of: header_based, '
    )


CARDS = ["# Ferry\n\nThe ferry leaves the harbour at noon.", "Bring the tent and the stove."]


def canvas() -> str:
    nodes = [
        {"id": str(at), "type": "text", "text": text, "x": 300 * at, "y": 0, "width": 250, "height": 60}
        for at, text in enumerate(CARDS)
    ]
    return json.dumps({"nodes": nodes, "edges": []})


@pytest.mark.long
def test_another_strategy_is_compared_for_notes_and_for_canvases(tmp_path: Path) -> None:
    notes = {"Trip.md": "# Trip\n\nThe ferry.\n\n## Camp\n\nThe tent.\n", "Board.canvas": canvas()}
    vault = write_notes(tmp_path / "vault", notes)
    target = resolve_target(vault, tmp_path / "index", None, environ={}, options={})
    with closing(open_index(target, lambda _: None)) as service:
        for path, texts in (("Trip.md", ["The ferry.", "The tent."]), ("Board.canvas", CARDS)):
            stored, compared = service.chunks(path), service.chunks(path, "paragraph")
            assert (stored.strategy, compared.strategy) == ("header_based", "paragraph")
            for text in texts:
                assert any(text in chunk.content for chunk in compared.chunks)
