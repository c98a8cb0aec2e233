"""Makes a value once for all that want it at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SingleFlight(Generic[Key, Value]):
    """The first thread that wants the value of a key makes it; others wait for that, or get its error, or
    take a value of before. No lock is held meanwhile, so other keys do not wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Key, Future[Value]] = {}

    def get(self, key: Key, make: Callable[[], Value], meanwhile: Value | None = None) -> Value:
        """The value. It is not kept: a later call makes it again. While another thread makes it, `meanwhile`
        is returned if there is one. Raises what `make` raises."""
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
            with self._lock:
                del self._running[key]
        mine.set_result(value)
        return value
