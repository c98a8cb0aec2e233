"""`/openapi.json`: the routes, their parameters and their answers, from the rows of a table of endpoints.

The answers are dataclasses that mypy has checked, so they are only described, once, when the server starts.
"""

from __future__ import annotations

import re
from functools import reduce
from operator import or_
from typing import Any

from vault_indexer import model
from vault_indexer.contract import Json, JsonValue
from vault_indexer.contract.codec import schema_of
from vault_indexer.contract.parameters import Parameter
from vault_indexer.extensions import load
from vault_indexer.model import Failure
from vault_indexer.serve.api.endpoints import VAULT, Endpoint

LINES = "application/x-ndjson"
"""The media type of lines of JSON."""

PROBLEM = "application/problem+json"
"""The media type of errors (RFC 9457)."""

OPENAPI_PATH = "/openapi.json"
_VERSION = "3.1.0"


class ApiDocument:
    """The document of one server, which grows as routes are added."""

    def __init__(self, title: str, description: str) -> None:
        self._info: Json = {"title": title, "description": description, "version": "0.1.0"}
        self._paths: dict[str, Json] = {}
        self._bodies: Json = {}

    def add(self, endpoint: Endpoint[Any], *, names_vault: bool = False) -> None:
        """Adds a row. `names_vault`: a request may name its vault."""
        vault = (VAULT,) if names_vault else ()
        in_query = endpoint.method == "GET"
        operation = self._operation(endpoint.name, endpoint.path, endpoint.method, endpoint.help)
        parameters = [_parameter(one) for one in (*(endpoint.parameters if in_query else ()), *vault)]
        if parameters:
            operation["parameters"] = parameters
        if not in_query:
            operation["requestBody"] = self._body(endpoint)
        success = answers(endpoint.answer_help, endpoint.answer, endpoint.line)
        responses: Json = {"200": success}
        for status, text, answer in endpoint.other_answers:
            responses[str(status)] = answers(text, answer)
        if endpoint.has_etag:
            etag: Json = {"ETag": {"description": "Changes with the answer.", "schema": {"type": "string"}}}
            success["headers"] = etag
            responses["304"] = {"description": "The ETag in If-None-Match is current.", "headers": etag}
        self._describe(endpoint.path, endpoint.method, operation, responses, is_public=endpoint.is_public)

    def add_other(self, name: str, path: str, text: str, response: Json, *, is_public: bool = False) -> None:
        """Adds a GET route that is not a row."""
        operation = self._operation(name, path, "GET", text)
        self._describe(path, "GET", operation, {"200": response}, is_public=is_public)

    def json(self) -> Json:
        schemas: Json = {}
        paths = {path: _named_once(methods, schemas) for path, methods in self._paths.items()}
        return {
            "openapi": _VERSION,
            "info": self._info,
            "paths": paths,
            "components": {
                "schemas": {**self._bodies, **schemas},
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
            "security": [{"token": []}],
        }

    def _operation(self, name: str, path: str, method: str, text: str) -> Json:
        return {
            "summary": name.replace("_", " ").title(),
            "description": text,
            "operationId": f"{re.sub(r'[^a-zA-Z0-9]', '_', name + path)}_{method.lower()}",
        }

    def _describe(self, path: str, method: str, operation: Json, responses: Json, *, is_public: bool) -> None:
        failure: Json = {PROBLEM: {"schema": schema_of(Failure)}}
        error: Json = {"default": {"description": "An error.", "content": failure}}
        security: Json = {"security": []} if is_public else {}
        described: Json = {**operation, "responses": {**responses, **error}, **security}
        self._paths.setdefault(path, {})[method.lower()] = described

    def _body(self, endpoint: Endpoint[Any]) -> Json:
        name = f"{endpoint.name.title().replace('_', '')}Order"
        empty = "" if endpoint.parameters else ": an empty object"
        required: list[JsonValue] = [
            parameter.name for parameter in endpoint.parameters if parameter.required
        ]
        self._bodies[name] = {
            "title": name,
            "description": f"`{endpoint.method} {endpoint.path}`{empty}.",
            "type": "object",
            "properties": {one.name: _property(one) for one in endpoint.parameters},
            "additionalProperties": False,
            **({"required": required} if required else {}),
        }
        content: Json = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
        return {"content": content, "required": True}


def _named_once(value: JsonValue, schemas: Json) -> JsonValue:
    """The value with a reference in place of each object schema that has a title, and those in `schemas`: a
    generated client then has one class for each."""
    if isinstance(value, list):
        return [_named_once(part, schemas) for part in value]
    if not isinstance(value, dict):
        return value
    named = {key: _named_once(part, schemas) for key, part in value.items()}
    if "properties" not in named or not isinstance(title := named.get("title"), str):
        return named
    properties = named["properties"]
    if isinstance(properties, dict) and title.lower() in properties:
        # Generated code would use one variable for the object and for its key.
        title = named["title"] = f"{title}Answer"
    assert schemas.setdefault(title, named) == named, f"two schemas are called {title}"
    return {"$ref": f"#/components/schemas/{title}"}


def answer_type(names: str) -> Any:
    """The dataclass that a row of the table names, or the union of several; None for ""."""
    found = (load(name) if ":" in name else getattr(model, name) for name in names.split(" | "))
    return reduce(or_, found) if names else None


def answers(description: str, names: str, line: str = "") -> Json:
    """A response whose body is of this type; or lines of JSON, each of the type `line`."""
    content: Json = {"application/json": {"schema": schema_of(answer_type(names))}}
    if line:
        content[LINES] = {"schema": schema_of(answer_type(line))}
    return {"description": description, "content": content}


def _parameter(parameter: Parameter) -> JsonValue:
    schema = parameter.schema
    if not parameter.required and parameter.default is not None:
        schema["default"] = parameter.default
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "schema": schema,
        **({"description": parameter.help} if parameter.help else {}),
    }


def _property(parameter: Parameter) -> Json:
    """A key of a body; null means that the value is not given."""
    described: Json = {"description": parameter.help}
    if parameter.required:
        return {**parameter.schema, **described}
    if parameter.default is None:
        return {"anyOf": [parameter.schema, {"type": "null"}], **described}
    return {**parameter.schema, **described, "default": parameter.default}
