"""Work that is read from ordinary code ends when nobody reads it any more."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
from waiting import DEADLINE_S

from vault_indexer.errors import ProviderError, QueryCancelledError
from vault_indexer.providers.llm import interruptible


class Work:
    """Items, and then nothing for ever; `ended` is set when it is cancelled meanwhile."""

    def __init__(self, *items: str) -> None:
        self.ended = threading.Event()
        self._items = items

    async def run(self) -> AsyncIterator[str]:
        try:
            for item in self._items:
                yield item
            await asyncio.get_running_loop().create_future()
        finally:
            self.ended.set()


def test_the_items_come_in_order_and_then_the_end_or_the_error() -> None:
    async def whole() -> AsyncIterator[str]:
        yield "a"
        yield "b"

    async def broken() -> AsyncIterator[str]:
        yield "a"
        raise ProviderError("no answer")

    assert list(interruptible(whole, DEADLINE_S, lambda: False)) == ["a", "b"]
    pieces = interruptible(broken, DEADLINE_S, lambda: False)
    assert next(pieces) == "a"
    with pytest.raises(ProviderError, match="no answer"):
        next(pieces)


def test_work_that_nobody_waits_for_is_cancelled() -> None:
    work, cancelled = Work("a"), threading.Event()
    pieces = interruptible(work.run, DEADLINE_S, cancelled.is_set)
    assert next(pieces) == "a"
    cancelled.set()
    with pytest.raises(QueryCancelledError):
        next(pieces)
    assert work.ended.wait(DEADLINE_S)


def test_work_that_is_read_no_further_is_cancelled() -> None:
    work = Work("a", "b")
    pieces = interruptible(work.run, DEADLINE_S, lambda: False)
    assert next(pieces) == "a"
    pieces.close()  # type: ignore[attr-defined] # it is a generator
    assert work.ended.wait(DEADLINE_S)


def test_work_ends_when_its_time_is_over() -> None:
    work = Work()
    with pytest.raises(TimeoutError, match=r"no complete answer within 0.01 s"):
        next(interruptible(work.run, 0.01, lambda: False))
    assert work.ended.wait(DEADLINE_S)
