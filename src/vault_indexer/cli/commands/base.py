"""`indexer base NAME`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.connection.connect import ask
from vault_indexer.cli.output.columns import print_rows
from vault_indexer.cli.output.terminal import note as say
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.contract import JsonValue
from vault_indexer.contract.requests import DEFAULT_ROWS, MAX_ROWS
from vault_indexer.serve.api.endpoints import BASE
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import BaseViewJson

NO_ROW = 1


def base(
    selection: VaultSelection,
    output: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A base, or a note that contains one.")],
    view: Annotated[str, typer.Option("--view", metavar="VIEW", help="A view; else the first.")] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MAX_ROWS, help="Show at most N rows.")
    ] = DEFAULT_ROWS,
) -> int:
    """List the rows of an Obsidian base: of its first view, or of another one."""
    answer = ask(selection, BASE, path=name, view=view, limit=limit)
    if output.json:
        print_json(answer)
    else:
        _print(answer)
    return 0 if answer["rows"] else NO_ROW


def _print(answer: BaseViewJson) -> None:
    columns = answer["columns"]
    lines = [[text((column["name"], "bold")) for column in columns]]
    for group, rows in groupby(answer["rows"], key=lambda row: row["group"]):
        if answer["group_by"]:
            heading = text((f"{answer['group_by']}: {cell_text(group)}", "green"))
            lines.append([heading, *(text() for _ in columns[1:])])
        lines += [[text((cell_text(cell), "")) for cell in row["cells"]] for row in rows]
    print_rows(out(), lines, head=len(columns))
    for column in columns:
        if column["summary"]:
            summary = f"{column['name']}, {column['summary']}: {cell_text(column['summary_value'])}"
            out().print(text((summary, "dim")))
    others = [one for one in answer["views"] if one != answer["view"]]
    shown = len(answer["rows"])
    counted = quantity(answer["count"], "file")
    say(f"{answer['view']}: {f'{shown:,} of {counted}' if shown < answer['count'] else counted}")
    if others:
        say(f"Other views: {', '.join(others)}")


def cell_text(cell: JsonValue) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case {"error": str(message)}:
            return f"error: {message}"
        case {"text": str(shown), **rest} if rest.keys() <= {"path", "href"}:
            return shown
        case list():
            return ", ".join(map(cell_text, cell))
        case dict():
            return ", ".join(f"{key}: {cell_text(value)}" for key, value in cell.items())
        case _:
            return str(cell)


app = one_command(base)
