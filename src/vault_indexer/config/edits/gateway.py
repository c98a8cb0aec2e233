"""Changing the rights in a gateway's configuration; all else in it stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault_indexer.config.edits.toml import changed_for_sure, config_text, parsed_config, replace_config
from vault_indexer.config.gateway import MAX_GATEWAY_BYTES
from vault_indexer.config.values import toml_text
from vault_indexer.errors import UsageError, VaultError

_GROUP = "group:"


def add_right(file: Path, user: str, vault: str) -> bool:
    """Give a user, or `group:NAME`, the right to the vault of an id. False if it is there. Raises UsageError
    for a user or a group that the file does not have, and for a file that cannot be changed for sure;
    VaultError where it cannot be written."""
    table, kind = ("groups", "group") if user.startswith(_GROUP) else ("users", "user")
    name = user.removeprefix(_GROUP)

    def add(document: Any) -> bool:
        holders = document.get(table, [])
        chosen = [one for one in holders if one.get("name") == name]
        if not chosen:
            known = ", ".join(str(one.get("name")) for one in holders[:20]) or "none"
            raise UsageError(f"{file} has no {kind} {name[:60]!r}; it has {known}")
        rights = chosen[0].setdefault("vaults", [])
        if vault in rights:
            return False
        rights.append(vault)
        return True

    return _change(file, f"{table}.vaults", add)


def add_withdrawn(file: Path, vault: str) -> bool:
    """Have the vault of an id found by nobody. False if it is so. Raises as `add_right`."""

    def add(document: Any) -> bool:
        if vault in document.setdefault("withdrawn", []):
            return False
        document["withdrawn"].append(vault)
        return True

    return _change(file, "withdrawn", add)


def _change(file: Path, key: str, change: Callable[[Any], bool]) -> bool:
    import tomlkit

    text = config_text(file, key, follow_links=True, most_bytes=MAX_GATEWAY_BYTES)
    if text is None:
        raise VaultError(f"{file} does not exist")
    wanted = parsed_config(text, file)
    has_key = key in wanted
    if not change(wanted):
        return False

    def edit() -> str:
        if not has_key and "." not in key:  # a key of the whole file has to stand before its tables
            return f"{key} = {toml_text(wanted[key])}\n{text}"
        document = tomlkit.parse(text)
        change(document)
        return tomlkit.dumps(document)

    replace_config(file, changed_for_sure(edit, lambda found: found == wanted, key, file))
    return True
