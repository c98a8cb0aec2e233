"""Rows for a person: in columns if they fit, otherwise each on as many lines as it needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from vault_indexer.cli.output.terminal import text
from vault_indexer.system import home_folder
from vault_indexer.text.control_characters import clean
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from vault_indexer.serve.api.generated.shapes import SkippedFileJson, StatusReportJson


_COLUMN_WIDTH = 60
_LEAST_WIDTH = 20
"""The minimum number of columns for the text of a row, however narrow the terminal is."""

_NARROW = 60
"""Terminals with fewer columns get wrapped lines, wider ones get lines cut to one."""

_CUT = "…"


def path_style(vault: Path, path: str) -> str:
    """The style of a note's path, with a hyperlink on terminals that support it.

    The link opens Obsidian for a vault of Obsidian, otherwise the system's default program. A pipe gets
    neither colour nor link.
    """
    file = vault / path
    is_obsidian = (vault / ".obsidian").is_dir()
    uri = f"obsidian://open?path={quote(str(file), safe='')}" if is_obsidian else file.absolute().as_uri()
    return f"cyan link {uri}"


def print_ends(console: Console, path: str, style: str, end: str, *, indent: int = 0) -> None:
    """Prints a path, cut in the middle if it is too long, and a text at the right margin of the terminal. In
    a pipe, two spaces separate them."""
    if not console.is_terminal:
        line = text((" " * indent, ""), (path, style), (f"  {end}" if end else "", ""))
        console.print(line, no_wrap=True)
        return
    room = max(_LEAST_WIDTH, console.width - indent - cell_width(end) - (2 if end else 0))
    shown = text((" " * indent, ""), (fitted_path(console, clean(path), room), style))
    if end and console.width < _NARROW and shown.cell_len + 2 + cell_width(end) > console.width:
        console.print(shown, no_wrap=True)
        print_row(console, "", end, "green", indent=indent + 2)
        return
    if end:
        gap = max(2, console.width - shown.cell_len - cell_width(end))
        shown.append_text(text((" " * gap, ""), (end, "green")))
    console.print(shown, no_wrap=True)


def print_row(console: Console, name: str, value: str, style: str, *, indent: int = 0) -> None:
    """Prints a name and a value on one line; on a terminal the value is wrapped below its own beginning."""
    lead = text((" " * indent + name + "  " * bool(name and value), "bold"))
    shown = text((value, style))
    if not console.is_terminal:
        console.print(lead.append_text(shown), no_wrap=True)
        return
    _print_hanging(console, lead, [shown])


def _print_hanging(console: Console, lead: Text, parts: Sequence[Text]) -> None:
    """Prints the texts wrapped, the first line behind `lead` and the others below its end."""
    indent = lead.cell_len
    for part in parts:
        for line in part.wrap(console, max(_LEAST_WIDTH, console.width - indent), overflow="fold"):
            line.rstrip()
            console.print(lead + line, no_wrap=True)
            lead = text((" " * indent, ""))


def from_home(path: str) -> str:
    home = str(home_folder() or "/")
    return f"~{path[len(home) :]}" if f"{path}/".startswith(f"{home}/") else path


def fitted_path(console: Console, path: str, width: int) -> str:
    """Shortens the path to `width` columns, except on a narrow terminal."""
    return path if console.width < _NARROW else shorten_path(path, width)


def shorten_path(path: str, width: int) -> str:
    """Shortens the path to `width` columns by cutting its middle."""
    if cell_width(path) <= width:
        return path
    left, right = 0, len(path)
    while cell_width(path[: left + 1]) <= (width - 1) // 2:
        left += 1
    while cell_width(path[right - 1 :]) <= width - 1 - cell_width(path[:left]):
        right -= 1
    return f"{path[:left]}{_CUT}{path[right:]}"


def cut_text(line: Text, width: int, shown: tuple[int, int]) -> Text:
    """Cuts the end of the line to fit `width` columns, and its beginning if the span `shown` (in characters)
    would be lost otherwise."""
    start, end = shown
    width = max(_LEAST_WIDTH, width)
    if line.cell_len <= width:
        return line
    if line[:end].cell_len >= width:
        # A third of the width shows what precedes the span.
        space = line.plain.rfind(" ", 0, max(1, start - width // 3)) + 1
        line = text((_CUT, "")).append_text(line[space:])
    line.truncate(width, overflow="ellipsis")
    return line


def cell_width(shown: str) -> int:
    from rich.cells import cell_len

    return cell_len(shown)


def print_rows(console: Console, rows: Sequence[Sequence[Text]], *, head: int) -> None:
    """Prints rows with the same number of cells, without cutting any.

    In a pipe, or if the terminal is wide enough, each row is one line of columns. Otherwise the first `head`
    cells share a line, and the others follow on lines of their own, wrapped and indented by the first cell.
    One very long cell does not shift the columns of the other rows.
    """
    lines = _in_columns(rows)
    if not console.is_terminal or all(line.cell_len <= console.width for line in lines):
        for line in lines:
            console.print(line, no_wrap=True)
        return
    indent = max(row[0].cell_len for row in rows) + 2
    for row in rows:
        lead = row[0].copy()
        lead.append(" " * (indent - lead.cell_len))
        first = text(("  ", "")).join(cell for cell in row[1:head] if cell.cell_len)
        _print_hanging(console, lead, [first, *(cell for cell in row[head:] if cell.cell_len)])


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


# Chunks for a person, one per line.

_LINES_WIDTH = 9
_SIZE_WIDTH = 6


def print_chunk(console: Console, start_line: int, end_line: int, header_path: str, content: str) -> None:
    """Prints a chunk: its lines, its size in characters, its headings and as much of its text as fits."""
    lines = f"{start_line}-{end_line}"
    row = text(
        (f"{lines:>{_LINES_WIDTH}}  {f'{len(content):,}':>{_SIZE_WIDTH}}  ", "dim"),
        (f"{header_path}: " if header_path else "", "green"),
        (" ".join(content.split()), ""),
    )
    console.print(cut_text(row, console.width, (0, 0)), no_wrap=True)


# Skipped files, and notes that were indexed in part.


def count_skipped(files: Sequence[SkippedFileJson]) -> tuple[int, int]:
    """The number of skipped files, and of indexed notes with a warning."""
    warned = sum(one.get("is_indexed", False) for one in files)  # older daemons do not send it
    return len(files) - warned, warned


def unread_documents(status: StatusReportJson) -> str:
    """The documents that need the extra, with the command that installs it, and those whose images are still
    to be read; "" if there are none."""
    counts = status.get("unread_documents", {})
    named = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    found = [f"{named} not read: pip install 'vault-indexer[ocr]'"] if named else []
    if status.get("recognises_text") and (waiting := status.get("unrecognised_documents")):
        found.append(f"text in images of {quantity(waiting, 'document')} still to be recognised")
    return "; ".join(found)


def skipped_in_words(files: Sequence[SkippedFileJson]) -> str:
    """The numbers of `count_skipped` in words; "" if both are 0."""
    skipped, warned = count_skipped(files)
    words = [f"{quantity(skipped, 'file')} skipped"] if skipped else []
    return ", ".join([*words, f"{quantity(warned, 'note')} with a warning"] if warned else words)
