"""The syntax tree of a query.

Columns are 1-based and count characters of the query. They do not take part in comparisons, so equal terms at
different columns are equal nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import field
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum

from vault_indexer.system import record


class Scope(StrEnum):
    """The piece of a note in which the words inside an operator must be together, by the operator's name."""

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
"""The scopes that search a note's names instead of its text. They do not rank."""


class Direction(StrEnum):
    """The end of a link at which the named note is."""

    TO = "links-to"
    FROM = "linked-from"


@record
class Word:
    """A word as written. It ranks; inside an operator it is required."""

    text: str
    column: int = field(compare=False)


@record
class Phrase:
    """Words in this order, without the surrounding quotes; with `match_case` also in this case.

    A word after `match-case:` or `ignore-case:` is a phrase, because it is required and does not only rank.
    """

    text: str
    column: int = field(compare=False)
    match_case: bool = False


@record
class Regex:
    """A regular expression that must match anywhere, without the surrounding slashes."""

    pattern: str
    column: int = field(compare=False)
    match_case: bool = False


@record
class Not:
    """A condition that must be false."""

    operand: Node
    column: int = field(compare=False)


@record
class All:
    """Conditions that must all be true."""

    parts: tuple[Node, ...]


@record
class Either:
    """Conditions of which at least one must be true."""

    parts: tuple[Node, ...]


@record
class Within:
    """`inside` is true within one piece of the scope. None requires only that there is such a piece."""

    scope: Scope
    inside: Node | None
    column: int = field(compare=False)


@record
class Compare:
    """A number or an ISO date to compare with the value of a property. `op` is one of > >= < <=."""

    op: str
    value: float | str
    column: int = field(compare=False)


@record
class Null:
    """The property exists and has no value."""

    column: int = field(compare=False)


@record
class Property:
    """A property whose value passes `test`. None requires only that the property exists."""

    name: str
    test: Node | None
    column: int = field(compare=False)


@record
class Fact:
    """A fact in the catalog, given by an operator with one value: the time when the note's file was last
    modified (`before` or `after` a moment), the language of the note (`lang`, ISO 639-1), the kind of file
    (`kind`, one of `KINDS`), or the level of a chunk (`level`, one of `LEVELS`)."""

    operator: str
    value: str
    column: int = field(compare=False)


@record
class Linked:
    """The note links to `target`, or is linked from it."""

    direction: Direction
    target: str
    column: int = field(compare=False)


@record
class InVault:
    """The note is in the vault of this name. `is_here` is true if that is the searched vault."""

    name: str
    column: int = field(compare=False)
    is_here: bool = False


LEVELS = ("parent", "child")
"""The values of `level:`. The index of a value is the level of its chunks."""


Text = Word | Phrase | Regex
"""The leaves that are searched for in a text or name."""

Node = Text | Not | All | Either | Within | Compare | Null | Property | Fact | Linked | InVault


@record
class Condition:
    """A filter of the query, and its source text in the query."""

    node: Node
    source: str


@record
class Query:
    """A parsed query. `text` ranks; it is "" if the query only filters. All `conditions` must be true.

    `open_end` is true if the query ends in a ranking word, which may be unfinished while typing. `notices`
    report the parts that were taken as text although they look like an operator.
    """

    text: str
    conditions: tuple[Condition, ...] = ()
    open_end: bool = False
    notices: tuple[str, ...] = ()


def ranking_words(node: Node) -> list[str]:
    """Returns the texts of a condition that are searched for, without negated texts, names and values."""
    match node:
        case Word(text, _) | Phrase(text, _):
            return [text]
        case All(parts) | Either(parts):
            return [text for part in parts for text in ranking_words(part)]
        case Within(scope, inside, _) if inside and scope not in NAMES:
            return ranking_words(inside)
        case _:
            return []


def atoms(node: Node) -> Iterator[Node]:
    """Yields the leaves of a tree of `Not`, `All` and `Either`."""
    match node:
        case Not(operand, _):
            yield from atoms(operand)
        case All(parts) | Either(parts):
            for part in parts:
                yield from atoms(part)
        case _:
            yield node


def leaves(node: Node) -> Iterator[Node]:
    """Yields all words, phrases, comparisons and values of a tree, including those within operators."""
    for atom in atoms(node):
        match atom:
            case Within(_, inside, _) | Property(_, inside, _) if inside is not None:
                yield from leaves(inside)
            case _:
                yield atom


def holds(node: Node, leaf_holds: Callable[[Node], bool]) -> bool:
    """Whether a tree of `Not`, `All` and `Either` is true, given the truth of its leaves."""
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
    """Returns the same tree of `Not`, `All` and `Either` with replaced leaves."""
    match node:
        case Not(operand, column):
            return Not(replace_leaves(operand, replacement), column)
        case All(parts) | Either(parts):
            return type(node)(tuple(replace_leaves(part, replacement) for part in parts))
        case _:
            return replacement(node)


def with_case(node: Node, match_case: bool, decided: Container[int] = ()) -> Node:
    """Returns the tree with `match_case` set for all words, phrases and expressions, which become required.
    Leaves at the columns `decided` do not change."""

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
    """Returns the level that chunks must have (True) or not have (False); None for other conditions."""
    match node:
        case Fact("level", value, _):
            return LEVELS.index(value), True
        case Not(Fact("level", value, _), _):
            return LEVELS.index(value), False
        case _:
            return None


def in_vault(node: Node, vault: str) -> Node:
    """Returns the tree with `InVault` resolved for a search of the vault of this name."""

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
    """Returns the start of a moment in nanoseconds since the epoch. Raises ValueError if it is none of
    `MOMENTS`.

    A date without an offset is in the time zone of `now`. In an age, a month has 30 days and a year 365. A
    moment before 1677 or after 2262 becomes the first or last one that fits into SQLite's 64-bit integers.
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
    """Whether `moment_ns` accepts the text."""
    try:
        moment_ns(text, datetime(2000, 1, 1, tzinfo=UTC))
    except (ValueError, OverflowError):
        return False
    return True


def number(value: object) -> float | None:
    """Returns a finite number, or that in a text; None for other values, including booleans."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        based = _BASED.fullmatch(value) if isinstance(value, str) else None
        found = float(int(based[0], 0) if based else value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < float("inf") else None


def iso_date(value: object) -> str | None:
    """Returns a date or time in a form that sorts ("2026-01", "2026-01-31T09:30:00"), or None."""
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
    """Whether the text, without `#`, is a valid tag."""
    return bool(_TAG.fullmatch(text)) and not text.startswith("/")
