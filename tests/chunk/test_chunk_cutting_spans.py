"""How text is cut: into atoms of blocks, evenly or as a sliding window, to the token."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.chunk.cutting.assemble import Draft, fit
from vault_indexer.chunk.cutting.blocks import BlockSplitter, blocks_of
from vault_indexer.chunk.cutting.sections import Joiner, Unit
from vault_indexer.chunk.cutting.spans import (
    Ruler,
    Span,
    Tokens,
    pack,
    ruler_for,
    safe_split,
    slide,
    token_ruler,
    trim,
    word_start,
)
from vault_indexer.errors import UsageError
from vault_indexer.model import ElementKind
from vault_indexer.parse import parse_note


class Letters:
    """A tokenizer: each character that is not blank is a token, and any text has two more before it."""

    name = "letters"

    def offsets(self, text: str) -> list[Span]:
        return [(0, 0), (0, 0), *(match.span() for match in re.finditer(r"\S", text))]


class Pairs:
    """A tokenizer of words and of the blanks before each."""

    name = "pairs"

    def offsets(self, text: str) -> list[Span]:
        return [match.span() for match in re.finditer(r"\s*\S+", text)]


def texts(text: str, spans: Sequence[Span]) -> list[str]:
    return [text[start:end] for start, end in spans]


def atoms(text: str, limit: int, *loose: ElementKind) -> list[str]:
    note = parse_note("n.md", text.encode())
    splitter = BlockSplitter(note.text, Ruler(note.text), limit, frozenset(loose))
    return texts(note.text, splitter.atoms(blocks_of(note), len(note.text)))


def trimmed(text: str, first: str, last: str) -> str:
    start, end = trim(text, int(first), int(last))
    assert start < end or start == end == int(first)
    return repr(text[start:end])


def packed(sizes: str, limit: str) -> list[int]:
    spans = touching(*map(int, sizes.split()))
    pieces = pack(spans, Ruler("x" * sum(map(int, sizes.split()))), int(limit))
    return [end - start for start, end in pieces]


def slid(size: str, overlap: str) -> str:
    text, shown = "aaa bbb ccc ddd eee", []
    for one in slide(text, touching(4, 4, 4, 4, 3), Ruler(text), int(size), int(overlap)):
        repeated = text[one.overlap_start : one.start].rstrip()
        shown.append(f"{repeated}|{text[one.start : one.end]}" if repeated else text[one.start : one.end])
    return str(shown)


def joined(units: str) -> str:
    sizes, levels = (
        zip(*(map(int, one.split("/")) for one in units.split()), strict=True) if units else ((), ())
    )
    given = [Unit(*span, level) for span, level in zip(touching(*sizes), levels, strict=True)]
    found = Joiner(Ruler("x" * 40), 5, 10).join(given)
    assert all(one.end == other.start for one, other in pairwise(found))
    return " ".join(f"{one.end - one.start}/{one.level}" for one in found)


DOTTED = ". ab cd ef"


def fitted(context: str, overlap: str, text: str, limit: str) -> str:
    start, shown = DOTTED.index(text), []
    draft = Draft(start, start + len(text), overlap=overlap, context=context)
    for one in fit(DOTTED, [draft], Tokens(DOTTED, Letters()), int(limit)):
        before = (f"{one.context}>" if one.context else "") + (f"{one.overlap}|" if one.overlap else "")
        shown.append(before + DOTTED[one.start : one.end])
        content = f"{one.context}{one.overlap}{DOTTED[one.start : one.end]}"
        assert one.extra["token_count"] == 2 + sum(not char.isspace() for char in content)
    return str(shown)


def test_text_is_cut_as_the_golden_says() -> None:
    check_golden(
        Path(__file__).parent / "fixtures" / "spans.md",
        {
            "A block is cut where it says least": of_parts(lambda text, limit: atoms(text, int(limit))),
            "A span has no blank lines around it": of_parts(trimmed),
            "No character is cut in two": of_parts(
                lambda text, offset: safe_split(json.loads(text), 0, int(offset))
            ),
            "What is repeated begins at a word that is near": of_parts(
                lambda text, position, end: word_start(text, int(position), int(end))
            ),
            "Spans are packed into few pieces of like size": of_parts(packed),
            "A window over `aaa bbb ccc ddd eee` repeats what fits with the next span": of_parts(slid),
            "Units below five are joined to a neighbour up to ten": joined,
            "A draft over the limit gives up overlap, headings and its end": of_parts(fitted),
        },
    )


def touching(*sizes: int) -> list[Span]:
    starts = [sum(sizes[:index]) for index in range(len(sizes) + 1)]
    return list(pairwise(starts))


@pytest.mark.parametrize(
    ("start", "size", "reached"),
    [(0, 0, 0), (0, 1, 3), (0, 2, 6), (1, 1, 6), (3, 1, 6), (0, 3, 9), (0, 9, 9), (7, 1, 9), (9, 1, 9)],
)
def test_so_many_words_reach_to_the_next_one_or_the_end(start: int, size: int, reached: int) -> None:
    assert ruler_for("aa bb cc ", "words", None).reach(start, size) == reached


def test_a_window_gets_on_by_a_sixteenth_of_its_size() -> None:
    text = "x" * 40
    found = slide(text, touching(*[1] * 40), Ruler(text), 32, 99)
    assert [(one.overlap_start, one.start, one.end) for one in found] == [
        (0, 0, 32),
        *((start - 30, start, start + 2) for start in range(32, 40, 2)),
    ]


def test_what_precedes_any_text_takes_room() -> None:
    text = "abc def"
    ruler = ruler_for(text, "tokens", Letters())
    assert isinstance(ruler, Tokens)
    assert (ruler.count("ab"), ruler.room(10), ruler.room(2)) == (4, 8, 1)
    assert (token_ruler("a b", Pairs()).room(10), token_ruler("a b", Pairs()).size(0, 3)) == (10, 2)
    with pytest.raises(UsageError, match="size_unit = tokens needs a tokenizer"):
        ruler_for(text, "tokens", None)
