"""What the terminal sees: JSON or text on standard output, progress and notices on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO, cast

from vault_indexer.text.control_characters import clean, clean_lines, json_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIPE_WIDTH = 100_000
"""Columns where there is no terminal: nothing is wrapped for a program that reads lines."""


class TerminalStream:
    """A standard stream at a terminal: it shows text and line feeds, and nothing that the terminal obeys.

    So no command has to clean what it prints. `styled` is the stream beneath, for rich and for moves of the
    cursor; callers clean the texts. Everything but writing is done by that stream.
    """

    def __init__(self, styled: TextIO) -> None:
        self.styled = styled

    def __getattr__(self, name: str) -> Any:
        return getattr(self.styled, name)

    def write(self, text: str) -> int:
        self.styled.write(clean_lines(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


def protect_terminal() -> None:
    """Make each standard stream that is a terminal a `TerminalStream`, once."""
    if sys.stdout.isatty():
        sys.stdout = cast("TextIO", TerminalStream(styled(sys.stdout)))
    if sys.stderr.isatty():
        sys.stderr = cast("TextIO", TerminalStream(styled(sys.stderr)))


def styled(stream: TextIO) -> TextIO:
    """The stream that takes the control sequences of this program."""
    return stream.styled if isinstance(stream, TerminalStream) else stream


def print_json(data: object) -> None:
    """Indented for a person at a terminal, one line for a program."""
    styled(sys.stdout).write(json_text(data, indent=2 if sys.stdout.isatty() else None) + "\n")


def print_json_line(data: object) -> None:
    styled(sys.stdout).write(json_text(data) + "\n")


def note(line: str) -> None:
    sys.stderr.write(f"{clean(line)}\n")


def print_warnings(warnings: Iterable[str]) -> None:
    """What is odd and has no effect, on standard error."""
    for warning in warnings:
        note(f"Warning: {warning}")


def out() -> Console:
    """Standard output: coloured and as wide as the terminal, plain and never wrapped where it is a pipe.

    Printing raises BrokenPipeError where nobody reads any more."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """rich would end the process with status 1, which means "nothing found"."""
            raise BrokenPipeError

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Output(file=styled(sys.stdout), highlight=False, width=width, markup=False)


def err() -> Console:
    from rich.console import Console

    return Console(file=styled(sys.stderr), highlight=False, markup=False)


def text(*parts: tuple[str, str]) -> Text:
    from rich.text import Text

    return Text.assemble(*((clean(content), style) for content, style in parts))
