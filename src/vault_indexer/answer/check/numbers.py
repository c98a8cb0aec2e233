"""Finds the numbers in a text, in digits or in words, each with a canonical signed value and a unit."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files

from vault_indexer.answer.check.lexicon import any_of, languages, lexicon
from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import LETTER
from vault_indexer.text.tokens import RUN

_DIGITS = re.compile(r"\d+(?:[.,'’\u00a0\u202f ]\d{3}(?!\d))*(?:[.,]\d+)?")
_GROUPS = re.compile(r"[.,'’\u00a0\u202f ](?=\d{3}(?!\d))")
_WORD = re.compile(f"{LETTER}+")
_SCALE = re.compile(rf"\s*({LETTER}+)")
_CHINESE = re.compile("(?!零下)[零〇一二三四五六七八九十百千万萬亿億两兩]+")
_CHINESE_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_CHINESE_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}

_LEAST_SCALE = 1_000

_TENS = range(10, 100, 10)
_JOINED = re.compile(r"-| y | e |(?:-| )et(?:-| )|-e-")

_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_UNIT = re.compile(rf"[ \u00a0\u202f-]?([%$€£¥₽]|°[cCfF]?|{LETTER}+)")
_LONGEST_UNIT = 5
_BASES = {
    "mm": ("mm", 1),
    "cm": ("mm", 10),
    "m": ("mm", 1_000),
    "km": ("mm", 1_000_000),
    "mg": ("mg", 1),
    "g": ("mg", 1_000),
    "kg": ("mg", 1_000_000),
    "ml": ("ml", 1),
    "l": ("ml", 1_000),
    "s": ("s", 1),
    "min": ("s", 60),
    "h": ("s", 3_600),
    "day": ("day", 1),
    "week": ("day", 7),
    "month": ("month", 1),
    "year": ("month", 12),
}
"""Units of one quantity: the smallest one, and how many of it each is."""

_CURRENCY = re.compile(r"([$€£¥₽])\s?\Z")


@record
class Quantity:
    """A number of a text: its canonical value with its sign, its unit ("" for none), and its span with the
    unit."""

    value: str
    unit: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """The unit, "year", or "". Two numbers of the same kind can be mistaken for each other."""
        return self.unit or ("year" if _YEAR.fullmatch(self.value) else "")

    @property
    def base(self) -> tuple[str, Decimal] | None:
        """The value in the smallest unit of the same quantity, or None for a unit without others."""
        unit, factor = _BASES.get(self.unit, ("", 0))
        return (unit, Decimal(self.value) * factor) if unit else None


def quantities(text: str, language: str = "") -> list[Quantity]:
    """Returns the numbers of a text in order, each with its unit. Spans refer to the text in form NFKC.

    `2 million`, `2,000,000` and `两百万` are one value; `-18` and `18` are two."""
    text = unicodedata.normalize("NFKC", text)
    found = [_quantity(text, *one) for one in _numbers(text, language)]
    for half in _and_halves(language).finditer(text):
        whole = next((one for one in found if one.end == half.end("unit") and one.unit), None)
        unit = _unit_of(half["unit"])[0]
        if whole or (unit and half["one"]):
            start = whole.start if whole else half.start()
            value = (Decimal(whole.value) if whole else Decimal(1)) + Decimal("0.5")
            inside = range(start, half.end())
            found = [one for one in found if one.start not in inside]
            found.append(Quantity(_canonical(value), unit, start, half.end()))
    return sorted(found, key=lambda one: one.start)


def value_of_word(word: str) -> float | None:
    """Returns the value of a number word in any of the languages, such as 3 for "three"."""
    return _number_words().get(fold(normalize(word)))


@cache
def _number_words() -> Mapping[str, float]:
    return {word: value for name in languages() for word, value in lexicon(name).numbers.items()}


def _quantity(text: str, value: Decimal, start: int, end: int) -> Quantity:
    if sign := _minus().search(text[max(start - 12, 0) : start]):
        value, start = -value, max(start - 12, 0) + sign.start()
    if symbol := _CURRENCY.search(text, max(start - 2, 0), start):
        return Quantity(_canonical(value), _units()[symbol[1]], symbol.start(), end)
    behind = _UNIT.match(text, end)
    unit, length = _unit_of(behind[1]) if behind else ("", 0)
    if behind is None or not unit or (unit == "year" and _YEAR.fullmatch(_canonical(value))):
        return Quantity(_canonical(value), "", start, end)
    return Quantity(_canonical(value), unit, start, behind.start(1) + length)


def _unit_of(word: str) -> tuple[str, int]:
    """Returns the unit of a word, and its length in characters. In scripts without spaces it is the unit with
    which the word begins."""
    folded = word.lower()
    sizes = range(min(len(folded), _LONGEST_UNIT), 0, -1) if RUN.match(folded) else [len(folded)]
    for size in sizes:
        if unit := _units().get(folded[:size]):
            return unit, size
    return "", 0


@cache
def _minus() -> re.Pattern[str]:
    """Returns a pattern for a minus sign before a number. A hyphen between letters or digits does not
    match."""
    words = any_of(word for language in languages() for word in lexicon(language).minus)
    spaceless = RUN.pattern[: RUN.pattern.index("]") + 1]
    signs = rf"[-\u2212]|(?:{words.pattern if words else ''})\s?"
    return re.compile(rf"(?:(?<![^\W_])|(?<={spaceless}))(?:{signs})\Z", re.IGNORECASE)


@cache
def _units() -> Mapping[str, str]:
    table = tomllib.loads((files("vault_indexer.answer.check") / "units.toml").read_text(encoding="utf-8"))
    return {form.strip().lower(): name for name, forms in table.items() for form in forms.split(",")}


@cache
def _halves(language: str) -> re.Pattern[str]:
    """Returns a pattern for a half before a word, which may be a unit."""
    words = any_of(lexicon(language).halves)
    return re.compile(
        rf"(?i)(?<!\w)(?:{words.pattern})(?=[ -](?P<unit>{LETTER}+))" if words else "(?!)(?P<unit>)"
    )


@cache
def _and_halves(language: str) -> re.Pattern[str]:
    """Returns a pattern for a unit with a half behind it ("a year and a half"), and "one" before it."""
    words = any_of(lexicon(language).behind_units)
    return re.compile(
        rf"(?i)(?P<one>\b(?:an?|one|une?|un[ao]|uma?)\s)?\b(?P<unit>{LETTER}+)\s(?:{words.pattern})\b"
        if words
        else "(?!)(?P<one>)(?P<unit>)"
    )


def _numbers(text: str, language: str) -> Iterator[tuple[Decimal, int, int]]:
    words = lexicon(language).numbers  # not of all languages: "due" is a number in Italian
    scales: dict[int, int] = {}  # begin and end of a scale that the number before it was multiplied by
    for match in _DIGITS.finditer(text):
        value = Decimal(_GROUPS.sub("", match[0]).replace(",", "."))
        factor, end = _factor_behind(text, match.end(), scales)
        yield value * factor, match.start(), end
    for number, start, last in _word_numbers(text, words):
        if start not in scales:
            factor, end = _factor_behind(text, last, scales)
            yield Decimal(number) * factor, start, end
    for half in _halves(language).finditer(text):
        if _unit_of(half["unit"])[0]:
            yield Decimal("0.5"), half.start(), half.end()
    for run in _CHINESE.finditer(text):
        if run[0] != "一" and run.start() not in scales:
            yield Decimal(_chinese(run[0])), run.start(), run.end()


def _word_numbers(text: str, words: Mapping[str, float]) -> Iterator[tuple[float, int, int]]:
    """Yields the numbers in words. A ten and a unit are one number ("twenty-five", "treinta y cinco")."""
    ten, start, end = 0.0, 0, -1
    for word in _WORD.finditer(text):
        number = words.get(fold(normalize(word[0])))
        is_joined = (
            ten and number is not None and number < ten and _JOINED.fullmatch(text[end : word.start()])
        )
        if ten and not is_joined:
            yield ten, start, end
        if number is None:
            ten = 0.0
            continue
        start, end, number = (start, word.end(), ten + number) if is_joined else (*word.span(), number)
        ten = number if number in _TENS else 0.0
        if not ten:
            yield number, start, end
    if ten:
        yield ten, start, end


def _factor_behind(text: str, end: int, scales: dict[int, int]) -> tuple[int, int]:
    """Returns the factor of the word after a number, as in "2 million", and the end of the number."""
    scale = _SCALE.match(text, end)
    factor = _factor(scale[1]) if scale else 1
    if scale is None or factor == 1:
        return 1, end
    scales[scale.start(1)] = scale.end(1)
    return factor, scale.end(1)


def _factor(word: str) -> int:
    first = _CHINESE_SCALES.get(word[0], 1)
    if first >= _CHINESE_SCALES["万"]:
        return first
    value = _number_words().get(fold(normalize(word)), 1)
    return int(value) if value >= _LEAST_SCALE else 1


def _chinese(run: str) -> int:
    if all(char in _CHINESE_DIGITS for char in run):  # a year: digit by digit
        return int("".join(str(_CHINESE_DIGITS[char]) for char in run))
    total = section = digit = 0
    for char in run:
        if char in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[char]
            continue
        scale = _CHINESE_SCALES[char]
        if scale >= _CHINESE_SCALES["万"]:
            total += (section + digit or 1) * scale
            section = 0
        else:
            section += (digit or 1) * scale
        digit = 0
    return total + section + digit


def _canonical(value: Decimal) -> str:
    return f"{value.normalize():f}"
