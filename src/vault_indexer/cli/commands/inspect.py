"""`indexer inspect [NOTE…]`."""

from __future__ import annotations

from typing import Annotated

import typer

from vault_indexer.bootstrap import make_inspector
from vault_indexer.cli.in_process import target_of
from vault_indexer.cli.names import complete_strategy
from vault_indexer.cli.parameters import Output, Place, one_command
from vault_indexer.cli.terminal import note as say
from vault_indexer.cli.terminal import print_json_line
from vault_indexer.cli.vault_folder import note_in_vault
from vault_indexer.errors import UsageError
from vault_indexer.model import SkippedFile
from vault_indexer.serve.wire import inspection_json

SKIPPED = 1


def inspect(
    place: Place,
    output: Output,
    notes: Annotated[
        list[str] | None, typer.Argument(metavar="NOTE…", help="Paths in the vault, such as Folder/Note.md.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Inspect all notes of the vault.")] = False,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            autocompletion=complete_strategy,
            help="Split notes by this strategy, not by the configured one.",
        ),
    ] = None,
) -> int:
    """Parse and chunk notes without an index. Print one JSON object per note, each on its own line."""
    del output  # it is JSON in any case
    if not notes and not every:
        raise UsageError("name notes to inspect, or --all")
    target = target_of(place)
    inspector = make_inspector(target, strategy)
    status = 0
    named = [note_in_vault(note, target.vault) for note in notes or []]
    for found in inspector.inspect(inspector.all_notes() if every else named):
        if isinstance(found, SkippedFile):
            say(f"{found.path}: {found.reason}")
            status = SKIPPED
        else:
            print_json_line(inspection_json(found))
    return status


app = one_command(inspect)
