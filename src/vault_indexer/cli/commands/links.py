"""`indexer links`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.connection.connect import ask_about, with_connection
from vault_indexer.cli.connection.files_around import Around, print_files_around
from vault_indexer.cli.index_connection import IndexConnection
from vault_indexer.cli.output.columns import path_style, print_rows
from vault_indexer.cli.output.grep_lines import GrepLines, NotePlace
from vault_indexer.cli.output.terminal import note as say
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import LINKS, MENTIONS, ORPHANS, UNRESOLVED

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from vault_indexer.serve.api.generated.shapes import LinksAnswerJson, OutgoingLinkJson

NOTHING_FOUND = 1
_SOURCES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class View:
    """What to show instead of a note's links."""

    unresolved: Annotated[
        bool,
        typer.Option("--broken", "--unresolved", help="All links of the vault that lead nowhere, by target."),
    ] = False
    orphans: Annotated[bool, typer.Option("--orphans", help="All notes without links, either way.")] = False
    mentions: Annotated[
        bool, typer.Option("--mentions", help="Places that name NOTE without linking it.")
    ] = False
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            **LINKS.parameter("limit").range,
            help="Show at most N entries of each list (otherwise 50 mentions, and all of the others).",
        ),
    ] = None


def links(
    selection: VaultSelection,
    output: Output,
    lines: GrepLines,
    view: View,
    around: Around,
    note: Annotated[str, typer.Argument(metavar="[NOTE]", help="Its path in the vault, or its name.")] = "",
) -> int:
    """List the links, backlinks and broken links of a note, or the broken links of the whole vault."""
    if around.wanted:
        if view.unresolved or view.orphans or view.mentions or not note:
            raise UsageError("--depth, --dot and --graphml are about one NOTE")
        print_files_around(selection, output, note, around, view.limit)
        return 0
    _check(note, view)
    lines.check(output)
    show = _Show(output, lines)
    if view.unresolved:
        return with_connection(selection, lambda connection: _show_unresolved(connection, view.limit, show))
    if view.orphans:
        return with_connection(selection, lambda connection: _show_orphans(connection, view.limit, show))
    if view.mentions:
        return ask_about(
            selection, note, lambda connection, path: _show_mentions(connection, path, view.limit, show)
        )
    return ask_about(
        selection, note, lambda connection, path: _show_links(connection, path, view.limit, show)
    )


def _check(note: str, view: View) -> None:
    if view.unresolved + view.orphans + view.mentions > 1:
        raise UsageError("--broken, --orphans, --mentions: one at a time")
    if (view.unresolved or view.orphans) and note:
        raise UsageError(f"--broken and --orphans are about the whole vault: leave out {note!r}")
    if not (view.unresolved or view.orphans or note):
        raise UsageError("Name a note, or add --broken or --orphans.")


@dataclass(frozen=True, slots=True)
class _Show:
    """How an answer is printed: for a program, or for a person."""

    output: Output
    lines: GrepLines

    def to_program(self, answer: object, vault: Path, places: Iterable[NotePlace]) -> bool:
        """Print the answer as JSON, or its places as grep would; False if neither was asked for."""
        if self.output.json:
            print_json(answer)
        elif self.lines.wanted:
            self.lines.print(vault, places)
        return self.output.json or self.lines.wanted


def _show_links(connection: IndexConnection, path: str, limit: int | None, show: _Show) -> int:
    answer = connection.index.ask(LINKS, path=path, limit=limit)
    if not show.to_program(answer, connection.vault, _link_places(answer)):
        _print_links(out(), answer, connection.vault)
    return 0


def _link_places(answer: LinksAnswerJson) -> Iterator[NotePlace]:
    """Where each link stands: the note's own, in the order of its text, then those of other notes."""
    for link in answer["outgoing"]:
        leads = link["resolved"] or "nowhere"
        yield NotePlace(answer["path"], link["line"], f"{link['target']}{_after(link)} -> {leads}")
    for back in answer["backlinks"]:
        yield NotePlace(back["path"], back["line"], back["snippet"])


def _print_links(console: Console, answer: LinksAnswerJson, vault: Path) -> None:
    found = [link for link in answer["outgoing"] if link["resolved"] is not None]
    console.print(text((answer["path"], f"bold {path_style(vault, answer['path'])}")))
    _head(console, "links to", answer["outgoing_count"] - answer["unresolved_count"])
    print_rows(
        console,
        [
            (
                _line(link["line"]),
                text(_path(link["resolved"] or "", vault), (_after(link), "dim")),
                _remark(link),
            )
            for link in found
        ],
        head=3,
    )
    _head(console, "linked from", answer["backlink_count"])
    print_rows(
        console,
        [
            (
                _line(back["line"]),
                text(_path(back["path"], vault), (_subpath(back["subpath"]), "dim")),
                text((back["problem"] or "", "yellow")),
                text((back["snippet"], "")),
            )
            for back in answer["backlinks"]
        ],
        head=3,
    )
    if answer["unresolved"]:
        _head(console, "leads nowhere", answer["unresolved_count"])
    print_rows(
        console,
        [
            (_line(link["line"]), text((link["target"], "yellow"), (_after(link), "dim")))
            for link in answer["unresolved"]
        ],
        head=2,
    )
    _say_more(answer["more"])


def _show_unresolved(connection: IndexConnection, limit: int | None, show: _Show) -> int:
    answer = connection.index.ask(UNRESOLVED, limit=limit)
    places = (
        NotePlace(source["path"], source["line"], one["target"])
        for one in answer["unresolved"]
        for source in one["sources"]
    )
    if show.to_program(answer, connection.vault, places):
        return 0
    console = out()
    _head(console, "links that lead nowhere", answer["links"])
    rows = []
    for one in answer["unresolved"]:
        named = [f"{place['path']}:{place['line']}" for place in one["sources"]]
        more = len(named) - _SOURCES_SHOWN
        shown = ", ".join(named[:_SOURCES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        rows.append(
            (text((f"{one['count']:>7,}", "bold")), text((one["target"], "yellow")), text((shown, "dim")))
        )
    print_rows(console, rows, head=2)
    _say_more(answer["more"])
    return 0


def _show_orphans(connection: IndexConnection, limit: int | None, show: _Show) -> int:
    answer = connection.index.ask(ORPHANS, limit=limit)
    places = (NotePlace(one["path"], None, one["title"]) for one in answer["orphans"])
    if show.to_program(answer, connection.vault, places):
        return 0
    console = out()
    _head(console, "notes without links", answer["count"])
    rows = [
        (text((" ", "")), text(_path(one["path"], connection.vault)), text((one["title"], "dim")))
        for one in answer["orphans"]
    ]
    print_rows(console, rows, head=2)
    _say_more(answer["more"])
    return 0


def _show_mentions(connection: IndexConnection, path: str, limit: int | None, show: _Show) -> int:
    answer = connection.index.ask(MENTIONS, path=path, limit=limit)
    found = answer["mentions"]
    status = 0 if found else NOTHING_FOUND
    places = (NotePlace(one["path"], one["line"], one["snippet"]) for one in found)
    if show.to_program(answer, connection.vault, places):
        return status
    rows = [
        (
            _line(one["line"]),
            text(_path(one["path"], connection.vault)),
            _highlight(one["snippet"], one["marks"]),
        )
        for one in found
    ]
    print_rows(out(), rows, head=2)
    names = ", ".join(answer["names"])
    if not found:
        say(f"No other note names {answer['path']} ({names}) without linking it.")
    elif answer["more"]:
        say("There are more (--limit).")
    return status


def _path(path: str, vault: Path) -> tuple[str, str]:
    return path, path_style(vault, path)


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
    """What is uncertain or wrong about a link that leads somewhere, or the line that it points at."""
    if link["problem"]:
        return text((link["problem"], "yellow"))
    if link["ambiguous"]:
        return text((f"ambiguous: one of {link['candidate_count']} files", "yellow"))
    return text((f"line {link['target_line']}" if link["target_line"] else "", "dim"))


def _subpath(subpath: str) -> str:
    return f"#{subpath}" if subpath else ""


app = one_command(links)
