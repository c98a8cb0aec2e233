"""JSON as Python values."""

from __future__ import annotations

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
Json = dict[str, JsonValue]
"""A JSON object."""
