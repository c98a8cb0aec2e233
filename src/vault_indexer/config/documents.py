"""The rows of `config show`, and the first configuration of a user."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from vault_indexer.config.edits import replace_config
from vault_indexer.config.load import LoadedConfig
from vault_indexer.config.schema import SCHEMA, Key, value_of
from vault_indexer.config.settings import Settings
from vault_indexer.config.values import toml_text

STARTER = """\
# Your configuration of vault-indexer. Every line is optional; "indexer config show --all" prints every key.

# Folders of notes, by name. "indexer init DIR" and "indexer vault" write this table.
[vaults]

[files]
# exclude = ["Archive/", "*.draft.md"]

[search]
# limit = 10

[embedding]
# provider = "auto"        # or e5, ollama, openai, ...

[llm]
# provider = "none"        # or ollama, openai, anthropic: writes the answers of "indexer ask"
# model = ""
"""


def write_starter(file: Path) -> None:
    """Writes the keys that most people set, as comments, unless the user has a configuration."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_config(file, STARTER)


class Row(NamedTuple):
    """One key of `config show`, with its value as TOML writes it.

    `counted` is the unit shown after the value, as in `0.5 seconds`, `1 hit`, `250 words`; it is "" if the
    value is clear without one.
    """

    key: str
    value: str
    origin: str
    counted: str


def rows(loaded: LoadedConfig) -> list[Row]:
    """Every key, in the order of the schema."""
    return [
        Row(
            name,
            toml_text(_value_with_vault(loaded, name)),
            _origin(loaded, name),
            _unit_of(loaded.settings, key),
        )
        for name, key in SCHEMA.items()
    ]


def as_json(loaded: LoadedConfig) -> dict[str, JsonValue]:
    """`config show --json`: the files looked at and read (weaker first), and each key by its dotted name."""
    dumped = loaded.settings.model_dump(mode="json")
    for name in loaded.added_origins:
        table, _, last = name.rpartition(".")
        dumped[table][last] = list(_value_with_vault(loaded, name))
    keys: dict[str, JsonValue] = {}
    for name, key in SCHEMA.items():
        keys[name] = {
            "value": reduce(getitem, name.split("."), dumped),
            "origin": _origin(loaded, name),
            "unit": key.unit,
            "description": key.description,
        }
    return {
        "vault": str(loaded.vault) if loaded.vault else None,
        "files": [str(path) for path in loaded.files],
        "looked_at": [str(path) for path in loaded.looked_at],
        "keys": keys,
    }


def _value_with_vault(loaded: LoadedConfig, name: str) -> Any:
    """The value of a key, with the additions of the vault's own file."""
    value = value_of(loaded.settings, name)
    return (*value, *_added(loaded, name)) if name in loaded.added_origins else value  # type: ignore[misc]


def _origin(loaded: LoadedConfig, name: str) -> str:
    """The origin of the value; for a list that the vault's own file adds to, each part with its origin."""
    own = value_of(loaded.settings, name)
    if name not in loaded.added_origins or not own:
        return loaded.added_origins.get(name, loaded.origins[name])
    added = toml_text(_added(loaded, name))
    return f"{loaded.origins[name]}: {toml_text(own)}; {loaded.added_origins[name]}: {added}"


def _added(loaded: LoadedConfig, name: str) -> tuple[str, ...]:
    patterns: tuple[str, ...] = getattr(loaded.settings.files.of_vault, name.rpartition(".")[2])
    return patterns


_SINGULARS = {"MB": "MB", "processes": "process"} | {
    f"{word}s": word
    for word in (
        *("byte", "call", "character", "chunk", "hit", "note", "paragraph", "path", "request"),
        *("second", "sentence", "text", "token", "word"),
    )
}
"""The units that read well after a value: "10 niceness" does not."""


def _unit_of(settings: Settings, key: Key) -> str:
    """The unit after the value; if it is `size_unit`, the value of that key."""
    unit = key.unit
    if unit == "size_unit":
        unit = str(value_of(settings, f"{key.name.rpartition('.')[0]}.{unit}"))
    singular = _SINGULARS.get(unit, "")
    return singular if key.value(settings) == 1 or not singular else unit
