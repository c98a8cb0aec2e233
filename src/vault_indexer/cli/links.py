"""`indexer links NOTE`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.parameters import Output, Place, one_command
from vault_indexer.cli.reach import ask
from vault_indexer.cli.terminal import out, print_json, text
from vault_indexer.serve.shapes import LinksJson, OutgoingJson

if TYPE_CHECKING:
    from rich.console import Console


def links(
    place: Place,
    output: Output,
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Its path in the vault, or its name.")],
) -> None:
    """Outgoing links, backlinks and unresolved links of a note."""
    answer = ask(place, lambda index: index.links(note))
    if output.json:
        print_json(answer)
    else:
        _print_links(out(), answer)


def _print_links(console: Console, answer: LinksJson) -> None:
    found = [link for link in answer["outgoing"] if link["resolved"] is not None]
    console.print(text((answer["path"], "bold")))
    _head(console, "links to", len(found))
    for link in found:
        console.print(
            text((f"  {link['line']:>5}  ", "dim"), (link["resolved"] or "", "cyan"), (_after(link), "dim"))
        )
    _head(console, "linked from", len(answer["backlinks"]))
    for back in answer["backlinks"]:
        place = f"{back['path']}:{back['line']}"
        console.print(text(("         ", ""), (place, "cyan"), (_subpath(back["subpath"]), "dim")))
    if answer["unresolved"]:
        _head(console, "leads nowhere", len(answer["unresolved"]))
    for link in answer["unresolved"]:
        console.print(
            text((f"  {link['line']:>5}  ", "dim"), (link["target"], "yellow"), (_after(link), "dim"))
        )


def _head(console: Console, title: str, count: int) -> None:
    console.print(text((f"{title}: ", ""), (f"{count:,}", "bold")))


def _after(link: OutgoingJson) -> str:
    kind = "" if link["kind"] == "wikilink" else f"  {link['kind']}"
    return _subpath(link["subpath"]) + kind


def _subpath(subpath: str) -> str:
    return f"#{subpath}" if subpath else ""


app = one_command(links)
