"""The table `[vaults]` of the user's configuration, as commands see it. Loads no configuration."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from vault_indexer.cli.parameters import Place
from vault_indexer.cli.vault_folder import enclosing_vault_here, user_config_file


def config_of(place: Place, environ: Mapping[str, str]) -> Path | None:
    """The configuration file that was named for this command; None for the user's own."""
    if place.config is not None:
        return place.config
    named = environ.get("INDEXER_CONFIG")
    return Path(os.path.expanduser(named)) if named else None  # noqa: PTH111


def vaults_in_config(place: Place, environ: Mapping[str, str]) -> dict[str, Path]:
    """The folders of the table by name. Empty where there is none, or where anything is wrong with it:
    whoever loads the whole configuration says what."""
    file = config_of(place, environ) or user_config_file(environ)
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8-sig")).get("vaults")
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(table, dict):
        return {}
    paths = {name: one.get("path") if isinstance(one, dict) else one for name, one in table.items()}
    return {
        name: file.parent.absolute() / os.path.expanduser(path)  # noqa: PTH111
        for name, path in paths.items()
        if isinstance(path, str) and path
    }


def means_all(place: Place, environ: Mapping[str, str]) -> bool:
    """Whether a command that can work on all vaults of the table does: no vault and no index is named for it,
    and it does not run in a vault that the table lacks."""
    named = (place.vault, environ.get("INDEXER_VAULT"), place.index_dir, environ.get("INDEXER_INDEX_DIR"))
    table = vaults_in_config(place, environ)
    if any(named) or not table:
        return False
    around = enclosing_vault_here()
    return around is None or any(around == folder.resolve() for folder in table.values())
