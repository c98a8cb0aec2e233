"""The rows of `config show`."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from vault_indexer.config.load import LoadedConfig
from vault_indexer.config.schema import SCHEMA, Key
from vault_indexer.config.settings import Settings
from vault_indexer.config.values import toml_text


@dataclass(frozen=True, slots=True)
class Row:
    """One key of `config show`: `value` as TOML writes it, `unit` "" where the value is no number.

    `counted` is what a person reads after the value, as in `0.5 seconds`, `1 hit`, `250 words`; it is ""
    where the value says enough alone.
    """

    key: str
    value: str
    origin: str
    unit: str
    description: str
    counted: str = ""


def rows(loaded: LoadedConfig) -> list[Row]:
    """Every key, in the order of the schema."""
    return [
        Row(
            name,
            toml_text(value_of(loaded.settings, name)),
            loaded.origins[name],
            key.unit,
            key.description,
            _unit_of(loaded.settings, key),
        )
        for name, key in SCHEMA.items()
    ]


def as_json(loaded: LoadedConfig) -> dict[str, JsonValue]:
    """`config show --json`: the files looked at and read (weaker first), and by dotted key value, origin and
    meaning."""
    dumped = loaded.settings.model_dump(mode="json")
    keys: dict[str, JsonValue] = {}
    for row in rows(loaded):
        value: JsonValue = dumped
        for part in row.key.split("."):
            value = value[part] if isinstance(value, dict) else None
        keys[row.key] = {
            "value": value,
            "origin": row.origin,
            "unit": row.unit,
            "description": row.description,
        }
    return {
        "vault": str(loaded.vault) if loaded.vault else None,
        "files": [str(path) for path in loaded.files],
        "looked_at": [str(path) for path in loaded.looked_at],
        "keys": keys,
    }


def value_of(settings: Settings, name: str) -> object:
    """The value of a dotted key."""
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


_SINGULARS = {
    "MB": "MB",
    "bytes": "byte",
    "calls": "call",
    "characters": "character",
    "chunks": "chunk",
    "hits": "hit",
    "paragraphs": "paragraph",
    "paths": "path",
    "processes": "process",
    "requests": "request",
    "seconds": "second",
    "sentences": "sentence",
    "texts": "text",
    "tokens": "token",
    "words": "word",
}
"""The units that read well after a value: "10 niceness" does not."""


def _unit_of(settings: Settings, key: Key) -> str:
    """The unit after the value: the word that `size_unit` holds, where that is the unit."""
    unit = key.unit
    if unit == "size_unit":
        unit = str(value_of(settings, f"{key.name.rpartition('.')[0]}.{unit}"))
    singular = _SINGULARS.get(unit, "")
    return singular if value_of(settings, key.name) == 1 or not singular else unit
