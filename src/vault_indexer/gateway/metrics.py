"""What Prometheus reads of a gateway. No label holds what a user wrote, nor who it was."""

from __future__ import annotations

from vault_indexer.serve.http.metrics import BUCKETS, RequestMetrics


class GatewayMetrics(RequestMetrics):
    """The figures of one gateway. Raises ProviderError where prometheus-client is not installed."""

    def __init__(self, routes: frozenset[str]) -> None:
        super().__init__("vault_indexer_gateway", routes)
        from prometheus_client import Counter, Gauge, Histogram

        name = "vault_indexer_gateway"
        self._milvus = Histogram(
            f"{name}_milvus_seconds",
            "Time of calls to Milvus.",
            ["operation"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._failures = Counter(
            f"{name}_milvus_failures", "Calls to Milvus that failed.", ["operation"], registry=self.registry
        )
        self._states = Counter(
            f"{name}_states_reads",
            "How often the list of published vaults was needed, and where it was from.",
            ["source"],
            registry=self.registry,
        )
        self._keepers = Counter(
            f"{name}_keeper_failures",
            "Requests for bodies that a keeper did not answer.",
            ["keeper"],
            registry=self.registry,
        )
        self._hits = Counter(f"{name}_hits", "Hits that were sent.", registry=self.registry)
        self._shares = Counter(
            f"{name}_share_refusals",
            "Requests that were refused because the user has had the whole share.",
            registry=self.registry,
        )
        self._rights = Gauge(
            f"{name}_rights_current",
            "1 if the rights are those of the configuration, 0 if that cannot be used and former ones hold.",
            registry=self.registry,
        )
        self._vaults = Gauge(f"{name}_vaults", "Published vaults.", registry=self.registry)
        self._stale = Gauge(
            f"{name}_vaults_stale",
            "Published vaults whose keeper has not been seen for too long.",
            registry=self.registry,
        )
        self._unmatched = Gauge(
            f"{name}_rights_unmatched", "Rights that match no published vault.", registry=self.registry
        )
        self.ready = Gauge(f"{name}_ready", "1 if Milvus answered last, else 0.", registry=self.registry)

    def milvus(self, operation: str, seconds: float, *, failed: bool) -> None:
        """One call to Milvus."""
        self._milvus.labels(operation).observe(seconds)
        if failed:
            self._failures.labels(operation).inc()

    def reached(self, is_there: bool) -> None:
        """Whether Milvus is there, by its last answer."""
        self.ready.set(1 if is_there else 0)

    def states(self, *, from_server: bool) -> None:
        """The list of published vaults was needed."""
        self._states.labels("milvus" if from_server else "cache").inc()

    def keeper_failed(self, keeper: str) -> None:
        """A keeper of the configuration gave no bodies."""
        self._keepers.labels(keeper).inc()

    def rights(self, *, current: bool) -> None:
        """Whether the rights that hold are those of the file."""
        self._rights.set(1 if current else 0)

    def vaults(self, published: int, stale: int, unmatched_rights: int) -> None:
        """What the list of published vaults says."""
        self._vaults.set(published)
        self._stale.set(stale)
        self._unmatched.set(unmatched_rights)

    def count_share_refused(self) -> None:
        """A request was beyond its user's share."""
        self._shares.inc()

    def count_hits(self, hits: int) -> None:
        """An answer has so many hits."""
        self._hits.inc(hits)
