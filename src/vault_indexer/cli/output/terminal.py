"""Terminal output: JSON or text on standard output, progress and notices on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO, cast

from vault_indexer.text.control_characters import clean, clean_lines, json_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIPE_WIDTH = 100_000
"""The width without a terminal: lines for a program are never wrapped."""


class TerminalStream:
    """A standard stream at a terminal that removes all control characters except line feeds.

    Commands need not clean their output. `styled` is the underlying stream, for rich and for cursor
    movements, whose callers clean the texts. It does everything except writing.
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
    """Wraps each standard stream at a terminal in a `TerminalStream`, once."""
    if sys.stdout.isatty():
        sys.stdout = cast("TextIO", TerminalStream(styled(sys.stdout)))
    if sys.stderr.isatty():
        sys.stderr = cast("TextIO", TerminalStream(styled(sys.stderr)))


def styled(stream: TextIO) -> TextIO:
    """The stream that accepts the control sequences of this program."""
    return stream.styled if isinstance(stream, TerminalStream) else stream


def print_json(data: object) -> None:
    """Prints JSON: indented on a terminal, on one line for a program."""
    styled(sys.stdout).write(json_text(data, indent=2 if sys.stdout.isatty() else None) + "\n")


def print_json_line(data: object) -> None:
    styled(sys.stdout).write(json_text(data) + "\n")


def note(line: str) -> None:
    sys.stderr.write(f"{clean(line)}\n")


def print_warnings(warnings: Iterable[str]) -> None:
    for warning in warnings:
        note(f"Warning: {warning}")


class PlainText:
    """An unstyled row, with the methods of rich's Text that rows use.

    Importing rich takes 20 ms, as long as the rest of a search through the daemon.
    """

    def __init__(self, plain: str) -> None:
        self.plain = plain

    def __str__(self) -> str:
        return self.plain

    @property
    def cell_len(self) -> int:
        if self.plain.isascii():
            return len(self.plain)
        from rich.cells import cell_len

        return cell_len(self.plain)

    def __getitem__(self, part: slice) -> PlainText:
        return PlainText(self.plain[part])

    def append(self, text: str, style: str = "") -> PlainText:
        del style
        self.plain += text
        return self

    def append_text(self, text: PlainText) -> PlainText:
        return self.append(text.plain)

    def copy(self) -> PlainText:
        return PlainText(self.plain)

    def rstrip(self) -> None:
        self.plain = self.plain.rstrip()

    def stylize(self, *_: object) -> None:
        """Does nothing, because styles are not shown."""

    def truncate(self, width: int, **_: object) -> None:
        if self.cell_len > width:
            self.plain = f"{self.plain[: width - 1]}\N{HORIZONTAL ELLIPSIS}"


class PlainConsole:
    """Standard output for a program: lines are neither styled nor wrapped. Printing raises BrokenPipeError if
    the reader has exited."""

    is_terminal = False
    width = _PIPE_WIDTH

    def print(self, line: object = "", **_: object) -> None:
        sys.stdout.write(f"{line}\n")


def _is_styled() -> bool:
    """Whether rich styles standard output: on a terminal, or if a variable requests it."""
    forced = ("FORCE_COLOR", "TTY_COMPATIBLE")
    return sys.stdout.isatty() or any(os.environ.get(name) for name in forced)


def out() -> Console:
    """Standard output: coloured and as wide as the terminal; plain and never wrapped in a pipe."""
    if not _is_styled():
        return cast("Console", PlainConsole())
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """Prevents rich from exiting with status 1, which means "nothing found"."""
            raise BrokenPipeError

        def print(self, *lines: Any, **options: Any) -> None:
            """Lets the terminal wrap a line that is not wrapped here, so that nothing is cut."""
            if options.get("no_wrap"):
                options.update(overflow="ignore", crop=False)
            super().print(*lines, **options)

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Output(file=styled(sys.stdout), highlight=False, width=width, markup=False)


def err() -> Console:
    from rich.console import Console

    return Console(file=styled(sys.stderr), highlight=False, markup=False)


def text(*parts: tuple[str, str]) -> Text:
    """A line of styled texts, without control characters."""
    if not _is_styled():
        return cast("Text", PlainText("".join(clean(content) for content, _ in parts)))
    from rich.text import Text

    return Text.assemble(*((clean(content), style) for content, style in parts))


def lines_text(lines: str) -> Text:
    """Several unstyled lines, without control characters."""
    cleaned = clean_lines(lines)
    if not _is_styled():
        return cast("Text", PlainText(cleaned))
    from rich.text import Text

    return Text(cleaned)
