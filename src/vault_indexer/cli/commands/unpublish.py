"""`indexer unpublish`."""

from __future__ import annotations

import os

from vault_indexer.bootstrap import unpublish as unpublish_vault
from vault_indexer.cli.in_process import target_of
from vault_indexer.cli.parameters import Place, one_command
from vault_indexer.cli.terminal import note


def unpublish(place: Place) -> None:
    """Remove what is published of a vault from the Milvus server. Notes and index stay as they are."""
    target = target_of(place)
    uri = target.config.settings.milvus.uri
    if unpublish_vault(target, os.environ):
        note(f"removed from {uri}: {target.vault}")
    else:
        note(f"{uri} had nothing published of {target.vault}")


app = one_command(unpublish)
