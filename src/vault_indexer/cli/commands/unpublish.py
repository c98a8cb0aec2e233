"""`indexer unpublish`."""

from __future__ import annotations

import os

from vault_indexer.bootstrap import unpublish as unpublish_vault
from vault_indexer.cli.connection.in_process import target_of
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import Place, one_command


def unpublish(place: Place) -> None:
    """Remove what is published of a vault from the Milvus server. Notes and index stay as they are."""
    target = target_of(place)
    uri = target.config.settings.milvus.uri
    if unpublish_vault(target, os.environ):
        note(f"Removed {target.vault} from {uri}.")
    else:
        note(f"Nothing of {target.vault} is published on {uri}.")


app = one_command(unpublish)
