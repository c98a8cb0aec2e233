"""What the terminal sees: JSON or text on standard output, progress and notices on standard error."""

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


class PlainText:
    """What a row is made of where no styles are shown, with the methods of rich's Text that rows use.

    To import rich takes 20 ms, as long as all else that a search through the daemon does.
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
        """Nothing: no style is shown."""

    def truncate(self, width: int, **_: object) -> None:
        if self.cell_len > width:
            self.plain = f"{self.plain[: width - 1]}\N{HORIZONTAL ELLIPSIS}"


class PlainConsole:
    """Standard output that a program reads: lines are neither styled nor wrapped. Printing raises
    BrokenPipeError where nobody reads any more."""

    is_terminal = False
    width = _PIPE_WIDTH

    def print(self, line: object = "", **_: object) -> None:
        sys.stdout.write(f"{line}\n")


def _is_styled() -> bool:
    """Whether rich shows styles on standard output: on a terminal, and where a variable asks for them."""
    forced = ("FORCE_COLOR", "TTY_COMPATIBLE")
    return sys.stdout.isatty() or any(os.environ.get(name) for name in forced)


def out() -> Console:
    """Standard output: coloured and as wide as the terminal, plain and never wrapped where it is a pipe."""
    if not _is_styled():
        return cast("Console", PlainConsole())
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """rich would end the process with status 1, which means "nothing found"."""
            raise BrokenPipeError

        def print(self, *lines: Any, **options: Any) -> None:
            """A line that is not wrapped here is wrapped by the terminal: nothing of it is cut."""
            if options.get("no_wrap"):
                options.update(overflow="ignore", crop=False)
            super().print(*lines, **options)

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Output(file=styled(sys.stdout), highlight=False, width=width, markup=False)


def err() -> Console:
    from rich.console import Console

    return Console(file=styled(sys.stderr), highlight=False, markup=False)


def text(*parts: tuple[str, str]) -> Text:
    """A line of texts with their styles, without what a terminal would obey."""
    if not _is_styled():
        return cast("Text", PlainText("".join(clean(content) for content, _ in parts)))
    from rich.text import Text

    return Text.assemble(*((clean(content), style) for content, style in parts))


def lines_text(lines: str) -> Text:
    """Several lines without styles, each as `text` takes it."""
    cleaned = clean_lines(lines)
    if not _is_styled():
        return cast("Text", PlainText(cleaned))
    from rich.text import Text

    return Text(cleaned)
