"""`GET /v1/events`: the status at once, then each change of it, until the server stops."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from threading import Event
from typing import cast

from waiting import DEADLINE_S

from vault_indexer.errors import UnavailableError
from vault_indexer.model import IndexCounts, NoteChanges, StatusReport
from vault_indexer.serve.api.events import MAX_STREAMS, StatusEvents


def report(notes: int) -> StatusReport:
    return StatusReport("", "", "", 1, 1, 0, IndexCounts(notes, 0, 0, 0))


def looking_at(*notes: int) -> Callable[[], StatusReport]:
    """Looks that see these numbers of notes, and then no vault."""
    looks = iter(notes)

    def look() -> StatusReport:
        seen = next(looks, None)
        if seen is None:
            raise UnavailableError("the vault has gone")
        return report(seen)

    return look


def told(events: StatusEvents) -> list[str]:
    """All that a stream tells, until it ends."""

    async def read() -> list[str]:
        return [one async for one in events.stream()]

    return asyncio.run(read())


def test_each_change_is_told_once() -> None:
    events = told(StatusEvents(looking_at(2, 2, 3, 2), lambda: False, look_every_s=0))
    assert all(one.startswith("event: status\ndata: {") and one.endswith("}\n\n") for one in events)
    assert [json.loads(one.partition("data: ")[2])["notes"] for one in events] == [2, 3, 2]


def test_the_notes_that_changed_follow_the_status() -> None:
    seen = iter([replace(report(2), generation=n, seq=seq) for n, seq in ((1, 4), (1, 7), (2, 1))])

    def look() -> StatusReport:
        for found in seen:
            return found
        raise UnavailableError("the vault has gone")

    def changes(before: int, now: int) -> NoteChanges:
        return NoteChanges(now, (f"after {before}.md",))

    events = [one.split("\n") for one in told(StatusEvents(look, lambda: False, changes, look_every_s=0))]
    kinds = [kind.removeprefix("event: ") for kind, *_ in events]
    assert kinds == ["status", "status", "notes", "status", "notes"]
    assert [json.loads(data.removeprefix("data: ")) for kind, data, *_ in events if "notes" in kind] == [
        {"seq": 7, "changed": ["after 4.md"], "removed": [], "more": False},
        {"seq": 1, "changed": [], "removed": [], "more": True},
    ]


def test_a_comment_shows_life_where_nothing_has_been_told_for_a_while() -> None:
    shown = told(
        StatusEvents(looking_at(2, 2, 3, 3, 3), lambda: False, look_every_s=0.002, show_life_every_s=0.001)
    )
    alive = ": alive\n\n"
    kinds = ["status" if one.startswith("event: status") else one for one in shown]
    assert kinds == ["status", alive, "status", alive, alive]


def test_between_two_looks_there_is_a_pause_that_a_server_that_stops_cuts_short() -> None:
    began = time.monotonic()
    told(StatusEvents(looking_at(2, 2), lambda: False, look_every_s=0.03))
    assert time.monotonic() - began >= 0.06
    stopping = Event()

    async def read() -> list[str]:
        found = []
        events = StatusEvents(looking_at(2, 3), stopping.is_set, look_every_s=2 * DEADLINE_S)
        async for one in events.stream():
            found.append(one)
            stopping.set()
        return found

    assert len(asyncio.run(asyncio.wait_for(read(), DEADLINE_S))) == 1


def test_no_event_comes_once_the_server_stops() -> None:
    assert told(StatusEvents(looking_at(2), lambda: True)) == []


def test_one_stream_more_is_let_in_when_one_has_ended() -> None:
    async def open_and_close() -> list[bool]:
        events = StatusEvents(lambda: report(1), lambda: False)
        streams, full = [], []
        for _ in range(MAX_STREAMS):
            full.append(events.is_full())
            streams.append(cast("AsyncGenerator[str, None]", events.stream()))
            await anext(streams[-1])
        full.append(events.is_full())
        for one in streams:
            await one.aclose()
            full.append(events.is_full())
        return full

    assert asyncio.run(open_and_close()) == [*[False] * 8, True, *[False] * 8]
