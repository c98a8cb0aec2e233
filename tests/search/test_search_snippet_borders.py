"""A snippet begins and ends outside links, pictures, addresses and bold text, and not with a cover's name."""

from __future__ import annotations

import re

import pytest

from vault_indexer.search.present.borders import (
    after_pictures,
    markup_end,
    markup_start,
    word_end,
    word_start,
)
from vault_indexer.search.present.snippet import Snippets

FILL = "plain words that fill a long line without an end "
LINK = "[a label of a link](https://example.org/some/long/path/with%20escapes%20in%20it/and/more/of/it)"
PICTURE = "![a picture of a harbour](attachments/a%20picture%20of%20a%20harbour.png)"
BOLD = "**bold words that go on for a while so that a cut may fall within**"
WIKILINK = "[[Some folder/A long name of a note|a display text of it]]"
ADDRESS = (
    "https://example.org/%D0%9A%D0%BD%D0%B8%D0%B3%D0%B0/%D0%BE/%D1%81%D0%B0%D0%B4%D0%B5/%D0%B8/%D0%B4%D0%BE"
)

HALF = re.compile(r"\]\(|\]\]|\[\[|!\[|\*\*|\.png|^…?[0-9A-F]{2}%|%[0-9A-F]?…?$|\)$")


def snippet(body: str, word: str = "zebra", size: int = 80) -> str:
    return Snippets({word: ()}, size).of(body, {word: 1.0}).text


@pytest.mark.parametrize("markup", [LINK, PICTURE, BOLD, WIKILINK])
@pytest.mark.parametrize("side", ["before", "after"])
def test_no_cut_divides_markup(markup: str, side: str) -> None:
    for distance in range(0, 170, 3):
        fill = (FILL * 6)[:distance]
        many = f"{markup} and " * 8
        text = f"{many}{fill} zebra {FILL * 8}" if side == "before" else f"{FILL * 8} zebra {fill}{many}"
        found = snippet(text)
        assert "zebra" in found
        assert not HALF.search(found), (distance, found)


@pytest.mark.parametrize("side", ["before", "after"])
def test_no_cut_divides_an_address(side: str) -> None:
    for distance in range(80):
        fill = (FILL * 6)[:distance]
        text = f"{ADDRESS} {fill} zebra {FILL}" if side == "before" else f"{FILL} zebra {fill} {ADDRESS}"
        for part in snippet(text).strip("…").split():
            assert "%" not in part or part == ADDRESS, (distance, part)


COVER = "![Cover of the book](covers/book.png)\n![[portrait.jpg|Portrait of the author]]\n\n"


def test_the_name_of_a_cover_does_not_stand_first() -> None:
    text = COVER + "The zebra lives in the savanna. It eats grass.\n"
    assert snippet(text) == "The zebra lives in the savanna. It eats grass."
    assert snippet(text, "lion") == "The zebra lives in the savanna. It eats grass."


def test_the_name_of_a_picture_is_shown_where_it_is_what_was_looked_for() -> None:
    assert "Portrait of the author" in snippet(COVER + "The zebra lives in the savanna.\n", "portrait")
    assert snippet("![A zebra at night](night.png)\n") == "A zebra at night"


TEXT = "see [a link](x.md) there\nand **bold** too"


@pytest.mark.parametrize(
    ("offset", "start", "end"),
    [
        (4, 4, 4),
        (5, 4, 18),
        (17, 4, 18),
        (18, 18, 18),
        (25, 25, 25),
        (29, 29, 29),
        (30, 29, 37),
        (37, 37, 37),
    ],
)
def test_a_cut_within_markup_moves_to_its_borders(offset: int, start: int, end: int) -> None:
    assert (markup_start(TEXT, offset), markup_end(TEXT, offset)) == (start, end)


def test_markup_is_looked_for_in_its_own_line_and_near_the_cut() -> None:
    wide = f"[{'x' * 420}](y.md)"
    assert (markup_start(wide, 300), markup_end(wide, 300)) == (0, len(wide))
    assert markup_start(wide, 410) == 410
    assert markup_start("**two\nlines**", 3) == 3


@pytest.mark.parametrize(
    ("text", "offset", "start", "end"),
    [
        ("one two", 0, 0, 0),
        ("one two", 1, 0, 1),
        ("one two", 2, 0, 2),
        ("one two", 3, 4, 3),
        (" two", 0, 1, 0),
        (" two", 1, 1, 0),
        ("one two", 4, 4, 3),
        ("one two", 5, 4, 3),
        ("one two", 7, 4, 7),
        ("one two", 9, 4, 9),
        ("a " + "b" * 30, 22, 22, 22),
        ("a " + "b" * 30, 21, 2, 1),
        ("x http://e.org/" + "b" * 30 + " y", 40, 45, 2),
        ("x http://e.org/" + "b" * 30, 40, 45, 2),
        ("http://e.org/" + "b" * 30 + " y", 40, 43, 40),
        ("http://e.org/xyz y", 1, 0, 1),
        ("one\ntwo", 5, 4, 5),
        ("one two\tthree", 10, 8, 3),
        ("b" * 30, 19, 0, 19),
        ("b" * 30, 20, 0, 20),
        ("b" * 30, 21, 21, 21),
        ("x\nhttp://e.org/" + "b" * 30 + " y", 40, 45, 2),
        ("x\thttp://e.org/" + "b" * 30 + " y", 40, 45, 2),
        ("x " + "%C3%A4" * 8 + " y", 40, 50, 2),
        ("x " + "100%of" * 8 + " y", 40, 40, 40),
    ],
)
def test_a_cut_within_a_word_or_an_address_moves_to_its_borders(
    text: str, offset: int, start: int, end: int
) -> None:
    assert (word_start(text, offset), word_end(text, offset)) == (start, end)


PICTURES = "![a](a.png)\n> ![[b.png]]\n\n"


@pytest.mark.parametrize(
    ("source", "start", "end", "limit", "at"),
    [
        (PICTURES + "text", 0, None, 99, 26),
        (PICTURES + "text", 12, None, 99, 26),
        (PICTURES + "text", 0, None, 25, 25),
        (PICTURES + "text", 0, None, 12, 12),
        (PICTURES + "text", 0, None, 11, 0),
        (PICTURES + "text", 0, 26, 99, 0),
        (PICTURES + "text", 12, 26, 99, 12),
        (PICTURES + " \n", 0, None, 26, 0),
        ("![a](a.png) text\n", 0, None, 99, 0),
        ("![a](a.png)\ntext\n![b](b.png)\nmore", 0, None, 99, 12),
    ],
)
def test_the_text_goes_on_after_the_pictures_that_stand_first(
    source: str, start: int, end: int | None, limit: int, at: int
) -> None:
    assert after_pictures(source, start, len(source) if end is None else end, limit) == at
