"""TOML from a stranger, read into JSON values within the limits that YAML has."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time

from vault_indexer.model import JsonValue
from vault_indexer.parse.yaml_values import (
    MAX_BYTES,
    MAX_DEPTH,
    TOO_DEEP,
    YamlRefusedError,
    as_written,
    nesting_of,
)

PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)\Z")


def load_toml(source: str) -> Mapping[str, JsonValue]:
    """The properties that `source` holds; dates are ISO 8601. Raises YamlRefusedError."""
    import tomllib

    if len(source.encode()) > MAX_BYTES:
        raise YamlRefusedError(f"longer than {MAX_BYTES // 1024} KiB", 0)
    try:
        table = tomllib.loads(source.replace("\r\n", "\n").replace("\r", "\n"), parse_float=_float)
        values = {name: _json(value) for name, value in table.items()}
        depth = nesting_of(values)
    except RecursionError as error:
        raise YamlRefusedError(TOO_DEEP, 0) from error
    except ValueError as error:
        place = PLACE.search(str(error))
        line = int(place[1] or 0) if place else 0
        raise YamlRefusedError(f"not valid TOML: {PLACE.sub('', str(error))}", line) from error
    if depth > MAX_DEPTH:
        raise YamlRefusedError(TOO_DEEP, 0)
    return values


def _float(text: str) -> JsonValue:
    number = float(text)
    return as_written(number, text) if math.isfinite(number) else text


def _json(value: object) -> JsonValue:
    match value:
        case dict():
            return {str(name): _json(inner) for name, inner in value.items()}
        case list():
            return [_json(inner) for inner in value]
        case datetime() | date() | time():
            return value.isoformat()
        case str() | bool() | int() | float():
            return value
        case _:
            return str(value)
