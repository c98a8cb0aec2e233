"""Writes the keys of the configuration into config.example.toml and docs/configuration.md (`make docs`)."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from vault_indexer.config.fields import Trust
from vault_indexer.config.schema import SCHEMA, USER_STRATEGIES, Key, value_of
from vault_indexer.config.settings import Settings
from vault_indexer.config.values import toml_text

EXAMPLE = Path("config.example.toml")
PAGE = Path("docs", "configuration.md")
_CHUNKING = "chunking."
_PUBLIC = "public"
"""The block of the keys that most people need, whatever their table."""

_LAST_SECTION = "#### chunking.contextual\n"

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


def main() -> None:
    """Write the example file and the tables of the page, below the current folder."""
    try:
        EXAMPLE.write_text(example_config(), encoding="utf-8")
        page = page_with_sections(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(page_with_tables(page, SCHEMA.values()), encoding="utf-8")
    except (OSError, ValueError) as error:
        sys.exit(f"the docs of the configuration cannot be written: {error}")


if __name__ == "__main__":
    main()
