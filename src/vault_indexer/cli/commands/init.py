"""`indexer init`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from vault_indexer.cli.parameters import Place, one_command
from vault_indexer.cli.reach import named_vault
from vault_indexer.cli.terminal import note
from vault_indexer.config import commented_config, vault_config_file
from vault_indexer.config.file_edit import replace_config
from vault_indexer.errors import UsageError, VaultError
from vault_indexer.vault import root_identity


def init(
    place: Place,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a configuration that exists.")] = False,
) -> None:
    """Write `.indexer.toml` into the vault: every key with its default, all commented out."""
    vault = named_vault(place, os.environ)
    root_identity(vault)
    path = vault_config_file(vault)
    # A vault may come from someone else: the file may be a link, which neither way follows.
    if force:
        replace_config(path, commented_config())
    else:
        _write_new(path, commented_config())
    note(f"wrote {path}")


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists: --force overwrites it") from error
    except OSError as error:
        raise VaultError(f"cannot write {path}: {error.strerror}") from error


app = one_command(init)
