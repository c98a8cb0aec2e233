"""Frontmatter: its position, its values, and the properties with a special meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import lru_cache, partial
from itertools import pairwise

from vault_indexer.model import Diagnostic, JsonValue
from vault_indexer.parse.inline import WHOLE_TAG, tag_name
from vault_indexer.system import record
from vault_indexer.text.yaml_values import MAX_BYTES, YamlRefusedError, load_mapping, load_toml

# Recovery of properties from broken YAML or TOML, one property at a time.


Load = Callable[[str], Mapping[str, JsonValue]]
"""Reads properties. Raises YamlRefusedError."""

_load_yaml = partial(load_mapping, as_written=True)

_RETURN = re.compile(r"\r\n?")
QUOTED = r""""[^"\n]{1,200}"|'[^'\n]{1,200}'"""
WORD = r"(?:[^\s:,;!?]|:(?=\S))+"
YAML_NAME = re.compile(
    rf"^(?P<name>{QUOTED}|(?![-#>\[\]{{}}|*&!\"'`]){WORD}(?: {WORD}){{0,3}})[ \t]*:(?=[ \t\n]|\Z)",
    re.MULTILINE,
)
"""A name and a colon at the start of a line. More than four words are a sentence."""

TOML_NAME = re.compile(rf"^(?P<name>{QUOTED}|[A-Za-z0-9_.-]+)[ \t]*=", re.MULTILINE)
INDENTATION = re.compile(r"\n[ \t]+")
OUTDENTED = re.compile(r"\n(?![ \t\n-]).*\Z", re.DOTALL)


def recover_properties(source: str, name: re.Pattern[str], load: Load) -> dict[str, JsonValue] | None:
    """The properties of the lines that begin with a `name`, or None if there is no such line. A value that
    `load` rejects as well is kept as text."""
    source = _RETURN.sub("\n", source[:MAX_BYTES])
    names = list(name.finditer(source))
    if not names:
        return None
    borders = [*(first.start() for first in names), len(source)]
    found: dict[str, JsonValue] = {}
    for first, (start, end) in zip(names, pairwise(borders), strict=True):
        value = source[first.end() : end]
        found |= next(
            _readings(source[start:end], value, load), {first["name"].strip("\"'"): _as_text(value)}
        )
    return found


def _readings(written: str, value: str, load: Load) -> Iterator[Mapping[str, JsonValue]]:
    """Readings of a property, in order of preference: as written; without lines that do not belong to it;
    with uniform indentation; only its first line."""
    if "*" in written and "&" in written:  # aliases of many properties could exceed the limit of one
        return
    own = OUTDENTED.sub("", written)
    first = own.partition("\n")[0] if value.partition("\n")[0].strip() else own
    for attempt in dict.fromkeys((written, own, INDENTATION.sub("\n  ", own), first)):
        with suppress(YamlRefusedError):
            yield load(attempt)


def _as_text(value: str) -> JsonValue:
    first, *others = (line.strip() for line in value.split("\n"))
    if first:
        return first.removeprefix("[").strip() if "]" not in first else first
    items = [line[1:].strip() for line in others if line.startswith("-")]
    return list[JsonValue](items) or " ".join(filter(None, others))


LINE_BREAK = r"(?:\r\n|\r(?!\n)|\n)"
_REST_OF_LINE = rf"[ \t]*(?:{LINE_BREAK}|\Z)"
END = rf"(?:---|\.\.\.){_REST_OF_LINE}"
_BLOCK = re.compile(rf"---[ \t]*{LINE_BREAK}((?:(?!{END})[^\r\n]*+{LINE_BREAK})*){END}")
_TOML_END = rf"\+\+\+{_REST_OF_LINE}"
_TOML_BLOCK = re.compile(rf"\+\+\+[ \t]*{LINE_BREAK}((?:(?!{_TOML_END})[^\r\n]*+{LINE_BREAK})*){_TOML_END}")
_NO_PROPERTIES = "no properties (`name: value`) stand between the first two rules: they are read as text"
NESTED_NUMBERS = re.compile(r"#\d+(?:/\d+)+")
"""A tag in the properties but not in the text, where it is a fraction or a number."""

SEPARATOR = re.compile(r"[,\s]+")


# Matches most frontmatter, and only unambiguous YAML. Every search checks whether the blocks of texts can be
# read, and parsing one as YAML takes half a millisecond.
_TEXT = r"\w(?:[\w ./()'~@;!?_+-]|:(?=[^\s:]))*"
_QUOTED = r'"[^"\\\x00-\x1f\x7f-\x9f\ufeff\ufffe\uffff]*"'
_LIST = r"\[(?:\w[\w /-]*(?:,[ ]*\w[\w /-]*)*)?\]"
_LINE_END = r"[ ]*\r?\n"
_PLAIN_YAML = re.compile(
    rf"""(?:
      [A-Za-z_][\w-]{{0,99}}:[ ]+(?:{_TEXT}|{_QUOTED}|{_LIST}){_LINE_END}
    | [A-Za-z_][\w-]{{0,99}}:{_LINE_END}
      (?:(?P<indent>[ ]*)-[ ]{_TEXT}{_LINE_END}(?:(?P=indent)-[ ]{_TEXT}{_LINE_END})*)?
    )+""",
    re.VERBOSE,
)


@record
class Frontmatter:
    """The values of the properties, the span of their source between the fences, and the end of the block.

    The searchable text begins at `body_start`, which is `block_end`, or 0 if the block could not be read.
    """

    values: Mapping[str, JsonValue] = field(default_factory=dict)
    start: int = 0
    end: int = 0
    block_end: int = 0
    body_start: int = 0
    problem: Diagnostic | None = None


def read_frontmatter(text: str) -> Frontmatter:
    """Reads frontmatter, which must be at the very start of a file and between fences; otherwise all text is
    body.

    If a block cannot be read, its values are those of the lines that can be read as a property, and the whole
    block is text. A block without such a line is not frontmatter: the note begins with a rule.
    """
    match = _block_of(text)
    if match is None:
        return Frontmatter()
    name, load = (TOML_NAME, load_toml) if text[0] == "+" else (YAML_NAME, _load_yaml)
    values: Mapping[str, JsonValue] | None
    problem = None
    try:
        values = load(match[1])
        if not values and match[1].strip():
            raise YamlRefusedError("no properties", 0)  # but comments
    except YamlRefusedError as refusal:
        values = recover_properties(match[1], name, load)
        if values is None:
            return Frontmatter(problem=Diagnostic("frontmatter", _NO_PROPERTIES, 1))
        problem = Diagnostic("frontmatter", refusal.detail, 1 + refusal.line)
    end = match.end()
    return Frontmatter(values, match.start(1), match.end(1), end, 0 if problem else end, problem)


def body_start(text: str) -> int:
    """The start of the text after the frontmatter; 0 if there is none or it cannot be read."""
    match = _block_of(text)
    if match is None:
        return 0
    if match.end() <= MAX_BYTES and _PLAIN_YAML.fullmatch(match[1]):
        return match.end()
    return _body_start(match[0])


@lru_cache(maxsize=4096)
def _body_start(block: str) -> int:
    return read_frontmatter(block).body_start


def _block_of(text: str) -> re.Match[str] | None:
    if text.startswith("+++"):
        return _TOML_BLOCK.match(text)
    return _BLOCK.match(text) if text.startswith("---") else None


def property_tags(values: Mapping[str, JsonValue]) -> list[str]:
    """Tags of the properties `tags` and `tag`: a list, or text with commas or spaces between them."""
    names = []
    for word in _words(values, ("tags", "tag"), SEPARATOR):
        written = "#" + word.strip().removeprefix("#").rstrip("/")
        is_tag = WHOLE_TAG.fullmatch(written) and tag_name(written[1:]) == written[1:]
        if is_tag or NESTED_NUMBERS.fullmatch(written):
            names.append(written[1:])
    return names


def property_aliases(values: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Aliases of the properties `aliases` and `alias`: a list, or text with commas between them."""
    found = (alias.strip() for alias in _words(values, ("aliases", "alias"), re.compile(",")))
    return tuple(dict.fromkeys(alias for alias in found if alias))


def property_text(values: Mapping[str, JsonValue], *names: str) -> str:
    """The text or number in the first of the properties `names`, ignoring case; "" if there is none."""
    for name in names:
        for key, value in values.items():
            if key.lower() == name and (isinstance(value, str) or _is_number(value)) and str(value).strip():
                return str(value).strip()
    return ""


def strings(value: JsonValue) -> list[str]:
    """Every text inside a value, in order."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in strings(part)]


def _words(values: Mapping[str, JsonValue], keys: tuple[str, ...], separator: re.Pattern[str]) -> list[str]:
    words: list[str] = []
    for key, value in values.items():
        if key.lower() not in keys:
            continue
        if isinstance(value, str):
            words += separator.split(value)
        else:
            items = value if isinstance(value, list) else [value]
            words += [str(item) for item in items if isinstance(item, str) or _is_number(item)]
    return words


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# The properties of a note as text, for searches of words, phrases and expressions.


_OWN_FIELDS = frozenset({"tags", "tag", "aliases", "alias", "title"})
"""Properties that are searched as the note's tags, aliases and title."""

_TIME = re.compile(r"\A(\d{4}-\d\d-\d\d)T(?=\d\d:\d\d)")
_LINK = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")


def property_lines(properties: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yields each property as `name: value`. Each item of a list and each property of a table gets its own
    line; a link is replaced by the text it shows. Tags, aliases and title are omitted."""
    for name, value in properties.items():
        if name.lower() not in _OWN_FIELDS:
            yield from _lines(name, value)


def separate_time(text: str) -> str:
    """Separates a date at the start of a text from a following time, so that the date is a word of its
    own."""
    return _TIME.sub(r"\1 ", text, count=1)


def _lines(name: str, value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        yield name
        for inner_name, inner in value.items():
            yield from _lines(inner_name, inner)
    elif isinstance(value, list):
        yield name
        for inner in value:
            yield from _lines("", inner)
    else:
        text = _text_of(value)
        yield f"{name}: {text}" if name else text


def _text_of(value: str | float | bool | None) -> str:
    if isinstance(value, str):
        return separate_time(_LINK.sub(lambda link: link[2] or link[1], value))
    return "" if value is None else str(value).lower()
