"""Rows for a person: in columns where there is room, else each over as many lines as it needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from vault_indexer.cli.terminal import text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_COLUMN_WIDTH = 60
_LEAST_WIDTH = 20
"""Columns for the text of a row, however narrow the terminal says that it is."""


def path_style(vault: Path, path: str) -> str:
    """The style of a note's path, with the hyperlink that opens it on a terminal that knows hyperlinks.

    A vault of Obsidian is opened in Obsidian, any other file by what the system opens it with. A pipe gets
    neither colour nor link.
    """
    file = vault / path
    is_obsidian = (vault / ".obsidian").is_dir()
    uri = f"obsidian://open?path={quote(str(file), safe='')}" if is_obsidian else file.absolute().as_uri()
    return f"cyan link {uri}"


def print_rows(console: Console, rows: Sequence[Sequence[Text]], *, head: int) -> None:
    """Print rows of equally many cells; nothing of them is cut.

    In columns, each row on one line, where a program reads or where the terminal has room for all. Else the
    first `head` cells of a row, then the others on lines of their own, wrapped and indented by the first
    cell. One very long cell does not push all others away: it alone is out of line.
    """
    lines = _in_columns(rows)
    if not console.is_terminal or all(line.cell_len <= console.width for line in lines):
        for line in lines:
            console.print(line, no_wrap=True, overflow="ignore", crop=False)
        return
    indent = max(row[0].cell_len for row in rows) + 2
    for row in rows:
        _print_wrapped(console, row, head, indent)


def _in_columns(rows: Sequence[Sequence[Text]]) -> list[Text]:
    widths = [min(_COLUMN_WIDTH, max(cell.cell_len for cell in column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        line = text()
        for cell, width in zip(row, widths, strict=True):
            line.append_text(cell)
            line.append(" " * (max(0, width - cell.cell_len) + 2 * (width > 0)))
        line.rstrip()
        lines.append(line)
    return lines


def _print_wrapped(console: Console, row: Sequence[Text], head: int, indent: int) -> None:
    parts = [_join(row[1:head]), *(cell for cell in row[head:] if cell.cell_len)]
    width = max(_LEAST_WIDTH, console.width - indent)
    lead = row[0].copy()
    lead.append(" " * (indent - lead.cell_len))
    for part in parts:
        for line in part.wrap(console, width, overflow="fold"):
            line.rstrip()
            console.print(lead + line, no_wrap=True, overflow="ignore", crop=False)
            lead = text((" " * indent, ""))


def _join(cells: Sequence[Text]) -> Text:
    return text(("  ", "")).join(cell for cell in cells if cell.cell_len)
