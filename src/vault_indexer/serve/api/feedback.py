"""Interface for storing user feedback (grades and clicks) from the web page and the plugin; `evals`
implements it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from vault_indexer.model import JudgingPool


class FeedbackStore(Protocol):
    """Stores grades and clicks as questions for `indexer eval`. Any thread may call it."""

    def record_click(self, query: str, path: str, rank: int) -> Path:
        """Keep that a note was opened from the hits of a query; the file where that stands. Raises UsageError
        where the user does not want that, UnknownNoteError if there is no such note."""
        ...

    def next_pool(self, question: str) -> JudgingPool:
        """The notes of a question to be graded; of "" none, but all questions. Changes nothing."""
        ...

    def keep_grade(self, question: str, path: str, grade: int) -> int:
        """Keep the grade of a note of the index, on disk when this returns; how many notes of the question
        have one. Raises UsageError."""
        ...
