"""Calls to Milvus: timed, counted, and not repeated by every request while the server is down."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

from vault_gateway.metrics import GatewayMetrics
from vault_gateway.milvus import CollectionMissingError
from vault_indexer.errors import BackendError

# Computes a value once for all concurrent callers.


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SingleFlight(Generic[Key, Value]):
    """The first thread that requests the value of a key computes it; others wait for it, get its error, or
    use a previous value. No lock is held meanwhile, so other keys do not wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Key, Future[Value]] = {}

    def get(self, key: Key, make: Callable[[], Value], meanwhile: Value | None = None) -> Value:
        """Returns the value, which is not cached: a later call computes it again. While another thread
        computes it, `meanwhile` is returned if it is given. Raises the errors of `make`."""
        with self._lock:
            running = self._running.get(key)
            if running is None:
                mine = self._running[key] = Future()
        if running is not None:
            return running.result() if meanwhile is None else meanwhile
        try:
            value = make()
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            # Before the result is set: a later caller computes a new value.
            with self._lock:
                del self._running[key]
        mine.set_result(value)
        return value


log = logging.getLogger("vault_indexer.gateway")

Answer = TypeVar("Answer")

_PAUSE_S = 1.0
_AWAY = "the search server does not answer: try again in a few seconds"
_FAILED = (
    "the search server refused this search, or it took too long: choose one vault with vault=, or a "
    "smaller limit"
)
"""The message for users. The server's address and its error are in the log."""


class MilvusCalls:
    """Makes the calls of all requests. Any thread may use it.

    After a failed call, it checks whether the server is reachable. If so, only this call has failed, for
    example a search that is too slow, and other requests continue. If not, only one request at a time tries
    the server, a second after the last try; the others fail at once. So requests do not accumulate behind a
    server that does not answer.
    """

    def __init__(
        self,
        metrics: GatewayMetrics,
        is_there: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.metrics = metrics
        self._is_there = is_there
        self._probing: SingleFlight[str, bool] = SingleFlight()
        self._clock = clock
        self._lock = threading.Lock()
        self._away = False
        self._trying = False
        self._failed_at = 0.0

    def run(self, operation: str, call: Callable[[], Answer]) -> Answer:
        """Returns the answer of a call. Raises BackendError, and passes on CollectionMissingError, which
        means that the server is reachable."""
        is_try = self._begin()
        began = self._clock()
        failed = is_gone = False
        seconds = 0.0
        try:
            return call()
        except CollectionMissingError:
            raise
        except BackendError as error:
            failed = True
            seconds = self._clock() - began
            is_gone = not self._probing.get("", self._is_there)
            if not self._away:
                log.error("%s", error)
            raise BackendError(_AWAY if is_gone else _FAILED) from error
        finally:
            self.metrics.milvus(operation, seconds if failed else self._clock() - began, failed=failed)
            self.metrics.ready.set(not is_gone)
            self._end(is_try=is_try, failed=is_gone)

    def _begin(self) -> bool:
        with self._lock:
            if not self._away:
                return False
            if self._trying or self._clock() - self._failed_at < _PAUSE_S:
                raise BackendError(_AWAY)
            self._trying = True
            return True

    def _end(self, *, is_try: bool, failed: bool) -> None:
        with self._lock:
            if is_try:
                self._trying = False
            if failed:
                self._failed_at = self._clock()
            elif self._away and is_try:
                log.warning("the search server answers again")
            # A success of a call that began before the failure does not prove that the server is back.
            if failed or is_try:
                self._away = failed
