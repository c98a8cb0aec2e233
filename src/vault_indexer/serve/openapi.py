"""The shapes of `shapes.py` as OpenAPI tells them.

FastAPI would want pydantic models for that and check every answer against them: the shapes are what mypy has
checked the answers by already, so they are only described, once, when the server begins.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import (
    Annotated,
    Literal,
    NotRequired,
    Required,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from vault_indexer.model import JsonValue
from vault_indexer.serve.shapes import SOME_KEYS

Schema = dict[str, JsonValue]

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


LINES = "application/x-ndjson"
"""The media type of lines of JSON."""


def answers(description: str, shape: type | UnionType, line: type | UnionType | None = None) -> Schema:
    """A response of OpenAPI whose body is of this shape, or of one of a union; or lines of JSON, each of the
    shape `line`."""
    content: Schema = {"application/json": {"schema": schema_of(shape)}}
    if line is not None:
        content[LINES] = {"schema": schema_of(line)}
    return {"description": description, "content": content}


def schema_of(kind: object) -> Schema:
    """The JSON schema of an annotation that stands in a shape. Raises TypeError for one it does not know."""
    if kind is object:
        return {}  # any JSON
    if isinstance(kind, type) and is_typeddict(kind):
        return _object(kind)
    parts = get_args(kind)
    match get_origin(kind):
        case None if isinstance(kind, type) and kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        case origin if origin is Annotated and SOME_KEYS in parts:
            return _with_some_keys(schema_of(parts[0]))
        case origin if origin in (Annotated, Required, NotRequired):
            return schema_of(parts[0])
        case origin if origin is list:
            return {"type": "array", "items": schema_of(parts[0])}
        case origin if origin is dict:
            return {"type": "object", "additionalProperties": schema_of(parts[1])}
        case origin if origin is Literal:
            return {"type": "string", "enum": list(parts)}
        case origin if origin in (UnionType, Union):
            return {"anyOf": [schema_of(part) for part in parts]}
    raise TypeError(f"no JSON schema is known for {kind!r}")


def _with_some_keys(entries: Schema) -> Schema:
    """The schema of a list, of whose entries no key is required."""
    entry = cast("Schema", entries["items"])
    return {**entries, "items": {name: value for name, value in entry.items() if name != "required"}}


def _object(shape: type) -> Schema:
    # The name is imported there for mypy alone, and recursive.
    fields = get_type_hints(shape, localns={"JsonValue": object}, include_extras=True)
    required: frozenset[str] = getattr(shape, "__required_keys__", frozenset())
    return {
        "title": shape.__name__,
        "description": " ".join((shape.__doc__ or "").split()),
        "type": "object",
        "properties": {name: schema_of(kind) for name, kind in fields.items()},
        "required": [name for name in fields if name in required],
    }
