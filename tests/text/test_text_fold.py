"""One spelling of a word: its exact form, its form without marks, its stem, and a tag's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.text.fold import fold, normalize, tag_name
from vault_indexer.text.query import other_kana
from vault_indexer.text.stem import stem, stem_with_marks

EXACT = [
    # one case and one encoding
    ("SEA", "sea"),
    ("ſea", "sea"),
    ("Ｓｅａ", "sea"),
    ("Straße", "strasse"),
    ("İstanbul", "istanbul"),
    ("i\u0307x", "ix"),
    ("q\u0307", "q\u0307"),
    ("x\u00ady\u2060", "xy"),
    ("\u00ad", "\u00ad"),  # nothing would be left
    ("’", "'"),
    ("ک ی", "ك ي"),
    ("٣۴", "34"),
    ("A\u030a", "å"),
]
FOLDED = [
    # marks go where they are no letters
    ("Plain", "Plain"),
    ("a\u0323\u0308", "a"),
    ("\u0301a", "a"),
    ("łøđðıħŋ", "loddihn"),
    ("æœþ", "aeoeth"),
    ("’ʼ", "''"),
    ("ά", "α"),
    ("й", "й"),
    ("ї", "ї"),
    ("ў", "ў"),
    ("ѝ", "и"),
    ("я\u0301", "я"),
    ("ё", "е"),
    ("ґ", "г"),
    ("\u0400", "Е"),
    ("\u052f\u0308", "\u052f\u0308"),
    ("\u0530\u0308", "\u0530"),  # no Cyrillic letter
    ("أإآٱىةہۀ", "اااايههه"),
    ("ـ", ""),
    ("שׁ", "ש"),
    ("कि क़", "कि क"),
    ("ণ়", "ণ"),
    ("が パ", "が パ"),
    ("\u30a6\u309b", "ウ\u309b"),
]
TAGS = [("#A/b", "a/b"), ("a//", "a"), ("##a", "#a"), ("a#", "a#"), ("#Straße/", "strasse"), ("", "")]


@pytest.mark.parametrize(
    ("form", "word", "expected"),
    [
        (form, *case)
        for form, cases in ((normalize, EXACT), (fold, FOLDED), (tag_name, TAGS))
        for case in cases
    ],
)
def test_a_word_has_one_form(form: Callable[[str], str], word: str, expected: str) -> None:
    assert form(word) == expected


def test_stems_are_those_of_the_golden() -> None:
    def stems(word: str, language: str) -> str:
        return f"{stem_with_marks(word, language)} {stem(word, language)}"

    check_golden(Path(__file__).parent / "fixtures" / "stems.md", {"stem": of_parts(stems)})


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("か", ("カ",)),
        ("カ", ("か",)),
        ("カき", ("かき", "カキ")),
        ("ぁゖ", ("ァヶ",)),
        ("ゝゞ", ("ヽヾ",)),
        ("\u3040\u3097ー検a", ()),
    ],
)
def test_a_text_in_one_kana_has_another_spelling(text: str, others: tuple[str, ...]) -> None:
    assert other_kana(text) == others
