"""What other threads ask of the loop, and wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from vault_indexer.errors import UnavailableError
from vault_indexer.model import Progress

Answer = TypeVar("Answer")


@dataclass(eq=False)
class Asked(Generic[Answer]):
    """One request; exactly one of `give` and `fail` ends it."""

    report: Callable[[Progress], None] = lambda _progress: None
    refit: bool = False
    mend: bool = False
    started: bool = False
    _done: threading.Event = field(default_factory=threading.Event)
    _answer: Answer | None = None
    _error: str = ""

    def give(self, answer: Answer) -> None:
        """The answer is there."""
        self._answer = answer
        self._done.set()

    def fail(self, error: str) -> None:
        """There will be none."""
        self._error = error
        self._done.set()

    def wait(self) -> Answer:
        """The answer. Raises UnavailableError with the reason if there is none."""
        self._done.wait()
        if self._answer is None:
            raise UnavailableError(self._error)
        return self._answer
