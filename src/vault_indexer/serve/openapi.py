"""The answers as OpenAPI tells them.

The framework would want models of its own for that and check every answer against them. The answers are
dataclasses that mypy has checked, so they are only described, once, when the server begins.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from vault_indexer import model
from vault_indexer.contract.codec import schema_of
from vault_indexer.contract.json_value import Json

LINES = "application/x-ndjson"
"""The media type of lines of JSON."""


def answer_type(names: str) -> Any:
    """The dataclass that a row of the table names, or the union of several; None for ""."""
    return reduce(or_, (getattr(model, name) for name in names.split(" | "))) if names else None


def answers(description: str, kind: object, line: object = None) -> Json:
    """A response of OpenAPI whose body is of this type; or lines of JSON, each of the type `line`."""
    content: Json = {"application/json": {"schema": schema_of(kind)}}
    if line is not None:
        content[LINES] = {"schema": schema_of(line)}
    return {"description": description, "content": content}
