"""A snippet begins and ends outside links, pictures, addresses and bold text, and not with a cover's name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.search.present.borders import after_pictures, markup_around, word_end, word_start
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


PICTURES = "![a](a.png)\n> ![[b.png]]\n\n"
TEXT = "see [a link](x.md) there\nand **bold** too"


def test_a_cut_moves_as_the_golden_says() -> None:
    def behind_pictures(written: str, start: str, end: str, limit: str) -> int:
        text = written.replace("{P}", PICTURES)
        return after_pictures(text, int(start), int(end or len(text)), int(limit))

    check_golden(
        Path(__file__).parent / "fixtures" / "borders.md",
        {
            "Markup of `see [a link](x.md) there⏎and **bold** too`": lambda offset: str(
                markup_around(TEXT, int(offset))
            ),
            "Words and addresses": of_parts(
                lambda text, offset: (word_start(text, int(offset)), word_end(text, int(offset)))
            ),
            "The text goes on after the pictures that stand first": of_parts(behind_pictures),
        },
    )


def test_markup_is_looked_for_in_its_own_line_and_near_the_cut() -> None:
    wide = f"[{'x' * 420}](y.md)"
    assert markup_around(wide, 300) == (0, len(wide))
    assert markup_around(wide, 410)[0] == 410
    assert markup_around("**two\nlines**", 3)[0] == 3
