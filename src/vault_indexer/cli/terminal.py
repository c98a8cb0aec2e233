"""What the terminal sees: JSON or text on standard output, progress and notices on standard error."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIPE_WIDTH = 100_000
"""Columns where there is no terminal: nothing is wrapped for a program that reads lines."""


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


def clean(text: str) -> str:
    """The text without anything that a terminal would obey: notes are other people's words."""
    return "".join(char if char.isprintable() else " " for char in text)


def out() -> Console:
    """Standard output: coloured and as wide as the terminal, plain and never wrapped where it is a pipe."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH, markup=False)


def err() -> Console:
    """Standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False)


def text(*parts: tuple[str, str]) -> Text:
    """A line made of (content, style) pairs."""
    from rich.text import Text

    return Text.assemble(*((clean(content), style) for content, style in parts))
