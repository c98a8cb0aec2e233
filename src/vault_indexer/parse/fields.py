"""Fields in the text of a note: `name:: value` of the plugin Dataview, and the signs of the plugin Tasks.

A field has a line of its own, or brackets around it: `[rating:: 4]`, `(rating:: 4)`. As in Dataview, a name
is folded (`**Due Date**` is `due-date`), and only values such as numbers, dates and links form a list.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from vault_indexer.model import Element, ElementKind, JsonValue
from vault_indexer.parse.blocks import Leaf, LeafKind
from vault_indexer.parse.inline import InlineScan, Span, SpanKind
from vault_indexer.parse.plain import NO_DEFINITIONS, plain
from vault_indexer.parse.readable import blank_hidden
from vault_indexer.text.yaml_values import as_written

MAX_FIELDS = 10_000
"""The maximum number of fields of a note."""

MAX_NAME = 100
MAX_VALUE = 4096
"""The maximum numbers of characters of a name and of a value, which is text as well."""

_DAY = r"\d{4}-\d\d-\d\d"
_DATES: Mapping[str, str] = MappingProxyType(
    {
        "due": "📅📆🗓",
        "scheduled": "⏳⌛",
        "start": "🛫",
        "completion": "✅",
        "created": "➕",
        "cancelled": "❌",
    }
)
_PRIORITIES: Mapping[str, str] = MappingProxyType(
    {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}
)
_REPEAT = "🔁"
_DATE_SIGNS = "".join(_DATES.values())
_SIGNS = _DATE_SIGNS + "".join(_PRIORITIES) + _REPEAT
_OF_DATE = {sign: name for name, signs in _DATES.items() for sign in signs}
_MAY_HAVE_FIELDS = re.compile(rf"::|[{_SIGNS}]|\bdue:|@due\(|\bDEADLINE:", re.IGNORECASE)
_SIGN = re.compile(
    rf"(?P<date>[{_DATE_SIGNS}])\ufe0f?[ \t]*(?P<day>{_DAY})"
    rf"|(?P<priority>[{''.join(_PRIORITIES)}])"
    rf"|{_REPEAT}\ufe0f?[ \t]*(?P<repeat>[A-Za-z0-9, !]*[A-Za-z0-9!])"
    rf"|(?:\bdue:|@due\(|\bDEADLINE:)[ \t]*<?(?P<due>{_DAY})",
    re.IGNORECASE,
)
"""The signs of Tasks, and the due dates of todo.txt and Org mode."""

_LINE = re.compile(r"[^\r\n]+")
_LEAD = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[[^\]\r\n]\](?=[ \t])|\[![^\]\r\n]+\][-+]?)?[ \t]*"
)
"""What stands before the text of a line: marks of quotes, items, tasks and callouts."""

_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?P<box>\[[^\]\n]\](?=[ \t]))?")
_NAME = re.compile(r"[^\W_][\w \t/\-\u00c0-\u1fff\u200d\u2070-\u2fff\u3040-\ufeff\uff21-\U0010ffff]*+")
_BRACKETED = re.compile(rf"(?<!#)[\[(](?P<name>[^\[\]():\x00\r\n|]{{1,{MAX_NAME}}}+)::")
_MARKS = " \t*_~=>+•-"
_BRACKET = re.compile(r"[\[\]()]")
_CLOSING = {"[": "]", "(": ")"}
_VALUE_START = re.compile(
    r"\s|\Z|[\])]|!?\[\[|[\"#]|-?\d|[a-z]+://|(?:true|false)\b|[^\x00-\x7f]", re.IGNORECASE
)
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,4}", re.IGNORECASE)
"""Groups of an address such as `fe80::1`."""

_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*\Z")
_ATOM = rf"""!?\[\[[^\[\]]+\]\] | "(?:[^"\\]|\\.)*" | -?\d+(?:\.\d+)?(?![\w:.-])
    | (?:true|false|null)(?!\w) | \#[^\s,]+ | {_DAY}(?:T[\d:.+Z-]+)?(?![\w-])|\d{{4}}-\d\d(?![\w-])"""
_LIST = re.compile(rf"(?:{_ATOM})(?:[ \t]*,[ \t]*(?:{_ATOM}))+", re.VERBOSE | re.IGNORECASE)
_EACH = re.compile(_ATOM, re.VERBOSE | re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORDS: Mapping[str, JsonValue] = MappingProxyType({"true": True, "false": False, "null": None})
_NOT_IN_NAME = re.compile(r"[!-,./:-@\[-^`{-~\x00]")
_HIDDEN = frozenset(
    {
        SpanKind.CODE,
        SpanKind.MATH,
        SpanKind.HTML,
        SpanKind.AUTOLINK,
        SpanKind.ESCAPE,
        SpanKind.WIKILINK,
        SpanKind.EMBED,
    }
)


Field = tuple[str, JsonValue]
"""A folded name and a value."""


def fold_name(name: str) -> str:
    """The name of a field as Dataview folds it: in lower case, with dashes for spaces, without other
    signs."""
    return "-".join(_NOT_IN_NAME.sub("", name).lower().split())


def task_fields(text: str) -> Mapping[str, JsonValue]:
    """The fields of a task, given as written."""
    if not _MAY_HAVE_FIELDS.search(text):
        return {}
    leaf = Leaf(0, len(text), LeafKind.TEXT, 0, len(text))
    return joined_fields(_fields_of_leaf(blank_hidden(text), text, leaf, NO_DEFINITIONS))


def find_fields(
    text: str,
    start: int,
    end: int,
    leaves: Iterable[Leaf],
    elements: Iterable[Element],
    definitions: Mapping[str, str],
) -> Iterator[Field]:
    """The fields of the body `text[start:end]`, in document order: none in code, math, comments and HTML."""
    if not _MAY_HAVE_FIELDS.search(text, start, end):
        return
    shown = text[:start] + blank_hidden(text[start:end])
    math = [(element.start, element.end) for element in elements if element.kind is ElementKind.MATH]
    for leaf in leaves:
        before = bisect_right(math, (leaf.start, len(text))) - 1
        is_math = before >= 0 and leaf.start < math[before][1]
        if (
            leaf.kind is not LeafKind.HTML
            and not is_math
            and _MAY_HAVE_FIELDS.search(shown, leaf.start, leaf.end)
        ):
            yield from _fields_of_leaf(shown, text, leaf, definitions)


def joined_fields(fields: Iterable[Field]) -> dict[str, JsonValue]:
    """The values by name: a list if a name has several, without repetitions."""
    found: dict[str, dict[str, JsonValue]] = {}
    for name, value in fields:
        for single in value if isinstance(value, list) else [value]:
            # By `repr`, because 1, 1.0 and True are equal but are not the same value.
            found.setdefault(name, {}).setdefault(repr(single), single)
    return {
        name: next(iter(values.values())) if len(values) == 1 else list(values.values())
        for name, values in found.items()
    }


def join_properties(
    frontmatter: Mapping[str, JsonValue], fields: Mapping[str, JsonValue]
) -> Mapping[str, JsonValue]:
    """The properties of a note. A name that is in both has the values of the frontmatter, then those of the
    fields."""
    if not fields:
        return frontmatter
    names = {fold_name(name): name for name in frontmatter}
    properties = dict(frontmatter)
    for folded, value in fields.items():
        name = names.get(folded, folded)
        properties[name] = join_values([properties[name], value]) if name in properties else value
    return properties


def join_values(values: Sequence[JsonValue]) -> JsonValue:
    """The values as a single list, or the only one."""
    if len(values) == 1:
        return values[0]
    return [single for value in values for single in (value if isinstance(value, list) else [value])]


def _fields_of_leaf(shown: str, text: str, leaf: Leaf, definitions: Mapping[str, str]) -> Iterator[Field]:
    masked = _mask_syntax(shown, leaf, definitions)
    item = _ITEM.match(text, leaf.owner_start, leaf.owner_end)
    for line in _LINE.finditer(masked):
        yield from _fields_of_line(text, masked, leaf, line.span())
        if item:
            yield from _signs(masked[line.start() : line.end()], is_task=item["box"] is not None)


def _fields_of_line(text: str, masked: str, leaf: Leaf, line: tuple[int, int]) -> Iterator[Field]:
    start, end = line
    if masked.find("::", start, end) < 0:
        return
    is_found = False
    closing = _closing_brackets(masked, start, end)
    position = start
    for match in _BRACKETED.finditer(masked, start, end):
        close = closing.get(match.start(), -1)
        if match.start() < position or close < match.end():
            continue
        name = fold_name(_without_marks(match["name"]))
        # Parentheses may be prose, as in `(std::vector)`. Brackets around a name and `::` are a field.
        is_spaced = match[0][0] == "[" or _is_separator(text, leaf.start + match.end(), leaf.end, name)
        if name and is_spaced:
            is_found = True
            position = close
            yield from _field(name, text[leaf.start + match.end() : leaf.start + close])
    if is_found or leaf.kind is LeafKind.ROW:
        return
    lead = _LEAD.match(masked, start, end)
    separator = masked.find("::", lead.end() if lead else start, end)
    written = _without_marks(masked[lead.end() if lead else start : separator]) if separator >= 0 else ""
    if len(written) <= MAX_NAME and _NAME.fullmatch(written):
        name = fold_name(written)
        first, last = leaf.start + separator + 2, leaf.start + end
        if name and _is_separator(text, first, last, name):
            yield from _field(name, _BLOCK_ID.sub("", text[first:last]))


def _without_marks(written: str) -> str:
    """The name of a field without list markers and emphasis. A last underscore is part of the name if nothing
    precedes the name, as in `size_:: 3`."""
    bare = written.strip()
    return bare.rstrip(_MARKS.replace("_", "")) if bare[:1].isalnum() else bare.strip(_MARKS)


def _mask_syntax(text: str, leaf: Leaf, definitions: Mapping[str, str]) -> str:
    """The text of a leaf with NUL for code, math, HTML, wikilinks and the addresses of links."""
    masked = list(text[leaf.start : leaf.end])
    for span in InlineScan(text, leaf.start, leaf.end, definitions).spans():
        for first, last in _hidden_parts(span):
            for at in range(first - leaf.start, last - leaf.start):
                if masked[at] not in "\r\n":
                    masked[at] = "\x00"
    return "".join(masked)


def _hidden_parts(span: Span) -> tuple[tuple[int, int], ...]:
    if span.kind in (SpanKind.LINK, SpanKind.IMAGE):
        return (span.start, span.inner_start), (span.inner_end, span.end)
    return ((span.start, span.end),) if span.kind in _HIDDEN else ()


def _closing_brackets(masked: str, start: int, end: int) -> dict[int, int]:
    """The position of the closing bracket of each bracket that is closed in the line."""
    found: dict[int, int] = {}
    opened: dict[str, list[int]] = {"]": [], ")": []}
    for match in _BRACKET.finditer(masked, start, end):
        if closes := _CLOSING.get(match[0]):
            opened[closes].append(match.start())
        elif opened[match[0]]:
            found[opened[match[0]].pop()] = match.start()
    return found


def _is_separator(text: str, at: int, end: int, name: str) -> bool:
    """Whether a `::` that ends at `at` separates a name from a value. In `std::vector` and `fe80::1` it does
    not."""
    start = _VALUE_START.match(text, at, end)
    return start is not None and not (start[0][-1:].isdigit() and _HEXADECIMAL.fullmatch(name))


def _field(name: str, written: str) -> Iterator[Field]:
    written = written.strip()
    if len(written) <= MAX_VALUE:
        is_list = _LIST.fullmatch(written)
        values = [_single_value(atom[0]) for atom in _EACH.finditer(written)] if is_list else None
        yield name, values or _single_value(written)


def _single_value(written: str) -> JsonValue:
    if not written:
        return None
    if (folded := written.lower()) in _WORDS:
        return _WORDS[folded]
    if _NUMBER.fullmatch(written):
        return as_written(float(written) if "." in written else int(written), written)
    if len(written) > 1 and written[0] == written[-1] == '"':
        return re.sub(r"\\(.)", r"\1", written[1:-1])
    return written if "[[" in written else plain(written)


def _signs(line: str, *, is_task: bool) -> Iterator[Field]:
    for match in _SIGN.finditer(line):
        if match["date"]:
            yield _OF_DATE[match["date"]], match["day"]
        elif is_task and match["priority"]:
            yield "priority", _PRIORITIES[match["priority"]]
        elif is_task and match["repeat"]:
            yield "repeat", match["repeat"].strip()
        elif is_task:
            yield "due", match["due"]
