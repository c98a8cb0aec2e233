"""What other threads ask of the loop, and wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from vault_indexer.errors import UnavailableError, VaultIndexerError
from vault_indexer.model import Progress

Answer = TypeVar("Answer")


@dataclass(eq=False)
class LoopRequest(Generic[Answer]):
    """One request; exactly one of `give` and `fail` ends it."""

    report: Callable[[Progress], None] = lambda _progress: None
    refit: bool = False
    force: bool = False
    repair: bool = False
    started: bool = False
    _done: threading.Event = field(default_factory=threading.Event)
    _answer: Answer | None = None
    _error: VaultIndexerError | None = None

    def give(self, answer: Answer) -> None:
        """The answer is there."""
        self._answer = answer
        self._done.set()

    def fail(self, error: VaultIndexerError) -> None:
        """There will be none: `error` says why."""
        self._error = error
        self._done.set()

    def wait(self) -> Answer:
        """The answer. Raises the error that came instead."""
        self._done.wait()
        if self._answer is None:
            raise self._error or UnavailableError("there is no answer")
        return self._answer
