"""`indexer search QUERY --explain NOTE`."""

from __future__ import annotations

from vault_indexer.cli.connection.connect import ask_about
from vault_indexer.cli.output.explanations import print_explanation
from vault_indexer.cli.output.terminal import print_json
from vault_indexer.cli.parameters import Output, VaultSelection
from vault_indexer.serve.api.endpoints import EXPLAIN

NOT_SHOWN = 1


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
