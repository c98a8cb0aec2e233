"""The values of expressions: how they are compared, converted to text, and limited in size.

A value is a JSON value, a `datetime` in local time without a zone, a `Link`, `Duration`, `Pattern` or
`BaseFile`. All faults are `ValueError`s, which the caller completes with the expression.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from vault_indexer.contract import JsonValue
from vault_indexer.system import record
from vault_indexer.text.fold import tag_name

Value = Any

MAX_SIZE = 100_000
"""Of a value that an expression makes: its characters and elements together."""

_MAX_NESTING = 32
_EXACT = 2.0**53
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?")
_DURATION = re.compile(r"\s*([-+]?\d{1,6}(?:\.\d{1,6})?)\s*([A-Za-z]+)\s*")
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*")
_MONTHS = MappingProxyType({"y": 12, "year": 12, "M": 1, "month": 1})
_MONTH_MS = 2_629_746_000
_SECONDS = MappingProxyType(
    {"w": 604800, "week": 604800, "d": 86400, "day": 86400, "h": 3600, "hour": 3600}
    | {"m": 60, "minute": 60, "s": 1, "second": 1}
)


@record
class Link:
    """A link to the file at `path`, or (None) to none of the vault."""

    target: str
    path: str | None = None
    display: str = ""

    def __str__(self) -> str:
        return self.display or (self.target if self.path is None else shown_name(self.path))


@record
class Duration:
    months: float = 0
    seconds: float = 0

    def __str__(self) -> str:
        parts = ((self.months, "month"), (self.seconds / 86400, "day"))
        named = [f"{whole(number)} {unit}{'' if number == 1 else 's'}" for number, unit in parts if number]
        return ", ".join(named) or "0 days"

    def times(self, factor: float) -> Duration:
        return Duration(self.months * factor, self.seconds * factor)


class Elapsed(int):
    """The milliseconds between two dates: a number that compares as a duration, too."""


@record
class Pattern:
    """A regular expression, with its program of RE2."""

    source: str
    is_global: bool
    program: Any

    def __str__(self) -> str:
        return f"/{self.source}/"


@record
class BaseFile:
    """A file of the vault; only notes have properties and tags."""

    path: str
    size: int
    mtime_ns: int
    properties: Callable[[], Mapping[str, Value]] = dict
    tags: Callable[[], Sequence[str]] = list

    def __str__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def modified(self) -> datetime:
        return datetime.fromtimestamp(self.mtime_ns / 1e9)

    def note_property(self, name: str) -> Value:
        """The value of a property, whose name is compared without case; None if the note has none."""
        found = self.properties()
        if name in found:
            return found[name]
        return next((value for key, value in found.items() if key.lower() == name.lower()), None)


def shown_name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


_KINDS: Mapping[type, str] = MappingProxyType(
    {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "list"}
    | {Elapsed: "number"}
    | {datetime: "date", Link: "link", Duration: "duration", Pattern: "regexp", BaseFile: "file"}
)


def kind_of_value(value: Value) -> str:
    """The name of the type, as `isType()` compares it."""
    return _KINDS.get(type(value), "object")


def limited(value: Value) -> Value:
    """Returns the value. Raises ValueError if it is too large or too deeply nested."""
    waiting, room = [(value, 0)], MAX_SIZE
    while waiting:
        inner, depth = waiting.pop()
        if isinstance(inner, list | dict):
            elements = list(inner) if isinstance(inner, list) else list(inner.values())
            waiting += [(element, depth + 1) for element in elements]
            room -= len(elements)
        room -= len(inner) if isinstance(inner, str) else 1
        check_size(MAX_SIZE - room)
        if depth > _MAX_NESTING:
            raise ValueError(f"lists are nested more than {_MAX_NESTING} deep")
    return value


def check_size(size: float) -> None:
    """Raises ValueError for the length of a text that would be too large."""
    if size > MAX_SIZE:
        raise ValueError(f"a value has more than {MAX_SIZE:,} characters and elements")


# Numbers, as in JavaScript: double precision, with infinity and NaN.


def number_of(value: Value) -> float | None:
    """The number that a value is or that a text consists of; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return None
    try:
        return float(value)
    except OverflowError:
        # An integer can be larger than any float.
        return math.inf if not isinstance(value, str) and value > 0 else -math.inf


def whole(value: float) -> int | float:
    """The number as an integer if it is one."""
    return int(value) if abs(value) < _EXACT and value == math.floor(value) else value


# Dates and durations.


def moment_of(value: Value) -> datetime | None:
    """The moment of a date, or of a text that is one, in local time; None for other values."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _DATE.fullmatch(value.strip()):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return _local_time(found) if found.tzinfo else found
    except (ValueError, OverflowError):
        return None


def seconds_since_1970(moment: datetime) -> float:
    """Returns the seconds from 1970 to a moment in local time; negative before it."""
    try:
        return moment.timestamp()
    except OSError:
        cycles = _cycles(moment)
        return (moment - cycles).timestamp() + cycles.total_seconds()


def _local_time(moment: datetime) -> datetime:
    try:
        return moment.astimezone().replace(tzinfo=None)
    except OSError:
        cycles = _cycles(moment)
        return (moment - cycles).astimezone().replace(tzinfo=None) + cycles


def _cycles(moment: datetime) -> timedelta:
    """Returns the time from the years 2000 to 2399 to those of a moment, in cycles of 400 years, after which
    the calendar repeats: Windows supports local time only from 1970 to 3000."""
    return (moment.year - 2000) // 400 * timedelta(days=146_097)


def duration_of(value: Value) -> Duration:
    """Raises ValueError if the value is not a duration such as `1 day`, `2w` or `1M 3h`."""
    if isinstance(value, Duration):
        return value
    if isinstance(value, Elapsed):
        return Duration(seconds=value / 1000)
    months, seconds, at, text = 0.0, 0.0, 0, value if isinstance(value, str) else ""
    while match := _DURATION.match(text, at):
        unit = match[2] if len(match[2]) == 1 else match[2].lower().removesuffix("s")
        if unit not in _MONTHS and unit not in _SECONDS:
            break
        months += float(match[1]) * _MONTHS.get(unit, 0)
        seconds += float(match[1]) * _SECONDS.get(unit, 0)
        at = match.end()
    if not text or at < len(text):
        raise ValueError(f"{shown(value)!r} is not a duration such as 1 day, 2w or 3 months")
    return Duration(months, seconds)


def milliseconds_of(value: Value) -> float | None:
    """The length of a duration, or of a text that is one, or a number; None for other values."""
    number = number_of(value)
    if number is not None or not isinstance(value, Duration | str):
        return number
    try:
        found = duration_of(value)
    except ValueError:
        return None
    return found.months * _MONTH_MS + found.seconds * 1000


def shifted(moment: datetime, by: Duration, direction: int) -> datetime:
    """The moment later or earlier by a duration. Raises ValueError outside of the years 1 to 9999."""
    try:
        year, month = divmod(moment.year * 12 + moment.month - 1 + round(direction * by.months), 12)
        if not 1 <= year <= 9999:
            raise OverflowError
        day = min(moment.day, calendar.monthrange(year, month + 1)[1])
        return moment.replace(year=year, month=month + 1, day=day) + timedelta(seconds=direction * by.seconds)
    except OverflowError:
        raise ValueError("a date is outside of the years 1 to 9999") from None


# Comparisons.


def is_equal(left: Value, right: Value) -> bool:
    """Whether two values are the same. Links are if they lead to the same file."""
    if isinstance(left, Link | BaseFile) or isinstance(right, Link | BaseFile):
        if isinstance(left, str) or isinstance(right, str):
            return _is_named(right, left) if isinstance(left, str) else _is_named(left, right)
        return bool(_link_names(left) & _link_names(right))
    if isinstance(left, datetime) or isinstance(right, datetime):
        return moment_of(left) is not None and moment_of(left) == moment_of(right)
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, Elapsed | Duration) or isinstance(right, Elapsed | Duration):
        return milliseconds_of(left) is not None and milliseconds_of(left) == milliseconds_of(right)
    if kind_of_value(left) == "number" or kind_of_value(right) == "number":
        return number_of(left) is not None and number_of(left) == number_of(right)
    if isinstance(left, str) and isinstance(right, str):
        is_tag = left[:1] == "#" or right[:1] == "#"
        return left == right or (is_tag and tag_name(left) == tag_name(right))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_equal, left, right))
    return bool(left == right)


def _link_names(value: Value) -> set[str]:
    """The path or target by which a file or a link is compared; empty for other values."""
    match value:
        case BaseFile():
            return {value.path}
        case Link():
            return {value.path or value.target}
        case _:
            return set()


def _is_named(value: Value, text: str) -> bool:
    """Whether a text is the path of a file, or the target, path or text of a link."""
    name = text.removeprefix("[[").removesuffix("]]")
    if isinstance(value, BaseFile):
        return name in (value.path, value.path.removesuffix(".md"))
    return name in (value.target, value.path, str(value))


def is_in_order(order: Callable[[Any, Any], bool], left: Value, right: Value) -> bool:
    """Whether two values are in an order; false for values that have none in common."""
    if isinstance(left, datetime) or isinstance(right, datetime):
        left, right = moment_of(left), moment_of(right)
    elif isinstance(left, Elapsed | Duration) or isinstance(right, Elapsed | Duration):
        left, right = milliseconds_of(left), milliseconds_of(right)
    elif kind_of_value(left) == "number" or kind_of_value(right) == "number":
        left, right = number_of(left), number_of(right)
    if type(left) is not type(right) or not isinstance(left, float | str | datetime):
        return False
    return order(left, right)


def sort_key(value: Value) -> tuple[int, float, str]:
    """Numbers before dates before other values, which sort by their text, whatever its case."""
    if isinstance(value, bool | int | float):
        found = float(value) if isinstance(value, bool) else number_of(value) or 0.0
        return (0, math.inf if math.isnan(found) else found, "")
    if isinstance(value, datetime):
        return (1, (value - datetime.min).total_seconds(), "")
    return (2, 0.0, shown(value).casefold())


def is_empty(value: Value) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


# Output.


def shown(value: Value) -> str:
    """A value as text."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int() | float():
            number = number_of(value) or 0.0
            if math.isfinite(number):
                return str(whole(number))
            return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
        case datetime():
            is_day = (value.hour, value.minute, value.second) == (0, 0, 0)
            return value.date().isoformat() if is_day else value.isoformat(" ", "seconds")
        case list():
            return ", ".join(map(shown, value))
        case dict():
            return ", ".join(f"{key}: {shown(inner)}" for key, inner in value.items())
        case _:
            return str(value)


def as_json(value: Value) -> JsonValue:
    """A value as JSON: dates are ISO 8601, a link is an object with `text` and `path` or `href`."""
    match value:
        case None | bool() | str():
            return value
        case int() | float():
            found = number_of(value) or 0.0
            return whole(found) if math.isfinite(found) else shown(value)
        case datetime():
            return shown(value).replace(" ", "T")
        case list():
            return [as_json(inner) for inner in value]
        case dict():
            return {str(key): as_json(inner) for key, inner in value.items()}
        case Link() if value.path is None:
            is_address = re.match(r"https?://", value.target)
            return {"text": str(value), "href": value.target} if is_address else str(value)
        case Link() | BaseFile():
            text = str(value) if isinstance(value, Link) else shown_name(value.path)
            return {"text": text, "path": value.path}
        case _:
            return shown(value)
