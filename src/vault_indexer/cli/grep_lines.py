"""Places in notes as grep prints them, `PATH:LINE` or `PATH:LINE:TEXT`, for scripts and editors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from vault_indexer.cli.parameters import Output
from vault_indexer.cli.terminal import clean
from vault_indexer.cli.vault_folder import shown_path
from vault_indexer.errors import UsageError


class NotePlace(NamedTuple):
    """A line of a note and what stands there; `line` is None where the note as a whole is meant."""

    path: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class GrepLines:
    """One line a place instead of the view for a person."""

    files: Annotated[
        bool, typer.Option("--files", "-l", help="Print the path of each note once, and nothing else.")
    ] = False
    paths: Annotated[bool, typer.Option("--paths", help="Print PATH:LINE for each place.")] = False
    lines: Annotated[bool, typer.Option("--lines", help="As grep prints it: PATH:LINE:TEXT.")] = False
    null: Annotated[
        bool,
        typer.Option(
            "--null", "-0", help="With --files, --paths or --lines: end each with NUL, for xargs -0."
        ),
    ] = False

    @property
    def wanted(self) -> bool:
        """Whether one of the three was asked for."""
        return self.files or self.paths or self.lines

    def check(self, output: Output) -> None:
        """Raises UsageError for options that exclude each other."""
        if self.files + self.paths + self.lines + output.json > 1:
            raise UsageError("--files, --paths, --lines, --json: one at a time")
        if self.null and not self.wanted:
            raise UsageError("--null ends the lines of --files, --paths or --lines: add one of them")

    def print(self, vault: Path, places: Iterable[NotePlace]) -> None:
        """Print each place of one vault."""
        self.print_each((vault, place) for place in places)

    def print_each(self, places: Iterable[tuple[Path, NotePlace]]) -> None:
        """Print each place, which stands with the folder of its vault.

        A program gets a path as the bytes that it is, whatever they are; the text is always free of control
        characters.
        """
        end = b"\0" if self.null else b"\n"
        plain = sys.stdout.isatty()
        sys.stdout.flush()
        if self.files:
            places = dict.fromkeys((vault, NotePlace(place.path, None, "")) for vault, place in places)
        for vault, place in places:
            path = shown_path(place.path, vault)
            record = os.fsencode(clean(path) if plain else path)
            if place.line is not None or self.lines:
                record += f":{place.line or 1}".encode()
            if self.lines:
                text = " ".join(clean(place.text).split())
                record += b":" + text.encode("utf-8", "backslashreplace")
            sys.stdout.buffer.write(record + end)
