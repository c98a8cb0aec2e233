"""`indexer graph NOTE`, the old name of `indexer links NOTE --depth N`."""

from __future__ import annotations

from typing import Annotated

import typer

from vault_indexer.cli.connection.files_around import Around, print_files_around
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.serve.api.endpoints import GRAPH


def graph(
    selection: VaultSelection,
    output: Output,
    around: Around,
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Its path in the vault, or its name.")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", **GRAPH.parameter("limit").range, help="At most N files.")
    ] = 150,
) -> None:
    """List the files around a note, by link and by meaning, or print them as a graph."""
    print_files_around(selection, output, note, around, limit)


app = one_command(graph)
