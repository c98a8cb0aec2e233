"""Every note has at least one chunk: of a note without a body it is made of the properties."""

import json
import re
from pathlib import Path

import pytest
from chunk_laws import build, note_of
from golden_cases import check_golden

from vault_indexer.chunk import PROPERTIES, chunks_of
from vault_indexer.model import Note
from vault_indexer.parse import parse_any


def only_chunk(note: Note) -> tuple[str, int, int, int]:
    """Body, offset, and first and last line of the only chunk."""
    (chunk,) = chunks_of(build("header_based"), note)
    assert chunk.extra[PROPERTIES] is True
    assert chunk.body == note.text[chunk.start_pos : chunk.end_pos]
    assert chunk.chunk_index == 0
    assert chunk.chunk_id == f"{note.doc_id}_chunk_0"
    return chunk.body, chunk.start_pos, chunk.start_line, chunk.end_line


def test_chunks_of_notes_without_a_body_are_those_of_the_golden() -> None:
    def chunk(text: str) -> str:
        body, start, first, last = only_chunk(note_of(text))
        assert not body or text.index(body) == start
        return f"{first} to {last}: {body!r}" if body else "empty"

    def vector(text: str) -> str:
        written = re.sub(r"(\w)\{(\d+)\}", lambda found: found[1] * int(found[2]), text)
        (found,) = chunks_of(build("none"), note_of(written))
        return "vector" if found.embed else "none"

    check_golden(
        Path(__file__).parent / "fixtures" / "properties.md",
        {"The chunk of a note without a body": chunk, "Less than twenty letters have no vector": vector},
    )


@pytest.mark.parametrize("cards", [[], [{"id": "a", "type": "group", "x": 0, "y": 0}]])
def test_a_canvas_without_text_has_a_chunk(cards: list[object]) -> None:
    note = parse_any("Plans/Board.canvas", json.dumps({"nodes": cards, "edges": []}).encode())
    assert only_chunk(note)[0] == ""


def test_the_title_is_embedded_with_the_properties() -> None:
    (chunk,) = chunks_of(build("none"), note_of("---\nyear: 1910\n---\n", "Books/Howards End.md"))
    assert chunk.embedding_text("Howards End") == "Howards End\n\nyear: 1910"


def test_a_note_with_a_body_has_no_chunk_of_properties() -> None:
    (chunk,) = chunks_of(build("none"), note_of("---\nyear: 1910\n---\nOnly connect.\n"))
    assert chunk.body.strip() == "Only connect."
    assert PROPERTIES not in chunk.extra
