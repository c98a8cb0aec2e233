"""The table `[vaults]`: which vaults the daemon keeps, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from vault_indexer.config.fields import Allowed, OptionalFolder, Table, Trust, folder_of_text
from vault_indexer.system import folder_slug, record, resolved

VAULT_NAME = "lower-case letters, digits and hyphens, at most 40, beginning with a letter or digit"
"""What a name may be: it stands in addresses (`/vault/NAME`) and in queries (`vault:NAME`)."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_ALLOWED = (
    f'a table of name = "path" or name = {{ path = "...", index_dir = "..." }}; a name has {VAULT_NAME}'
)


def is_vault_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


class VaultEntry(Table):
    """One vault of the table: the folder of its notes, and of its index where that is not the default."""

    path: Annotated[Path, BeforeValidator(folder_of_text), Allowed("a path to a folder")]
    index_dir: OptionalFolder = None


@record
class NamedVault:
    """A vault of the configuration. `index_dir` is None where its index is in the default folder."""

    name: str
    path: Path
    index_dir: Path | None = None


def vaults_of(entries: Mapping[str, VaultEntry], default: Path | None) -> tuple[NamedVault, ...]:
    """The vaults of the table; where there are any, also the one of the key `vault`, named after its folder
    unless the table has it or the name."""
    named = [NamedVault(name, one.path, one.index_dir) for name, one in entries.items()]
    if not named or default is None or any(resolved(one.path) == resolved(default) for one in named):
        return tuple(named)
    name = folder_slug(default)
    return tuple(named) if name in entries else (*named, NamedVault(name, default))


def _entries(value: object) -> object:
    """A bare path as an entry with this path."""
    if not isinstance(value, Mapping):
        return value
    return {name: {"path": one} if isinstance(one, str) else one for name, one in value.items()}


def _named_well(entries: dict[str, VaultEntry]) -> dict[str, VaultEntry]:
    for name in entries:
        if not is_vault_name(name):
            raise ValueError(f"the name {name[:60]!r}: a name has {VAULT_NAME}")
    return entries


VaultEntries = Annotated[
    dict[str, VaultEntry],
    BeforeValidator(_entries),
    AfterValidator(_named_well),
    Allowed(_ALLOWED),
    Trust.USER,
]
