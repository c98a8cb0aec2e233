"""Encodes dataclasses as JSON and describes that JSON by a schema, both according to the fields and their
marks.

An encoder is generated as Python source and compiled once for each type. A type whose keys are not known in
advance has a method `to_json`.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from vault_indexer.contract import Json
from vault_indexer.contract.marks import (
    FLAT,
    HIDDEN,
    OMIT_EMPTY,
    ON_REQUEST,
    PLAIN,
    ChosenKeys,
    Digits,
    Key,
    Marks,
    split_marks,
)
from vault_indexer.system import record

Encoder = Callable[[Any], Json]

_SELECTIONS_KEPT = 64


@record
class JsonField:
    """A key in the JSON of a dataclass. `source` is the attribute, with dots if it belongs to a nested
    object."""

    key: str
    source: str
    kind: object
    marks: Marks

    @property
    def is_optional(self) -> bool:
        return OMIT_EMPTY in self.marks or ON_REQUEST in self.marks


@cache
def json_fields(kind: type, before: str = "") -> tuple[JsonField, ...]:
    """Returns the keys of a dataclass in order; `before` is the source of the object, with a dot. Raises
    TypeError for another type."""
    # JsonValue is recursive; `object` means any JSON here.
    hints = get_type_hints(kind, localns={"JsonValue": object}, include_extras=True)
    found: list[JsonField] = []
    for one in fields(kind):
        inner, marks = split_marks(hints[one.name])
        if FLAT in marks:
            found += json_fields(inner, f"{before}{one.name}.")
        elif HIDDEN not in marks:
            key = next((mark.name for mark in marks if isinstance(mark, Key)), one.name)
            found.append(JsonField(key, before + one.name, inner, marks))
    return tuple(found)


def encode(value: object) -> Json:
    """Encodes a dataclass as dicts, lists, texts, numbers, true, false and None."""
    kind: Any = type(value)
    return encoder(kind)(value)


@cache
def encoder(kind: type) -> Encoder:
    """Returns the function that encodes a type. Raises TypeError for a field whose type has no JSON form."""
    if hasattr(kind, "to_json"):
        return cast("Encoder", kind.to_json)
    return _compiled([one for one in json_fields(kind) if ON_REQUEST not in one.marks])


def schema_of(kind: object) -> Json:
    """Returns the JSON schema of a type. Raises TypeError for a type without a JSON form."""
    inner, marks = split_marks(kind)
    origin, parts = get_origin(inner), get_args(inner)
    if inner is object:
        return {}  # any JSON
    if isinstance(inner, type) and origin is None:
        return _schema_of_type(inner)
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    if origin in (UnionType, Union):
        return {"anyOf": [schema_of(part) for part in parts]}
    if origin in (tuple, list):
        entry = schema_of(parts[0])
        if any(isinstance(mark, ChosenKeys) for mark in marks):
            # Only the keys that the request names are present.
            entry = {key: value for key, value in entry.items() if key != "required"}
            entry["title"] = f"Selected{entry['title']}"
        return {"type": "array", "items": entry}
    if origin in (Mapping, dict):
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    raise TypeError(f"{kind!r} has no JSON form")


def summary(kind: type) -> str:
    """Returns the first paragraph of the docstring on one line, with `null` for None."""
    return re.sub(r"\bNone\b", "null", " ".join((kind.__doc__ or "").partition("\n\n")[0].split()))


def _schema_of_type(kind: type) -> Json:
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if hasattr(kind, "to_json"):
        return {"type": "object", "additionalProperties": {}}
    if issubclass(kind, bytes | Path | Enum):
        return {"type": "string"}
    if not is_dataclass(kind):
        raise TypeError(f"{kind!r} has no JSON form")
    found = json_fields(kind)
    return {
        "title": kind.__name__,
        "description": summary(kind),
        "type": "object",
        "properties": {one.key: schema_of(Annotated[one.kind, *one.marks, None]) for one in found},
        "required": [one.key for one in found if not one.is_optional],
    }


def _encode_chosen(values: Sequence[object], keys: frozenset[str] | None) -> list[Json]:
    if not values:
        return []
    kind: Any = type(values[0])
    make = encoder(kind) if keys is None else _selector(kind, keys)
    return [make(value) for value in values]


@lru_cache(_SELECTIONS_KEPT)
def _selector(kind: type, keys: frozenset[str]) -> Encoder:
    return _compiled([one for one in json_fields(kind) if one.key in keys])


def _compiled(chosen: Sequence[JsonField]) -> Encoder:
    names: dict[str, object] = {"encode": encode, "b64encode": b64encode, "chosen": _encode_chosen}
    keys, rest = [], []
    for one in chosen:
        entry = _expression(one.kind, one.marks, f"value.{one.source}", names)
        if OMIT_EMPTY in one.marks:
            rest.append(f"    if value.{one.source}: found[{one.key!r}] = {entry}\n")
        else:
            keys.append(f"{one.key!r}: {entry}")
    source = f"def make(value):\n    found = {{{', '.join(keys)}}}\n{''.join(rest)}    return found\n"
    exec(source, names)
    return cast("Encoder", names["make"])


def _expression(kind: object, marks: Marks, source: str, names: dict[str, object]) -> str:
    """Returns Python source that encodes the value named by `source`."""
    inner, own = split_marks(kind)
    marks = (*marks, *own)
    origin, parts = get_origin(inner), get_args(inner)
    if origin in (UnionType, Union):
        return _of_union([part for part in parts if part is not NoneType], marks, source, names)
    for mark in marks:
        if isinstance(mark, ChosenKeys):
            return f"chosen({source}, value.{mark.by})"
    if origin in (tuple, list):
        entry = _expression(parts[0], marks, "one", names)
        return f"list({source})" if entry == "one" else f"[{entry} for one in {source}]"
    if origin in (Mapping, dict):
        entry = _expression(parts[1], marks, "one", names)
        return f"dict({source})" if entry == "one" else f"{{key: {entry} for key, one in {source}.items()}}"
    if origin is Literal or inner is object:
        return source
    return _of_type(inner, marks, source, names)


def _of_union(parts: Sequence[object], marks: Marks, source: str, names: dict[str, object]) -> str:
    if len(parts) > 1:
        return f"encode({source})"
    entry = _expression(parts[0], marks, source, names)
    return source if entry == source else f"(None if {source} is None else {entry})"


def _of_type(kind: type, marks: Marks, source: str, names: dict[str, object]) -> str:
    if kind is float:
        for mark in marks:
            if isinstance(mark, Digits):
                low, high = mark.bounds or (None, None)
                number = source if mark.bounds is None else f"min({high}, max({low}, {source}))"
                return f"round({number}, {mark.digits})"
    if kind in PLAIN:
        return source
    if issubclass(kind, bytes):
        return f"b64encode({source}).decode('ascii')"
    if issubclass(kind, Path | Enum):
        return f"str({source})"
    if not is_dataclass(kind):
        raise TypeError(f"{kind!r} has no JSON form")
    names[f"make_{kind.__name__}"] = encoder(kind)
    return f"make_{kind.__name__}({source})"
