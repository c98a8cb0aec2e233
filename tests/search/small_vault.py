"""A small vault in four scripts with all that a query can ask for."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from note_files import read_notes

from vault_indexer.model import SearchAnswer

Ask = Callable[..., SearchAnswer]
"""Asks the small vault's service; keyword arguments are those of a SearchRequest."""

NOTES = read_notes(Path(__file__).parent / "fixtures" / "small_vault.md")

MODIFIED = {
    "Garden/Compost.md": datetime(2024, 3, 5, 12, tzinfo=UTC),
    "Garden/Tomatoes.md": datetime(2024, 5, 20, 12, tzinfo=UTC),
}
OTHERWISE = datetime(2023, 1, 1, 12, tzinfo=UTC)


def write_vault(folder: Path) -> Path:
    """The notes as files, with the times above."""
    for name, text in NOTES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        when = MODIFIED.get(name, OTHERWISE).timestamp()
        os.utime(file, (when, when))
    return folder
