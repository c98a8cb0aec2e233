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


def kept_schema(schema: Schema, keep: Keep | None) -> Schema:
    """The schema of that part of a value, without titles and descriptions: the type of every key that stays,
    and which keys are always there. Keys that an object lacks are left out.

    A value that may be null is left out then, so null is no type of it and its key is not required: not every
    host takes a list of types.
    """
    if "anyOf" in schema:
        parts = _without_null(schema)
        return kept_schema(parts[0], keep) if len(parts) == 1 else {}
    if schema.get("type") == "array":
        return {"type": "array", "items": kept_schema(cast("Schema", schema["items"]), keep)}
    if "properties" not in schema:
        return {name: value for name, value in schema.items() if name in ("type", "enum")}
    properties = cast("dict[str, Schema]", schema["properties"])
    names = [name for name in (properties if keep is None else keep) if name in properties]
    present = set(cast("list[str]", schema.get("required", []))) & set(names)
    return {
        "type": "object",
        "properties": {name: kept_schema(properties[name], keep[name] if keep else None) for name in names},
        "required": [name for name in names if name in present and not _may_be_null(properties[name])],
    }


def _without_null(schema: Schema) -> list[Schema]:
    return [one for one in cast("list[Schema]", schema["anyOf"]) if one.get("type") != "null"]


def _may_be_null(schema: Schema) -> bool:
    return "anyOf" in schema and len(_without_null(schema)) < len(cast("list[Schema]", schema["anyOf"]))


def merged_schema(schemas: list[Schema]) -> Schema:
    """One object schema with the properties of all: for an answer that is one of several objects. Required is
    what all of them have."""
    properties: dict[str, JsonValue] = {}
    for schema in schemas:
        properties.update(cast("dict[str, JsonValue]", schema["properties"]))
    first, *others = (cast("list[str]", schema["required"]) for schema in schemas)
    required = [name for name in first if all(name in other for other in others)]
    return {"type": "object", "properties": properties, "required": cast("JsonValue", required)}
