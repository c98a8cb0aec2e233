"""Adding a vault to `[vaults]` of the user's configuration, and removing one; all else in it stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from vault_indexer.config.file_edit import (
    HEADER,
    config_text,
    first_that_says,
    parsed_config,
    replace_config,
    tables_named,
    with_table,
)
from vault_indexer.config.values import toml_text
from vault_indexer.config.vault_table import VAULT_NAME, NamedVault, is_vault_name
from vault_indexer.errors import UsageError, VaultError


def add_vault(file: Path, vault: NamedVault) -> None:
    """Write a vault into the table of a configuration file, which need not exist.

    Raises UsageError for a name that cannot be one or is taken, and for a file that cannot be changed for
    sure; VaultError where it cannot be written.
    """
    if not is_vault_name(vault.name):
        raise UsageError(f"name = {vault.name[:60]!r}: a name has {VAULT_NAME}")
    text = _read(file)
    document = parsed_config(text, file)
    entries = _entries(document, file)
    if vault.name in entries:
        raise UsageError(
            f"[vaults] of {file} has {vault.name} already: remove it first, or choose another name"
        )
    value: object = str(vault.path)
    if vault.index_dir is not None:
        value = {"path": value, "index_dir": str(vault.index_dir)}
    wanted = {**document, "vaults": {**entries, vault.name: value}}
    _write(file, _chosen(_with_line(text, f"{vault.name} = {toml_text(value)}"), wanted, file))


def remove_vault(file: Path, name: str) -> None:
    """Take a vault out of the table. Its notes and its index stay. Raises as `add_vault`."""
    text = _read(file)
    document = parsed_config(text, file)
    entries = _entries(document, file)
    if name not in entries:
        known = f"it has {', '.join(entries)}" if entries else "there are none"
        raise UsageError(f"no vault {name[:60]!r} in [vaults] of {file}: {known}")
    left = {one: value for one, value in entries.items() if one != name}
    # A table that is written as `[vaults.NAME]` leaves no `[vaults]` behind.
    others = {key: value for key, value in document.items() if key != "vaults"}
    wanted = [{**others, "vaults": left}, *([] if left else [others])]
    for one in wanted:
        try:
            _write(file, _chosen(_without(text, name), one, file))
        except _NotSureError:
            continue
        return
    raise UsageError(f"{file} cannot be changed for sure: remove {name} from [vaults] by hand")


class _NotSureError(UsageError):
    """No text was found that says what is wanted."""


def _with_line(text: str, line: str) -> Iterator[str]:
    """Texts that may be right: TOML decides which is."""
    for table in tables_named(text, "vaults"):
        place = table.start + len(text[table.start : table.end].rstrip())
        yield f"{text[:place]}{table.line_break}{line}{text[place:] or table.line_break}"
    yield with_table(text, "vaults", line)


def _without(text: str, name: str) -> Iterator[str]:
    for found in re.finditer(rf"^[ \t]*\"?{name}\"?[ \t]*=.*(\r?\n|\Z)", text, re.MULTILINE):
        yield text[: found.start()] + text[found.end() :]
    for found in re.finditer(rf"^[ \t]*\[[ \t]*vaults\.\"?{name}\"?[ \t]*\]", text, re.MULTILINE):
        following = HEADER.search(text, found.end())
        yield text[: found.start()] + (text[following.start() :] if following else "")


def _chosen(candidates: Iterator[str], wanted: dict[str, object], file: Path) -> str:
    found = first_that_says(candidates, wanted)
    if found is None:
        raise _NotSureError(f"{file} cannot be changed for sure: change [vaults] by hand")
    return found


def _read(file: Path) -> str:
    return config_text(file, "[vaults]", follow_links=True) or ""


def _entries(document: dict[str, object], file: Path) -> dict[str, object]:
    entries = document.get("vaults", {})
    if not isinstance(entries, dict):
        raise UsageError(f"{file}: vaults is no table: change it by hand")
    return entries


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(f"cannot write {file}: {error.strerror}") from error
    replace_config(file, text)
