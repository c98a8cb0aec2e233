"""`indexer search QUERY`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from vault_indexer.cli.connection.connect import Connection
from vault_indexer.cli.connection.daemon_command import hint_at_start
from vault_indexer.cli.output.grep_lines import GrepLines, NotePlace
from vault_indexer.cli.output.hit_list import (
    FolderOf,
    ShownHits,
    has_text,
    likely_count,
    print_notes,
    print_notices,
    print_places,
    print_verdict,
)
from vault_indexer.cli.output.plain_help import QueryCommand, query_text
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import (
    AllVaults,
    Correct,
    Fresh,
    Output,
    VaultSelection,
    limit_option,
    one_command,
)
from vault_indexer.cli.vault_folder import asks_all
from vault_indexer.contract.parameters import Value
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.serve.api.endpoints import EXPLAIN, SEARCH
from vault_indexer.system import command_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from vault_indexer.serve.api.generated.shapes import (
        ExplanationJson,
        HitJson,
        KeywordReasonJson,
        SearchAnswerJson,
        WhyJson,
    )


# Opens a note in the user's editor, at a line.

_LINE_OPTIONS: Mapping[str, str] = {
    "code": "--goto {file}:{line}",
    "codium": "--goto {file}:{line}",
    "cursor": "--goto {file}:{line}",
    "zed": "{file}:{line}",
    "hx": "{file}:{line}",
    "subl": "{file}:{line}",
}
"""The arguments for a line, by the name of the editor. Other editors get `+LINE FILE`, like vi."""


def open_note(vault: Path, hit: HitJson) -> None:
    """Opens the file of a hit at its line in the editor of VISUAL or EDITOR. If neither is set, opens
    Obsidian for a vault of Obsidian. Returns when the editor exits.

    Raises UsageError without an editor, and UnavailableError if it cannot be run.
    """
    import subprocess  # together with webbrowser 6 ms, which other searches need not wait for
    import webbrowser

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor:
        program, *options = command_words(editor) or [editor]
        form = _LINE_OPTIONS.get(Path(program).stem, "+{line} {file}") if has_text(hit) else "{file}"
        place = {"file": (vault / hit["path"]).absolute(), "line": hit["line"]}
        try:
            subprocess.run([program, *options, *(part.format(**place) for part in form.split())], check=False)
        except OSError as error:
            raise UnavailableError(f"{program}: {error.strerror}") from error
    elif not (vault / ".obsidian").is_dir() or not webbrowser.open(hit["uri"]):
        raise UsageError("--open needs an editor: set the variable EDITOR, for example EDITOR=vim")


NO_HITS = 1


class Search(NamedTuple):
    """The query and its options."""

    query: Annotated[
        list[str],
        typer.Argument(metavar="QUERY", help="The query in plain language; - reads standard input."),
    ]
    limit: Annotated[int | None, limit_option("Show at most N notes [10].")] = None
    by: Annotated[
        Literal["chunk", "note"],
        typer.Option("--by", help="Show every matching place, or the best one of each note."),
    ] = "chunk"
    fresh: Fresh = False
    as_you_type: Annotated[bool, typer.Option("--as-you-type", help="Treat the last word as unfinished.")] = (
        False
    )
    expand: Annotated[
        Literal["section", "window", "section_or_window", "parent"] | None,
        typer.Option("--expand", help="Show the text around each hit."),
    ] = None
    correct: Correct = True
    min_relevance: Annotated[
        float | None,
        typer.Option(
            "--min-relevance",
            **SEARCH.parameter("min_relevance").range,
            help="Leave out hits with a lower relevance.",
        ),
    ] = None

    def parameters(self) -> dict[str, Value]:
        given = {**self._asdict(), "limit": self.limit or 0, "expand": self.expand or ""}
        return {"q": query_text(given.pop("query")), **given}


class View(NamedTuple):
    """Which part of the answer to show."""

    places: Annotated[bool, typer.Option("--places", help="List every matching place, best first.")] = False
    nearest: Annotated[
        bool, typer.Option("--nearest", help="Show all hits, likely or not; works with --files.")
    ] = False
    open: Annotated[bool, typer.Option("--open", "-o", help="Open the first hit at its line.")] = False
    explain: Annotated[
        str, typer.Option("--explain", metavar="NOTE", help="Explain why NOTE is found or not.")
    ] = ""


def search(
    search: Search,
    selection: VaultSelection,
    output: Output,
    lines: GrepLines,
    view: View,
    all_vaults: AllVaults = False,
) -> int:
    """Find notes by meaning, word and link. The best note comes first."""
    lines.check(output)
    asked = search.parameters()
    if view.explain:
        return _explain(Connection(selection, note=view.explain), output, view.explain, asked)
    connection = Connection(selection, all_vaults=all_vaults or asks_all(selection, os.environ))
    answer = connection.ask(SEARCH, **asked)
    shown = ShownHits.of(answer, nearest=view.nearest)
    if output.json:
        print_json(answer)
    elif lines.wanted:
        hits = answer["results"] if view.nearest else shown.likely
        whole = search.by == "note"
        lines.print_each(
            (connection.folder_of(hit), NotePlace(path, None if whole else hit["line"], hit["snippet"]))
            for hit in hits
            for path in (hit["path"], *hit.get("copies", ()))
        )
        print_verdict(answer, hits)
        print_notices(answer)
    else:
        _print(answer, shown, connection.folder_of, view)
        if connection.index_dir is not None:
            hint_at_start(connection.index_dir)
    return 0 if likely_count(answer) else NO_HITS


def _print(answer: SearchAnswerJson, shown: ShownHits, folder_of: FolderOf, view: View) -> None:
    print_verdict(answer, shown.others)
    hits = answer["results"] if view.nearest else shown.likely
    if view.open and hits:
        open_note(folder_of(hits[0]), hits[0])
    else:
        print_hits = print_places if view.places else print_notes
        print_hits(shown.likely, folder_of)
        if shown.likely and shown.others:
            out().print(text(("Less likely:", "bold")))
        print_hits(shown.others, folder_of)
    print_notices(answer)


# Why a note is or is not among the hits of a query.


def _explain(connection: Connection, output: Output, note: str, asked: Mapping[str, Value]) -> int:
    """Prints the rank of a note in the answer to a query, the evidence for it, and further reasons. The exit
    status is 0 if the answer contains the note."""
    query = {name: asked[name] for name in ("q", "correct")}
    answer = connection.ask(EXPLAIN, path=connection.path_of(note), **query)
    if output.json:
        print_json(answer)
    else:
        console = out()
        console.print(text((answer["path"], "cyan"), (f"   {_rank_in_words(answer)}", "bold")))
        evidence = _evidence(answer["query"], answer["why"]) if answer["why"] else ()
        _print_cells(
            console, [text((f"  {name:<{_NAME_WIDTH}}", "green"), (found, "")) for name, found in evidence]
        )
        for reason in answer["reasons"]:
            console.print(text((f"  {reason}", "")))
    return 0 if answer["shown"] else NO_HITS


_NAME_WIDTH = 8
_LINKS_NAMED = 3


def _rank_in_words(answer: ExplanationJson) -> str:
    if answer["rank"] is None:
        return "in the answer" if answer["shown"] else "not in the answer"
    place = f"rank {answer['rank']:,} of {answer['candidates']:,}"
    return place if answer["shown"] else f"{place}, not in the answer"


def _evidence(query: str, why: WhyJson) -> Iterator[tuple[str, str]]:
    """Yields each kind of evidence with its details."""
    if why["title"]:
        yield "title", "equals the query"
    if keyword := why["keyword"]:
        yield "words", _words(query, keyword)
        if synonyms := keyword.get("synonyms"):
            yield "synonym", ", ".join(f'"{found}" for "{written}"' for found, written in synonyms.items())
    if vector := why["vector"]:
        place = "closest" if vector["rank"] == 1 else f"rank {vector['rank']}"
        yield "meaning", f"{place}, cosine {vector['score']:.2f}"
    if graph := why["graph"]:
        names = [path.rpartition("/")[2].removesuffix(".md") for path in graph["via"][:_LINKS_NAMED]]
        more = f" and {len(graph['via']) - _LINKS_NAMED} more" if len(graph["via"]) > _LINKS_NAMED else ""
        yield "links", f"linked from {', '.join(names)}{more}" if names else f"rank {graph['rank']}"
    if why["recency"] != 1:
        yield "recent", f"changed recently, × {why['recency']:g}"
    if why["filters"]:
        yield "filters", " ".join(why["filters"])


def _words(query: str, keyword: KeywordReasonJson) -> str:
    """The matching words, most significant first: those of the query, then additional ones."""
    ordered = [word for word, _ in sorted(keyword["terms"].items(), key=lambda one: -one[1])]
    own = [word for word in ordered if word.casefold() in query.casefold()]
    others = [word for word in ordered if word not in own]
    named = ", ".join(f'"{word}"' for word in own)
    similar = ", ".join(f'"{word}"' for word in others)
    return "; ".join(filter(None, (named, f"also searched: {similar}" if similar else "")))


def _print_cells(console: Console, cells: Sequence[Text]) -> None:
    """Prints two columns on a terminal if all cells fit, otherwise one cell per line."""
    left = max((cell.cell_len for cell in cells[::2]), default=0)
    right = max((cell.cell_len for cell in cells[1::2]), default=0)
    if not console.is_terminal or left + 1 + right > console.width:
        for cell in cells:
            console.print(cell)
        return
    for number in range(0, len(cells), 2):
        line = cells[number].copy()
        for other in cells[number + 1 : number + 2]:
            line.append_text(text((" " * (left + 1 - line.cell_len), ""))).append_text(other)
        console.print(line, no_wrap=True)


app = one_command(search, QueryCommand)
