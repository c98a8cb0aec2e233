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
        self._refusals = Counter(
            f"{name}_refusals",
            "Requests that were answered with an error, by its kind.",
            ["reason"],
            registry=self.registry,
        )
        self._keys = Counter(
            f"{name}_identity_keys_failures",
            "Times that the keys of the OIDC provider could not be fetched.",
            registry=self.registry,
        )
        self._audit = Counter(
            f"{name}_audit_failures",
            "Lines of the audit log that could not be written.",
            registry=self.registry,
        )
        self._holders = Gauge(
            f"{name}_rights_holders", "Users and groups that have a right.", registry=self.registry
        )
        self._named = Gauge(
            f"{name}_rights_vaults", "Vaults that rights name by their id.", registry=self.registry
        )
        self._publications = _PublicationCollector(name)
        self.registry.register(self._publications)
        build = Gauge(f"{name}_build_info", "Always 1.", ["version", "python"], registry=self.registry)
        build.labels(version("vault-indexer"), platform.python_version()).set(1)
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
        self._milvus.labels(operation).observe(seconds)
        if failed:
            self._failures.labels(operation).inc()

    def reached(self, is_there: bool) -> None:
        """Records whether Milvus is reachable, according to its last answer."""
        self.ready.set(1 if is_there else 0)

    def states(self, *, from_server: bool) -> None:
        self._states.labels("milvus" if from_server else "cache").inc()

    def keeper_failed(self, keeper: str) -> None:
        """Counts a request for bodies that a keeper failed to answer."""
        self._keepers.labels(keeper).inc()

    def rights(self, *, current: bool) -> None:
        self._rights.set(1 if current else 0)

    def vaults(self, published: int, stale: int, unmatched_rights: int) -> None:
        self._vaults.set(published)
        self._stale.set(stale)
        self._unmatched.set(unmatched_rights)

    def publications(self, states: Mapping[str, VaultState]) -> None:
        self._publications.states = states

    def count_rights(self, holders: int, vaults: int) -> None:
        """Records the number of users and groups with rights in the configuration, and of the vaults they
        name."""
        self._holders.set(holders)
        self._named.set(vaults)

    def count_refused(self, reason: str) -> None:
        self._refusals.labels(reason).inc()

    def keys_failed(self) -> None:
        """Counts a failure to fetch the keys of the OIDC provider."""
        self._keys.inc()

    def audit_failed(self) -> None:
        self._audit.inc()

    def count_share_refused(self) -> None:
        self._shares.inc()

    def count_hits(self, hits: int) -> None:
        self._hits.inc(hits)


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
            "When the keeper of the vault last said that it is there, in seconds since 1970.",
            labels=["vault"],
        )
        for vault, state in states.items():
            published.add_metric([vault], state.published_ms / 1000)
            seen.add_metric([vault], state.seen_ms / 1000)
        yield published
        yield seen
