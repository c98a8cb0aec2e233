"""Part of an answer and the same part of its schema: an agent pays for every key that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from vault_indexer.model import JsonValue

Schema = dict[str, JsonValue]

Keep = Mapping[str, "Keep | None"]
"""The keys to keep of an object. None keeps the whole value; a mapping says which keys of the object, or of
each object of the list, to keep."""


def keys(*names: str, **nested: Keep | None) -> Keep:
    """The keys `names` whole, and of each of `nested` the keys that it names."""
    return {**dict.fromkeys(names), **nested}


def project(value: JsonValue, keep: Keep | None) -> JsonValue:
    """The part of a JSON value that `keep` names, in the order of `keep`. A key that is missing stays
    missing."""
    if keep is None:
        return value
    if isinstance(value, list):
        return [project(one, keep) for one in value]
    if isinstance(value, dict):
        return {
            name: project(value[name], inner) for name, inner in keep.items() if value.get(name) is not None
        }
    return value


def kept_schema(schema: Schema, keep: Keep | None, described: str = "") -> Schema:
    """The schema of that part of an object, without titles and descriptions. Keys that it lacks are left
    out.

    The entries of the list `described` are described by their keys, too. Of every other value the schema
    says no more than its type: all schemas together have to fit into the list of tools.
    """
    properties = cast("dict[str, Schema]", schema["properties"])
    found: dict[str, JsonValue] = {}
    for name, inner in (dict.fromkeys(properties) if keep is None else keep).items():
        if name in properties:
            found[name] = _entries(properties[name], inner) if name == described else _plain(properties[name])
    return {"type": "object", "properties": found}


def _entries(schema: Schema, keep: Keep | None) -> Schema:
    return {"type": "array", "items": kept_schema(cast("Schema", schema["items"]), keep)}


def _plain(schema: Schema) -> Schema:
    """The type alone. A value that may be null is left out then, so null is no type of it: not every host
    takes a list of types."""
    if "anyOf" in schema:
        parts = [one for one in cast("list[Schema]", schema["anyOf"]) if one.get("type") != "null"]
        return _plain(parts[0]) if len(parts) == 1 else {}
    return {name: value for name, value in schema.items() if name in ("type", "enum")}


def merged_schema(schemas: list[Schema]) -> Schema:
    """One object schema with the properties of all: for an answer that is one of several objects."""
    properties: dict[str, JsonValue] = {}
    for schema in schemas:
        properties.update(cast("dict[str, JsonValue]", schema["properties"]))
    return {"type": "object", "properties": properties}
