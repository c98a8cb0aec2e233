"""What a vault has published on a Milvus server: removing it, taking it over."""

from __future__ import annotations

import os

from vault_indexer.bootstrap import take_over_publication
from vault_indexer.bootstrap import unpublish as unpublish_vault
from vault_indexer.cli.connection.in_process import target_of
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.errors import UsageError


def remove_publication(selection: VaultSelection) -> str:
    """Remove what is published of a vault from the Milvus server, and print a line about it. Returns the id
    that the vault had, "" where nothing was published."""
    target = target_of(selection)
    uri = target.config.settings.milvus.uri
    vault = unpublish_vault(target, os.environ)
    if vault:
        note(f"Removed {target.vault} from {uri}; its id was {vault}.")
    else:
        note(f"Nothing of {target.vault} is published on {uri}.")
    return vault


def take_over_at(selection: VaultSelection, *, is_shared: bool) -> None:
    """What --take-over does before the daemon starts. Raises UsageError where no single vault is meant."""
    if is_shared:
        raise UsageError("--take-over: name one vault with --vault")
    target = target_of(selection)
    if take_over_publication(target, os.environ):
        note(f"This index publishes {target.vault} from now on.")
