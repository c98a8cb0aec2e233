"""Untrusted YAML, read into JSON values within limits.

At most 64 KiB and 50 levels, and at most 256 KiB after aliases are expanded: 280 bytes of them make 5.8 MB.
Values are built from the parser's events, because PyYAML's own loader crashes the process at 60,000 levels.
They follow the core schema of YAML 1.2, as in Obsidian: `yes` is text, `12:30` is not a number, and an
unknown tag is ignored in favour of the value after it.

A number whose digits are not in JSON's form (`007`, `1.10`, `0x1F`) is read as text on request: it may be the
number of a house or of a version. So is a date without its zeros (`2024-2-3`), and a template in braces
(`{{date}}`), in YAML a mapping with a mapping as its key.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from functools import cache
from typing import TYPE_CHECKING

from vault_indexer.model import JsonValue

if TYPE_CHECKING:
    import yaml


MAX_BYTES = 64 * 1024
MAX_EXPANDED = 4 * MAX_BYTES
MAX_DEPTH = 50
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
SURROGATE = re.compile(r"[\ud800-\udfff]")

TAG = "tag:yaml.org,2002:"
DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
TIME = (
    r"(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?"
)
NUMBER = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
PLAIN = re.compile(
    rf"""(?P<bool>true|True|TRUE|false|False|FALSE)
    | (?P<null>~|null|Null|NULL|)
    | (?P<int>[-+]?[0-9]{{1,4000}}|0o[0-7]{{1,4000}}|0x[0-9a-fA-F]{{1,4000}})
    | (?P<float>{NUMBER})
    | (?P<timestamp>{DATE}(?:{TIME})?)""",
    re.VERBOSE,
)
"""The kind of a value without quotes and tag; any other value is text."""

BLANK_LINE = re.compile(r"^[ \t]*\t[ \t]*$", re.MULTILINE)
DASH_AND_TAB = re.compile(r"^( *+(?:[-?:] *+)*-)(?= *\t)[ \t]++", re.MULTILINE)
TEXT_QUESTION = re.compile(r"\?(?=[^\s,\[\]{}])")
PRIVATE_USE = range(0xE000, 0xF8FF)
WRITTEN_FORMS = frozenset({"int", "float", "timestamp"})
FULL_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d(?:\D+\d\d:.*)?")


class YamlRefusedError(Exception):
    """The YAML or TOML is broken or exceeds the limits; `line` counts from 1 within it, 0 if unknown."""

    def __init__(self, detail: str, line: int) -> None:
        super().__init__(detail)
        self.detail = detail
        self.line = line


def load_mapping(
    source: str, *, unique_keys: bool = False, as_written: bool = False
) -> Mapping[str, JsonValue]:
    """The properties in `source`, as JSON values. Raises only YamlRefusedError.

    If a key occurs twice in a mapping, the later one wins, or with `unique_keys` it is an error. With
    `as_written`, numbers, dates and templates keep their written form.
    """
    import yaml

    if len(source.encode()) > MAX_BYTES:
        raise YamlRefusedError(f"longer than {MAX_BYTES // 1024} KiB", 0)
    question = _unused_character(source)
    source = _as_yaml_1_1(source, question)
    try:
        value = _Builder(source, question, unique_keys, as_written).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark:  # PyYAML looks ahead and has its own limit for nesting, so its error may come before ours
            with suppress(yaml.YAMLError):
                _Builder(source[: mark.index], question, unique_keys, as_written).read()
        line = mark.line + 1 if mark else 0
        raise YamlRefusedError(f"not valid YAML: {error.problem or error.context}", line) from error
    except yaml.YAMLError as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise YamlRefusedError(f"not valid YAML: {reason}", 0) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise YamlRefusedError("not a list of properties (`name: value`)", 0)
    return value


def compose_nodes(source: str) -> yaml.Node | None:
    """The syntax tree of a source that `load_mapping` accepts. The marks of the nodes are positions in the
    source. Raises YamlRefusedError."""
    import yaml

    question = _unused_character(source)
    readable = _as_yaml_1_1(source, question)
    if len(readable) != len(source):
        raise YamlRefusedError("a tab where YAML expects spaces", 0)
    try:
        root = yaml.compose(readable, Loader=_parser())
    except yaml.YAMLError as error:
        raise YamlRefusedError(f"not valid YAML: {error}", 0) from error
    waiting = [root] if root else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            node.value = node.value.replace(question, "?")
        elif isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        else:
            waiting += node.value
    return root


def _unused_character(source: str) -> str:
    return next(chr(code) for code in PRIVATE_USE if chr(code) not in source)


def _as_yaml_1_1(source: str, question: str) -> str:
    """The source in a form for PyYAML, with the same lines: tabs that 1.2 allows on blank lines and after the
    dash of an item become spaces, and a question mark at the start of a text becomes the character
    `question`."""
    if "\t" in source:
        source = DASH_AND_TAB.sub(r"\1 ", BLANK_LINE.sub("", source))
    return TEXT_QUESTION.sub(question, source)


class _Builder:
    """Builds the value of the single document in a source.

    An alias repeats the value of its anchor, and its size counts again.
    """

    def __init__(self, source: str, question: str, unique_keys: bool, as_written: bool) -> None:
        import yaml

        self._yaml = yaml
        self._source = source
        self._as_written = as_written
        self._events: Iterator[yaml.Event] = yaml.parse(source, Loader=_parser())
        self._question = question
        self._unique_keys = unique_keys
        self._anchors: dict[str, tuple[JsonValue, int]] = {}
        self._size = 0

    def read(self) -> JsonValue:
        """The value; None for an empty source. Raises YamlRefusedError or yaml.YAMLError."""
        next(self._events)  # the start of the stream
        if isinstance(next(self._events), self._yaml.StreamEndEvent):
            return None
        value = self._node(next(self._events), 1)
        next(self._events)  # the end of the document
        after = next(self._events)
        if not isinstance(after, self._yaml.StreamEndEvent):
            raise _refusal("not valid YAML: more than one document", after)
        return value

    def _node(self, event: yaml.Event, depth: int) -> JsonValue:
        """The value that begins with `event`; an empty collection in its place would have this depth."""
        if isinstance(event, self._yaml.AliasEvent):
            return self._alias(event, depth)
        before = self._size
        self._size += 1
        if isinstance(event, self._yaml.ScalarEvent):
            value = self._scalar(event)
            self._size += len(event.value)
        else:
            value = self._collection(event, depth)
        anchor = getattr(event, "anchor", None)
        if anchor:
            self._anchors[anchor] = value, self._size - before
        return value

    def _alias(self, event: yaml.AliasEvent, depth: int) -> JsonValue:
        if event.anchor not in self._anchors:
            raise _refusal(f"no anchor `&{event.anchor}` before `*{event.anchor}`", event)
        value, size = self._anchors[event.anchor]
        self._size += size
        if self._size > MAX_EXPANDED:
            raise _refusal(f"longer than {MAX_EXPANDED // 1024} KiB with its aliases (`*name`)", event)
        if depth - 1 + nesting_of(value) > MAX_DEPTH:
            raise _refusal(TOO_DEEP, event)
        return value

    def _collection(self, event: yaml.Event, depth: int) -> JsonValue:
        if depth > MAX_DEPTH:
            raise _refusal(TOO_DEEP, event)
        if isinstance(event, self._yaml.SequenceStartEvent):
            return [self._node(item, depth + 1) for item in self._until_end()]
        mapping: dict[str, JsonValue] = {}
        is_template = False
        for item in self._until_end():
            name = self._node(item, depth + 1)
            is_template = is_template or isinstance(name, dict)
            key = _key(name)
            if self._unique_keys and key in mapping:
                raise _refusal(f"{key}: this key is given twice", item)
            mapping[key] = self._node(next(self._events), depth + 1)
        if is_template and self._as_written and getattr(event, "flow_style", False):
            return self._source_of(event)
        return list(mapping) if getattr(event, "tag", None) == TAG + "set" else mapping

    def _source_of(self, event: yaml.Event) -> str:
        """The source text of a collection that has just ended."""
        first, last = event.start_mark, self._end.end_mark
        written = self._source[first.index : last.index] if first and last else ""
        return SURROGATE.sub("\ufffd", written.replace(self._question, "?"))

    def _until_end(self) -> Iterator[yaml.Event]:
        """Yields the first event of each item (or key) of the collection; callers read the rest."""
        while not isinstance(event := next(self._events), self._yaml.CollectionEndEvent):
            yield event
        self._end = event

    def _scalar(self, event: yaml.ScalarEvent) -> JsonValue:
        text = SURROGATE.sub("\ufffd", event.value.replace(self._question, "?"))
        kind = (event.tag or "").removeprefix(TAG)
        if event.tag is None and event.implicit[0]:
            kind = _plain_kind(text)
        elif kind == "timestamp" and _plain_kind(text) != kind:
            return text  # PyYAML assumes that it is a time
        convert = CONVERTERS.get(kind)
        try:
            value = convert(text) if convert else text
        except (ValueError, OverflowError):  # such as 2024-13-45, which only looks like a date
            return text
        if self._as_written and event.tag is None and kind in WRITTEN_FORMS:
            return as_written(value, text)
        return value


def as_written(value: JsonValue, text: str) -> JsonValue:
    """The number or ISO date `value`, or its text if that is written in another form."""
    if isinstance(value, str):
        return value if FULL_TIMESTAMP.fullmatch(text) else text
    return value if str(value) == text else text


@cache
def _parser() -> type[yaml.SafeLoader]:
    """The class whose parser is used: in C if PyYAML was built with it."""
    import yaml

    found: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return found


def _refusal(detail: str, event: yaml.Event) -> YamlRefusedError:
    return YamlRefusedError(detail, event.start_mark.line + 1 if event.start_mark else 0)


def nesting_of(value: JsonValue) -> int:
    """The depth of nested collections, including the value itself."""
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(nesting_of, inner), default=0)


def _plain_kind(text: str) -> str:
    """The kind of a text without a tag, by its form; "" for text."""
    match = PLAIN.fullmatch(text)
    return match.lastgroup or "" if match else ""


def _key(key: JsonValue) -> str:
    return key if isinstance(key, str) else json.dumps(key, ensure_ascii=False)


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _int(text: str) -> int:
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)  # JSON cannot represent it
    return number


def _timestamp(text: str) -> str:
    import yaml

    found = yaml.constructor.SafeConstructor().construct_yaml_timestamp(yaml.ScalarNode("", text))
    return str(found.isoformat())


CONVERTERS: Mapping[str, Callable[[str], JsonValue]] = {
    "bool": _bool,
    "null": lambda _text: None,
    "int": _int,
    "float": _float,
    "timestamp": _timestamp,
    "binary": lambda text: base64.b64decode(text).decode("utf-8", "replace"),
}
"""The conversion function from text for each kind of value; it raises ValueError or OverflowError."""


# Untrusted TOML, read into JSON values within the limits of YAML.


NO_KEY = re.compile(r"""#.*|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?""")
PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)\Z")


def load_toml(source: str) -> Mapping[str, JsonValue]:
    """The properties in `source`; dates are ISO 8601. Raises YamlRefusedError."""
    import tomllib

    if len(source.encode()) > MAX_BYTES:
        raise YamlRefusedError(f"longer than {MAX_BYTES // 1024} KiB", 0)
    # tomllib takes time with the square of the parts of a key.
    if any(key.count(".") > MAX_DEPTH for key in re.split(r"[\r\n=,\[\]{}]", NO_KEY.sub("", source))):
        raise YamlRefusedError(TOO_DEEP, 0)
    try:
        table = tomllib.loads(
            source.replace("\r\n", "\n").replace("\r", "\n"),
            parse_float=lambda text: as_written(float(text), text) if math.isfinite(float(text)) else text,
        )
        values = {name: _json(value) for name, value in table.items()}
        depth = nesting_of(values)
    except RecursionError as error:
        raise YamlRefusedError(TOO_DEEP, 0) from error
    except ValueError as error:
        place = PLACE.search(str(error))
        line = int(place[1] or 0) if place else 0
        raise YamlRefusedError(f"not valid TOML: {PLACE.sub('', str(error))}", line) from error
    if depth > MAX_DEPTH:
        raise YamlRefusedError(TOO_DEEP, 0)
    return values


def _json(value: object) -> JsonValue:
    match value:
        case dict():
            return {str(name): _json(inner) for name, inner in value.items()}
        case list():
            return [_json(inner) for inner in value]
        case datetime() | date() | time():
            return value.isoformat()
        case str() | bool() | int() | float():
            return value
        case _:
            return str(value)
