"""Chunks for a person, one on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.cli.output.columns import cut_text
from vault_indexer.cli.output.terminal import text

if TYPE_CHECKING:
    from rich.console import Console

_LINES_WIDTH = 9
_SIZE_WIDTH = 6


def print_chunk(console: Console, start_line: int, end_line: int, header_path: str, content: str) -> None:
    """A chunk with its lines, its size in characters, its headings and as much of its text as has room."""
    lines = f"{start_line}-{end_line}"
    row = text(
        (f"{lines:>{_LINES_WIDTH}}  {f'{len(content):,}':>{_SIZE_WIDTH}}  ", "dim"),
        (f"{header_path}: " if header_path else "", "green"),
        (" ".join(content.split()), ""),
    )
    console.print(cut_text(row, console.width, (0, 0)), no_wrap=True)
