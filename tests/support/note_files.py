"""Notes of a test's vault as a person writes them: each below `=== PATH`, and an empty line behind it."""

from __future__ import annotations

import re
from pathlib import Path


def read_notes(file: Path) -> dict[str, str]:
    """The texts by path."""
    _, *parts = re.split(r"^=== (.*)\n", file.read_text("utf-8"), flags=re.MULTILINE)
    return {path: text[:-1] for path, text in zip(parts[::2], parts[1::2], strict=True)}
