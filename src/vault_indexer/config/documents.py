"""The table of keys written down: `config show`, `config.example.toml`, the tables of the docs; and the first
file of a user.

`make docs` calls `main`, which brings the files of a checkout up to date.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from vault_indexer.config.edits import replace_config
from vault_indexer.config.fields import Trust
from vault_indexer.config.load import LoadedConfig
from vault_indexer.config.schema import SCHEMA, USER_STRATEGIES, Key, value_of
from vault_indexer.config.settings import Settings
from vault_indexer.config.values import toml_text

EXAMPLE = Path("config.example.toml")
PAGE = Path("docs", "configuration.md")
_CHUNKING = "chunking."
_PUBLIC = "public"
"""The block of the keys that most people need, whatever their table."""

_LAST_SECTION = "#### chunking.contextual\n"

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

_EXAMPLE_INTRODUCTION = """\
The configuration of vault-indexer: first the keys that most people need, then how notes are split, by
strategies. Each key has its default, its unit and its meaning. `make docs` writes this file.

You need no configuration file: these values are the defaults. A value can come from several places. In this
order, the first one wins: an option on the command line, an environment variable (INDEXER_SEARCH_LIMIT sets
limit in [search]), .indexer.toml in the vault, your own configuration (on Linux
~/.config/vault-indexer/config.toml), the default. `indexer config show` prints what differs from the
defaults, with its source. `indexer check` finds mistakes. docs/configuration.md has the other keys.

A vault may come from someone else, so its .indexer.toml can contain only {}. Set everything else in your own
configuration."""

_USER_KEY = "Only your own configuration can set this."
_USER_TABLE = "Only your own configuration can set these keys."
_USER_STRATEGY = "Only your own configuration can choose this strategy."
_USER_STRATEGY_AND_OPTIONS = "Only your own configuration can choose this strategy and set its options."
_LINEAR_PATTERN = r"In a vault's file, without lookaround, back-references and `\b`."
_SECOND_LIST = "A list in a vault's file can only exclude more notes."
_RESTART = "Takes effect when the daemon restarts."
_ONLY_ON = "A vault's file can only turn this on."

_BLOCK = re.compile(r"(<!-- begin: keys ([a-z_.]+) -->\n).*?(<!-- end: keys \2 -->)", re.DOTALL)


def write_starter(file: Path) -> None:
    """Write the keys that most people set, as comments, unless the user has a configuration."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_config(file, STARTER)


def example_config() -> str:
    """`config.example.toml`: the public keys and the options of the strategies, each with its default."""
    tables = dict.fromkeys(
        key.name.partition(".")[0] for key in SCHEMA.values() if key.trust is not Trust.USER
    )
    *others, last = (f"[{table}]" for table in tables)
    introduction = _EXAMPLE_INTRODUCTION.format(f"{', '.join(others)} and {last}")
    return "\n".join(_toml_lines(introduction)) + "\n"


def example_keys() -> list[Key]:
    return [key for key in SCHEMA.values() if key.is_public or key.name.startswith(_CHUNKING)]


def page_with_sections(page: str) -> str:
    """The page with a section for each strategy that has options: one that is missing, with the first
    paragraph of the docstring of its options, before the section that stands last."""
    for table in dict.fromkeys(name.rpartition(".")[0] for name in SCHEMA if name.startswith(_CHUNKING)):
        begin = f"<!-- begin: keys {table} -->\n"
        if table.count(".") == 1 and begin not in page:
            section = f"#### {table}\n\n{_meaning(table)}\n\n{begin}<!-- end: keys {table} -->\n\n"
            page = page.replace(_LAST_SECTION, section + _LAST_SECTION)
    return page


def page_with_tables(page: str, keys: Iterable[Key]) -> str:
    """The page with the table of keys between each `<!-- begin: keys search -->` and its end written again.

    A key stands in the block of the longest name that it begins with, a public one in the block `public` if
    the page has that. Raises ValueError for keys that have no block.
    """
    names = [name for _, name, _ in _BLOCK.findall(page)]
    blocks: dict[str, list[Key]] = {name: [] for name in names}
    for key in keys:
        holders = [name for name in names if f"{key.name}.".startswith(f"{name}.")]
        if key.is_public and _PUBLIC in names:
            holders = [_PUBLIC]
        if not holders:
            table = key.name.partition(".")[0]
            raise ValueError(f"no table for {key.name}: add <!-- begin: keys {table} --> and its end")
        blocks[max(holders, key=len)].append(key)
    return _BLOCK.sub(lambda block: f"{block[1]}{_block_text(block[2], blocks[block[2]])}{block[3]}", page)


def _toml_lines(introduction: str) -> Iterator[str]:
    yield from _comment(introduction)
    for table, keys in _keys_by_table().items():
        is_users = bool(table) and _is_users(keys)
        if table:
            yield from ("", f"[{table}]")
            restriction = _strategy_restriction(table, keys) or (_USER_TABLE if is_users else "")
            yield from _comment(_join(_meaning(table), restriction))
        for key in keys:
            restart = "" if key.is_followed else _RESTART
            restriction = "" if is_users else _key_restriction(key)
            yield ""
            yield from _comment(_join(key.description, restart, restriction, f"({_kind(key)})"))
            yield f"{key.name.rpartition('.')[2]} = {toml_text(key.default)}"


def _keys_by_table() -> dict[str, list[Key]]:
    """Keys of the top level under "", which comes first as TOML wants it."""
    tables: dict[str, list[Key]] = {}
    for key in sorted(example_keys(), key=lambda key: key.name.startswith(_CHUNKING)):  # strategies last
        tables.setdefault(key.name.rpartition(".")[0], []).append(key)
    return tables


def _comment(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield "#"
        yield from textwrap.wrap(
            paragraph, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
        )


def _block_text(name: str, keys: list[Key]) -> str:
    """The table of some keys in Markdown; before it, what applies to a whole strategy."""
    restriction = _strategy_restriction(name, keys)
    lines = [restriction, ""] if restriction else []
    lines += ["| key | default | allowed | meaning |", "| --- | --- | --- | --- |"]
    for key in keys:
        is_marked = key.trust is Trust.USER and not (restriction and _is_users(keys))
        marks = "¹" * is_marked + "²" * (not key.is_followed)
        meaning = _join(key.description, "" if key.trust is Trust.USER else _key_restriction(key))
        default = _join(f"`{toml_text(key.default)}`", key.unit)
        cells = (f"`{key.name}`{marks}", default, _allowed_beside_default(key), meaning)
        lines.append(f"| {' | '.join(_markdown(cell) for cell in cells)} |")
    return "\n".join(["", *lines, "", ""])


def _allowed_beside_default(key: Key) -> str:
    """What is allowed, without what the default next to it shows."""
    if key.allowed in ("true or false", "a text", "a list; each a text"):
        return ""
    allowed = key.allowed if key.default else key.allowed.removesuffix(", or nothing")
    allowed = re.sub(r"^(?:a (?:whole )?number (?:from (?=\S+ to \S+$))?|one of: )", "", allowed)
    return allowed.replace("a list; each ", "list: ", 1)


def _markdown(text: str) -> str:
    """Plain text as a cell of a table: what stands in double quotes becomes code."""
    pieces = re.split(r"(`[^`]*`)", text if text.startswith("`") else re.sub(r'"([^"]+)"', r"`\1`", text))
    safe = (piece if piece.startswith("`") else piece.replace("*", r"\*") for piece in pieces)
    return "".join(safe).replace("|", r"\|")


def _strategy_restriction(table: str, keys: list[Key]) -> str:
    if table.startswith(_CHUNKING) and table.removeprefix(_CHUNKING) in USER_STRATEGIES:
        return _USER_STRATEGY_AND_OPTIONS if _is_users(keys) else _USER_STRATEGY
    return ""


def _key_restriction(key: Key) -> str:
    narrow = _SECOND_LIST if key.is_list else _ONLY_ON
    restrictions = {Trust.USER: _USER_KEY, Trust.PATTERN: _LINEAR_PATTERN, Trust.NARROW: narrow}
    return restrictions.get(key.trust, "")


def _is_users(keys: Iterable[Key]) -> bool:
    """Whether a vault's file may set none of these keys."""
    return all(key.trust is Trust.USER for key in keys)


def _kind(key: Key) -> str:
    """The unit and what may stand here; a unit that is another key's value is named as such."""
    is_key = f"{key.name.rpartition('.')[0]}.{key.unit}" in SCHEMA
    unit = f"in {key.unit}" if is_key else key.unit
    return f"{unit}; {key.allowed}" if unit else key.allowed


def _meaning(table: str) -> str:
    """The first paragraph of the table's docstring, in one line."""
    section: object = value_of(Settings(), table)
    return " ".join(inspect.cleandoc(type(section).__doc__ or "").partition("\n\n")[0].split())


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


# The rows of `config show`.


class Row(NamedTuple):
    """One key of `config show`, with its value as TOML writes it.

    `counted` is what a person reads after the value, as in `0.5 seconds`, `1 hit`, `250 words`; it is ""
    where the value says enough alone.
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
    """`config show --json`: the files looked at and read (weaker first), and by dotted key value, origin and
    meaning."""
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


_SINGULARS = {"MB": "MB", "processes": "process"} | {
    f"{word}s": word
    for word in (
        *("byte", "call", "character", "chunk", "hit", "note", "paragraph", "path", "request"),
        *("second", "sentence", "text", "token", "word"),
    )
}
"""The units that read well after a value: "10 niceness" does not."""


def _unit_of(settings: Settings, key: Key) -> str:
    """The unit after the value: the word that `size_unit` holds, where that is the unit."""
    unit = key.unit
    if unit == "size_unit":
        unit = str(value_of(settings, f"{key.name.rpartition('.')[0]}.{unit}"))
    singular = _SINGULARS.get(unit, "")
    return singular if key.value(settings) == 1 or not singular else unit


def main() -> None:
    """Write the example file and the tables of the page, below the current folder."""
    try:
        EXAMPLE.write_text(example_config(), encoding="utf-8")
        page = page_with_sections(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(page_with_tables(page, SCHEMA.values()), encoding="utf-8")
    except (OSError, ValueError) as error:
        sys.exit(f"the docs of the configuration cannot be written: {error}")
