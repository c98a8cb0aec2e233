"""`indexer related NOTE`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from vault_indexer.cli.connection.connect import Connection
from vault_indexer.cli.output.columns import path_style, print_rows
from vault_indexer.cli.output.grep_lines import GrepLines, NotePlace
from vault_indexer.cli.output.terminal import note as say
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import NoteName, Output, VaultSelection, limit_option, one_command
from vault_indexer.serve.api.endpoints import RELATED

if TYPE_CHECKING:
    from rich.text import Text

    from vault_indexer.serve.api.generated.shapes import RelatedNoteJson

NOTHING_NEAR = 1


def related(
    selection: VaultSelection,
    output: Output,
    lines: GrepLines,
    note: NoteName,
    limit: Annotated[int, limit_option("Show at most N notes.")] = 10,
) -> int:
    """List notes related to a note by meaning or link, with the reasons."""
    lines.check(output)
    connection = Connection(selection, note=note)
    answer = connection.ask(RELATED, path=connection.path_of(note), limit=limit)
    if output.json:
        print_json(answer)
    elif lines.wanted:
        lines.print(connection.vault, (_place(near) for near in answer["results"]))
    else:
        print_rows(out(), [_row(near, connection.vault) for near in answer["results"]], head=3)
        if not answer["results"]:
            say(f"No note is related to {note}.")
    return 0 if answer["results"] else NOTHING_NEAR


def _row(near: RelatedNoteJson, vault: Path) -> tuple[Text, ...]:
    return (
        text((f"{near['score']:.2f}", "green")),
        text((near["title"], "bold")),
        text((near["path"], path_style(vault, near["path"]))),
        text((_why(near), "dim")),
    )


def _place(near: RelatedNoteJson) -> NotePlace:
    return NotePlace(near["path"], None, f"{near['title']} ({_why(near)})")


def _why(near: RelatedNoteJson) -> str:
    """The reasons in words: links first, because a person wrote them, then computed ones."""
    reasons = list(near["links"])
    if near["similarity"] is not None:
        reasons.append(f"cosine {near['similarity']:.2f}")
    if near["shared_count"]:
        reasons.append(f"{near['shared_count']} shared link{'s' if near['shared_count'] > 1 else ''}")
    if near["header_path"]:
        reasons.append(f"nearest: {near['header_path']}")
    return ", ".join(reasons)


app = one_command(related)
