"""The contract with other programs: the marks of JSON fields, the requests, and one codec for all types.

Import its modules one by one. All are light, because a command imports them before it sends a request. This
one has only the types of JSON.
"""

from __future__ import annotations

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
Json = dict[str, JsonValue]
"""A JSON object."""
