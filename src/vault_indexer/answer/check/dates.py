"""Finds the dates and times in a text. Each is compared as a whole, so that parts of two cannot be mixed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from vault_indexer.answer.check.lexicon import UNSPACED_LANGUAGES, Calendar, lexicon
from vault_indexer.system import record

_ISO = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)")
_DOTTED = re.compile(r"(?<!\d)(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4}|\d{2})(?!\d)")
_SLASHED = re.compile(r"(?<![\d/])(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>\d{4}|\d{2})(?![\d/])")
_IN_CHINESE = re.compile(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号號])?")
_TIME = re.compile(
    r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])"
    r"(?:[:](?P<minute>[0-5]\d)(?!\d)|\s?h\s?(?P<minute_h>[0-5]\d)(?!\d)|\.(?P<minute_dot>[0-5]\d)(?=\s?Uhr)"
    r"|(?=\s?(?:Uhr|o'clock|[ap]\.?m\b))|[点時时](?:(?P<minute_zh>\d{1,2})分)?)"
    r"(?:\s?(?:Uhr|h\b)|\s?(?P<half>[ap])\.?m\b\.?)?",
    re.IGNORECASE,
)
_AFTERNOON = re.compile("(?:下午|晚上|午後)\\Z")
_ORDINAL = r"(?:st|nd|rd|th|er|\.|º|ª|-?го|-?е)?"
_OF = r"(?:\s+(?:of|de|del|di|do))?"
_NOON = 12


@record
class DateMention:
    """A date or a time as far as it is stated. `parts` contains the known parts: `year`, `month`, `day`,
    `weekday`, `season`, `hour`, `minute`. The span is in characters of the text."""

    parts: Mapping[str, int]
    text: str
    start: int
    end: int
    is_of_half: bool = False
    """Whether the hour is one of 24, or has "a.m." or "p.m."."""

    @property
    def kind(self) -> str:
        """The main stated part. Two dates of the same kind can be mistaken for each other."""
        return next(iter(sorted(self.parts.keys() - {"year", "minute"})), "year")

    def is_stated_by(self, other: DateMention, years: frozenset[int]) -> bool:
        """Whether the other mention has every part of this one. The year may also be one of `years`."""
        return all(self._holds(name, value, other, years) for name, value in self.parts.items())

    def _holds(self, name: str, value: int, other: DateMention, years: frozenset[int]) -> bool:
        if name == "year" and name not in other.parts:
            return value in years
        if name == "hour" and name in other.parts:
            is_sure = self.is_of_half and other.is_of_half
            return (value - other.parts[name]) % (2 * _NOON if is_sure else _NOON) == 0
        return other.parts.get(name) == value


def find_dates(text: str, language: str) -> list[DateMention]:
    """Returns the mentions in a text in form NFC, in order and without overlaps."""
    found: list[DateMention] = []
    # Whole dates come before months and days alone, so the first of overlapping mentions is the fullest.
    for mention in _all_mentions(text, language):
        if all(mention.end <= one.start or one.end <= mention.start for one in found):
            found.append(mention)
    return sorted(found, key=lambda one: one.start)


def missing_date(own: Sequence[DateMention], stated: Sequence[DateMention], years: frozenset[int]) -> str:
    """Returns the first of `own`, as written, that no mention of `stated` covers, or ""."""
    known = years | {one.parts["year"] for one in stated if "year" in one.parts}
    for mention in own:
        if not any(mention.is_stated_by(one, known) for one in stated):
            return mention.text
    return ""


def _all_mentions(text: str, language: str) -> Iterator[DateMention]:
    patterns = [_ISO, _DOTTED, _SLASHED, _TIME]
    for pattern in [_IN_CHINESE, *patterns] if language in UNSPACED_LANGUAGES else patterns:
        yield from (_mention(match, text) for match in pattern.finditer(text))
    for pattern, forms in _calendar_patterns(language):
        for match in pattern.finditer(text):
            parts = _number_parts(match)
            name, number = forms[match["form"].lower()]
            yield DateMention({**parts, name: number}, match[0], *match.span())


def _mention(match: re.Match[str], text: str) -> DateMention:
    parts, is_of_half = _number_parts(match), False
    if "year" in parts and parts["year"] < 100:
        parts["year"] += 2000
    if "hour" in parts:
        half = (match.groupdict().get("half") or "").lower()
        is_late = half == "p" or bool(_AFTERNOON.search(text[: match.start()]))
        # `%`, because 12 p.m. is noon.
        parts["hour"] = parts["hour"] % _NOON + _NOON if is_late else parts["hour"]
        parts.setdefault("minute", 0)
        is_of_half = bool(half) or parts["hour"] > _NOON
    return DateMention(parts, match[0], *match.span(), is_of_half)


def _number_parts(match: re.Match[str]) -> dict[str, int]:
    groups = ((name.partition("_")[0], value) for name, value in match.groupdict().items())
    return {name: int(value) for name, value in groups if value and value.isdecimal()}


@cache
def _calendar_patterns(language: str) -> list[tuple[re.Pattern[str], Mapping[str, tuple[str, int]]]]:
    """Returns patterns for months with the surrounding numbers, and for days and seasons, each with the
    meanings of its forms."""
    own = lexicon(language)
    border = ("", "") if language in UNSPACED_LANGUAGES else (r"(?<!\w)", r"(?!\w)")
    found: list[tuple[re.Pattern[str], Mapping[str, tuple[str, int]]]] = []
    tables: Sequence[tuple[Calendar, str]] = (
        ("months", "month"),
        ("weekdays", "weekday"),
        ("seasons", "season"),
    )
    for table, name in tables:
        forms = {unicodedata.normalize("NFC", form): number for form, number in own.calendar[table].items()}
        # An alternation takes the first form that matches, so "June" must precede "Jun".
        longest_first = sorted(forms, key=lambda form: -len(form))
        word = f"{border[0]}(?P<form>{'|'.join(map(_written, longest_first))}){border[1]}"
        meanings = {form.lower(): (name, number) for form, number in forms.items()}
        if table == "months":
            before = rf"(?<!\d)(?P<day>\d{{1,2}}){_ORDINAL}{_OF}\s+"
            year = rf"(?:,?{_OF}\s+(?P<year>\d{{4}}))?"
            found.append((re.compile(f"{before}{word}{year}"), meanings))
            behind = rf"\s+(?P<day>\d{{1,2}}){_ORDINAL}(?!\d)"
            found.append((re.compile(f"{word}{behind}{year}"), meanings))
            found.append((re.compile(f"{word}{year}"), meanings))
        else:
            found.append((re.compile(word), meanings))
    return found


def _written(form: str) -> str:
    """Returns a pattern for a form, ignoring case only if the form is lower case, because English "may" is
    not a month."""
    escaped = re.escape(form)
    return f"(?i:{escaped})" if form.islower() else escaped
