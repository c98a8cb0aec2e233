"""The pydantic model of an endpoint's parameters: it validates a request and is described in OpenAPI."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model
from pydantic.fields import FieldInfo

from vault_indexer.model import JsonValue
from vault_indexer.serve.endpoints import Endpoint, Parameter

_VALUE_CHARS = 60
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def request_model(endpoint: Endpoint[Any], *, is_strict: bool = False) -> type[BaseModel]:
    """The model of the query (GET) or of the body (POST). It refuses keys that the endpoint does not have.

    A strict one takes each value in its own type only: JSON has types, a query string has texts.

    The model of a body has a name in `/openapi.json`, such as `RebuildOrder`.
    """
    in_query = endpoint.method == "GET"
    camel_case = endpoint.name.title().replace("_", "")
    fields: dict[str, tuple[object, object]] = {
        parameter.name: (_annotation(parameter, in_query), ... if parameter.required else parameter.default)
        for parameter in endpoint.parameters
    }
    empty = "" if in_query or fields else ": an empty object"
    made: type[BaseModel] = create_model(  # type: ignore[call-overload] # the fields are known at run time only
        camel_case + ("Query" if in_query else "Order"),
        __config__=ConfigDict(extra="forbid", strict=is_strict),
        __doc__=f"`{endpoint.method} {endpoint.path}`{empty}.",
        **fields,
    )
    return made


def problem_text(place: Sequence[object], problem: Mapping[str, Any]) -> str:
    """What pydantic found wrong, on one line: where, which value, and what is allowed."""
    where, message = ".".join(str(part) for part in place), problem["msg"]
    if problem["type"] == "missing":
        return f"{where}: is required" if where else "the body is missing: send a JSON object"
    if problem["type"] == "extra_forbidden":
        return f"unknown key {where!r}"
    value = problem.get("input")
    if where and isinstance(value, str | int | float):
        return f"{where} = {json.dumps(value)[:_VALUE_CHARS]}: {message}"
    return f"{where or 'body'}: {message}"


def parameter_schema(parameter: Parameter) -> dict[str, JsonValue]:
    """The JSON schema of one parameter, as short as it can be: bounds in bytes and defaults that stand for
    "none" are left out."""
    schema = _bounded_schema(parameter)
    schema.pop("minimum", None)  # nobody asks for fewer than one
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default not in (None, "", False):
        schema["default"] = parameter.default
    if parameter.help:
        schema["description"] = parameter.help
    return schema


def _annotation(parameter: Parameter, in_query: bool) -> object:
    described = Field(description=parameter.help, json_schema_extra=_text_schema(parameter))
    if parameter.choices:
        return Annotated[Literal[parameter.choices], described]
    kind: Any = parameter.kind
    bounded: Any = Annotated[kind, _bounds(parameter)]
    if kind is int:
        bounded = Annotated[bounded, BeforeValidator(_whole)]
    if parameter.required or parameter.default is not None:
        return Annotated[bounded, described]
    if in_query:  # null cannot be sent
        return Annotated[bounded | None, described, WithJsonSchema(_bounded_schema(parameter))]
    return Annotated[bounded | None, described]


def _whole(value: object) -> object:
    """2.0 as 2: in JSON both are the same integer, which a strict model would not take for one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _bounds(parameter: Parameter) -> FieldInfo:
    bounds: FieldInfo = Field(
        ge=parameter.minimum,
        gt=parameter.above,
        le=parameter.maximum,
        max_length=parameter.max_chars,
        allow_inf_nan=False if parameter.kind is float else None,
    )
    return bounds


def _bounded_schema(parameter: Parameter) -> dict[str, JsonValue]:
    bounds = {"minimum": parameter.minimum, "exclusiveMinimum": parameter.above, "maximum": parameter.maximum}
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    return {"type": _JSON_TYPES[parameter.kind], **given}


def _text_schema(parameter: Parameter) -> dict[str, JsonValue] | None:
    """The bounds of a text in the schema, which counts characters: a text within its bound in bytes is within
    it in characters too."""
    if parameter.max_bytes is None:
        return None
    return (
        {"minLength": 1, "maxLength": parameter.max_bytes}
        if parameter.required
        else {"maxLength": parameter.max_bytes}
    )
