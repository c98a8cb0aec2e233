"""`indexer explain NOTE QUERY`, which is `indexer search QUERY --explain NOTE`."""

from __future__ import annotations

from typing import Annotated

import typer

from vault_indexer.cli.connection.connect import ask_about
from vault_indexer.cli.output.explanations import print_explanation
from vault_indexer.cli.output.query_words import QueryCommand
from vault_indexer.cli.output.terminal import print_json
from vault_indexer.cli.parameters import Correct, Output, VaultSelection, one_command
from vault_indexer.serve.api.endpoints import EXPLAIN

NOT_SHOWN = 1


def explain(
    selection: VaultSelection,
    output: Output,
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Its path in the vault, or its name.")],
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="As in `search`.")],
    correct: Correct = True,
) -> int:
    """Explain where a note is among the hits of a query and why, or why it is not there."""
    return explain_note(selection, output, note, " ".join(query), correct=correct)


def explain_note(selection: VaultSelection, output: Output, note: str, query: str, *, correct: bool) -> int:
    """Print the place of a note in the answer to a query; the exit status says whether it is in it."""
    answer = ask_about(
        selection,
        note,
        lambda connection, path: connection.index.ask(EXPLAIN, path=path, q=query, correct=correct),
    )
    if output.json:
        print_json(answer)
    else:
        print_explanation(answer)
    return 0 if answer["shown"] else NOT_SHOWN


app = one_command(explain, QueryCommand)
