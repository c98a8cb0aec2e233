"""`GET /v1/events`: the status, sent whenever it changes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable

from vault_indexer.contract.codec import encode
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import NoteChanges, StatusReport

MAX_STREAMS = 8
_STEP_S = 0.1


class StatusEvents:
    """The streams of one server; `stopping` ends them all, so that none delays shutdown."""

    def __init__(
        self,
        status: Callable[[], StatusReport],
        stopping: Callable[[], bool],
        changes: Callable[[int, int], NoteChanges] = lambda _before, now: NoteChanges(now, more=True),
        *,
        look_every_s: float = 0.5,
        show_life_every_s: float = 5.0,
    ) -> None:
        self._status = status
        self._changes = changes
        self._stopping = stopping
        self._look_every_s = look_every_s
        self._show_life_every_s = show_life_every_s
        self._open = 0

    def look(self) -> None:
        """Reads the status. Raises VaultIndexerError if it is not available."""
        self._status()

    def is_full(self) -> bool:
        return self._open >= MAX_STREAMS

    async def stream(self) -> AsyncIterator[str]:
        """Server-sent events `status` with the JSON of `/v1/status`, each followed by an event `notes` if
        notes changed, with comments in between as a keep-alive. The stream ends when the vault no longer
        answers."""
        self._open += 1
        try:
            last, sent = "", time.monotonic()
            before: StatusReport | None = None
            while not self._stopping():
                try:
                    found = await asyncio.to_thread(self._status)
                except VaultIndexerError:
                    return
                status = _event("status", found)
                if status != last:
                    last, sent = status, time.monotonic()
                    yield status
                    if before and (before.generation, before.seq) != (found.generation, found.seq):
                        changes = NoteChanges(found.seq, more=True)
                        if before.generation == found.generation:
                            changes = await asyncio.to_thread(self._changes, before.seq, found.seq)
                        yield _event("notes", changes)
                    before = found
                elif time.monotonic() - sent > self._show_life_every_s:
                    sent = time.monotonic()
                    yield ": alive\n\n"
                await self._pause()
        finally:
            self._open -= 1

    async def _pause(self) -> None:
        until = time.monotonic() + self._look_every_s
        while time.monotonic() < until and not self._stopping():
            # In small steps, because `stopping` is not an event that can be awaited.
            await asyncio.sleep(_STEP_S)


def _event(name: str, data: object) -> str:
    return f"event: {name}\ndata: {json.dumps(encode(data), ensure_ascii=False)}\n\n"
