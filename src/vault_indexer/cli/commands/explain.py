"""`indexer explain NOTE QUERY`."""

from __future__ import annotations

from typing import Annotated

import typer

from vault_indexer.cli.hits import reasons_of
from vault_indexer.cli.parameters import Correct, Output, Place, one_command
from vault_indexer.cli.query_words import QueryCommand
from vault_indexer.cli.reach import ask_about
from vault_indexer.cli.terminal import out, print_json, text
from vault_indexer.serve.endpoints import EXPLAIN

NOT_SHOWN = 1


def explain(
    place: Place,
    output: Output,
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Its path in the vault, or its name.")],
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="As in `search`.")],
    correct: Correct = True,
) -> int:
    """Explain where a note is among the hits of a query and why, or why it is not there."""
    answer = ask_about(
        place,
        note,
        lambda reached, path: reached.index.ask(EXPLAIN, path=path, q=" ".join(query), correct=correct),
    )
    if output.json:
        print_json(answer)
    else:
        console = out()
        found = "in the answer" if answer["shown"] else "not in the answer"
        console.print(text((answer["path"], "cyan"), (f"  {found}", "bold")))
        for reason in answer["reasons"]:
            console.print(text((f"  {reason}", "")))
        if answer["relevance"] is not None:
            console.print(text((f"  {'relevance':<10}", "magenta"), (f"{answer['relevance']:.2f}", "dim")))
        for name, reason in reasons_of(answer["why"]) if answer["why"] else ():
            console.print(text((f"  {name:<10}", "magenta"), (reason, "dim")))
    return 0 if answer["shown"] else NOT_SHOWN


app = one_command(explain, QueryCommand)
