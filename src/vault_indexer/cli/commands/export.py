"""`indexer export`."""

from __future__ import annotations

import sys

from vault_indexer.cli.connection.in_process import open_service, target_of
from vault_indexer.cli.parameters import Output, VaultSelection, one_command


def export(selection: VaultSelection, output: Output) -> None:
    """Print everything that the index contains, as sorted JSON lines."""
    del output  # it is JSON in any case
    with open_service(target_of(selection), build=False) as service:
        for line in service.export():
            sys.stdout.write(f"{line}\n")


app = one_command(export)
