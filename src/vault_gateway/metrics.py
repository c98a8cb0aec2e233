"""Prometheus metrics of a gateway. No label contains text or names of users; labels of vaults contain ids."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from vault_gateway.milvus import VaultState
from vault_indexer.serve.http.metrics import BUCKETS, RequestMetrics

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


class GatewayMetrics(RequestMetrics):
    """The metrics of one gateway. Raises ProviderError if prometheus-client is not installed."""

    def __init__(self, routes: frozenset[str]) -> None:
        super().__init__("vault_indexer_gateway", routes)
        from prometheus_client import Counter, Gauge, Histogram

        name = "vault_indexer_gateway"

        def counter(metric: str, text: str, *labels: str) -> Counter:
            return Counter(f"{name}_{metric}", text, labels, registry=self.registry)

        def gauge(metric: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"{name}_{metric}", text, labels, registry=self.registry)

        self._milvus = Histogram(
            f"{name}_milvus_seconds",
            "Time of calls to Milvus.",
            ["operation"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._failures = counter("milvus_failures", "Calls to Milvus that failed.", "operation")
        self._states = counter(
            "states_reads", "Requests for the list of published vaults, by source.", "source"
        )
        self.keeper_failures = counter(
            "keeper_failures", "Requests for text that a keeper did not answer.", "keeper"
        )
        self.hits = counter("hits", "Hits that were sent.")
        self.share_refusals = counter(
            "share_refusals", "Requests that were refused because the user's share was used up."
        )
        self.refusals = counter(
            "refusals", "Requests that were answered with an error, by its kind.", "reason"
        )
        self.keys_failures = counter(
            "identity_keys_failures", "Times that the keys of the OIDC provider could not be fetched."
        )
        self.audit_failures = counter("audit_failures", "Lines of the audit log that could not be written.")
        self._holders = gauge("rights_holders", "Users and groups with rights.")
        self._named = gauge("rights_vaults", "Vaults with rights by id.")
        self._publications = _PublicationCollector(name)
        self.registry.register(self._publications)
        build = gauge("build_info", "Always 1.", "version", "python")
        build.labels(version("vault-indexer"), platform.python_version()).set(1)
        self.rights_current = gauge(
            "rights_current", "1 if the rights are those of the configuration, 0 if previous rights are used."
        )
        self._vaults = gauge("vaults", "Published vaults.")
        self._stale = gauge("vaults_stale", "Published vaults whose keeper has not reported for too long.")
        self._unmatched = gauge("rights_unmatched", "Rights that match no published vault.")
        self.ready = gauge("ready", "1 if Milvus answered the last call, else 0.")

    def milvus(self, operation: str, seconds: float, *, failed: bool) -> None:
        self._milvus.labels(operation).observe(seconds)
        if failed:
            self._failures.labels(operation).inc()

    def states(self, *, from_server: bool) -> None:
        self._states.labels("milvus" if from_server else "cache").inc()

    def vaults(self, published: Mapping[str, VaultState], stale: int, unmatched_rights: int) -> None:
        self._publications.states = published
        self._vaults.set(len(published))
        self._stale.set(stale)
        self._unmatched.set(unmatched_rights)

    def rights(self, holders: int, vaults: int) -> None:
        """Records the current rights."""
        self.rights_current.set(1)
        self._holders.set(holders)
        self._named.set(vaults)


class _PublicationCollector:
    """The times at which each vault was published and its keeper seen, as last read. They exist only during
    an exposition, so that a removed vault has no metric."""

    def __init__(self, name: str) -> None:
        self.states: Mapping[str, VaultState] = {}
        self._name = name

    def describe(self) -> list[Metric]:
        """Returns nothing: the vaults are not known yet."""
        return []

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        states = self.states
        published = GaugeMetricFamily(
            f"{self._name}_published_timestamp_seconds",
            "When the newest change of the vault was published, in seconds since 1970.",
            labels=["vault"],
        )
        seen = GaugeMetricFamily(
            f"{self._name}_seen_timestamp_seconds",
            "When the keeper of the vault last reported, in seconds since 1970.",
            labels=["vault"],
        )
        for vault, state in states.items():
            published.add_metric([vault], state.published_ms / 1000)
            seen.add_metric([vault], state.seen_ms / 1000)
        yield published
        yield seen
