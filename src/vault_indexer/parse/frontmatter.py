"""Frontmatter: where it stands, its values, and the properties with a meaning of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from vault_indexer.model import Diagnostic, JsonValue
from vault_indexer.parse.inline import WHOLE_TAG, tag_name
from vault_indexer.parse.yaml_values import YamlRefusedError, load_mapping

LINE_BREAK = r"(?:\r\n|\r(?!\n)|\n)"
END = rf"(?:---|\.\.\.)[ \t]*(?:{LINE_BREAK}|\Z)"
_BLOCK = re.compile(rf"---[ \t]*{LINE_BREAK}((?:(?!{END})[^\r\n]*+{LINE_BREAK})*){END}")
NESTED_NUMBERS = re.compile(r"#\d+(?:/\d+)+")
"""A tag in the properties, though none in the text: there it is a fraction or a number of something."""

SEPARATOR = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The values, the span of the YAML between the fences, and where the body begins."""

    values: Mapping[str, JsonValue] = field(default_factory=dict)
    start: int = 0
    end: int = 0
    body_start: int = 0
    problem: Diagnostic | None = None


def read_frontmatter(text: str) -> Frontmatter:
    """Frontmatter only counts at the very start of a file and between fences; else all is body.

    YAML that cannot be read gives no values and a diagnostic; the body begins after it all the same.
    """
    match = _block_of(text)
    if match is None:
        return Frontmatter()
    values: Mapping[str, JsonValue] = {}
    problem = None
    try:
        values = load_mapping(match[1])
    except YamlRefusedError as refusal:
        problem = Diagnostic("frontmatter", refusal.detail, 1 + refusal.line)
    return Frontmatter(values, match.start(1), match.end(1), match.end(), problem)


def body_start(text: str) -> int:
    """Where the text behind the frontmatter begins; 0 where there is none."""
    match = _block_of(text)
    return match.end() if match else 0


def _block_of(text: str) -> re.Match[str] | None:
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
    """What the first of the properties `names`, in any case, says in text or as a number; else ""."""
    for name in names:
        for key, value in values.items():
            if key.lower() == name and (isinstance(value, str) or _is_number(value)) and str(value).strip():
                return str(value).strip()
    return ""


def strings(value: JsonValue) -> list[str]:
    """Every text inside a value, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    return []


def _words(values: Mapping[str, JsonValue], keys: tuple[str, ...], separator: re.Pattern[str]) -> list[str]:
    words: list[str] = []
    for key, value in values.items():
        if key.lower() not in keys:
            continue
        if isinstance(value, str):
            words += separator.split(value)
        elif isinstance(value, list):
            words += [str(item) for item in value if isinstance(item, str) or _is_number(item)]
        elif _is_number(value):
            words.append(str(value))
    return words


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
