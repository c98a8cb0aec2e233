"""The error of a pattern that is not understood."""

from __future__ import annotations


class PatternError(ValueError):
    """A pattern that is malformed, or needs more than linear time. `str()` says why, in one line.

    `position` is the 0-based offset in the pattern at which the fault begins.
    """

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position
