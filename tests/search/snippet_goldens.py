"""Goldens of snippets, a note and its queries in each file; UPDATE_GOLDEN=1 writes the answers again.

Below the line `===` stand the queries. Under each are the line, header path and snippet of the best hit,
with the marks as «».
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.model import Hit

FOLDER = Path(__file__).parent / "fixtures" / "snippets"
_BORDER = "\n===\n"


@dataclass(frozen=True)
class Golden:
    path: str
    query: str
    expected: str


def notes() -> dict[str, str]:
    """The notes by path."""
    return {file.name: file.read_text("utf-8").partition(_BORDER)[0] for file in sorted(FOLDER.glob("*.md"))}


def goldens() -> Iterator[Golden]:
    for file in sorted(FOLDER.glob("*.md")):
        for block in file.read_text("utf-8").partition(_BORDER)[2].split("query: ")[1:]:
            query, _, expected = block.partition("\n")
            yield Golden(file.name, query, expected.strip())


def shown(hit: Hit) -> str:
    """What the golden writes of a hit."""
    text, marked = hit.snippet, hit.snippet
    for start, end in reversed(hit.marks):
        marked = f"{marked[:start]}«{text[start:end]}»{marked[end:]}"
    return f"line: {hit.line}\nheaders: {hit.header_path}\nsnippet: {marked}"


def update(answers: dict[Golden, str]) -> None:
    """Writes what was found, where that is wanted."""
    if not os.environ.get("UPDATE_GOLDEN"):
        return
    for path, note in notes().items():
        blocks = [f"query: {one.query}\n{text}\n" for one, text in answers.items() if one.path == path]
        (FOLDER / path).write_text(note + _BORDER + "\n".join(blocks), "utf-8")
