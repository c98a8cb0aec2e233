"""Puts the characters of a line with right-to-left letters into the order of reading. Knows no library."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

RTL_LETTER = re.compile(r"[\u0590-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
JOINT = "\ue000"
"""A blank between words that are read against the direction of their line: one word for the layout."""

_ARABIC = re.compile(r"[\u0600-\u08ff\ufb50-\ufeff]")
_WITHIN, _BETWEEN = 0.25, 0.1
"""The least width of a blank in heights of a letter: within what PDFium has as one word, and between two."""

_REACH = 4
"""Letters before and after a mark among which its letter is."""

_TO_RIGHT = {
    True: re.compile(r"L(?:[^R]*[LD])?|D+(?:,D+)*"),
    False: re.compile(r"L(?:[^R]*[LD])?|(?<!%)%*D+(?:[,+]D+)*%*"),
}
"""What runs to the right between right-to-left words, by the classes of characters: after Arabic letters, or
after Hebrew ones (the weak types of https://www.unicode.org/reports/tr9)."""

_TO_LEFT = re.compile(r"R(?:[^L]*R)?")
_CLASSES = {
    **dict.fromkeys(".,:/\u066b\u066c", ","),
    **dict.fromkeys("+-", "+"),
    **dict.fromkeys("#$%£¥°€‰₪", "%"),
}
_PARTNERS = dict(zip("()[]{}«»", ")(][}{»«", strict=True))
_BRACKET = re.compile(r"[()\[\]{}«»]")
_OPENING = "([{«"


class Letter(NamedTuple):
    """A character of a line. `left` is the place of the pen before it, `right` its edge, in heights of a
    letter; `word` is the number of the word that PDFium has it in."""

    text: str
    left: float
    right: float
    word: int


def is_rtl(text: str) -> bool:
    """Whether most words have right-to-left letters."""
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    return 2 * sum(bool(RTL_LETTER.search(word)) for word in words) > len(words)


def logical_line(letters: Sequence[Letter], is_rtl_page: bool) -> tuple[str, list[int]]:
    """Returns the text of a line whose letters have any order, and the index of each character's letter."""
    order = _from_left(letters)
    shown = "".join(letters[at].text if at >= 0 else " " for at in order)
    classes = "".join(map(_class_of, shown))
    to_right = _TO_RIGHT[bool(_ARABIC.search(shown))]
    places: list[int] = []
    if is_rtl_page or is_rtl(shown):
        places = _from_right(classes, 0, len(shown), to_right)
        turned = {at for found in to_right.finditer(classes) for at in range(*found.span())}
    else:
        spans = [found.span() for found in _TO_LEFT.finditer(classes)]
        turned = {at for span in spans for at in range(*span)}
        for start, end in spans:
            places += [*range(len(places), start), *_from_right(classes, start, end, to_right)]
        places += range(len(places), len(shown))
    text = "".join(JOINT if at in turned and shown[at] == " " else shown[at] for at in places)
    return _with_brackets_turned(text), [order[at - (order[at] < 0)] for at in places]


def _from_left(letters: Sequence[Letter]) -> list[int]:
    """Returns the indices of the letters from left to right, -1 for a blank; marks precede their letter."""
    marks: dict[int, list[int]] = {}
    shown = [at for at, letter in enumerate(letters) if not letter.text.isspace()]
    bases = [at for at in shown if not unicodedata.combining(letters[at].text)] or shown
    for mark in sorted(set(shown).difference(bases)):
        middle, near = letters[mark].left + letters[mark].right, bisect(bases, mark)
        around = bases[max(0, near - _REACH) : near + _REACH]
        base = min(around, key=lambda at: abs(letters[at].left + letters[at].right - middle))
        marks.setdefault(base, []).append(mark)
    order: list[int] = []
    last: Letter | None = None
    # Lam and alef may be one glyph, and come in either order.
    for at in sorted(bases, key=lambda at: (letters[at].left, letters[at].text == "ل")):
        letter = letters[at]
        if last and letter.left - last.right > (_WITHIN if last.word == letter.word else _BETWEEN):
            order.append(-1)
        order += [*reversed(marks.get(at, ())), at]
        last = letter
    return order


def _class_of(character: str) -> str:
    if RTL_LETTER.match(character):
        return "R"
    if character.isdigit():
        return "D"
    return "L" if character.isalpha() else _CLASSES.get(character, "N")


def _from_right(classes: str, start: int, end: int, to_right: re.Pattern[str]) -> list[int]:
    """Returns the places of a run from right to left, except for what runs to the right in it."""
    runs: list[range] = []
    for found in to_right.finditer(classes, start, end):
        runs += [range(found.start() - 1, start - 1, -1), range(*found.span())]
        start = found.end()
    return list(chain.from_iterable([range(end - 1, start - 1, -1), *reversed(runs)]))


def _with_brackets_turned(text: str) -> str:
    """Returns the text with brackets that open before a word and close after one. Those of a PDF have the
    printed shape, except for some that PDFium has mirrored."""
    shown, is_open = list(text), False
    for found in _BRACKET.finditer(text):
        at = found.start()
        before, after = text[max(0, at - 1) : at].isalnum(), text[at + 1 : at + 2].isalnum()
        is_open = after if before != after else not is_open
        if is_open != (found[0] in _OPENING):
            shown[at] = _PARTNERS[found[0]]
    return "".join(shown)
