"""`indexer help [TOPIC]` and `indexer completion SHELL`."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined] # typer lists no exports

from vault_indexer.cli.app import ADVANCED, COMMANDS, command_rows
from vault_indexer.cli.output.columns import print_row
from vault_indexer.cli.output.terminal import out
from vault_indexer.cli.parameters import VaultSelection, one_command
from vault_indexer.errors import IndexUnusableError, UsageError
from vault_indexer.system import command_words

# The documentation pages in the package, and the sections about commands and topics in them.

HOME = "Home"
REFERENCE = "commands"
_FORMER_PAGES: Mapping[str, str] = {
    "guide": REFERENCE,
    "advanced-settings": "configuration",
    "uninstall": "maintenance",
}
"""Pages of earlier versions, and the pages that now contain their text."""

_PACKAGE = Path(__file__).resolve().parents[2]
_FOLDERS = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")
"""The folder in a wheel, and in a clone of the repository."""

_HEADING = re.compile(r"^(#{2,3}) (.+)$", re.MULTILINE)
_HOME_LINE = re.compile(r"^- \[\[([\w-]+)\|.*?\]\]: (.+(?:\n  .+)*)", re.MULTILINE)


def docs_folder() -> Path:
    """Raises IndexUnusableError if the installation lacks the pages."""
    found = next((folder for folder in _FOLDERS if (folder / f"{REFERENCE}.md").is_file()), None)
    if found is None:
        raise IndexUnusableError(f"{_FOLDERS[0]} has no pages: this installation is not complete")
    return found


def page_names(folder: Path) -> list[str]:
    """The sorted names of all pages except the start page."""
    return sorted(page.stem for page in folder.glob("*.md") if page.stem != HOME)


def overview(folder: Path) -> str:
    """Lists the pages with their lines on the start page."""
    lines = {name: " ".join(said.split()) for name, said in _HOME_LINE.findall(_read(folder, HOME))}
    width = max(map(len, page_names(folder)))
    rows = "\n".join(f"    {name:<{width}}  {lines.get(name, '')}".rstrip() for name in page_names(folder))
    return (
        "`indexer help TOPIC` shows the documentation of a topic. A topic is a command, a heading of the\n"
        f"page `commands` (`indexer help exit-status`), or one of these pages:\n\n{rows}\n"
    )


def about(folder: Path, topic: str) -> str:
    """Returns the section of the reference for a command or a heading, followed by the page of that name, if
    they exist. A unique prefix of a page's name is enough. Raises UsageError."""
    name = topic.strip().lower().removesuffix(".md")
    name = _FORMER_PAGES.get(name, name)
    section = reference_sections(_read(folder, REFERENCE)).get(name)
    page = _page_of(name, page_names(folder), exactly=section is not None)
    texts = [text for text in (section, _read(folder, page) if page else None) if text]
    if not texts:
        raise UsageError(f'No help on "{" ".join(topic.split())}". "indexer help" lists the topics.')
    return "\n".join(texts)


def reference_sections(page: str) -> Mapping[str, str]:
    """Maps each heading of the reference to the text below it. The key is the command in the heading,
    otherwise its words in lower case, joined by dashes."""
    headings = list(_HEADING.finditer(page))
    found = {}
    for number, heading in enumerate(headings):
        depth = len(heading[1])
        ends = (later.start() for later in headings[number + 1 :] if len(later[1]) <= depth)
        text = page[heading.start() : next(ends, len(page))].rstrip() + "\n"
        found.update(dict.fromkeys(_names(heading[2]), text))
    return found


def _names(heading: str) -> Iterable[str]:
    if heading.startswith("`indexer "):
        return re.findall(r"`(?:indexer )?([a-z]+)", heading)
    return ["-".join(re.findall(r"\w+", heading.lower()))]


def _page_of(name: str, pages: Iterable[str], *, exactly: bool) -> str | None:
    same = [page for page in pages if page.lower() == name]
    begin = [page for page in pages if name and page.startswith(name) and not exactly]
    return same[0] if same else begin[0] if len(begin) == 1 else None


def _read(folder: Path, page: str) -> str:
    return (folder / f"{page}.md").read_text(encoding="utf-8")


def complete_topic(incomplete: str) -> list[str]:
    """The pages and commands that begin with this text."""
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
    del selection  # the pages do not depend on the vault
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
    """Renders the page for a terminal of this width."""
    from rich.markdown import Markdown

    console = out()
    with console.capture() as captured:
        console.print(Markdown(markdown, hyperlinks=False))
    return captured.get()


def _fitted(text: str, width: int) -> str:
    """Wraps the list of pages to `width` columns, with the descriptions in their own column."""
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
    """Shows the text in the program of PAGER, otherwise in `less`; prints it if there is neither.

    The options are git's: less shows colours, leaves the text on the screen, and exits if it fits on one.
    """
    pager = _pager(os.environ.get("PAGER", ""))
    if pager is None:
        sys.stdout.write(text)
        return
    environ = {"LESS": "FRX", **os.environ}
    with _interrupts_are_the_pagers(), subprocess.Popen(pager, stdin=subprocess.PIPE, env=environ) as process:
        process.communicate(text.encode())  # the user may quit the pager early


def _pager(named: str) -> list[str] | None:
    """The program and its arguments; None if it does not exist or is not a valid command."""
    try:
        command = command_words(named) or ["less"]
    except ValueError:  # an unclosed quotation mark
        return None
    return command if shutil.which(command[0]) else None


@contextmanager
def _interrupts_are_the_pagers() -> Iterator[None]:
    """Ctrl-C reaches both processes: less cancels a search, and this process waits for less to exit."""
    before = signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


Shell = Literal["bash", "zsh", "fish", "powershell"]


def completion(
    selection: VaultSelection,
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
) -> None:
    """Print the completion script for a shell: eval "$(indexer completion bash)"."""
    del selection  # the script does not depend on the vault
    script = get_completion_script(prog_name="indexer", complete_var="_INDEXER_COMPLETE", shell=shell)
    typer.echo(script)


app = one_command(show_help)
completion_app = one_command(completion)
