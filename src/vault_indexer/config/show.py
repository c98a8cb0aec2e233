"""The rows of `config show`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from vault_indexer.config.load import LoadedConfig
from vault_indexer.config.schema import ALL_KEYS, SCHEMA, Key
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
            toml_text(_value_with_vault(loaded, name)),
            _origin(loaded, name),
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
    for name in loaded.added_origins:
        table, _, last = name.rpartition(".")
        dumped[table][last] = list(_value_with_vault(loaded, name))
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


def _value_with_vault(loaded: LoadedConfig, name: str) -> Any:
    """The value of a key, with what the vault's own file adds."""
    value = value_of(loaded.settings, name)
    return (*value, *_added(loaded, name)) if name in loaded.added_origins else value  # type: ignore[misc]


def _origin(loaded: LoadedConfig, name: str) -> str:
    """Where the value comes from; of a list that the vault's own file adds to, each part with its origin."""
    own = value_of(loaded.settings, name)
    if name not in loaded.added_origins or not own:
        return loaded.added_origins.get(name, loaded.origins[name])
    added = toml_text(_added(loaded, name))
    return f"{loaded.origins[name]}: {toml_text(own)}; {loaded.added_origins[name]}: {added}"


def _added(loaded: LoadedConfig, name: str) -> tuple[str, ...]:
    patterns: tuple[str, ...] = getattr(loaded.settings.files.of_vault, name.rpartition(".")[2])
    return patterns


def keys_to_restart_for(before: Settings, after: Settings) -> list[str]:
    """The keys that differ and that a running daemon does not follow."""
    unfollowed = (key.name for key in ALL_KEYS.values() if not key.is_followed)
    return [name for name in unfollowed if value_of(before, name) != value_of(after, name)]


def value_of(settings: Settings, name: str) -> object:
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
    "notes": "note",
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
