"""The files around a note, by link and by meaning: as a list, as DOT or as GraphML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from xml.sax.saxutils import escape, quoteattr

import typer

from vault_indexer.cli.connection.connect import ask_about
from vault_indexer.cli.index_connection import IndexConnection
from vault_indexer.cli.output.columns import path_style, print_rows
from vault_indexer.cli.output.terminal import note as say
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import GRAPH
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import NoteGraphJson

_LIMIT = 150


@dataclass(frozen=True, slots=True)
class Around:
    """How far to go from a note, and how the files are printed."""

    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            **GRAPH.parameter("depth").range,
            help="List the files within N links of NOTE, at most 3.",
        ),
    ] = None
    dot: Annotated[bool, typer.Option("--dot", help="Print them as DOT, for Graphviz.")] = False
    graphml: Annotated[bool, typer.Option("--graphml", help="Print them as GraphML.")] = False
    links_only: Annotated[
        bool, typer.Option("--links-only", help="With these: leave out notes near in meaning alone.")
    ] = False

    @property
    def wanted(self) -> bool:
        return bool(self.depth or self.dot or self.graphml or self.links_only)


def print_files_around(
    selection: VaultSelection, output: Output, note: str, around: Around, limit: int | None
) -> None:
    """Print the files around a note. Raises UsageError where two forms are asked for at once."""
    if output.json + around.dot + around.graphml > 1:
        raise UsageError("--json, --dot, --graphml: one at a time")

    def show(connection: IndexConnection, path: str) -> None:
        found = connection.index.ask(
            GRAPH, path=path, depth=around.depth or 1, limit=limit or _LIMIT, related=not around.links_only
        )
        if output.json:
            print_json(found)
        elif around.dot or around.graphml:
            for line in dot_lines(found) if around.dot else graphml_lines(found):
                typer.echo(line)
        else:
            _show_list(connection, found)

    ask_about(selection, note, show)


def dot_lines(graph: NoteGraphJson) -> Iterator[str]:
    """The graph in the language of Graphviz; notes that are only related are joined by dashed lines."""
    yield "graph vault {"
    for node in graph["nodes"]:
        yield f"  {_dot(node['path'])} [label={_dot(node['title'])}];"
    for edge in graph["edges"]:
        style = " [style=dashed]" if edge["kind"] == "related" else ""
        yield f"  {_dot(edge['source'])} -- {_dot(edge['target'])}{style};"
    yield "}"


def graphml_lines(graph: NoteGraphJson) -> Iterator[str]:
    keys = (("title", "node", "string"), ("kind", "edge", "string"), ("weight", "edge", "double"))
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name, of, kind in keys:
        yield f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="vault" edgedefault="undirected">'
    for node in graph["nodes"]:
        yield f'    <node id={_xml(node["path"])}><data key="title">{_text(node["title"])}</data></node>'
    for edge in graph["edges"]:
        ends = f"source={_xml(edge['source'])} target={_xml(edge['target'])}"
        data = f'<data key="kind">{edge["kind"]}</data><data key="weight">{edge["weight"]}</data>'
        yield f"    <edge {ends}>{data}</edge>"
    yield "  </graph>"
    yield "</graphml>"


def _dot(name: str) -> str:
    # Graphviz reads \\ and \" in a quoted name; a line break would end the statement.
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{" ".join(quoted.splitlines())}"'


def _xml(name: str) -> str:
    return quoteattr(_printable(name))


def _text(name: str) -> str:
    return escape(_printable(name))


def _printable(name: str) -> str:
    """Without the control characters that XML cannot hold."""
    return "".join(char if char >= " " else " " for char in name)


def _show_list(connection: IndexConnection, found: NoteGraphJson) -> None:
    near = {edge["target"] for edge in found["edges"] if edge["kind"] == "related"}
    linked = {
        end for edge in found["edges"] if edge["kind"] == "link" for end in (edge["source"], edge["target"])
    }
    rows = [
        (
            text((f"{node['distance']:>3}", "dim")),
            text((node["path"], path_style(connection.vault, node["path"]))),
            text((node["title"], "")),
            text(("related" if node["path"] in near and node["path"] not in linked else "", "dim")),
            text((quantity(node["degree"], "link"), "dim")),
        )
        for node in found["nodes"]
    ]
    print_rows(out(), rows, head=2)
    if found["more"]:
        say(f"There are more than these {len(rows)} (--limit).")
