"""Every note has at least one chunk: of a note without a body it is made of the properties."""

import json

import pytest
from chunk_laws import build, note_of

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


@pytest.mark.parametrize(
    ("text", "body", "line"),
    [
        ("", "", 1),
        ("\n\n \t\n", "", 1),
        ("---\n---\n", "", 2),
        ("---\nauthor: E. M. Forster\n---\n", "author: E. M. Forster", 2),
        ("---\nauthor: E. M. Forster\n---", "author: E. M. Forster", 2),
        ("---\n\n\nauthor: Forster\nyear: 1910\n\n---\n\n  \n", "author: Forster\nyear: 1910", 4),
        ("---\r\nauthor: Forster\r\nyear: 1910\r\n---\r\n\r\n", "author: Forster\r\nyear: 1910", 2),
        ("---\nauthor: Forster\n...\n", "author: Forster", 2),
    ],
    ids=["empty", "blank", "fences", "properties", "no last line", "blank lines", "CRLF", "dots"],
)
def test_the_chunk_of_a_note_without_a_body(text: str, body: str, line: int) -> None:
    found, start, first, last = only_chunk(note_of(text))
    assert found == body
    assert not body or text.index(body) == start
    assert (first, last) == (line, line + body.count("\n")) or not body


@pytest.mark.parametrize("cards", [[], [{"id": "a", "type": "group", "x": 0, "y": 0}]])
def test_a_canvas_without_text_has_a_chunk(cards: list[object]) -> None:
    note = parse_any("Plans/Board.canvas", json.dumps({"nodes": cards, "edges": []}).encode())
    assert only_chunk(note)[0] == ""


@pytest.mark.parametrize(
    ("text", "has_vector"),
    [
        (f"---\na: {'b' * 19}\n---\n", False),
        (f"---\na: {'b' * 20}\n---\n", True),
        (f"---\na: {'b' * 21}\n---\n", True),
        (f"---\na: [{'b' * 10}, {'c' * 5}]\nd: {{e: [{'f' * 5}]}}\n---\n", True),
        (f"---\na: [{'b' * 10}, {'c' * 5}]\nd: {{e: [{'f' * 4}]}}\n---\n", False),
        ("---\na: 12345678901234567890123\nb: true\nc: null\n---\n", False),
        (f"---\na: {'b' * 30}\n---\n{'c' * 19}", False),
        (f"{'c' * 18} 1", False),
        (f"{'c' * 18} 1, 2", True),
    ],
)
def test_less_than_twenty_letters_have_no_vector(text: str, has_vector: bool) -> None:
    (chunk,) = chunks_of(build("none"), note_of(text))
    assert chunk.embed is has_vector


def test_the_title_is_embedded_with_the_properties() -> None:
    (chunk,) = chunks_of(build("none"), note_of("---\nyear: 1910\n---\n", "Books/Howards End.md"))
    assert "Howards End" in chunk.embedding_text
    assert "1910" in chunk.embedding_text


def test_a_note_with_a_body_has_no_chunk_of_properties() -> None:
    (chunk,) = chunks_of(build("none"), note_of("---\nyear: 1910\n---\nOnly connect.\n"))
    assert chunk.body.strip() == "Only connect."
    assert PROPERTIES not in chunk.extra
