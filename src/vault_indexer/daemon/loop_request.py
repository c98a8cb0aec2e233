"""Requests that other threads submit to the loop and wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import UnavailableError, VaultIndexerError
from vault_indexer.model import Problem, Progress, RebuildReport

STOPPED = "the daemon was stopped"
"""The reason given to requests that are refused after a stop."""

Problems = tuple[Problem, ...]


@dataclass(eq=False)
class BuildRequest:
    """A request to build the next generation."""

    report: Callable[[Progress], None] = lambda _progress: None
    options: RebuildOptions = field(default_factory=lambda: RebuildOptions(refit=False))
    answer: Future[RebuildReport] = field(default_factory=Future)


@dataclass(eq=False)
class CheckRequest:
    """A request to compare the vault, the catalog and the derived indices."""

    report: Callable[[Progress], None] = lambda _progress: None
    repair: bool = False
    answer: Future[Problems] = field(default_factory=Future)


LoopRequest = BuildRequest | CheckRequest


class RequestQueue:
    """A queue of requests for the loop. Thread-safe. After `close`, each request is refused at once."""

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
        """Remove and return the oldest request, or None if the queue is empty."""
        with self._lock:
            return self._waiting.pop(0) if self._waiting else None

    def refuse(self, error: VaultIndexerError) -> None:
        """Fail all queued requests with `error`."""
        while request := self.take():
            request.answer.set_exception(error)

    def close(self) -> None:
        """Refuse all queued and all later requests."""
        with self._lock:
            self._closed = True
        self.refuse(UnavailableError(STOPPED))
