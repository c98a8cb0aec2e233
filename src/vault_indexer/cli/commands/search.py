"""`indexer search QUERY`."""

from __future__ import annotations

import os
import shlex
import subprocess
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.commands.explain import explain_note
from vault_indexer.cli.connection.connect import ask_all, with_connection
from vault_indexer.cli.connection.daemon_command import hint_at_start
from vault_indexer.cli.output.grep_lines import GrepLines, NotePlace
from vault_indexer.cli.output.hit_list import (
    FoldersOfHits,
    ShownHits,
    has_text,
    likely_count,
    print_less_likely,
    print_notes,
    print_notices,
    print_places,
    print_verdict,
)
from vault_indexer.cli.output.query_words import QueryCommand, query_text
from vault_indexer.cli.output.terminal import print_json
from vault_indexer.cli.parameters import AllVaults, Correct, Output, VaultSelection, one_command
from vault_indexer.cli.vault_folder import asks_all, vaults_in_config
from vault_indexer.contract.parameters import Value
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.serve.api.endpoints import SEARCH

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import HitJson, SearchAnswerJson


# Opens a note in the editor of the user, at a line.


_LINE_OPTIONS: Mapping[str, str] = {
    "code": "--goto {file}:{line}",
    "codium": "--goto {file}:{line}",
    "cursor": "--goto {file}:{line}",
    "zed": "{file}:{line}",
    "hx": "{file}:{line}",
    "subl": "{file}:{line}",
}
"""How an editor is told a line, by the name of its program. Others understand `+LINE FILE`, as vi does."""


def open_note(vault: Path, hit: HitJson) -> None:
    """Open the file of a hit at its line, in the editor of the variables VISUAL and EDITOR; without them in
    Obsidian, if the vault is one of Obsidian's. Returns when the editor has ended.

    Raises UsageError where neither is there, UnavailableError where the editor cannot be run.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor:
        command = editor_command(
            editor, (vault / hit["path"]).absolute(), hit["line"] if has_text(hit) else None
        )
        try:
            subprocess.run(command, check=False)
        except OSError as error:
            raise UnavailableError(f"{command[0]}: {error.strerror}") from error
    elif not (vault / ".obsidian").is_dir() or not webbrowser.open(hit["uri"]):
        raise UsageError("--open needs an editor: set the variable EDITOR, such as EDITOR=vim")


def editor_command(editor: str, file: Path, line: int | None) -> list[str]:
    """The command line that opens the file at the line (None: at no line), for the value of EDITOR."""
    program, *options = shlex.split(editor) or [editor]
    if line is None:
        return [program, *options, str(file)]
    form = _LINE_OPTIONS.get(Path(program).stem, "+{line} {file}")
    return [program, *options, *(part.format(file=file, line=line) for part in form.split())]


NO_HITS = 1


class By(StrEnum):
    """What a hit stands for."""

    CHUNK = "chunk"
    NOTE = "note"


class Expand(StrEnum):
    """How much text around a hit is shown."""

    SECTION = "section"
    WINDOW = "window"
    SECTION_OR_WINDOW = "section_or_window"
    PARENT = "parent"


@dataclass(frozen=True, slots=True)
class Search:
    """What to search, and how."""

    query: Annotated[
        list[str],
        typer.Argument(metavar="QUERY", help="Words, as you would ask a person; - reads standard input."),
    ]
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", **SEARCH.parameter("limit").range, help="Show at most N notes [10]."),
    ] = 0
    by: Annotated[By, typer.Option("--by", help="Every matching place, or the best of each note.")] = By.CHUNK
    fresh: Annotated[bool, typer.Option("--fresh", help="Index new changes first.")] = False
    as_you_type: Annotated[bool, typer.Option("--as-you-type", help="Complete the last word.")] = False

    expand: Annotated[Expand | None, typer.Option("--expand", help="Show the text around each hit.")] = None
    correct: Correct = True
    min_relevance: Annotated[
        float | None,
        typer.Option(
            "--min-relevance",
            **SEARCH.parameter("min_relevance").range,
            help="Leave out hits whose relevance is lower.",
        ),
    ] = None

    def parameters(self) -> dict[str, Value]:
        """The parameters of the endpoint."""
        return {
            "q": query_text(self.query),
            "limit": self.limit,
            "by": self.by.value,
            "fresh": self.fresh,
            "as_you_type": self.as_you_type,
            "expand": self.expand.value if self.expand else "",
            "correct": self.correct,
            "min_relevance": self.min_relevance,
        }


@dataclass(frozen=True, slots=True)
class View:
    """What of the answer is shown to a person."""

    places: Annotated[bool, typer.Option("--places", help="List every matching place, best first.")] = False
    nearest: Annotated[
        bool,
        typer.Option(
            "--nearest",
            help="Show all hits, likely or not, also with --files.",
        ),
    ] = False
    open: Annotated[bool, typer.Option("--open", "-o", help="Open the first hit at its line.")] = False
    explain: Annotated[
        str, typer.Option("--explain", metavar="NOTE", help="Explain why NOTE is found, or not.")
    ] = ""


def search(
    search: Search,
    selection: VaultSelection,
    output: Output,
    lines: GrepLines,
    view: View,
    all_vaults: AllVaults = False,
) -> int:
    """Find notes by meaning, word and link. The best note is the first."""
    lines.check(output)
    asked = search.parameters()
    if view.explain:
        return explain_note(selection, output, view.explain, str(asked["q"]), correct=search.correct)
    if all_vaults or asks_all(selection, os.environ):
        folders = FoldersOfHits(Path(), vaults_in_config(selection, os.environ))
        answer, index_dir = ask_all(selection, SEARCH, **asked), None
    else:
        connection, answer = with_connection(
            selection, lambda connection: (connection, connection.index.ask(SEARCH, **asked))
        )
        folders, index_dir = FoldersOfHits(connection.vault), connection.index_dir
    shown = ShownHits.of(answer, nearest=view.nearest)
    if output.json:
        print_json(answer)
    elif lines.wanted:
        hits = answer["results"] if view.nearest else shown.likely
        whole = search.by is By.NOTE
        lines.print_each(
            (folders.of(hit), _place(hit, path, whole=whole))
            for hit in hits
            for path in (hit["path"], *hit.get("copies", ()))
        )
        print_verdict(answer, hits)
        print_notices(answer)
    else:
        _print(answer, shown, folders, view)
        if index_dir is not None:
            hint_at_start(index_dir)
    return 0 if likely_count(answer) else NO_HITS


def _print(answer: SearchAnswerJson, shown: ShownHits, folders: FoldersOfHits, view: View) -> None:
    print_verdict(answer, shown.others)
    hits = answer["results"] if view.nearest else shown.likely
    if view.open and hits:
        open_note(folders.of(hits[0]), hits[0])
    else:
        print_hits = print_places if view.places else print_notes
        print_hits(shown.likely, folders)
        if shown.likely and shown.others:
            print_less_likely()
        print_hits(shown.others, folders)
    print_notices(answer)


def _place(hit: HitJson, path: str, *, whole: bool) -> NotePlace:
    return NotePlace(path, None if whole else hit["line"], hit["snippet"])


app = one_command(search, QueryCommand)
