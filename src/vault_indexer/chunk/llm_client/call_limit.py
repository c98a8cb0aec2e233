"""A language model that several processes ask, with one limit for the calls of all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError
from vault_indexer.ports import Llm

if TYPE_CHECKING:
    from filelock import BaseFileLock

_LOOK_S = 0.05
"""Between two looks for a free place; an answer takes ten times as long."""


class LimitedLlm:
    """Implements ports.Llm: all processes that name the same `folder` have at most `most` calls at a time.

    Each call holds the lock of one file in the folder, so the system frees the place of a process that dies.
    The time that a call waits for its place is not part of its `timeout_s`. Threads may share it. Limits of
    different sizes may share a folder: a larger one takes the places first that a smaller one does not have.
    """

    def __init__(self, llm: Llm, folder: Path, most: int) -> None:
        self._llm = llm
        self._folder = folder
        self._most = most
        self._looking = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._llm.name

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        """Passes the prompt on once there is a place. Raises ProviderError as the model does, and where no
        file can be locked."""
        with self._place():
            return self._llm.complete(prompt, timeout_s=timeout_s, max_tokens=max_tokens)

    @contextmanager
    def _place(self) -> Iterator[None]:
        with self._looking:  # of the threads of a process one looks
            lock = self._free_lock()
            while lock is None:
                time.sleep(_LOOK_S)
                lock = self._free_lock()
        try:
            yield
        finally:
            lock.release()

    def _free_lock(self) -> BaseFileLock | None:
        """One of the locks, held from now on; None while others hold all of them."""
        from filelock import FileLock, Timeout

        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for number in reversed(range(self._most)):
                lock = FileLock(self._folder / f"{number}.lock", timeout=0, thread_local=False)
                try:
                    lock.acquire()
                except Timeout:
                    continue
                return lock
        except (OSError, RuntimeError) as error:  # RuntimeError: no locks on this file system
            raise ProviderError(
                f"calls to the language model cannot be limited by {self._folder}: {error}"
            ) from error
        return None
