"""`indexer related NOTE`."""

from __future__ import annotations

from typing import Annotated

import typer

from vault_indexer.cli.parameters import Output, Place, one_command
from vault_indexer.cli.reach import ask
from vault_indexer.cli.terminal import note as say
from vault_indexer.cli.terminal import out, print_json, print_rows, text
from vault_indexer.serve.shapes import RelatedNoteJson

NOTHING_NEAR = 1


def related(
    place: Place,
    output: Output,
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Its path in the vault, or its name.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="Notes at most.")] = 10,
) -> int:
    """Notes near a note, by meaning and by link, and why."""
    answer = ask(place, lambda index: index.related(note, limit))
    if output.json:
        print_json(answer)
    else:
        rows = [
            (
                text((f"{near['score']:.2f}", "green")),
                text((near["title"], "bold")),
                text((near["path"], "cyan")),
                text((_why(near), "dim")),
            )
            for near in answer["results"]
        ]
        print_rows(out(), rows)
        if not answer["results"]:
            say(f"nothing near {note}")
    return 0 if answer["results"] else NOTHING_NEAR


def _why(near: RelatedNoteJson) -> str:
    """The reasons in words: links first, for they are someone's statement; then what is computed."""
    reasons = list(near["links"])
    if near["similarity"] is not None:
        reasons.append(f"cosine {near['similarity']:.2f}")
    if near["shared_count"]:
        reasons.append(f"{near['shared_count']} shared link{'s' if near['shared_count'] > 1 else ''}")
    if near["header_path"]:
        reasons.append(f"nearest: {near['header_path']}")
    return ", ".join(reasons)


app = one_command(related)
