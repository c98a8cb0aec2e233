"""Converts single values of a source to values of the settings, or describes the mistake."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeGuard, get_args, get_origin

import tomli
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from vault_indexer.config.schema import ALL_KEYS, Key, describe, nearest
from vault_indexer.config.tables.chunking import ChunkingRule, ChunkingSettings
from vault_indexer.config.tables.vault_table import VaultEntry
from vault_indexer.errors import ConfigProblem
from vault_indexer.system import record, with_home

_SECRET = re.compile(r"(^|_)(api|key|secret|passw\w*)(_|$)|token(_sha256)?$", re.IGNORECASE)
_MESSAGE_CHARS = 80
_TOO_LONG: Mapping[type, str] = MappingProxyType({dict: "(a table)", list: "(a list)", tuple: "(a list)"})


@record
class RawValue:
    """One value as a source gives it, not yet checked.

    `is_text` states that it is plain text (option, environment) and must be parsed first; `base` is the
    folder that a relative path starts from, None for the working directory. `of_vault`: it is from the
    vault's own file, which anyone who shares the vault can write.
    """

    key: str
    value: object
    origin: str
    base: Path | None = None
    is_text: bool = False
    of_vault: bool = False


def check(raw: RawValue) -> tuple[object, list[ConfigProblem]]:
    """The value for the settings, and its problems (if there are any, the value has no meaning)."""
    key = ALL_KEYS[raw.key]
    try:
        value = _validate(key, raw)
        return _with_absolute_paths(value, raw.base), []
    except ValidationError as error:
        # The location of an error may lead into a list or table inside the value.
        place = ValueLocation(key.name, key.field.annotation, list(key.field.metadata), raw.value)
        found = error.errors(include_url=False)
        return None, [problem_within(place, one, raw.origin, is_text=raw.is_text) for one in found]
    except (ValueError, ArithmeticError, RecursionError, OSError):
        return None, [mistake(raw, key.allowed)]


def mistake(raw: RawValue, allowed: str) -> ConfigProblem:
    return ConfigProblem(
        printable(raw.key), format_value(raw.key, raw.value, raw.is_text), allowed, raw.origin
    )


def format_value(key: str, value: object, is_text: bool = False) -> str:
    """A value for a message: short, in one line, nothing that a terminal would obey, no secret."""
    if _SECRET.search(key.rpartition(".")[2]):
        return "(hidden)"
    if is_text and isinstance(value, str):
        return printable(value) or '""'
    try:
        return printable(toml_text(value))
    except (TypeError, ValueError, RecursionError):
        return _TOO_LONG.get(type(value), "(a very long value)")


def printable(text: str, limit: int = _MESSAGE_CHARS) -> str:
    """The text in one line of at most `limit` characters, control and other unprintable ones escaped.

    Zero-width joiners inside words and emoji stay: Persian and Hindi need them.
    """
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(
        char if char.isprintable() or _joins(cut, place) else ascii(char)[1:-1]
        for place, char in enumerate(cut)
    )


def _joins(text: str, place: int) -> bool:
    """Whether there is a zero-width joiner inside a word or an emoji; elsewhere it is only invisible."""
    neighbours = text[max(place - 1, 0) : place] + text[place + 1 : place + 2]
    return (
        text[place] in "\u200c\u200d"
        and len(neighbours) == 2
        and neighbours.isprintable()
        and not any(map(str.isascii, neighbours))
    )


_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""JSON escapes only those below the space; a terminal obeys these, too."""


def toml_text(value: object) -> str:
    """The value as TOML writes it, in one line; None (no value) as an empty text."""
    match value:
        case None:
            return '""'
        case bool():
            return "true" if value else "false"
        case BaseModel():
            return toml_text({name: part for name, part in value if part is not None})
        case Mapping() if not value:
            return "{}"
        case Mapping():
            return "{ " + ", ".join(f"{name} = {toml_text(part)}" for name, part in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(toml_text(part) for part in value) + "]"
        case str() | Path():
            return json.dumps(str(value), ensure_ascii=False).translate(_CONTROLS)
        case _:
            return str(value)


def _validate(key: Key, raw: RawValue) -> object:
    annotated: Any = Annotated[key.field.annotation, key.field]
    adapter, value = TypeAdapter[object](annotated), raw.value
    if raw.is_text and isinstance(value, str):
        if not (key.is_list or key.is_table):  # the text of those is TOML
            return adapter.validate_python(value)
        table = tomli.loads(f"value = {value}")
        if list(table) != ["value"]:
            raise ValueError("more than one value")
        value = table["value"]
    return adapter.validate_python(with_tuples(value), strict=True)


def with_tuples(value: object) -> object:
    """Settings are frozen, so their lists are tuples, and strict validation accepts nothing else."""
    if isinstance(value, list):
        return tuple(with_tuples(part) for part in value)
    if isinstance(value, dict):
        return {name: with_tuples(part) for name, part in value.items()}
    return value


def _with_absolute_paths(value: object, base: Path | None) -> object:
    """The value with each path in it, also inside tables, made absolute."""
    match value:
        case Path():
            if "\0" in str(value):
                raise ValueError("a path must not contain NUL")
            named = with_home(value)
            return base / named if base else named.absolute()
        case VaultEntry():
            return value.model_copy(update={name: _with_absolute_paths(part, base) for name, part in value})
        case dict():
            return {name: _with_absolute_paths(part, base) for name, part in value.items()}
        case _:
            return value


@record
class ValueLocation:
    """A place in a configuration: its displayed name ("" for the whole), its type and its value."""

    name: str
    annotation: object
    marks: list[object]
    value: object

    def inside(self, part: int | str, value: object) -> ValueLocation | None:
        """An element of a list or a key of a table at this place; None if the type has no such element."""
        annotation, marks = self.annotation, list[object]()
        name = f"{self.name}[{part}]" if isinstance(part, int) else f"{self.name}.{part}".lstrip(".")
        if get_origin(annotation) is (tuple if isinstance(part, int) else dict):
            annotation = get_args(annotation)[0 if isinstance(part, int) else 1]
        elif _is_table(annotation) and isinstance(part, str) and part in (fields := _fields(annotation)):
            annotation, marks = _given_table(fields[part].annotation), list(fields[part].metadata)
        else:
            return None
        return ValueLocation(name, annotation, marks, value)


def problem_within(
    place: ValueLocation, details: ErrorDetails, origin: str, *, is_text: bool = False
) -> ConfigProblem:
    """The error that pydantic found at a place, or at a place inside it."""
    for part in details["loc"]:
        inner = place.inside(part, details["input"])
        if inner is None:
            break
        place = inner
    if details["type"] == "extra_forbidden" and _is_table(place.annotation):
        unknown = str(details["loc"][-1])
        name = f"{place.name}.{unknown}".lstrip(".")
        near = nearest(unknown, _fields(place.annotation))
        return ConfigProblem(printable(name), "", unknown_key(near), origin)
    cause = details.get("ctx", {}).get("error")
    allowed = str(cause) if isinstance(cause, ValueError) else describe(place.annotation, place.marks)
    if details["type"] == "missing":
        return ConfigProblem(printable(place.name), "", f"is missing; {allowed}", origin)
    text = format_value(place.name, place.value, is_text)
    return ConfigProblem(printable(place.name), text, printable(allowed, 400), origin)


def first_mistake(table: type[BaseModel], error: ValidationError) -> str:
    """The first error that pydantic found in a table that is not from a configuration source, in our words:
    `word.chunk_size = "many": a whole number ≥ 1`."""
    found = problem_within(ValueLocation("", table, [], {}), error.errors(include_url=False)[0], "")
    value = f" = {found.value}" if found.value else ""
    return f"{found.key}{value}: {found.allowed}" if found.key else found.allowed


def _given_table(annotation: object) -> object:
    """The table of `Table | None`, which a configuration may leave out; other types as they are."""
    tables = [one for one in get_args(annotation) if _is_table(one)]
    return tables[0] if isinstance(annotation, UnionType) and tables else annotation


def _fields(table: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """The fields that a table may contain; a rule may also contain those of `[chunking]`."""
    shared = ChunkingSettings.model_fields if table is ChunkingRule else {}
    return {**shared, **table.model_fields}


def _is_table(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def unknown_key(near: str) -> str:
    """The message for a name that is not a key, with the nearest key."""
    return f"unknown key; did you mean {near}?" if near else "unknown key"
