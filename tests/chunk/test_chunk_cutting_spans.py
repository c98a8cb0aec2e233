"""How text is cut: into atoms of blocks, evenly or as a sliding window, to the token."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest

from vault_indexer.chunk.cutting.assemble import Draft, fit
from vault_indexer.chunk.cutting.blocks import BlockSplitter, blocks_of
from vault_indexer.chunk.cutting.sections import Joiner, Unit
from vault_indexer.chunk.cutting.spans import (
    Characters,
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
from vault_indexer.model import HEADER_SEPARATOR, ElementKind
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
    splitter = BlockSplitter(note.text, Characters(note.text), limit, frozenset(loose))
    return texts(note.text, splitter.atoms(blocks_of(note), len(note.text)))


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("One two.\n\nThree.\n", 8, ["One two.\n\n", "Three.\n"]),
        ("One two. Three.\n\nFour.\n", 8, ["One two. ", "Three.\n\n", "Four.\n"]),
        ("One two. Three.\n\nFour.\n", 7, ["One", " two. ", "Three.\n\n", "Four.\n"]),
        ("Unbreakable.\n", 5, ["Unbr", "eaka", "ble."]),
        ("# Heading\n\nBody.\n", 16, ["# Heading\n\nBody.\n"]),
        ("# Heading\n\nBody.\n", 15, ["# Heading\n\n", "Body.\n"]),
        ("# A\n\n# B\n\nBody.\n", 20, ["# A\n\n# B\n\nBody.\n"]),
        ("Before it.\n\n# A\n\nOne.\n", 12, ["Before it.\n\n", "# A\n\nOne.\n"]),
        ("[a]: /x\n\nText.\n", 12, ["[a]: /x\n\n", "Text.\n"]),
        ("# A\n\nOne.\n\nTwo.\n", 20, ["# A\n\nOne.\n\n", "Two.\n"]),
        ("- one\n- two\n", 11, ["- one\n- two\n"]),
        ("- one\n- two\n", 10, ["- one\n", "- two\n"]),
        ("- one\n  - two\n  - six\n- ten\n", 12, ["- one\n", "  - two\n", "  - six\n", "- ten\n"]),
        ("- one two\n  - six\n", 9, ["- one two\n", "  - six\n"]),
        ("- one two\n  - six\n", 8, ["-", " one", " two\n", "  - six\n"]),
        ("```\nx = 1\ny = 2\n```\n", 9, ["```\n", "x = 1\n", "y = 2\n", "```\n"]),
        ("```\nOne two. Six.\n```\n", 8, ["```\n", "One two. ", "Six.\n", "```\n"]),
        ("```\nOne two. Six.\n```\n", 5, ["```\n", "One", " two. ", "Six.\n", "```\n"]),
    ],
)
def test_a_block_is_cut_where_it_says_least(text: str, limit: int, cut: list[str]) -> None:
    assert atoms(text, limit) == cut


@pytest.mark.parametrize(
    ("text", "span", "trimmed"),
    [
        ("\n\n  a b \n\n", (0, 10), "  a b"),
        ("x  \n  a\n", (1, 8), "  a"),
        ("x  a\n", (1, 5), "a"),
        ("x\n  a\n", (2, 6), "  a"),
        ("  a", (0, 3), "  a"),
        ("a \n ", (1, 4), ""),
        ("a", (1, 1), ""),
    ],
)
def test_a_span_has_no_blank_lines_around_it(text: str, span: Span, trimmed: str) -> None:
    start, end = trim(text, *span)
    assert text[start:end] == trimmed
    assert trimmed or (start, end) == (span[0], span[0])


@pytest.mark.parametrize(
    ("text", "pos", "end", "word"),
    [
        ("one two six", 0, 11, 0),
        ("one two six", 1, 11, 4),
        ("one two six", 4, 11, 4),
        ("one two six", 3, 11, 4),
        ("one two six", 9, 11, 9),
        ("one two six", 5, 7, 5),
        ("one two", 7, 7, 7),
        ("漢字 仮名", 1, 5, 1),
        ("a" * 50 + " b", 1, 52, 1),
        ("a" * 40 + " b", 1, 42, 41),
        ("a" * 41 + " b", 1, 43, 1),
    ],
)
def test_what_is_repeated_begins_at_a_word_that_is_near(text: str, pos: int, end: int, word: int) -> None:
    assert word_start(text, pos, end) == word


FLAGS = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"


@pytest.mark.parametrize(
    ("text", "cut", "place"),
    [
        ("abcd", 2, 2),
        ("ae\u0301d", 2, 1),
        ("ab\r\n", 3, 2),
        ("a\U0001f468\u200d\U0001f469", 2, 1),
        ("a\U0001f468\u200d\U0001f469", 3, 1),
        ("a\U0001f44d\U0001f3fdb", 2, 1),
        (f"a{FLAGS}", 2, 1),
        (f"a{FLAGS}", 3, 3),
        (f"a{FLAGS}", 4, 3),
        ("e\u0301\u0302", 2, 2),
    ],
)
def test_no_character_is_cut_in_two(text: str, cut: int, place: int) -> None:
    assert safe_split(text, 0, cut) == place


def touching(*sizes: int) -> list[Span]:
    starts = [sum(sizes[:index]) for index in range(len(sizes) + 1)]
    return list(pairwise(starts))


@pytest.mark.parametrize(
    ("sizes", "limit", "packed"),
    [
        ((3, 3, 3), 9, [9]),
        ((3, 3, 3), 8, [6, 3]),
        ((3, 3, 3, 3), 8, [6, 6]),
        ((1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 8, [5, 5]),
        ((20, 1, 1), 8, [20, 2]),
        ((4, 6, 4, 6), 10, [10, 10]),
        ((7, 5, 7), 10, [7, 5, 7]),
        ((2, 9, 2), 10, [2, 9, 2]),
        ((4, 1, 4, 1), 6, [5, 5]),
        ((5, 4, 4), 10, [5, 8]),
        ((4, 3, 5), 10, [7, 5]),
        ((3, 3, 0), 9, [6]),
        ((6, 6, 0), 9, [6, 6]),
        ((), 5, []),
    ],
)
def test_spans_are_packed_into_few_pieces_of_like_size(
    sizes: Sequence[int], limit: int, packed: list[int]
) -> None:
    spans = touching(*sizes)
    pieces = pack(spans, Characters("x" * sum(sizes)), limit)
    assert [end - start for start, end in pieces] == packed


@pytest.mark.parametrize(
    ("size", "overlap", "slid"),
    [
        (8, 0, ["aaa bbb ", "ccc ddd ", "eee"]),
        (8, 4, ["aaa bbb ", "bbb|ccc ", "ccc|ddd ", "ddd|eee"]),
        (12, 4, ["aaa bbb ccc ", "ccc|ddd eee"]),
        (12, 6, ["aaa bbb ccc ", "ccc|ddd eee"]),
        (12, 99, ["aaa bbb ccc ", "bbb ccc|ddd ", "ccc ddd|eee"]),
        (3, 2, ["aaa ", "bbb ", "ccc ", "ddd ", "eee"]),
    ],
)
def test_a_window_repeats_what_fits_with_the_next_span(size: int, overlap: int, slid: list[str]) -> None:
    text = "aaa bbb ccc ddd eee"
    spans = touching(4, 4, 4, 4, 3)
    shown = []
    for one in slide(text, spans, Characters(text), size, overlap):
        repeated = text[one.overlap_start : one.start].rstrip()
        shown.append(f"{repeated}|{text[one.start : one.end]}" if repeated else text[one.start : one.end])
    assert shown == slid


def test_a_window_gets_on_by_a_sixteenth_of_its_size() -> None:
    text = "x" * 40
    found = slide(text, touching(*[1] * 40), Characters(text), 32, 99)
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


DOTTED = ". ab cd ef"


@pytest.mark.parametrize(
    ("draft", "limit", "fitted"),
    [
        (Draft(2, 10), 9, ["ab cd ef"]),
        (Draft(2, 10), 8, ["ab cd ef"]),
        (Draft(2, 10), 7, ["ab cd", "ef"]),
        (Draft(2, 7), 4, ["ab", "cd"]),
        (Draft(2, 7), 2, ["a", "b", "c", "d"]),
        (Draft(8, 10, overlap="ab cd "), 8, ["ab cd |ef"]),
        (Draft(8, 10, overlap="ab cd "), 7, ["cd |ef"]),
        (Draft(8, 10, context="H"), 6, ["H>ef"]),
        (Draft(8, 10, context="HIJK"), 6, ["HI>ef"]),
        (Draft(8, 10, context="HIJ"), 4, ["ef"]),
        (Draft(8, 10, context=f"OUT{HEADER_SEPARATOR}H"), 6, ["H>ef"]),
        (Draft(8, 10, context="OUT\nH"), 6, ["H>ef"]),
        (Draft(2, 10, context="H"), 7, ["H>ab cd", "H>ef"]),
    ],
)
def test_a_draft_over_the_limit_gives_up_overlap_headings_and_its_end(
    draft: Draft, limit: int, fitted: list[str]
) -> None:
    shown = []
    for one in fit(DOTTED, [draft], Tokens(DOTTED, Letters()), limit):
        before = (f"{one.context}>" if one.context else "") + (f"{one.overlap}|" if one.overlap else "")
        shown.append(before + DOTTED[one.start : one.end])
        content = f"{one.context}{one.overlap}{DOTTED[one.start : one.end]}"
        assert one.extra["token_count"] == 2 + sum(not char.isspace() for char in content)
    assert shown == fitted


@pytest.mark.parametrize(
    ("units", "joined"),
    [
        ([(4, 2), (6, 3)], [(10, 2)]),
        ([(4, 1), (7, 1)], [(4, 1), (7, 1)]),
        ([(5, 1), (5, 1)], [(5, 1), (5, 1)]),
        ([(5, 1), (4, 1)], [(9, 1)]),
        ([(6, 1), (4, 2)], [(10, 1)]),
        ([(7, 1), (4, 1)], [(7, 1), (4, 1)]),
        ([(5, 1), (4, 2), (6, 1)], [(9, 1), (6, 1)]),
        ([(5, 1), (4, 1), (6, 1)], [(5, 1), (10, 1)]),
        ([(7, 1), (4, 2), (6, 1)], [(7, 1), (10, 2)]),
        ([(7, 1), (4, 2), (7, 1)], [(7, 1), (4, 2), (7, 1)]),
        ([(4, 1), (11, 1)], [(15, 1)]),
        ([(4, 1), (11, 2)], [(15, 1)]),
        ([(4, 2), (11, 1)], [(4, 2), (11, 1)]),
        ([(5, 1), (4, 2), (11, 1)], [(9, 1), (11, 1)]),
        ([(2, 1), (2, 2), (2, 2), (5, 2)], [(6, 1), (5, 2)]),
        ([(4, 1)], [(4, 1)]),
        ([], []),
    ],
)
def test_units_below_five_are_joined_to_a_neighbour_up_to_ten(
    units: list[tuple[int, int]], joined: list[tuple[int, int]]
) -> None:
    spans = touching(*(size for size, _ in units))
    given = [Unit(*span, level) for span, (_, level) in zip(spans, units, strict=True)]
    found = Joiner(Characters("x" * 40), 5, 10).join(given)
    assert [(one.end - one.start, one.level) for one in found] == joined
    assert all(one.end == other.start for one, other in pairwise(found))
