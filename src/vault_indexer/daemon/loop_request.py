"""What other threads ask of the loop, and wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from vault_indexer.errors import UnavailableError, VaultIndexerError
from vault_indexer.model import Progress

STOPPED = "the daemon was stopped"
"""Why a request is not answered any more."""

Answer = TypeVar("Answer")


@dataclass(eq=False)
class LoopRequest(Generic[Answer]):
    """One request; exactly one of `give` and `fail` ends it."""

    report: Callable[[Progress], None] = lambda _progress: None
    refit: bool = False
    force: bool = False
    repair: bool = False
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


class RequestQueue(Generic[Answer]):
    """Requests that wait for the loop. Thread-safe. After `close` each is refused at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[LoopRequest[Answer]] = []
        self._closed = False

    def __bool__(self) -> bool:
        with self._lock:
            return bool(self._waiting)

    def put(self, request: LoopRequest[Answer]) -> None:
        """Add a request, or refuse it."""
        with self._lock:
            if not self._closed:
                self._waiting.append(request)
                return
        request.fail(UnavailableError(STOPPED))

    def take(self) -> list[LoopRequest[Answer]]:
        """All that wait, in order; they wait no more."""
        with self._lock:
            taken, self._waiting = self._waiting, []
        return taken

    def refuse(self, error: VaultIndexerError) -> None:
        """Fail all that wait."""
        for request in self.take():
            request.fail(error)

    def close(self) -> None:
        """Refuse what waits and what still comes."""
        with self._lock:
            self._closed = True
        self.refuse(UnavailableError(STOPPED))
