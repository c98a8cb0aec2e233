"""`indexer links` and `indexer related NOTE`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import typer

from vault_indexer.cli.connection.connect import Connection
from vault_indexer.cli.output.columns import path_style, print_rows
from vault_indexer.cli.output.grep_lines import GrepLines, NotePlace
from vault_indexer.cli.output.terminal import note as say
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import NoteName, Output, VaultSelection, limit_option, one_command
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import GRAPH, LINKS, MENTIONS, ORPHANS, RELATED, UNRESOLVED
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from vault_indexer.serve.api.generated.shapes import (
        LinkPlaceJson,
        LinksAnswerJson,
        NoteGraphJson,
        OutgoingLinkJson,
        RelatedNoteJson,
    )

NOTHING_FOUND = 1
_SOURCES_SHOWN = 3
_FILES_SHOWN = 150


class Around(NamedTuple):
    """The distance from a note, and the format of the files around it."""

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
        bool,
        typer.Option(
            "--links-only", help="With --dot or --graphml: leave out notes related only by meaning."
        ),
    ] = False

    @property
    def wanted(self) -> bool:
        return bool(self.depth or self.dot or self.graphml or self.links_only)


class View(NamedTuple):
    """What to show instead of the links of a note."""

    unresolved: Annotated[
        bool, typer.Option("--broken", "--unresolved", help="List all broken links of the vault by target.")
    ] = False
    orphans: Annotated[
        bool, typer.Option("--orphans", help="List all notes without links in either direction.")
    ] = False
    mentions: Annotated[
        bool, typer.Option("--mentions", help="List places that mention NOTE without a link.")
    ] = False
    limit: Annotated[
        int | None, limit_option("Show at most N entries of each list [50 mentions, all of the others].")
    ] = None


def links(
    selection: VaultSelection,
    output: Output,
    lines: GrepLines,
    view: View,
    around: Around,
    note: Annotated[
        str, typer.Argument(metavar="[NOTE]", help="The note's path in the vault, or its name.")
    ] = "",
) -> int:
    """List the links, backlinks and broken links of a note, or the broken links of the whole vault."""
    if around.wanted:
        if view.unresolved or view.orphans or view.mentions or not note:
            raise UsageError("--depth, --dot and --graphml require one NOTE and no other list")
        if output.json + around.dot + around.graphml > 1:
            raise UsageError("give only one of --json, --dot and --graphml")
        _show_files_around(Connection(selection, note=note), note, around, view.limit, output)
        return 0
    _check(note, view)
    lines.check(output)
    show = _Show(Connection(selection, note=note), output, lines)
    if view.unresolved:
        return _show_unresolved(show, view.limit)
    if view.orphans:
        return _show_orphans(show, view.limit)
    path = show.connection.path_of(note)
    return (_show_mentions if view.mentions else _show_links)(show, path, view.limit)


def _check(note: str, view: View) -> None:
    if view.unresolved + view.orphans + view.mentions > 1:
        raise UsageError("give only one of --broken, --orphans and --mentions")
    if (view.unresolved or view.orphans) and note:
        raise UsageError(f"--broken and --orphans list the whole vault: leave out {note!r}")
    if not (view.unresolved or view.orphans or note):
        raise UsageError("Name a note, or add --broken or --orphans.")


class _Show(NamedTuple):
    """Shows answers in the format that was requested: for a program or for a person."""

    connection: Connection
    output: Output
    lines: GrepLines

    @property
    def vault(self) -> Path:
        return self.connection.vault

    def to_program(self, answer: object, places: Iterable[NotePlace]) -> bool:
        """Prints the answer as JSON, or its places like grep. Returns False if neither was requested."""
        if self.output.json:
            print_json(answer)
        elif self.lines.wanted:
            self.lines.print(self.vault, places)
        return not self.is_for_person

    @property
    def is_for_person(self) -> bool:
        return not (self.output.json or self.lines.wanted)

    def entries(
        self,
        answer: Mapping[str, object],
        places: Iterable[NotePlace],
        rows: Iterable[Sequence[Text]],
        *,
        title: tuple[str, int] | None = None,
    ) -> int:
        """Shows one list, to a person as rows below the title with its number. Returns the exit status."""
        found = list(places)
        if not self.to_program(answer, found):
            if title:
                _head(out(), *title)
            if shown := list(rows):
                print_rows(out(), shown, head=len(shown[0]) - 1)
            _say_more(bool(answer.get("more")))
        return 0 if found else NOTHING_FOUND


def _show_links(show: _Show, path: str, limit: int | None) -> int:
    answer = show.connection.ask(LINKS, path=path, limit=limit)
    if not show.to_program(answer, _link_places(answer)):
        _print_links(out(), answer, show.vault)
    return 0 if answer["outgoing"] or answer["backlinks"] else NOTHING_FOUND


def _link_places(answer: LinksAnswerJson) -> Iterator[NotePlace]:
    """Yields the place of each link: the note's own in the order of its text, then those of other notes."""
    for link in answer["outgoing"]:
        leads = link["resolved"] or "nowhere"
        yield NotePlace(answer["path"], link["line"], f"{link['target']}{_after(link)} -> {leads}")
    for back in answer["backlinks"]:
        yield NotePlace(back["path"], back["line"], back["snippet"])


def _print_links(console: Console, answer: LinksAnswerJson, vault: Path) -> None:
    console.print(text((answer["path"], f"bold {path_style(vault, answer['path'])}")))
    _head(console, "links to", answer["outgoing_count"] - answer["unresolved_count"])
    leading = [
        (_line(link["line"]), _path(link["resolved"], vault, _after(link)), _remark(link))
        for link in answer["outgoing"]
        if link["resolved"] is not None
    ]
    print_rows(console, leading, head=3)
    _head(console, "linked from", answer["backlink_count"])
    arriving = [
        (
            _line(back["line"]),
            _path(back["path"], vault, _subpath(back["subpath"])),
            text((back["problem"] or "", "yellow")),
            text((back["snippet"], "")),
        )
        for back in answer["backlinks"]
    ]
    print_rows(console, arriving, head=3)
    if answer["unresolved"]:
        _head(console, "broken", answer["unresolved_count"])
    broken = [
        (_line(link["line"]), text((link["target"], "yellow"), (_after(link), "dim")))
        for link in answer["unresolved"]
    ]
    print_rows(console, broken, head=2)
    _say_more(answer["more"])


def _show_unresolved(show: _Show, limit: int | None) -> int:
    answer = show.connection.ask(UNRESOLVED, limit=limit)
    found = answer["unresolved"]
    places = (NotePlace(at["path"], at["line"], one["target"]) for one in found for at in one["sources"])
    rows = (
        (
            text((f"{one['count']:>7,}", "bold")),
            text((one["target"], "yellow")),
            text((_sources(one["sources"]), "dim")),
        )
        for one in found
    )
    return show.entries(answer, places, rows, title=("broken links", answer["links"]))


def _sources(places: Sequence[LinkPlaceJson]) -> str:
    more = len(places) - _SOURCES_SHOWN
    shown = ", ".join(f"{place['path']}:{place['line']}" for place in places[:_SOURCES_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _show_orphans(show: _Show, limit: int | None) -> int:
    answer = show.connection.ask(ORPHANS, limit=limit)
    found = answer["orphans"]
    places = (NotePlace(one["path"], None, one["title"]) for one in found)
    rows = ((text((" ", "")), _path(one["path"], show.vault), text((one["title"], "dim"))) for one in found)
    return show.entries(answer, places, rows, title=("notes without links", answer["count"]))


def _show_mentions(show: _Show, path: str, limit: int | None) -> int:
    answer = show.connection.ask(MENTIONS, path=path, limit=limit)
    found = answer["mentions"]
    places = (NotePlace(one["path"], one["line"], one["snippet"]) for one in found)
    rows = (
        (_line(one["line"]), _path(one["path"], show.vault), _highlight(one["snippet"], one["marks"]))
        for one in found
    )
    if show.is_for_person and not found:
        say(f"No other note mentions {answer['path']} ({', '.join(answer['names'])}) without a link.")
    return show.entries(answer, places, rows)


def _path(path: str, vault: Path, after: str = "") -> Text:
    return text((path, path_style(vault, path)), (after, "dim"))


def _say_more(more: bool) -> None:
    if more:
        say("There are more (--limit).")


def _highlight(snippet: str, marks: list[list[int]]) -> Text:
    line = text((snippet, ""))
    for start, end in marks:
        line.stylize("bold green", start, end)
    return line


def _head(console: Console, title: str, count: int) -> None:
    console.print(text((f"{title}: ", ""), (f"{count:,}", "bold")))


def _line(number: int) -> Text:
    return text((f"{number:>7}", "dim"))


def _after(link: OutgoingLinkJson) -> str:
    kind = "" if link["kind"] == "wikilink" else f"  {link['kind']}"
    return _subpath(link["subpath"]) + kind


def _remark(link: OutgoingLinkJson) -> Text:
    """The problem or ambiguity of a link with a target, otherwise the target line."""
    if link["problem"]:
        return text((link["problem"], "yellow"))
    if link["ambiguous"]:
        return text((f"ambiguous: one of {link['candidate_count']} files", "yellow"))
    return text((f"line {link['target_line']}" if link["target_line"] else "", "dim"))


def _subpath(subpath: str) -> str:
    return f"#{subpath}" if subpath else ""


# The files around a note, by link and by meaning: as a list, as DOT or as GraphML.


def _show_files_around(
    connection: Connection, note: str, around: Around, limit: int | None, output: Output
) -> None:
    graph = connection.ask(
        GRAPH,
        path=connection.path_of(note),
        depth=around.depth or 1,
        limit=limit or _FILES_SHOWN,
        related=not around.links_only and (output.json or around.dot or around.graphml),
    )
    if output.json:
        print_json(graph)
    elif around.dot or around.graphml:
        for line in dot_lines(graph) if around.dot else graphml_lines(graph):
            typer.echo(line)
    else:
        _print_files(graph, connection.vault)


def dot_lines(graph: NoteGraphJson) -> Iterator[str]:
    """The graph for Graphviz; dashed lines join notes that are related without a link."""
    yield "graph vault {"
    for node in graph["nodes"]:
        yield f"  {_dot_text(node['path'])} [label={_dot_text(node['title'])}];"
    for edge in graph["edges"]:
        style = " [style=dashed]" if edge["kind"] == "related" else ""
        yield f"  {_dot_text(edge['source'])} -- {_dot_text(edge['target'])}{style};"
    yield "}"


def graphml_lines(graph: NoteGraphJson) -> Iterator[str]:
    keys = (("title", "node", "string"), ("kind", "edge", "string"), ("weight", "edge", "double"))
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name, of, kind in keys:
        yield f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="vault" edgedefault="undirected">'
    for node in graph["nodes"]:
        title = escape(_printable(node["title"]))
        yield f'    <node id={_xml(node["path"])}><data key="title">{title}</data></node>'
    for edge in graph["edges"]:
        ends = f"source={_xml(edge['source'])} target={_xml(edge['target'])}"
        data = f'<data key="kind">{edge["kind"]}</data><data key="weight">{edge["weight"]}</data>'
        yield f"    <edge {ends}>{data}</edge>"
    yield "  </graph>"
    yield "</graphml>"


def _dot_text(name: str) -> str:
    # Graphviz reads \\ and \" in a quoted name; a line break would end the statement.
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{" ".join(quoted.splitlines())}"'


def _xml(name: str) -> str:
    return quoteattr(_printable(name))


def _printable(name: str) -> str:
    """Replaces control characters, which XML does not allow."""
    return "".join(char if char >= " " else " " for char in name)


def _print_files(found: NoteGraphJson, vault: Path) -> None:
    rows = [
        (
            text((f"{node['distance']:>3}", "dim")),
            _path(node["path"], vault),
            text((node["title"], "")),
            text((quantity(node["degree"], "link"), "dim")),
        )
        for node in found["nodes"]
    ]
    print_rows(out(), rows, head=2)
    if found["more"]:
        say(f"There are more than these {len(rows)} (--limit).")


def related(
    selection: VaultSelection,
    output: Output,
    lines: GrepLines,
    note: NoteName,
    limit: Annotated[int, limit_option("Show at most N notes.")] = 10,
) -> int:
    """List notes related to a note by meaning or link, with the reasons."""
    lines.check(output)
    show = _Show(Connection(selection, note=note), output, lines)
    answer = show.connection.ask(RELATED, path=show.connection.path_of(note), limit=limit)
    found = answer["results"]
    places = (NotePlace(near["path"], None, f"{near['title']} ({_reasons(near)})") for near in found)
    rows = (
        (
            text((f"{near['score']:.2f}", "green")),
            text((near["title"], "bold")),
            _path(near["path"], show.vault),
            text((_reasons(near), "dim")),
        )
        for near in found
    )
    if show.is_for_person and not found:
        say(f"No note is related to {note}.")
    return show.entries(answer, places, rows)


def _reasons(near: RelatedNoteJson) -> str:
    """The reasons in words: links first, because a person wrote them, then computed ones."""
    reasons = list(near["links"])
    if near["similarity"] is not None:
        reasons.append(f"cosine {near['similarity']:.2f}")
    if near["shared_count"]:
        reasons.append(quantity(near["shared_count"], "shared link"))
    if near["header_path"]:
        reasons.append(f"nearest: {near['header_path']}")
    return ", ".join(reasons)


app = one_command(links)
related_app = one_command(related)
