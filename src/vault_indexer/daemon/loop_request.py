"""What other threads ask of the loop, and wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import UnavailableError, VaultIndexerError
from vault_indexer.model import Problem, Progress, RebuildReport

STOPPED = "the daemon was stopped"
"""Why a request is not answered any more."""

Problems = tuple[Problem, ...]


@dataclass(eq=False)
class BuildRequest:
    """Have the next generation built."""

    report: Callable[[Progress], None] = lambda _progress: None
    options: RebuildOptions = field(default_factory=lambda: RebuildOptions(refit=False))
    answer: Future[RebuildReport] = field(default_factory=Future)


@dataclass(eq=False)
class CheckRequest:
    """Have everything compared with everything."""

    report: Callable[[Progress], None] = lambda _progress: None
    repair: bool = False
    answer: Future[Problems] = field(default_factory=Future)


LoopRequest = BuildRequest | CheckRequest


class RequestQueue:
    """Requests that wait for the loop. Thread-safe. After `close` each is refused at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[LoopRequest] = []
        self._closed = False

    def put(self, request: LoopRequest) -> None:
        with self._lock:
            if not self._closed:
                self._waiting.append(request)
                return
        request.answer.set_exception(UnavailableError(STOPPED))

    def take(self) -> LoopRequest | None:
        """The one that came first; it waits no more."""
        with self._lock:
            return self._waiting.pop(0) if self._waiting else None

    def refuse(self, error: VaultIndexerError) -> None:
        """Fail all that wait."""
        while request := self.take():
            request.answer.set_exception(error)

    def close(self) -> None:
        """Refuse what waits and what still comes."""
        with self._lock:
            self._closed = True
        self.refuse(UnavailableError(STOPPED))
