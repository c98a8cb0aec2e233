"""`indexer links`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.parameters import Output, Place, one_command
from vault_indexer.cli.reach import ask
from vault_indexer.cli.terminal import note as say
from vault_indexer.cli.terminal import out, print_json, print_rows, text
from vault_indexer.errors import UsageError
from vault_indexer.serve.shapes import LinksJson, MentionsJson, OrphansJson, OutgoingLinkJson, UnresolvedJson

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

NOTHING_FOUND = 1
_SOURCES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class View:
    """What to show instead of a note's links."""

    unresolved: Annotated[
        bool, typer.Option("--unresolved", help="All links of the vault that lead nowhere, by target.")
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
            min=1,
            max=200,
            help="Entries of each list to show at most; otherwise 50 mentions, and all of the others.",
        ),
    ] = None


def links(
    place: Place,
    output: Output,
    view: View,
    note: Annotated[str, typer.Argument(metavar="[NOTE]", help="Its path in the vault, or its name.")] = "",
) -> int:
    """Outgoing links, backlinks and unresolved links of a note; or what the links of the vault lack."""
    _check(note, view)
    if view.unresolved:
        return _show_unresolved(
            ask(place, lambda index: index.unresolved_links(view.limit)), json=output.json
        )
    if view.orphans:
        return _show_orphans(ask(place, lambda index: index.orphans(view.limit)), json=output.json)
    if view.mentions:
        return _show_mentions(ask(place, lambda index: index.mentions(note, view.limit)), json=output.json)
    answer = ask(place, lambda index: index.links(note, view.limit))
    if output.json:
        print_json(answer)
    else:
        _print_links(out(), answer)
    return 0


def _check(note: str, view: View) -> None:
    if view.unresolved + view.orphans + view.mentions > 1:
        raise UsageError("--unresolved, --orphans, --mentions: one at a time")
    if (view.unresolved or view.orphans) and note:
        raise UsageError(f"--unresolved and --orphans are about the whole vault: leave out {note!r}")
    if not (view.unresolved or view.orphans or note):
        raise UsageError("name a NOTE, or ask for --unresolved or --orphans")


def _print_links(console: Console, answer: LinksJson) -> None:
    found = [link for link in answer["outgoing"] if link["resolved"] is not None]
    console.print(text((answer["path"], "bold")))
    _head(console, "links to", answer["outgoing_count"] - answer["unresolved_count"])
    print_rows(
        console,
        [
            (
                _line(link["line"]),
                text((link["resolved"] or "", "cyan"), (_after(link), "dim")),
                _remark(link),
            )
            for link in found
        ],
    )
    _head(console, "linked from", answer["backlink_count"])
    print_rows(
        console,
        [
            (
                _line(back["line"]),
                text((back["path"], "cyan"), (_subpath(back["subpath"]), "dim")),
                text((back["problem"] or "", "yellow")),
                text((back["snippet"], "")),
            )
            for back in answer["backlinks"]
        ],
    )
    if answer["unresolved"]:
        _head(console, "leads nowhere", answer["unresolved_count"])
    print_rows(
        console,
        [
            (_line(link["line"]), text((link["target"], "yellow"), (_after(link), "dim")))
            for link in answer["unresolved"]
        ],
    )
    _say_more(answer["more"])


def _show_unresolved(answer: UnresolvedJson, *, json: bool) -> int:
    if json:
        print_json(answer)
        return 0
    console = out()
    _head(console, "links that lead nowhere", answer["links"])
    rows = []
    for one in answer["unresolved"]:
        places = [f"{place['path']}:{place['line']}" for place in one["sources"]]
        more = len(places) - _SOURCES_SHOWN
        shown = ", ".join(places[:_SOURCES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        rows.append(
            (text((f"{one['count']:>7,}", "bold")), text((one["target"], "yellow")), text((shown, "dim")))
        )
    print_rows(console, rows)
    _say_more(answer["more"])
    return 0


def _show_orphans(answer: OrphansJson, *, json: bool) -> int:
    if json:
        print_json(answer)
        return 0
    console = out()
    _head(console, "notes without links", answer["count"])
    rows = [
        (text(("  ", ""), (one["path"], "cyan")), text((one["title"], "dim"))) for one in answer["orphans"]
    ]
    print_rows(console, rows)
    _say_more(answer["more"])
    return 0


def _show_mentions(answer: MentionsJson, *, json: bool) -> int:
    if json:
        print_json(answer)
    else:
        console = out()
        rows = [
            (_line(one["line"]), text((one["path"], "cyan")), _marked(one["snippet"], one["marks"]))
            for one in answer["mentions"]
        ]
        print_rows(console, rows)
        names = ", ".join(answer["names"])
        if not answer["mentions"]:
            say(f"no other note names {answer['path']} ({names}) without linking it")
        elif answer["more"]:
            say(f"there are more than these {len(rows)}: raise --limit")
    return 0 if answer["mentions"] else NOTHING_FOUND


def _say_more(more: bool) -> None:
    if more:
        say("not all are shown: raise --limit, or leave it out")


def _marked(snippet: str, marks: list[list[int]]) -> Text:
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
