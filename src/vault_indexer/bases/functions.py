"""The functions and fields that expressions can use, by the type of their value: the whole language.

A row of a table is a function and the types of its arguments, one letter each: n number, t text, p text or
regular expression, d date, f file, link or path, x any. A capital letter is optional, and `*` repeats the
last one.
"""

from __future__ import annotations

import html
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from types import MappingProxyType
from typing import Any

from vault_indexer.bases.scope import Scope
from vault_indexer.bases.values import (
    BaseFile,
    Link,
    Pattern,
    Value,
    check_size,
    duration_of,
    is_empty,
    is_equal,
    kind_of_value,
    milliseconds_of,
    moment_of,
    number_of,
    seconds_since_1970,
    shown,
    sort_key,
    whole,
)
from vault_indexer.text.fold import tag_name

Function = Callable[..., Value]
Table = Mapping[str, tuple[Function, str]]

_TYPES: Mapping[str, tuple[str, Callable[[Value], bool]]] = {
    "n": ("a number", lambda value: kind_of_value(value) == "number"),
    "t": ("a text", lambda value: isinstance(value, str | Link)),
    "p": ("a text or regular expression", lambda value: isinstance(value, str | Link | Pattern)),
    "d": ("a date", lambda value: moment_of(value) is not None),
    "f": ("a file, link or path", lambda value: isinstance(value, str | Link | BaseFile)),
    "x": ("a value", lambda _value: True),
}


def checked(name: str, function: Function, types: str, scope: Scope, arguments: Sequence[Value]) -> Value:
    """Calls a function. Raises ValueError if the number or a type of the arguments is wrong."""
    wanted = types.removesuffix("*")
    if types.endswith("*"):
        wanted += wanted[-1].upper() * max(0, len(arguments) - len(wanted))
    least = sum(letter.islower() for letter in types) - types.endswith("*")
    if not least <= len(arguments) <= len(wanted):
        number = str(least) if least == len(wanted) else f"{least} to {len(wanted)}"
        raise ValueError(f"{name}() takes {number} value{'' if number == '1' else 's'}, not {len(arguments)}")
    for letter, value in zip(wanted, arguments, strict=False):
        described, is_valid = _TYPES[letter.lower()]
        if not is_valid(value) and not (letter.isupper() and value is None):
            raise ValueError(f"{name}() takes {described}, not a {kind_of_value(value)}")
    values = [
        shown(value) if letter in "tTpP" and isinstance(value, Link) else value
        for letter, value in zip(wanted, arguments, strict=False)
    ]
    return function(scope, *values)


def call_method(scope: Scope, name: str, owner: Value, arguments: Sequence[Value]) -> Value:
    """Calls a method of a value; for a missing value, those not in `_ANY` return None. Raises ValueError."""
    tables = [_ANY, *(TYPES[kind] for kind in _kinds(owner))]
    found = next((table[name] for table in tables if name in table), None)
    if found is not None:
        own = shown(owner) if isinstance(owner, Link) and name in TYPES["string"] else owner
        function, types = found
        return checked(name, lambda *values: function(values[0], own, *values[1:]), types, scope, arguments)
    if owner is None:
        return None
    raise ValueError(f"{name}() of a {kind_of_value(owner)} is not supported")


def _kinds(value: Value) -> tuple[str, ...]:
    kind = kind_of_value(value)
    return ("link", "string") if kind == "link" else (kind,) if kind in TYPES else ()


def _at(position: float | None) -> int | None:
    if position is None:
        return None
    # Limited, because an infinite number has no integer.
    return 0 if math.isnan(position) else int(max(-1e9, min(1e9, position)))


def _slice(_scope: Scope, value: Any, start: float, end: float | None = None) -> Value:
    return value[_at(start) : _at(end)]


def _has(scope: Scope, values: Value, wanted: Value) -> bool:
    scope.tick()
    return any(is_equal(value, wanted) for value in values)


# Texts.


def _replace(scope: Scope, text: str, pattern: str | Pattern, by: str) -> str:
    if isinstance(pattern, str):
        check_size(len(text) + text.count(pattern) * len(by))
        return text.replace(pattern, by)
    parts, at, size = [], 0, 0
    for match in _matches(scope, pattern, text):
        groups = [match.group(number) or "" for number in range(match.re.groups + 1)]
        parts += [text[at : match.start()], _with_groups(by, groups)]
        size += len(parts[-1])
        check_size(size)
        at = match.end()
    return "".join([*parts, text[at:]])


def _with_groups(by: str, groups: Sequence[str]) -> str:
    numbered = {str(number): group for number, group in enumerate(groups)} | {"&": groups[0], "$": "$"}
    check_size(by.count("$") * max(map(len, groups)))
    return re.sub(r"\$([1-9&$])", lambda found: numbered.get(found[1], found[0]), by)


def _matches(scope: Scope, pattern: Pattern, text: str) -> Iterator[Any]:
    for match in pattern.program.finditer(_plain(text)):
        scope.tick()
        yield match
        if not pattern.is_global:
            return


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _split(scope: Scope, text: str, separator: str | Pattern, most: float | None = None) -> list[Value]:
    if isinstance(separator, str):
        found = text.split(separator) if separator else list(text)
    else:
        found, at = [], 0
        for match in _matches(scope, Pattern(separator.source, True, separator.program), text):
            if match.end() > match.start():
                found.append(text[at : match.start()])
                at = match.end()
        found.append(text[at:])
    return list(found[: _at(most)])


def _repeat(_scope: Scope, text: str, count: float) -> str:
    times = _at(count) or 0
    if times < 0:
        raise ValueError("repeat() takes a number from 0")
    check_size(len(text) * times)
    return text * times


def _join(_scope: Scope, values: list[Value], separator: str) -> str:
    parts = list(map(shown, values))
    check_size(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


_STRING: Table = {
    "contains": (lambda _, text, part: part in text, "t"),
    "containsAll": (lambda _, text, *parts: all(part in text for part in parts), "t*"),
    "containsAny": (lambda _, text, *parts: any(part in text for part in parts), "t*"),
    "endsWith": (lambda _, text, part: text.endswith(part), "t"),
    "lower": (lambda _, text: text.lower(), ""),
    "replace": (_replace, "pt"),
    "repeat": (_repeat, "n"),
    "reverse": (lambda _, text: text[::-1], ""),
    "slice": (_slice, "nN"),
    "split": (_split, "pN"),
    "startsWith": (lambda _, text, part: text.startswith(part), "t"),
    "title": (lambda _, text: re.sub(r"\S+", lambda word: word[0][0].upper() + word[0][1:], text), ""),
    "trim": (lambda _, text: text.strip(), ""),
}


# Numbers.


def _rounded(value: float, digits: float, name: str) -> Decimal | None:
    """The number with this many decimals, halves up; None for a number without digits."""
    if not 0 <= digits <= 100 or digits != int(digits):
        raise ValueError(f"{name}() takes 0 to 100 digits")
    exact = number_of(value)
    if exact is None or not math.isfinite(exact):
        return None
    with localcontext() as context:
        # Enough for the 309 digits of the largest float and 100 decimals.
        context.prec = 500
        return Decimal(repr(exact)).quantize(Decimal(1).scaleb(-int(digits)), ROUND_HALF_UP)


def _round(_scope: Scope, value: float, digits: float | None = None) -> Value:
    found = _rounded(value, digits or 0, "round")
    return value if found is None else whole(float(found))


def _to_fixed(_scope: Scope, value: float, digits: float | None = None) -> str:
    found = _rounded(value, digits or 0, "toFixed")
    return shown(value) if found is None else f"{found:f}"


def _integer(function: Callable[[float], int]) -> Function:
    return lambda _, value: function(value) if math.isfinite(number_of(value) or 0.0) else value


def _number(_scope: Scope, value: Value) -> Value:
    if isinstance(value, datetime):
        return round(seconds_since_1970(value) * 1000)
    found = float(value) if isinstance(value, bool) else number_of(value)
    if found is None:
        raise ValueError(f"number() takes a number, not {shown(value)[:40]!r}")
    return whole(found) if math.isfinite(found) else found


_NUMBER: Table = {
    "abs": (lambda _, value: abs(value), ""),
    "ceil": (_integer(math.ceil), ""),
    "floor": (_integer(math.floor), ""),
    "round": (_round, "N"),
    "toFixed": (_to_fixed, "N"),
}


# Dates.


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKENS = (
    "YYYY={0.year:04} YY={0:%y} M={0.month} MM={0:%m} MMM={month:.3} MMMM={month} Mo={month_th}"
    " D={0.day} DD={0:%d} Do={day_th} DDD={number} DDDD={0:%j} d={sunday} dd={day:.2} ddd={day:.3} dddd={day}"
    " E={monday} Q={quarter} W={1.week} WW={1.week:02} GGGG={1.year:04} H={0.hour} HH={0:%H} h={hour}"
    " hh={0:%I} m={0.minute} mm={0:%M} s={0.second} ss={0:%S} SSS={ms:03} A={half}"
    " a={small} X={unix} x={unix_ms}"
)
_FORMATS = MappingProxyType(dict(pair.split("=") for pair in _TOKENS.split()))
"""The tokens of Moment.js, by what they show."""

_FORMAT = re.compile(r"\[([^\]]*)\]|Mo|Do|YYYY|YY|M{1,4}|D{1,4}|d{1,4}|WW?|GGGG|HH?|hh?|mm?|ss?|SSS|[A-Za-z]")


def _ordinal(number: int) -> str:
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def _format(_scope: Scope, moment: datetime, pattern: str) -> str:
    half = "AM" if moment.hour < 12 else "PM"
    seconds = seconds_since_1970(moment)
    named = {
        "month": _MONTHS[moment.month - 1],
        "month_th": _ordinal(moment.month),
        "day": _DAYS[moment.weekday()],
        "day_th": _ordinal(moment.day),
        "number": moment.timetuple().tm_yday,
        "sunday": moment.isoweekday() % 7,
        "monday": moment.isoweekday(),
        "quarter": (moment.month + 2) // 3,
        "hour": moment.hour % 12 or 12,
        "ms": moment.microsecond // 1000,
        "half": half,
        "small": half.lower(),
        "unix": int(seconds),
        "unix_ms": round(seconds * 1000),
    }

    def token(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        if match[0] not in _FORMATS:
            raise ValueError(f"format(): {match[0]!r} is not supported; write text in brackets: [{match[0]}]")
        return _FORMATS[match[0]].format(moment, moment.isocalendar(), **named)

    return _FORMAT.sub(token, pattern)


_AGES = (
    *((45, 1, "a few seconds"), (90, 1, "a minute"), (2_700, 60, "minutes"), (5_400, 1, "an hour")),
    *(
        (79_200, 3_600, "hours"),
        (129_600, 1, "a day"),
        (2_246_400, 86_400, "days"),
        (3_974_400, 1, "a month"),
    ),
    *((27_561_600, 2_629_746, "months"), (47_260_800, 1, "a year"), (math.inf, 31_556_952, "years")),
)
"""Ages in seconds up to which each unit is used, by the rules of Moment.js."""


def _relative(scope: Scope, moment: datetime) -> str:
    seconds = (scope.evaluation.now - moment).total_seconds()
    size, words = next((size, words) for limit, size, words in _AGES if abs(seconds) < limit)
    text = words if size == 1 else f"{math.floor(abs(seconds) / size + 0.5)} {words}"
    return f"{text} ago" if seconds >= 0 else f"in {text}"


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


_DATE: Table = {
    "date": (lambda _, moment: _midnight(moment), ""),
    "format": (_format, "t"),
    "time": (lambda _, moment: moment.strftime("%H:%M:%S"), ""),
    "relative": (_relative, ""),
}


# Lists.


def _flat(values: list[Value]) -> Iterator[Value]:
    for value in values:
        yield from _flat(value) if isinstance(value, list) else (value,)


def _unique(scope: Scope, values: list[Value]) -> list[Value]:
    found: list[Value] = []
    for value in values:
        if not _has(scope, found, value):
            found.append(value)
    return found


def _mean(_scope: Scope, values: list[Value]) -> Value:
    numbers = [found for value in values if (found := number_of(value)) is not None]
    return whole(sum(numbers) / len(numbers)) if numbers and math.isfinite(sum(numbers)) else None


LIST_EXPRESSIONS = frozenset({"filter", "map", "reduce"})
"""Functions whose argument is an expression with the names `value`, `index` and `acc`."""

_LIST: Table = {
    "contains": (_has, "x"),
    "containsAll": (lambda scope, values, *wanted: all(_has(scope, values, one) for one in wanted), "x*"),
    "containsAny": (lambda scope, values, *wanted: any(_has(scope, values, one) for one in wanted), "x*"),
    "flat": (lambda _, values: list(_flat(values)), ""),
    "join": (_join, "t"),
    "mean": (_mean, ""),
    "reverse": (lambda _, values: values[::-1], ""),
    "slice": (_slice, "nN"),
    "sort": (lambda _, values: sorted(values, key=sort_key), ""),
    "unique": (_unique, ""),
}


# Files and links.


def _file(scope: Scope, value: Value) -> BaseFile | None:
    if isinstance(value, BaseFile):
        return value
    target = (value.path or value.target) if isinstance(value, Link) else value
    return scope.evaluation.files.file(target)


def _has_link(scope: Scope, file: BaseFile, other: Value) -> bool:
    wanted, files = _file(scope, other), scope.evaluation.files
    names = {wanted.path} if wanted else {other.target if isinstance(other, Link) else shown(other)}
    return any((link.path or link.target) in names for link in [*files.links(file), *files.embeds(file)])


def _has_tag(_scope: Scope, file: BaseFile, *names: str) -> bool:
    wanted, own = [tag_name(name) for name in names], [tag_name(tag) for tag in file.tags()]
    return any(tag == name or tag.startswith(f"{name}/") for tag in own for name in wanted)


def _in_folder(_scope: Scope, file: BaseFile, folder: str) -> bool:
    return not folder.strip("/") or file.path.startswith(folder.strip("/") + "/")


def _link(scope: Scope, target: Value, display: Value = None) -> Link:
    shown_text = "" if display is None else shown(display)
    if isinstance(target, BaseFile):
        return Link(target.path, target.path, shown_text)
    if isinstance(target, Link):
        return Link(target.target, target.path, shown_text or target.display)
    return scope.evaluation.files.link(target, shown_text)


def _links_to(scope: Scope, link: Link, other: Value) -> bool:
    file = _file(scope, link)
    return file is not None and _has_link(scope, file, other)


_FILE: Table = {
    "asLink": (_link, "X"),
    "hasLink": (_has_link, "f"),
    "hasProperty": (lambda _, file, name: any(key.lower() == name.lower() for key in file.properties()), "t"),
    "hasTag": (_has_tag, "t*"),
    "inFolder": (_in_folder, "t"),
}

TYPES: Mapping[str, Table] = MappingProxyType(
    {
        "string": _STRING,
        "number": _NUMBER,
        "date": _DATE,
        "list": _LIST,
        "link": {"asFile": (_file, ""), "linksTo": (_links_to, "f")},
        "file": _FILE,
        "object": {
            "keys": (lambda _, table: list(table), ""),
            "values": (lambda _, table: list(table.values()), ""),
        },
        "regexp": {
            "matches": (lambda _, pattern, text: pattern.program.search(_plain(text)) is not None, "t")
        },
    }
)
_ANY: Table = {
    "isEmpty": (lambda _, value: is_empty(value), ""),
    "isTruthy": (lambda _, value: bool(value), ""),
    "isType": (lambda _, value, name: kind_of_value(value) == name, "t"),
    "toString": (lambda _, value: shown(value), ""),
}
METHODS = frozenset(_ANY).union(*TYPES.values())

FILE_FIELDS: Mapping[str, Function] = {
    "file": lambda _, file: file,
    "name": lambda _, file: file.name,
    "basename": lambda _, file: file.name.rpartition(".")[0] or file.name,
    "path": lambda _, file: file.path,
    "folder": lambda _, file: file.path.rpartition("/")[0],
    "ext": lambda _, file: file.name.rpartition(".")[2] if "." in file.name else "",
    "size": lambda _, file: file.size,
    "ctime": lambda scope, file: scope.evaluation.files.created(file),
    "mtime": lambda _, file: file.modified,
    "tags": lambda _, file: [f"#{tag}" for tag in file.tags()],
    "properties": lambda _, file: dict(file.properties()),
    "links": lambda scope, file: scope.evaluation.files.links(file),
    "embeds": lambda scope, file: scope.evaluation.files.embeds(file),
    "backlinks": lambda scope, file: scope.evaluation.files.backlinks(file),
}
_LENGTH: Mapping[str, Function] = {"length": lambda _, value: len(value)}
FIELDS: Mapping[str, Mapping[str, Function]] = {
    "file": FILE_FIELDS,
    "string": _LENGTH,
    "list": _LENGTH,
    "date": {
        **{
            # `name=name`, because the function would otherwise see the last name of the loop.
            name: (lambda _, moment, name=name: getattr(moment, name))
            for name in ("year", "month", "day", "hour", "minute", "second")
        },
        "millisecond": lambda _, moment: moment.microsecond // 1000,
    },
    "duration": {
        name: (lambda _, value, size=size: whole((milliseconds_of(value) or 0) / size))
        for name, size in (
            *(("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000)),
            *(("seconds", 1000), ("milliseconds", 1)),
        )
    },
}
GLOBALS: Table = {
    "date": (lambda _, value: moment_of(value), "d"),
    "duration": (lambda _, value: duration_of(value), "x"),
    "escapeHTML": (lambda _, text: html.escape(text), "t"),
    "file": (_file, "f"),
    "html": (lambda _, text: text, "t"),
    "icon": (lambda _, text: text, "t"),
    "image": (lambda _, value: value, "x"),
    "link": (_link, "fX"),
    "list": (lambda _, value: value if isinstance(value, list) else [value], "x"),
    "max": (lambda _, *values: max(values), "n*"),
    "min": (lambda _, *values: min(values), "n*"),
    "now": (lambda scope: scope.evaluation.now, ""),
    "number": (_number, "x"),
    "random": (lambda _: random.random(), ""),
    "today": (lambda scope: _midnight(scope.evaluation.now), ""),
}
