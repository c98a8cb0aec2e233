"""`GET /v1/events`: the status, sent whenever it changes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable

from vault_indexer.contract.codec import encode
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import StatusReport

MAX_STREAMS = 8
_STEP_S = 0.1


class StatusEvents:
    """The streams of one server; `stopping` ends them all, so that none delays shutdown."""

    def __init__(
        self,
        status: Callable[[], StatusReport],
        stopping: Callable[[], bool],
        *,
        look_every_s: float = 0.5,
        show_life_every_s: float = 5.0,
    ) -> None:
        self._status = status
        self._stopping = stopping
        self._look_every_s = look_every_s
        self._show_life_every_s = show_life_every_s
        self._open = 0

    def look(self) -> None:
        """Reads the status. Raises VaultIndexerError if it is not available."""
        self._status()

    def is_full(self) -> bool:
        """Whether the maximum number of streams is open."""
        return self._open >= MAX_STREAMS

    async def stream(self) -> AsyncIterator[str]:
        """Server-sent events `status` with the JSON of `/v1/status`, with comments in between as a
        keep-alive. The stream ends when the vault no longer answers."""
        self._open += 1
        try:
            last, sent = "", time.monotonic()
            while not self._stopping():
                try:
                    found = await asyncio.to_thread(self._status)
                except VaultIndexerError:
                    return
                status = json.dumps(encode(found), ensure_ascii=False)
                if status != last:
                    last, sent = status, time.monotonic()
                    yield f"event: status\ndata: {status}\n\n"
                elif time.monotonic() - sent > self._show_life_every_s:
                    sent = time.monotonic()
                    yield ": alive\n\n"
                await self._pause()
        finally:
            self._open -= 1

    async def _pause(self) -> None:
        until = time.monotonic() + self._look_every_s
        while time.monotonic() < until and not self._stopping():
            await asyncio.sleep(_STEP_S)
