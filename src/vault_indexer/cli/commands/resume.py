"""`indexer resume`."""

from __future__ import annotations

from vault_indexer.cli.connection.connect import ask
from vault_indexer.cli.output.terminal import note, print_json
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.serve.api.endpoints import RESUME
from vault_indexer.text.phrases import quantity


def resume(selection: VaultSelection, output: Output) -> None:
    """Resume indexing in the daemon, beginning with the changes made during the pause."""
    found = ask(selection, RESUME)
    if output.json:
        print_json(found)
    else:
        pending = f": {quantity(found['pending'], 'change')} to index" if found["pending"] else ""
        note(f"Indexing resumed{pending}.")


app = one_command(resume)
