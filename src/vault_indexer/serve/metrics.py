"""What Prometheus reads of a server: requests by route and status, and the time that they took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError
from vault_indexer.serve.guard import App, Message, Receive, Send

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: searches take 10 ms to 1 s."""

METRICS_PATH = "/metrics"
_OTHER = "other"


class RequestMetrics:
    """The figures of one server. Any thread may add to them.

    `routes` are the values of the label `route`; every other path counts as "other", so that no client can
    make labels. Raises ProviderError where prometheus-client is not installed.
    """

    def __init__(self, prefix: str, routes: frozenset[str]) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
        except ImportError as error:
            raise ProviderError(
                'prometheus-client is not installed, /metrics needs it: pip install "vault-indexer[milvus]"'
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
        """All figures as Prometheus reads them, and the media type of that."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self.registry), CONTENT_TYPE_LATEST

    def watch(self, app: App) -> App:
        """The application, with its answers counted, those of its guard too."""

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
