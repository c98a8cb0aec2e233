"""`indexer verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from vault_indexer.cli.connection.connect import ask
from vault_indexer.cli.output.terminal import note, out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.serve.api.endpoints import VERIFY
from vault_indexer.text.phrases import quantity

PROBLEMS = 1


def verify(
    selection: VaultSelection,
    output: Output,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what differs.")] = False,
) -> int:
    """Compare vault, catalog and each derived index; exit status 1 if they differ."""
    found = ask(selection, VERIFY, repair=repair)
    if output.json:
        print_json(found)
    else:
        for problem in found["problems"]:
            out().print(
                text(
                    (f"{problem['store']}  ", "bold"),
                    (f"{problem['kind']}  ", "yellow"),
                    (problem["detail"], ""),
                )
            )
        if found["ok"]:
            note("The index agrees with the vault.")
        elif repair:
            note(f"{quantity(len(found['problems']), 'difference')} repaired.")
    return 0 if found["ok"] else PROBLEMS


app = one_command(verify)
