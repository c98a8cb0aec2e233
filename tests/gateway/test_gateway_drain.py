"""The end of a gateway, and its probes while searches wait or fail."""

import asyncio
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgi_request import answering, asked
from gateway_lab import BEN, Gateway, Team, gateway
from tcp_proxy import tcp_proxy
from waiting import DEADLINE_S, wait_until

from vault_gateway.readiness import Drain, Probes
from vault_indexer.errors import BackendError


def end(one: Gateway) -> int:
    one.process.send_signal(signal.SIGTERM)
    wait_until(lambda: one.get("/readyz").status == 503, "not ready any more")
    found = one.get("/readyz")
    assert (found.kind, found.headers["retry-after"]) == ("ending", "1")
    return one.get("/healthz").status


def test_a_request_under_way_is_answered_after_the_signal(team: Team) -> None:
    with tcp_proxy(team.port) as proxy, gateway(team, [BEN], uri=proxy.uri, milvus="timeout_s = 15\n") as one:
        assert one.paths(BEN, "dough")
        proxy.hang()
        with ThreadPoolExecutor() as pool:
            early = pool.submit(one.search, BEN, "dough")
            wait_until(lambda: proxy.waiting, "the search waits for the server")
            began = time.monotonic()
            assert end(one) == 200
            while time.monotonic() - began < 2.5:  # far longer than uvicorn itself would wait
                assert one.get("/readyz").status == 503
            late = pool.submit(one.search, BEN, "dough")
            proxy.let_pass()
            for one_answer in (early.result(), late.result()):
                assert (one_answer.status, one_answer.headers["connection"]) == (200, "close")
        assert one.process.wait(DEADLINE_S) == 0
    assert one.said == ""


def test_what_takes_longer_than_the_drain_gets_a_word(team: Team) -> None:
    with (
        tcp_proxy(team.port) as proxy,
        gateway(team, [BEN], uri=proxy.uri, server="drain_s = 1.0\n", milvus="timeout_s = 60\n") as one,
    ):
        assert one.paths(BEN, "dough")
        proxy.hang()
        with ThreadPoolExecutor() as pool:
            late = pool.submit(one.search, BEN, "dough")
            wait_until(lambda: proxy.waiting, "the search waits for the server")
            one.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            found = late.result()
        assert (found.status, found.kind) == (503, "ending")
        assert one.process.wait(DEADLINE_S) == 0
        assert time.monotonic() - began < 50  # the call to the server could have taken 60 s
    assert "Traceback" not in one.said


def test_the_drain_waits_for_a_quiet_second_and_no_longer_than_it_may() -> None:
    async def scenario() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        drain = Drain(30.0)
        release = asyncio.Event()

        async def answer(_scope: Any, _receive: Any, send: Any) -> None:
            await release.wait()
            await answering(200)(_scope, _receive, send)

        running = asyncio.ensure_future(asked(drain.around(answer, lambda: True)))
        loop.call_later(1.3, release.set)
        await drain.finish()
        ended = loop.time() - began
        found = await running
        assert found["status"] == 200
        assert (b"connection", b"close") in found["headers"]
        return ended

    assert 1.2 < asyncio.run(scenario()) < 20


@pytest.mark.parametrize("error", [None, BackendError("away")])
def test_probes_at_one_time_ask_the_server_once(error: BackendError | None) -> None:
    looks: list[int] = []

    def look() -> tuple[str, ...]:
        looks.append(1)
        if error is not None:
            raise error
        return ("w",)

    async def scenario() -> None:
        probes = Probes(answering(405), look, ())
        answers = await asyncio.gather(*(asked(probes, "/readyz") for _ in range(20)))
        assert {one["status"] for one in answers} == {503 if error else 200}
        assert (await asked(probes, "/readyz", "POST"))["status"] == 405

    asyncio.run(scenario())
    assert len(looks) == 1


@pytest.mark.long
def test_probes_are_answered_while_all_places_are_taken(team: Team) -> None:
    with (
        tcp_proxy(team.port) as proxy,
        gateway(team, [BEN], "rights_grace_s = 60", uri=proxy.uri, server="max_concurrent = 1\n") as one,
    ):
        assert one.paths(BEN, "dough")
        proxy.hang()
        with ThreadPoolExecutor() as pool:
            searches = [pool.submit(one.search, BEN, "dough") for _ in range(3)]
            wait_until(lambda: proxy.waiting, "a search waits for the server")
            assert one.get("/healthz").status == 200
            assert one.get("/readyz").status == 503  # the server hangs
            proxy.let_pass()
            wait_until(lambda: one.get("/readyz").status == 200, "ready again")
            assert {answer.result().status for answer in searches} <= {200, 503}
