"""`indexer inspect [NOTE...]` and `indexer export`: how notes are read, and the content of the index."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from vault_indexer.bootstrap import make_inspector
from vault_indexer.cli.connection.in_process import open_service, target_of
from vault_indexer.cli.output.columns import path_style, print_chunk
from vault_indexer.cli.output.terminal import note as say
from vault_indexer.cli.output.terminal import out, print_json_line, text
from vault_indexer.cli.parameters import Output, VaultSelection, complete_strategy, one_command
from vault_indexer.cli.vault_folder import note_in_vault
from vault_indexer.contract.codec import encode
from vault_indexer.errors import UsageError
from vault_indexer.links import note_hint
from vault_indexer.model import InspectedNote, SkippedFile
from vault_indexer.text.phrases import quantity

SKIPPED = 1


def inspect(
    selection: VaultSelection,
    output: Output,
    notes: Annotated[
        list[str] | None,
        typer.Argument(metavar="NOTE...", help="The notes' paths in the vault, or their names."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all notes of the vault.")] = False,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            autocompletion=complete_strategy,
            help="Use this chunking strategy instead of the configured one.",
        ),
    ] = None,
) -> int:
    """Show how notes are read and split: each chunk with its lines, its size and its beginning.

    No index is needed. With --json, one JSON object for each note on a line of its own.
    """
    if not notes and not every:
        raise UsageError("Name a note, or add --all.")
    target = target_of(selection)
    inspector = make_inspector(target, strategy)
    status = 0
    named = [note_in_vault(note, target.vault) for note in notes or []]
    for found in inspector.inspect(inspector.all_notes() if every else named):
        if isinstance(found, SkippedFile):
            paths = inspector.all_notes()
            hint = "" if found.path in paths else note_hint(found.path, paths)
            say(f"{found.path}: {found.reason}{hint}")
            status = SKIPPED
        elif output.json:
            print_json_line(encode(found))
        else:
            _print_note(found, path_style(target.vault, found.path))
    return status


def _print_note(found: InspectedNote, style: str) -> None:
    console = out()
    counts = (quantity(len(found.chunks), "chunk"), quantity(len(found.links), "link"), found.language)
    console.print(text((found.path, style), (f"  {', '.join(filter(None, counts))}", "dim")))
    for chunk in found.chunks:
        print_chunk(console, chunk.start_line, chunk.end_line, chunk.header_path, chunk.content)
    for one in found.diagnostics:
        say(f"{found.path}:{one.line}: {one.detail}")


def export(selection: VaultSelection, output: Output) -> None:
    """Print the whole index as sorted JSON lines."""
    del output  # the output is always JSON
    with open_service(target_of(selection), build=False) as service:
        for line in service.export():
            sys.stdout.write(f"{line}\n")


app = one_command(inspect)
export_app = one_command(export)
