"""How long a connection is kept whose client does not ask, does not finish, or does not read."""

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
import uvicorn
from asgi import no_content
from uvicorn.server import ServerState

from vault_indexer.serve.http.connections import Connection, connection_limit

resource = pytest.importorskip("resource", reason="a limit of POSIX")

REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"


@dataclass
class Timer:
    """Implements what a connection uses of asyncio.TimerHandle."""

    seconds: float
    ring: Callable[..., object]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Loop:
    """Implements what a connection uses of an event loop: timers ring, and tasks run, when the test says."""

    timers: list[Timer] = field(default_factory=list)
    tasks: list[Coroutine[Any, Any, None]] = field(default_factory=list)

    def call_later(self, seconds: float, ring: Callable[..., object]) -> Timer:
        self.timers.append(Timer(seconds, ring))
        return self.timers[-1]

    def create_task(self, task: Coroutine[Any, Any, None], **_: object) -> asyncio.Future[None]:
        self.tasks.append(task)
        return cast("asyncio.Future[None]", Ended())

    def run_task(self) -> None:
        with suppress(StopIteration):
            self.tasks.pop().send(None)

    def running(self) -> list[float]:
        """The seconds of the timers that were not cancelled, from now on."""
        seconds = [one.seconds for one in self.timers if not one.cancelled]
        self.timers = []
        return seconds


class Ended:
    def add_done_callback(self, _: object) -> None:
        pass


@dataclass
class Transport:
    """Implements what a connection uses of asyncio.Transport."""

    written: bytes = b""
    said: list[str] = field(default_factory=list)

    def write(self, data: bytes) -> None:
        self.written += data

    def get_extra_info(self, _: str) -> None:
        return None

    def is_closing(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Callable[[], None]:
        return lambda: self.said.append(name)


Made = tuple[Connection, Loop, Transport]


@pytest.fixture
def made() -> Iterator[Made]:
    config = uvicorn.Config(
        no_content, lifespan="off", log_config=None, http=Connection, ws="none", timeout_keep_alive=30
    )
    loop, transport = Loop(), Transport()
    connection = Connection(config, ServerState(), {}, cast("asyncio.AbstractEventLoop", loop))
    connection.connection_made(cast("asyncio.Transport", transport))
    yield connection, loop, transport
    for task in loop.tasks:
        task.close()


@pytest.mark.parametrize("idle", [False, True])
def test_an_unused_connection_is_closed_and_has_five_seconds_to_read_what_is_left(
    made: Made, idle: bool
) -> None:
    """Five seconds before its first request, or when uvicorn says that it was idle between two."""
    connection, loop, transport = made
    assert connection.idle_since is not None
    (arrival,) = loop.timers
    assert loop.running() == [5.0]
    (connection.timeout_keep_alive_handler if idle else arrival.ring)()
    assert transport.said == ["close"]
    (flush,) = loop.timers
    flush.ring()
    assert (flush.seconds, transport.said) == (5.0, ["close", "abort"])


def test_a_request_arrives_within_five_seconds_of_its_first_byte(made: Made) -> None:
    connection, loop, transport = made
    (first,) = loop.timers
    connection.data_received(REQUEST)
    assert (connection.idle_since, first.cancelled) == (None, False)
    assert loop.running() == [5.0], "the clock of the head runs on for the body"
    first.ring()
    assert transport.said == [], "the answer is under way"
    connection.data_received(b"a")
    assert loop.running() == [5.0]
    connection.data_received(b"b")
    assert loop.running() == []
    loop.run_task()
    assert transport.written.startswith(b"HTTP/1.1 204 ")
    assert connection.idle_since is not None
    assert loop.running() == [30]


def test_the_clock_of_a_body_that_is_whole_is_stopped(made: Made) -> None:
    connection, loop, _ = made
    connection.data_received(REQUEST + b"ab")
    assert loop.running() == []
    loop.run_task()
    idle_since = connection.idle_since
    connection.data_received(b"POST")
    assert loop.running() == [5.0]
    assert connection.idle_since == idle_since is not None, "a part of a head is no request"


def test_a_connection_whose_next_request_has_arrived_is_not_idle(made: Made) -> None:
    connection, loop, _ = made
    connection.data_received(2 * (REQUEST + b"ab"))
    assert connection.idle_since is None
    loop.run_task()
    assert connection.idle_since is None
    loop.run_task()
    assert connection.idle_since is not None


def test_a_client_that_owes_the_rest_of_an_answered_request_is_cut_off(made: Made) -> None:
    connection, loop, transport = made
    connection.data_received(REQUEST + b"a")
    loop.run_task()
    arrival, *_ = (one for one in loop.timers if not one.cancelled)
    assert (arrival.seconds, "close" in transport.said) == (5.0, False)
    arrival.ring()
    assert "close" in transport.said


def test_a_client_that_does_not_read_is_cut_off_after_thirty_seconds(made: Made) -> None:
    connection, loop, transport = made
    loop.running()
    connection.pause_writing()
    (departure,) = loop.timers
    connection.resume_writing()
    assert (departure.seconds, departure.cancelled) == (30.0, True)
    connection.pause_writing()
    loop.timers[-1].ring()
    assert transport.said == ["abort"]


def test_no_clock_of_a_lost_connection_runs(made: Made) -> None:
    connection, loop, _ = made
    connection.pause_writing()
    assert len(loop.timers) == 2
    connection.connection_lost(None)
    assert loop.running() == []


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01 no http\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\nCONTENT-LENGTH: 5\r\n\r\n0\r\n\r\n",
    ],
)
def test_what_is_not_http_is_answered_in_our_words(made: Made, sent: bytes) -> None:
    connection, loop, transport = made
    connection.data_received(sent)
    assert (loop.tasks, transport.said) == ([], ["close"])
    head, _, body = transport.written.partition(b"\r\n\r\n")
    assert json.loads(body)["error"] == {"kind": "request", "message": "Invalid HTTP request received"}
    status, *headers = head.lower().split(b"\r\n")
    assert status.startswith(b"http/1.1 400 ")
    assert {b"connection: close", b"content-length: %d" % len(body)} <= set(headers)
    assert b"content-type: application/problem+json" in headers


@pytest.mark.parametrize(
    ("free", "requests", "most"),
    [(4, 8, 4), (19, 8, 4), (20, 8, 5), (400, 8, 100), (1027, 8, 256), (1040, 8, 256), (1040, 129, 258)],
)
def test_a_connection_takes_one_of_four_free_files(free: int, requests: int, most: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = len(os.listdir("/dev/fd"))  # noqa: PTH208 - one system call after the other, as the limit counts
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (held + free, before[1]))
        assert connection_limit(requests) == most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
