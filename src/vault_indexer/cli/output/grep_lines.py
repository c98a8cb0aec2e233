"""Places in notes in the format of grep, `PATH:LINE` or `PATH:LINE:TEXT`, for scripts and editors."""

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
    """A line of a note and its text; `line` is None for the whole note."""

    path: str
    line: int | None
    text: str


class GrepLines(NamedTuple):
    """The options that print one line per place."""

    files: Annotated[bool, typer.Option("--files", "-l", help="Print only the path of each note, once.")] = (
        False
    )
    paths: Annotated[bool, typer.Option("--paths", help="Print PATH:LINE for each place.")] = False
    lines: Annotated[
        bool, typer.Option("--lines", help="Print PATH:LINE:TEXT for each place, like grep.")
    ] = False
    null: Annotated[
        bool,
        typer.Option(
            "--null", "-0", help="With --files, --paths or --lines: end each entry with NUL, for xargs -0."
        ),
    ] = False

    @property
    def wanted(self) -> bool:
        return self.files or self.paths or self.lines

    def check(self, output: Output) -> None:
        if self.files + self.paths + self.lines + output.json > 1:
            raise UsageError("give only one of --files, --paths, --lines and --json")
        if self.null and not self.wanted:
            raise UsageError("--null ends the lines of --files, --paths or --lines: add one of them")

    def print(self, vault: Path, places: Iterable[NotePlace]) -> None:
        self.print_each((vault, place) for place in places)

    def print_each(self, places: Iterable[tuple[Path, NotePlace]]) -> None:
        """Prints each place, given with the folder of its vault.

        Programs get a path as its raw bytes. Without `--null`, a path with control characters is quoted,
        because a line break in a name would look like another place. Control characters are removed from the
        text.
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
    """Formats a path like git: in quotation marks and with C escapes if it contains a control character or
    begins with a quotation mark."""
    if not _QUOTED_IF.search(path):
        return path
    escaped = _ESCAPED.sub(lambda found: _ESCAPES.get(found[0]) or f"\\{ord(found[0]):03o}", path)
    return f'"{escaped}"'


_QUOTED_IF = re.compile(r'^"|[\x00-\x1f\x7f]')
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
