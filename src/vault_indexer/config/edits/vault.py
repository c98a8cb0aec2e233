"""Adding a vault to `[vaults]` of the user's configuration, and removing one; all else in it stays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vault_indexer.config.edits.toml import config_text, parsed_config, replace_config, with_values
from vault_indexer.config.tables.vault_table import VAULT_NAME, NamedVault, is_vault_name
from vault_indexer.errors import UsageError, VaultError


def add_vault(file: Path, vault: NamedVault) -> None:
    """Write a vault into the table of a configuration file, which need not exist.

    Raises UsageError for a name that cannot be one or is taken, and for a file that cannot be changed for
    sure; VaultError where it cannot be written.
    """
    if not is_vault_name(vault.name):
        raise UsageError(f"name = {vault.name[:60]!r}: a name has {VAULT_NAME}")
    text = _read(file)
    entries = _entries(text, file)
    if vault.name in entries:
        raise UsageError(
            f"[vaults] of {file} has {vault.name} already: remove it first, or choose another name"
        )
    for name, entry in entries.items():
        folder = entry.get("path") if isinstance(entry, Mapping) else entry
        if (
            isinstance(folder, str)
            and (file.parent / Path(folder).expanduser()).resolve() == vault.path.resolve()
        ):
            raise UsageError(f"[vaults] of {file} has this folder already: {name}, {folder}")
    value: object = str(vault.path)
    if vault.index_dir is not None:
        value = {"path": value, "index_dir": str(vault.index_dir)}
    _write(file, with_values(text, {("vaults", vault.name): value}, file))


def remove_vault(file: Path, name: str) -> None:
    """Take a vault out of the table. Its notes and its index stay. Raises as `add_vault`."""
    text = _read(file)
    entries = _entries(text, file)
    if name not in entries:
        known = f"it has {', '.join(entries)}" if entries else "there are none"
        raise UsageError(f"no vault {name[:60]!r} in [vaults] of {file}: {known}")
    _write(file, with_values(text, {("vaults", name): None}, file))


def _read(file: Path) -> str:
    return config_text(file, "[vaults]", follow_links=True) or ""


def _entries(text: str, file: Path) -> dict[str, object]:
    entries = parsed_config(text, file).get("vaults", {})
    if not isinstance(entries, dict):
        raise UsageError(f"{file}: vaults is no table: change it by hand")
    return entries


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(f"cannot write {file}: {error.strerror}") from error
    replace_config(file, text)
