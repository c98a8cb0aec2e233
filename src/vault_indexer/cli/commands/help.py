"""`indexer help [TOPIC]`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from vault_indexer.cli.app import ADVANCED, COMMANDS, command_rows
from vault_indexer.cli.output.columns import print_row
from vault_indexer.cli.output.doc_pages import about, docs_folder, overview, page_names
from vault_indexer.cli.output.terminal import out
from vault_indexer.cli.parameters import VaultSelection, one_command


def complete_topic(incomplete: str) -> list[str]:
    """The pages whose names begin so, and the commands."""
    names = {*page_names(docs_folder()), *(command.name for command in COMMANDS)}
    return sorted(name for name in names if name.startswith(incomplete))


def show_help(
    selection: VaultSelection,
    topic: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC",
            autocompletion=complete_topic,
            help="A command, a page or a heading of the page commands; without it, the pages are listed.",
        ),
    ] = "",
) -> None:
    """Show the documentation of a command or topic. "advanced" lists the other commands."""
    del selection  # the pages are the same for every vault
    if topic == ADVANCED.lower():
        for name, does in command_rows(ADVANCED):
            print_row(out(), name, does, "")
        return
    folder = docs_folder()
    text = about(folder, topic) if topic else overview(folder)
    if sys.stdout.isatty():
        _page(_formatted(text) if topic else _fitted(text, out().width))
    else:
        sys.stdout.write(text)


def _formatted(markdown: str) -> str:
    """The page as a terminal of this width shows it."""
    from rich.markdown import Markdown

    console = out()
    with console.capture() as captured:
        console.print(Markdown(markdown, hyperlinks=False))
    return captured.get()


def _fitted(text: str, width: int) -> str:
    """The list of pages, `width` columns wide: descriptions are wrapped in a column of their own."""
    blocks = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n") if block.startswith(" ") else [" ".join(block.split("\n"))]
        heads = [re.match(r" +\S+ +", line) for line in lines]
        hangs = [" " * (len(head[0]) if head else 0) for head in heads]
        shown = (
            textwrap.fill(line, width, subsequent_indent=hang)
            for line, hang in zip(lines, hangs, strict=True)
        )
        blocks.append("\n".join(shown))
    return "\n\n".join(blocks) + "\n"


def _page(text: str) -> None:
    """The text in the program that PAGER names, else in `less`; printed as it is where there is neither.

    As git does it: less shows colours, leaves the text on the screen, and ends at once if it fits on one.
    """
    pager = _pager(os.environ.get("PAGER", ""))
    if pager is None:
        sys.stdout.write(text)
        return
    environ = {"LESS": "FRX", **os.environ}
    with _interrupts_are_the_pagers(), subprocess.Popen(pager, stdin=subprocess.PIPE, env=environ) as process:
        process.communicate(text.encode())  # that the reader leaves early is no error of it


def _pager(named: str) -> list[str] | None:
    """The program and its arguments; None if it is not there or cannot be read as a command."""
    try:
        command = shlex.split(named) or ["less"]
    except ValueError:  # a quotation mark without its other one
        return None
    return command if shutil.which(command[0]) else None


@contextmanager
def _interrupts_are_the_pagers() -> Iterator[None]:
    """Ctrl-C reaches both processes. less ends a search with it; this one waits until less ends."""
    before = signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


app = one_command(show_help)
