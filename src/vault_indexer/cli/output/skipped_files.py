"""The files that the index lacks, and the notes of which it lacks something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import SkippedFileJson


def count_skipped(files: Sequence[SkippedFileJson]) -> tuple[int, int]:
    """How many were skipped, and how many are notes of the index with a warning."""
    warned = sum(one.get("is_indexed", False) for one in files)  # a daemon of an older version says nothing
    return len(files) - warned, warned


def skipped_in_words(files: Sequence[SkippedFileJson]) -> str:
    """The same in words; "" without any."""
    skipped, warned = count_skipped(files)
    words = [f"{quantity(skipped, 'file')} skipped"] if skipped else []
    return ", ".join([*words, f"{quantity(warned, 'note')} with a warning"] if warned else words)
