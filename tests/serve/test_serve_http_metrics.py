"""The figures for Prometheus: what is counted, and what the states of the vaults become."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace

import pytest
from asgi import exchange

from vault_indexer.model import IndexCounts, SkippedFile, StatusReport
from vault_indexer.serve.http.guard import App, Message, Receive, Send
from vault_indexer.serve.http.metrics import DaemonMetrics, RequestMetrics

parser = pytest.importorskip("prometheus_client.parser")
ROUTES = frozenset({"/v1/search", "/v1/status"})


def report(state: str, first: int) -> StatusReport:
    """A report in which each figure is another one, counted from `first`."""
    skipped = tuple(SkippedFile(f"{number}.md", "x") for number in range(first + 4))
    counts = IndexCounts(first, first + 1, 0, 0)
    made = StatusReport("/v", "/i", state, first + 6, first + 5, first + 2, counts)
    return replace(made, skipped=skipped, vectors_owed=first + 3, unpublished=first + 7)


Figures = dict[tuple[str, ...], float]


def figures(metrics: RequestMetrics | DaemonMetrics) -> Figures:
    """The figures by name and labels."""
    return {
        (one.name, *(value for _, value in sorted(one.labels.items()))): one.value
        for family in parser.text_string_to_metric_families(metrics.exposition()[0].decode())
        for one in family.samples
    }


async def answer(scope: Message, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": scope.get("wanted", 200), "headers": []})
    await send({"type": "http.response.body", "body": b"x"})


def ask(app: App, path: str, status: int = 200, kind: str = "http") -> list[str]:
    """The types of the messages that a request is answered with."""
    return [one["type"] for one in asyncio.run(exchange(app, path, type=kind, wanted=status)).sent]


def test_each_answer_is_counted_once_by_route_and_status() -> None:
    metrics = RequestMetrics("some", ROUTES)
    app, began = metrics.watch(answer), time.monotonic()
    for path, status in [("/v1/search", 200), ("/v1/search", 200), ("/v1/search", 422), ("/x", 404)]:
        assert ask(app, path, status) == ["http.response.start", "http.response.body"]
    assert ask(app, "/v1/status", kind="websocket") == ["http.response.start", "http.response.body"]
    found = figures(metrics)
    counted = {key[1:]: value for key, value in found.items() if key[0] == "some_requests_total"}
    assert counted == {("/v1/search", "200"): 2, ("/v1/search", "422"): 1, ("other", "404"): 1}
    assert found["some_request_seconds_count", "/v1/search"] == 3
    assert found["some_request_seconds_count", "other"] == 1
    assert 0 < found["some_request_seconds_sum", "/v1/search"] <= time.monotonic() - began
    bounds = [key[1] for key in found if key[0] == "some_request_seconds_bucket" and key[2] == "other"]
    assert bounds == [
        *("0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0", "+Inf")
    ]


def test_requests_are_counted_from_the_first_look_on() -> None:
    statuses: Mapping[str, StatusReport] = {"own": report("ready", 1), "work": report("scanning", 20)}
    metrics = DaemonMetrics(lambda: statuses, ROUTES)
    app = metrics.watch(answer)
    ask(app, "/v1/search")
    first = figures(metrics)
    assert not [key for key in first if key[0] == "vault_indexer_requests_total"]
    ask(app, "/v1/search")
    found = figures(metrics)
    assert found["vault_indexer_requests_total", "/v1/search", "200"] == 1
    names = ["notes", "chunks", "pending", "vectors_owed", "skipped"]
    names += ["index_seq", "index_generation", "unpublished"]
    for vault, start in (("own", 1), ("work", 20)):
        shown = [found[f"vault_indexer_{name}", vault] for name in names]
        assert shown == list(range(start, start + 8))
    states = {key[1:]: value for key, value in found.items() if key[0] == "vault_indexer_state"}
    assert states == {("ready", "own"): 1, ("scanning", "work"): 1}
    assert [key for key in found if key[0] == "process_resident_memory_bytes"]
