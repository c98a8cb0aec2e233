"""What changes to a configuration file that a person wrote have in common: all else in it stays as it is.

A change is made in the text. Where the text has a key, or could take it, is only guessed: of several texts
`first_that_says` takes the first that TOML reads as what is wanted. `strategy_edit` and `vault_edit` change
one key each in this way. `evals.tune` sets several at once, line by line; it and `indexer init` only read or
replace the file by this.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import tomli

from vault_indexer.config.sources import MAX_CONFIG_BYTES
from vault_indexer.errors import UsageError, VaultError
from vault_indexer.system import write_atomically

HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
"""The beginning of any table."""


def config_text(file: Path, part: str, *, follow_links: bool) -> str | None:
    """The text of a configuration file of which `part` is to be changed; None if there is no file.

    Raises UsageError for what no program should change (too large, not UTF-8, or no regular file where links
    are not followed), and VaultError where it cannot be read.
    """
    by_hand = f"change {part} by hand"
    try:
        if not (follow_links or stat.S_ISREG(file.lstat().st_mode)):
            raise UsageError(f"{file} is not a regular file: {by_hand}")
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultError(f"cannot read {file}: {error.strerror}") from error
    if len(data) > MAX_CONFIG_BYTES:
        raise UsageError(f"{file} is larger than {MAX_CONFIG_BYTES} bytes: {by_hand}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8: {by_hand}") from error


def replace_config(file: Path, text: str) -> None:
    """Replace a configuration file atomically; its mode stays. Raises VaultError."""
    try:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o644
        write_atomically(file, text.encode(), mode)
    except OSError as error:
        raise VaultError(f"cannot write {file}: {error.strerror}") from error


def parsed_config(text: str, file: Path) -> dict[str, object]:
    """What a configuration says. Raises UsageError if it is no TOML."""
    try:
        return tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{file} is not TOML: {error}") from error


class TableText(NamedTuple):
    """Where a table stands in a text: its body begins behind the header, before the line break, and ends
    before the next table. New lines of it end with `line_break`."""

    start: int
    end: int
    line_break: str


def tables_named(text: str, name: str) -> Iterator[TableText]:
    """Where a table with this header may stand; it may also be within a text of several lines."""
    header = re.compile(rf"^[ \t]*\[[ \t]*{re.escape(name)}[ \t]*\][ \t]*(#.*?)?(\r?)$", re.MULTILINE)
    for found in header.finditer(text):
        following = HEADER.search(text, found.end())
        end = following.start() if following else len(text)
        yield TableText(found.start(2), end, f"{found[2]}\n")


def with_table(text: str, name: str, line: str) -> str:
    """The text with a new table of one line at its end."""
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}[{name}]\n{line}\n"


def first_that_says(candidates: Iterable[str], wanted: Mapping[str, object]) -> str | None:
    """The first of the texts that is TOML for exactly this; None if none is."""
    for candidate in candidates:
        try:
            if tomli.loads(candidate) == wanted:
                return candidate
        except tomli.TOMLDecodeError:
            continue
    return None
