"""How another strategy would split a note that the index holds."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from indexed_vault import write_notes

from vault_indexer.bootstrap import open_index, resolve_target

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
