"""YAML from a stranger, read into JSON values within limits.

At most 64 KiB and 50 levels, no anchors or aliases: 280 bytes of them make 5.8 MB, and the C loader
kills the process at 60,000 levels. Values follow the core schema of YAML 1.2, as Obsidian reads them:
`yes` is text and `12:30` is not a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from functools import cache
from typing import TYPE_CHECKING

from vault_indexer.model import JsonValue

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 64 * 1024
MAX_DEPTH = 50
SURROGATE = re.compile(r"[\ud800-\udfff]")
# What PyYAML's constructors let through on odd but parsable input.
BUILD_ERRORS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)

TAG = "tag:yaml.org,2002:"
DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
TIME = (
    r"(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?"
)
NUMBER = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
# Tag, pattern, first characters: all else that is not quoted is text.
RESOLVERS = (
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"(?:[-+]?[0-9]{1,4000}|0o[0-7]{1,4000}|0x[0-9a-fA-F]{1,4000})$", "-+0123456789"),
    ("float", rf"(?:{NUMBER}|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$", "-+.0123456789"),
    ("timestamp", rf"{DATE}(?:{TIME})?$", "0123456789"),
)


class YamlRefusedError(Exception):
    """The YAML is broken or beyond the limits; `line` counts from 1 within it, 0 if it is not known."""

    def __init__(self, detail: str, line: int) -> None:
        super().__init__(detail)
        self.detail = detail
        self.line = line


def load_mapping(source: str) -> Mapping[str, JsonValue]:
    """The properties that `source` holds, as JSON values. Raises YamlRefusedError, nothing else."""
    import yaml

    if len(source.encode()) > MAX_BYTES:
        raise YamlRefusedError(f"longer than {MAX_BYTES // 1024} KiB", 0)
    try:
        _check_events(source)
        value: object = yaml.load(source, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise YamlRefusedError(f"not valid YAML: {error.problem or error.context}", line) from error
    except (yaml.YAMLError, *BUILD_ERRORS) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise YamlRefusedError(f"not valid YAML: {reason}", 0) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise YamlRefusedError("not a list of properties (`name: value`)", 0)
    return {_key(key): _json(item) for key, item in value.items()}


def _check_events(source: str) -> None:
    """Refuses what is dangerous to build, from the stream of events, which is safe at any depth."""
    import yaml

    depth = 0
    for event in yaml.parse(source, Loader=_loader()):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent):
            raise YamlRefusedError("YAML aliases (`*name`) are not allowed", line)
        if getattr(event, "anchor", None):
            raise YamlRefusedError("YAML anchors (`&name`) are not allowed", line)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise YamlRefusedError(f"nested more than {MAX_DEPTH} levels deep", line)


@cache
def _loader() -> type[yaml.SafeLoader]:
    """The safe loader (in C where it was built) with YAML 1.2's idea of what is not text."""
    import yaml

    base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[valid-type,misc]  # the base depends on how PyYAML was built
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    for tag, pattern, first in RESOLVERS:
        Loader.add_implicit_resolver(TAG + tag, re.compile(pattern), list(first))
    Loader.add_constructor(TAG + "timestamp", _timestamp)
    Loader.add_constructor(TAG + "int", _integer)
    return Loader


def _timestamp(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    try:
        return loader.construct_yaml_timestamp(node)
    except ValueError:  # such as 2024-13-45: a text that only looks like a date
        return node.value


def _integer(_loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    digits = str(node.value)
    try:
        return int(digits, 0) if digits[:2] in ("0o", "0x") else int(digits)
    except ValueError:  # an explicit !!int on something else
        return digits


def _key(key: object) -> str:
    match _json(key):
        case str(text):
            return text
        case None | bool() as value:
            return {None: "null", True: "true", False: "false"}[value]
        case value:
            return str(value)


def _json(value: object) -> JsonValue:
    match value:
        case None | bool() | int():
            return value
        case str():
            return SURROGATE.sub("\ufffd", value)
        case float():
            return value if math.isfinite(value) else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case dict():
            return {_key(key): _json(item) for key, item in value.items()}
        case list() | tuple() | set():
            return [_json(item) for item in value]
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return str(value)
