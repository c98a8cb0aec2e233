"""For people: the rows of `config show`, and the commented file that `indexer init` writes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from vault_indexer.config.chunking import OPTION_TABLES
from vault_indexer.config.load import LoadedConfig
from vault_indexer.config.schema import SCHEMA, Key
from vault_indexer.config.settings import Settings
from vault_indexer.config.trust import TRUST, Trust
from vault_indexer.config.values import toml_text


@dataclass(frozen=True, slots=True)
class Row:
    """One key of `config show`: `value` as TOML writes it, `unit` "" where the value is no number."""

    key: str
    value: str
    origin: str
    unit: str
    description: str


def rows(loaded: LoadedConfig) -> list[Row]:
    """Every key, in the order of the schema."""
    return [
        Row(
            name,
            toml_text(value_of(loaded.settings, name)),
            loaded.origins[name],
            key.unit,
            key.description,
        )
        for name, key in SCHEMA.items()
    ]


def as_json(loaded: LoadedConfig) -> dict[str, JsonValue]:
    """`config show --json`: the files read (weaker first), and by dotted key value, origin and meaning."""
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
        "keys": keys,
    }


def value_of(settings: Settings, name: str) -> object:
    """The value of a dotted key."""
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def commented_config() -> str:
    """A `.indexer.toml` for a vault: the keys it may set, commented out, with their defaults."""
    return "\n".join(_commented_lines()) + "\n"


_INTRODUCTION = """\
How this vault is indexed and searched. All of it is optional: a line that is commented out shows a default.
This file travels with the vault, so it may not choose models, servers or folders: those belong into your own
configuration, whose place `indexer config show` tells."""


_STRATEGIES = """\
Each other strategy has a table of its own, such as [chunking.word]; the docs of the configuration list
their options."""


def _commented_lines() -> Iterator[str]:
    yield from _comment(_INTRODUCTION)
    for table, keys in _vault_tables().items():
        yield from ("", f"[{table}]", *_comment(_meaning(table)))
        if table == "chunking":
            yield from _comment(_STRATEGIES)
        for key in keys:
            yield from (
                "",
                *_comment(_why(key)),
                f"# {key.name.rpartition('.')[2]} = {toml_text(key.default)}",
            )


def _vault_tables() -> dict[str, list[Key]]:
    """The keys of a vault's file by table, without those of single strategies: they would bury the rest."""
    strategies = tuple(f"chunking.{name}." for name in OPTION_TABLES)
    tables: dict[str, list[Key]] = {}
    for name, key in SCHEMA.items():
        if TRUST.get(name, Trust.USER) is not Trust.USER and not name.startswith(strategies):
            tables.setdefault(name.rpartition(".")[0], []).append(key)
    return tables


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _why(key: Key) -> str:
    """Reason, unit, and what may stand here, as a sentence."""
    kind = f"{key.unit}; {key.allowed}" if key.unit else key.allowed
    return f"{key.description[0].upper()}{key.description[1:]} ({kind})."


def _meaning(table: str) -> str:
    """The first line of the table's docstring."""
    section: object = value_of(Settings(), table)
    return (type(section).__doc__ or "").partition("\n")[0]
