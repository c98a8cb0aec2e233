"""`indexer embed`."""

from __future__ import annotations

from typing import Annotated

import typer

from vault_indexer.cli.commands.rebuild import print_report
from vault_indexer.cli.commands.status import upgrade_in_words
from vault_indexer.cli.connection.connect import ask, with_connection
from vault_indexer.cli.output.progress import showing
from vault_indexer.cli.output.terminal import note, print_json
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import EMBED, STATUS


def embed(
    selection: VaultSelection,
    output: Output,
    now: Annotated[bool, typer.Option("--now", help="Make them now, and change to them.")] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Make none until --resume.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on making them.")] = False,
) -> None:
    """Show how far the vectors of the better model are; make them now, pause or resume.

    A daemon makes them while it is idle. --now makes them at once, on battery and however long it takes.
    """
    if now + pause + resume > 1:
        raise UsageError("--now, --pause and --resume: give one of them")
    if now:
        with showing() as show:
            options = RebuildOptions(refit=False, better=True)
            report = with_connection(selection, lambda connection: connection.index.rebuild(show, options))
        if output.json:
            print_json(report)
        else:
            print_report(report)
        return
    state = ask(selection, EMBED, paused=pause) if pause or resume else ask(selection, STATUS)
    upgrade = state.get("upgrade")
    if output.json:
        print_json({"upgrade": upgrade})
    else:
        note(upgrade_in_words(upgrade) or "There are no better vectors to make.")


app = one_command(embed)
