"""Asynchronous work that is read from ordinary code, and that can be given up at any time."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress

from vault_indexer.errors import QueryCancelledError

_LOOK_EVERY_S = 0.05


def interruptible(
    work: Callable[[], AsyncIterator[str]], timeout_s: float, is_cancelled: Callable[[], bool]
) -> Iterator[str]:
    """The items of `work`, which runs in a thread with an event loop of its own.

    The work is cancelled, and with it what it waits for, such as an answer over the network: when the
    iterator is closed, after `timeout_s` seconds, and soon after `is_cancelled` says that nobody waits any
    more. Raises what the work raises, TimeoutError, or QueryCancelledError. The thread need not be the one
    that began to read; the thread may have an event loop.
    """
    running = _Running(work, timeout_s)
    try:
        while True:
            if is_cancelled():
                raise QueryCancelledError("nobody waits for the answer any more")
            with suppress(queue.Empty):
                item = running.items.get(timeout=_LOOK_EVERY_S)
                if isinstance(item, str):
                    yield item
                elif item is None:
                    return
                else:
                    raise item
    finally:
        running.cancel()


class _Running:
    """Work in a thread. `items` are those of the work in order, then its error, or None at its end."""

    def __init__(self, work: Callable[[], AsyncIterator[str]], timeout_s: float) -> None:
        self.items: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._put_items(work, timeout_s))
        threading.Thread(target=self._run, name="interruptible", daemon=True).start()

    def cancel(self) -> None:
        """End the work if it has not ended."""
        with suppress(RuntimeError):  # the loop is closed: the work has ended
            self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        self._loop.run_until_complete(asyncio.wait({self._task}))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
        self.items.put(None if self._task.cancelled() else self._task.exception())

    async def _put_items(self, work: Callable[[], AsyncIterator[str]], timeout_s: float) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                async for item in work():
                    self.items.put(item)
        except TimeoutError as error:
            raise TimeoutError(f"no whole answer in time ({timeout_s:g} s)") from error
