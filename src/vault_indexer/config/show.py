"""For people: the rows of `config show`, and the commented file that `indexer init` writes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from vault_indexer.config.fields import Trust
from vault_indexer.config.load import LoadedConfig
from vault_indexer.config.schema import SCHEMA, Key
from vault_indexer.config.settings import Settings
from vault_indexer.config.trust import TRUST
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
            _counted(loaded.settings, key),
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


def _counted(settings: Settings, key: Key) -> str:
    """The unit after the value: the word that `size_unit` holds, where that is the unit."""
    unit = key.unit
    if unit == "size_unit":
        unit = str(value_of(settings, f"{key.name.rpartition('.')[0]}.{unit}"))
    singular = _SINGULARS.get(unit, "")
    return singular if value_of(settings, key.name) == 1 or not singular else unit


def commented_config() -> str:
    """A `.indexer.toml` for a vault: every key with its default, unit and meaning, all commented out.

    `# key = value` is a key that the vault's file may set, `## key = value` one that only the user's own
    configuration may.
    """
    return "\n".join(_commented_lines()) + "\n"


_INTRODUCTION = """\
How this vault is indexed and searched. Every line is optional. A line that is commented out shows a
default: remove its # to change it. This file belongs to the vault and is shared with it. It must not
choose models, servers or folders, so a line that begins with ## has no place here. You can set such a
key in your own configuration, whose path `indexer config show` prints."""

_OWN = "Only your own configuration can set this."


def _commented_lines() -> Iterator[str]:
    yield from _comment(_INTRODUCTION)
    for table, keys in _keys_by_table().items():
        own = [key for key in keys if TRUST.get(key.name, Trust.USER) is Trust.USER]
        if table:
            yield from ("", f"## [{table}]" if own == keys else f"[{table}]", *_comment(_meaning(table)))
        for key in keys:
            yield from (
                "",
                *_comment(f"{_why(key)} {_OWN}" if key in own else _why(key)),
                f"{'##' if key in own else '#'} {key.name.rpartition('.')[2]} = {toml_text(key.default)}",
            )


def _keys_by_table() -> dict[str, list[Key]]:
    """Keys of the top level under "", which comes first as TOML wants it."""
    tables: dict[str, list[Key]] = {}
    for name, key in SCHEMA.items():
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
