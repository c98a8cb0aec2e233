"""What a query says, as a small tree.

Columns are 1-based and count characters of the query. Nodes that say the same are equal, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum


class Scope(StrEnum):
    """Where the words inside an operator must stand together; the value is the operator's name."""

    CONTENT = "content"
    HEADING = "heading"
    SECTION = "section"
    LINE = "line"
    BLOCK = "block"
    TASK = "task"
    TASK_TODO = "task-todo"
    TASK_DONE = "task-done"
    PATH = "path"
    FILE = "file"
    TAG = "tag"


NAMES = frozenset({Scope.PATH, Scope.FILE, Scope.TAG})
"""Scopes that look at a note's names, not at its text: they do not rank."""


class Direction(StrEnum):
    """Which end of a link the named note is."""

    TO = "links-to"
    FROM = "linked-from"


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written. It ranks; inside an operator it must be there."""

    text: str
    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand in this order, without the quotes around them; with `match_case` also in this case.

    A word behind `match-case:` or `ignore-case:` is one: it does not only rank, it must be there.
    """

    text: str
    column: int = field(compare=False)
    match_case: bool = False


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression that matches somewhere, without the slashes around it."""

    pattern: str
    column: int = field(compare=False)
    match_case: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    """What must not hold."""

    operand: Node
    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class All:
    """Everything must hold."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one must hold."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """`inside` holds within one piece of the scope; None: there is such a piece at all."""

    scope: Scope
    inside: Node | None
    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """A number or an ISO date, compared with the value of a property; `op` is one of > >= < <=."""

    op: str
    value: float | str
    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Null:
    """The property is there and has no value."""

    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Property:
    """A property of the frontmatter; `test` None: it is there, whatever its value."""

    name: str
    test: Node | None
    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Fact:
    """What the catalog knows of the note, by an operator with one value: when the file was last modified
    (`before`, `after`: a moment), its language (`lang`: ISO 639-1). `level`, one of `LEVELS`, is that of a
    chunk."""

    operator: str
    value: str
    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Linked:
    """The note links to `target`, or is linked from it."""

    direction: Direction
    target: str
    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class InVault:
    """The note is in the vault of this name; `is_here` says whether that is the vault that is searched."""

    name: str
    column: int = field(compare=False)
    is_here: bool = False


LEVELS = ("parent", "child")
"""The values of `level:`; the place of one is the level of its chunks."""


Text = Word | Phrase | Regex
"""The leaves that are looked for in a text or name."""

Node = Text | Not | All | Either | Within | Compare | Null | Property | Fact | Linked | InVault


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter of the query, and the query's text that says it."""

    node: Node
    source: str


@dataclass(frozen=True, slots=True)
class Query:
    """`text` ranks ("": the query only filters), `conditions` must all hold.

    `open_end`: the query ends in a word that ranks, which may be unfinished while typing. `notices` say
    what was taken as text although it looks like an operator.
    """

    text: str
    conditions: tuple[Condition, ...] = ()
    open_end: bool = False
    notices: tuple[str, ...] = ()


def outline(node: Node) -> str:
    """The tree on one line, operators as functions and columns behind an `@`."""
    match node:
        case Word(text, column):
            return f"{text}@{column}"
        case Phrase(text, column, match_case):
            return f'{"match-case " if match_case else ""}"{text}"@{column}'
        case Regex(pattern, column, match_case):
            return f"{'match-case ' if match_case else ''}/{pattern}/@{column}"
        case Not(operand, column):
            return f"not@{column}({outline(operand)})"
        case All(parts):
            return f"all({', '.join(map(outline, parts))})"
        case Either(parts):
            return f"any({', '.join(map(outline, parts))})"
        case Within(scope, inside, column):
            return f"{scope}@{column}({outline(inside) if inside else ''})"
        case Property(name, test, column):
            return f"property@{column}({name}{', ' + outline(test) if test else ''})"
        case _:
            return _outline_of_value(node)


def _outline_of_value(node: Node) -> str:
    match node:
        case Compare(op, value, column):
            return f"{op} {value}@{column}"
        case Null(column):
            return f"null@{column}"
        case Fact(operator, value, column):
            return f"{operator}@{column}({value})"
        case Linked(direction, target, column):
            return f"{direction}@{column}({target})"
        case InVault(name, column):
            return f"vault@{column}({name})"
        case _:
            raise AssertionError(node)


def ranking_words(node: Node) -> Iterator[str]:
    """The texts of a condition that say what is looked for: not those negated, nor names and values."""
    match node:
        case Word(text, _) | Phrase(text, _):
            yield text
        case All(parts) | Either(parts):
            for part in parts:
                yield from ranking_words(part)
        case Within(scope, inside, _) if inside and scope not in NAMES:
            yield from ranking_words(inside)
        case _:
            return


def atoms(node: Node) -> Iterator[Node]:
    """The leaves of a tree of `Not`, `All` and `Either`."""
    match node:
        case Not(operand, _):
            yield from atoms(operand)
        case All(parts) | Either(parts):
            for part in parts:
                yield from atoms(part)
        case _:
            yield node


def leaves(node: Node) -> Iterator[Node]:
    """All words, phrases, comparisons and values of a tree, those within operators too."""
    for atom in atoms(node):
        match atom:
            case Within(_, inside, _) | Property(_, inside, _) if inside is not None:
                yield from leaves(inside)
            case _:
                yield atom


def holds(node: Node, leaf_holds: Callable[[Node], bool]) -> bool:
    """Whether a tree of `Not`, `All` and `Either` holds, by what is said of its leaves."""
    match node:
        case Not(operand, _):
            return not holds(operand, leaf_holds)
        case All(parts):
            return all(holds(part, leaf_holds) for part in parts)
        case Either(parts):
            return any(holds(part, leaf_holds) for part in parts)
        case _:
            return leaf_holds(node)


def replace_leaves(node: Node, replacement: Callable[[Node], Node]) -> Node:
    """The same tree of `Not`, `All` and `Either` with other leaves."""
    match node:
        case Not(operand, column):
            return Not(replace_leaves(operand, replacement), column)
        case All(parts) | Either(parts):
            return type(node)(tuple(replace_leaves(part, replacement) for part in parts))
        case _:
            return replacement(node)


def with_case(node: Node, match_case: bool, decided: Container[int] = ()) -> Node:
    """A tree of words, phrases and expressions in which case matters or not; each must be there.

    Leaves at the columns `decided` stay as they are."""

    def decide(leaf: Node) -> Node:
        match leaf:
            case Word(_, column) | Phrase(_, column) | Regex(_, column) if column in decided:
                return leaf
            case Word(text, column) | Phrase(text, column):
                return Phrase(text, column, match_case)
            case Regex(pattern, column):
                return Regex(pattern, column, match_case)
            case _:
                return leaf

    return replace_leaves(node, decide)


def level_of(node: Node) -> tuple[int, bool] | None:
    """The level that chunks must have, or with False must not have; None for any other condition."""
    match node:
        case Fact("level", value, _):
            return LEVELS.index(value), True
        case Not(Fact("level", value, _), _):
            return LEVELS.index(value), False
        case _:
            return None


def in_vault(node: Node, vault: str) -> Node:
    """The tree with `InVault` decided: for a search of the vault of this name."""

    def decide(leaf: Node) -> Node:
        return InVault(leaf.name, leaf.column, leaf.name == vault) if isinstance(leaf, InVault) else leaf

    return replace_leaves(node, decide)


def column_of(node: Node) -> int:
    return column_of(node.parts[0]) if isinstance(node, (All, Either)) else node.column


# Values in a query: moments, numbers, dates, tags.


_AGO = re.compile(r"(\d{1,4})([hdwmy])")
_UNIT_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_YEAR = re.compile(r"\d{4}")
_UNPADDED = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2})(:.*))?")
_BASED = re.compile(r"0[ox][0-9a-fA-F]+")
_TAG = re.compile(r"[^\s#,;:.!?\"'`()\[\]{}<>|\\]+")
_LARGEST_NS = 2**63 - 1

MOMENTS = (
    "a date (2026, 2026-01, 2026-01-31, 2026-01-31T09:30), an age (12h, 7d, 2w, 3m, 1y), today or yesterday"
)


def moment_ns(text: str, now: datetime) -> int:
    """Nanoseconds since the epoch of a moment's beginning. Raises ValueError if it is none of `MOMENTS`.

    A date without an offset is in the time zone of `now`; a month of an age has 30 days, a year 365. A moment
    before 1677 or after 2262 becomes the first or last one that fits into the 64 bits of SQLite's integers.
    """
    folded = text.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if folded == "today":
        return _ns(midnight)
    if folded == "yesterday":
        return _ns(_local(midnight.date() - timedelta(days=1), now.tzinfo))
    ago = _AGO.fullmatch(folded)
    if ago:
        return _ns(now - timedelta(days=int(ago[1]) * _UNIT_DAYS[ago[2]]))
    if _YEAR.fullmatch(folded):
        return _ns(_local(date(int(folded), 1, 1), now.tzinfo))
    day = _DAY.fullmatch(folded)
    if day:
        return _ns(_local(date(int(day[1]), int(day[2]), int(day[3] or 1)), now.tzinfo))
    exact = datetime.fromisoformat(text.strip())
    return _ns(exact if exact.tzinfo else exact.replace(tzinfo=now.tzinfo))


def _local(day: date, zone: tzinfo | None) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _ns(moment: datetime) -> int:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    exact = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
    return min(max(exact, -_LARGEST_NS), _LARGEST_NS)


def is_moment(text: str) -> bool:
    """Whether `moment_ns` takes it."""
    try:
        moment_ns(text, datetime(2000, 1, 1, tzinfo=UTC))
    except (ValueError, OverflowError):
        return False
    return True


def number(value: object) -> float | None:
    """A finite number, or a text that is one; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        based = _BASED.fullmatch(value) if isinstance(value, str) else None
        found = float(int(based[0], 0) if based else value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < float("inf") else None


def iso_date(value: object) -> str | None:
    """A date or time in a form whose alphabetic order is that of time ("2026-01", "2026-01-31T09:30:00")."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    if unpadded := _UNPADDED.fullmatch(text):
        year, *rest, minutes = unpadded.groups()
        month, day_of_month, hour = (part and part.zfill(2) for part in rest)
        text = f"{year}-{month}-{day_of_month}" + (f"T{hour}{minutes}" if hour else "")
    day = _DAY.fullmatch(text)
    try:
        if day:
            date(int(day[1]), int(day[2]), int(day[3] or 1))
            return text
        if not _DAY.match(text):
            return None
        exact = datetime.fromisoformat(text)
    except ValueError:
        return None
    return exact.replace(tzinfo=None).isoformat()


def is_tag(text: str) -> bool:
    """Whether it can be a tag, without its `#`."""
    return bool(_TAG.fullmatch(text)) and not text.startswith("/")
