"""Prometheus metrics of a server: requests by route and status, and their durations."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError
from vault_indexer.model import StatusReport
from vault_indexer.serve.http.guard import App, Message, Receive, Send

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: searches take 10 ms to 1 s."""

Statuses = Callable[[], Mapping[str, StatusReport]]
"""The states of the available vaults, by name."""

METRICS_PATH = "/metrics"
_OTHER = "other"
_DAEMON = "vault_indexer"


class RequestMetrics:
    """The metrics of one server. Any thread may update them.

    `routes` are the values of the label `route`; every other path counts as "other", so that no client can
    create labels. Raises ProviderError if prometheus-client is not installed.
    """

    def __init__(self, prefix: str, routes: frozenset[str]) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
        except ImportError as error:
            raise ProviderError(
                "prometheus-client is not installed, but /metrics requires it: pip install "
                '"vault-indexer[milvus]"'
            ) from error
        self.registry: CollectorRegistry = CollectorRegistry()
        self._routes = routes
        self._requests = Counter(
            f"{prefix}_requests", "Requests that were answered.", ["route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            f"{prefix}_request_seconds",
            "Time to the beginning of the answer.",
            ["route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)

    def exposition(self) -> tuple[bytes, str]:
        """All metrics in Prometheus' format, and its media type."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self.registry), CONTENT_TYPE_LATEST

    def watch(self, app: App) -> App:
        """Wraps the application so that its answers are counted, including those of its guard."""

        async def watched(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            route = scope["path"] if scope["path"] in self._routes else _OTHER
            began = time.monotonic()

            async def send_counted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self._requests.labels(route, str(message["status"])).inc()
                    self._seconds.labels(route).observe(time.monotonic() - began)
                await send(message)

            await app(scope, receive, send_counted)

        return watched


class DaemonMetrics:
    """The metrics of a daemon: those of its requests, and the states of its indices at the time of reading.

    Requests are counted from the first reading of the metrics on: a daemon without monitoring loads nothing
    for them.
    """

    def __init__(self, statuses: Statuses, routes: frozenset[str]) -> None:
        self._statuses = statuses
        self._routes = routes
        self._lock = threading.Lock()
        self._requests: RequestMetrics | None = None

    def exposition(self) -> tuple[bytes, str]:
        """Like that of RequestMetrics. Raises ProviderError if prometheus-client is not installed."""
        with self._lock:
            if self._requests is None:
                requests = RequestMetrics(_DAEMON, self._routes)
                requests.registry.register(_IndexCollector(self._statuses))
                self._requests = requests
        return self._requests.exposition()

    def watch(self, app: App) -> App:
        async def watched(scope: Message, receive: Receive, send: Send) -> None:
            requests = self._requests
            await (app if requests is None else requests.watch(app))(scope, receive, send)

        return watched


class _IndexCollector:
    """The states of the indices as gauges. Prometheus' client collects them for each exposition."""

    def __init__(self, statuses: Statuses) -> None:
        self._statuses = statuses

    def describe(self) -> list[Metric]:
        """Returns nothing, so that registration does not collect the status."""
        return []

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        reports = self._statuses()
        for name, text, value in _GAUGES:
            gauge = GaugeMetricFamily(f"{_DAEMON}_{name}", text, labels=["vault"])
            for vault, report in reports.items():
                gauge.add_metric([vault], value(report))
            yield gauge
        state = GaugeMetricFamily(
            f"{_DAEMON}_state", "1 for the current state of the index.", labels=["vault", "state"]
        )
        for vault, report in reports.items():
            state.add_metric([vault, report.state], 1)
        yield state


_GAUGES: tuple[tuple[str, str, Callable[[StatusReport], int]], ...] = (
    ("notes", "Notes of the index.", lambda report: report.counts.notes),
    ("chunks", "Chunks of the index.", lambda report: report.counts.chunks),
    ("pending", "Detected changes that are not in the index yet.", lambda report: report.pending),
    ("vectors_owed", "Chunks without a vector.", lambda report: report.vectors_owed),
    ("skipped", "Files that could not be indexed.", lambda report: len(report.skipped)),
    ("index_seq", "Number of the last commit.", lambda report: report.seq),
    ("index_generation", "Number of the index build.", lambda report: report.generation),
    ("unpublished", "Commits that Milvus does not return yet.", lambda report: report.unpublished),
)
