"""What the terminal sees: JSON or text on standard output, progress and notices on standard error."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIPE_WIDTH = 100_000
"""Columns where there is no terminal: nothing is wrapped for a program that reads lines."""

_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f"
"""Bidirectional controls with a scope, and the deprecated format characters beside them (Unicode UAX #9)."""

_UNSAFE = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}]")
"""C0 and C1 controls, line and paragraph separator, lone surrogates, bidirectional controls."""


def print_json(data: object) -> None:
    """Indented for a person at a terminal, one line for a program."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=indent) + "\n")


def print_json_line(data: object) -> None:
    """One of many objects, each on a line of its own."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")


def note(line: str) -> None:
    """A line on standard error."""
    sys.stderr.write(f"{clean(line)}\n")


def clean(text: str, blank: str = " ") -> str:
    """The text without anything that a terminal would obey: notes are other people's words.

    Control characters and line breaks become `blank`. Bidirectional embeddings, overrides and isolates are
    removed: one that is not closed would reorder the rest of the line, and right-to-left words are displayed
    right without them. Everything else is text and stays, also what has no width: the joiners of Persian and
    Hindi words and of emoji, variation selectors, soft hyphens and the marks of direction U+200E and U+200F.
    """
    return _UNSAFE.sub(lambda found: "" if found[0] in _BIDI else blank, text)


def out() -> Console:
    """Standard output: coloured and as wide as the terminal, plain and never wrapped where it is a pipe.

    Printing raises BrokenPipeError where nobody reads any more."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """rich would end the process with status 1, which means "nothing found"."""
            raise BrokenPipeError

    return Output(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH, markup=False)


def err() -> Console:
    """Standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False)


def text(*parts: tuple[str, str]) -> Text:
    """A line made of (content, style) pairs."""
    from rich.text import Text

    return Text.assemble(*((clean(content), style) for content, style in parts))
