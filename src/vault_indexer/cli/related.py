"""`indexer related NOTE`."""

from __future__ import annotations

from typing import Annotated

import typer

from vault_indexer.cli.parameters import Output, Place, one_command
from vault_indexer.cli.reach import ask
from vault_indexer.cli.terminal import note as say
from vault_indexer.cli.terminal import out, print_json, text

NOTHING_NEAR = 1


def related(
    place: Place,
    output: Output,
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Its path in the vault, or its name.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="Notes at most.")] = 10,
) -> int:
    """Notes near a note, by meaning and by link."""
    answer = ask(place, lambda index: index.related(note, limit))
    if output.json:
        print_json(answer)
    else:
        console = out()
        for near in answer["results"]:
            meaning = "" if near["similarity"] is None else f"  cosine {near['similarity']:.2f}"
            links = f"  {', '.join(near['links'])}" if near["links"] else ""
            console.print(
                text(
                    (f"{near['score']:.2f}  ", "green"),
                    (near["title"], "bold"),
                    (f"  {near['path']}", "cyan"),
                    (meaning + links, "dim"),
                )
            )
        if not answer["results"]:
            say(f"nothing near {note}")
    return 0 if answer["results"] else NOTHING_NEAR


app = one_command(related)
