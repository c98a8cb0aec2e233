"""Places in notes as grep prints them, `PATH:LINE` or `PATH:LINE:TEXT`, for scripts and editors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from vault_indexer.cli.parameters import Output
from vault_indexer.cli.vault_folder import shown_path
from vault_indexer.errors import UsageError
from vault_indexer.text.control_characters import clean


class NotePlace(NamedTuple):
    """A line of a note and what stands there; `line` is None where the note as a whole is meant."""

    path: str
    line: int | None
    text: str


class GrepLines(NamedTuple):
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
        return self.files or self.paths or self.lines

    def check(self, output: Output) -> None:
        """Raises UsageError for options that exclude each other."""
        if self.files + self.paths + self.lines + output.json > 1:
            raise UsageError("--files, --paths, --lines, --json: one at a time")
        if self.null and not self.wanted:
            raise UsageError("--null ends the lines of --files, --paths or --lines: add one of them")

    def print(self, vault: Path, places: Iterable[NotePlace]) -> None:
        self.print_each((vault, place) for place in places)

    def print_each(self, places: Iterable[tuple[Path, NotePlace]]) -> None:
        """Print each place, which stands with the folder of its vault.

        A program gets a path as the bytes that it is. Without `--null` one with control characters is quoted,
        else a line break in a name would make a place that nobody found. The text is always free of them.
        """
        end = b"\0" if self.null else b"\n"
        plain = sys.stdout.isatty()
        sys.stdout.flush()
        if self.files:
            places = dict.fromkeys((vault, NotePlace(place.path, None, "")) for vault, place in places)
        for vault, place in places:
            path = shown_path(place.path, vault)
            path = path if self.null else quote_path(path)
            record = os.fsencode(clean(path) if plain else path)
            if place.line is not None or self.lines:
                record += f":{place.line or 1}".encode()
            if self.lines:
                text = " ".join(clean(place.text).split())
                record += b":" + text.encode("utf-8", "backslashreplace")
            sys.stdout.buffer.write(record + end)


def quote_path(path: str) -> str:
    """The path as git prints it: in quotation marks and with C escapes if it contains a control character or
    begins with a quotation mark, else as it is."""
    if not _QUOTED_IF.search(path):
        return path
    return f'"{_ESCAPED.sub(_escape, path)}"'


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\{ord(found[0]):03o}"


_QUOTED_IF = re.compile(r'^"|[\x00-\x1f\x7f]')
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
