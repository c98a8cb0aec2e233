"""Texts joined by line breaks, and the numbers of those that hold a piece."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_indexer.system import JoinedTexts

TEXTS = st.lists(st.text("abé検", max_size=5), max_size=8)
PIECES = st.text("abé検", max_size=3)


@given(TEXTS, PIECES)
@example(["", "", ""], "")
@example([], "")
@example(["a", "b"], "ab")
def test_a_piece_is_found_as_in_each_text_by_itself(texts: list[str], piece: str) -> None:
    expected = [number for number, text in enumerate(texts) if piece in text]
    assert list(JoinedTexts(texts, "\n").numbers_containing(piece)) == expected
    encoded = [text.encode() for text in texts]
    assert list(JoinedTexts(encoded, b"\n").numbers_containing(piece.encode())) == expected


@given(TEXTS)
def test_each_text_ends_at_its_line_break(texts: list[str]) -> None:
    joined = JoinedTexts(texts, "\n")
    starts = [0, *(end + 1 for end in joined.ends)]
    assert [joined.text[start:end] for start, end in zip(starts, joined.ends, strict=False)] == texts
    assert all(joined.text[end] == "\n" for end in joined.ends)


@pytest.mark.parametrize("piece", ["\n", "a\nb", "a\n", "\nb"])
def test_no_text_holds_a_piece_with_a_line_break(piece: str) -> None:
    assert list(JoinedTexts(["a", "b"], "\n").numbers_containing(piece)) == []
    assert list(JoinedTexts([b"a", b"b"], b"\n").numbers_containing(piece.encode())) == []


def test_a_text_may_have_line_breaks_of_its_own() -> None:
    assert list(JoinedTexts(["b", "a\nb\nb", "a"], "\n").numbers_containing("b")) == [0, 1]
