"""Which vaults are published: read from the server, and good for a few seconds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping

from vault_indexer.config.gateway import GatewayUser
from vault_indexer.errors import UnknownVaultError
from vault_indexer.gateway.calls import MilvusCalls
from vault_indexer.gateway.users import ambiguous_names, full_name, readable
from vault_indexer.store.milvus import MilvusVaults, VaultState

log = logging.getLogger("vault_indexer.gateway")


class PublishedVaults:
    """The states of all published vaults, for all users; what leaves it is what one user may read.

    Any thread may ask. One request reads the states while the others wait for them.
    """

    def __init__(
        self,
        vaults: MilvusVaults,
        calls: MilvusCalls,
        good_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vaults = vaults
        self._calls = calls
        self._good_s = good_s
        self._clock = clock
        self._lock = threading.Lock()
        self._states: Mapping[str, VaultState] = {}
        self._read_at: float | None = None
        self._ambiguous: frozenset[str] = frozenset()

    def of(self, user: GatewayUser, named: str = "") -> dict[str, VaultState]:
        """The vaults that the user may read, by id; only those called `named` (a name, or `keeper/name`), if
        that is given. Raises UnknownVaultError where none of them is called so, whether or not another one
        is, and BackendError."""
        mine = readable(user, self.all())
        if not named:
            return mine
        chosen = {vault: one for vault, one in mine.items() if named in (one.name, full_name(one))}
        if not chosen:
            raise UnknownVaultError("no vault of this name: /v1/vaults lists those that you may read")
        return chosen

    def all(self) -> Mapping[str, VaultState]:
        """All of them. Raises BackendError where they cannot be read any more."""
        with self._lock:
            now = self._clock()
            fresh = self._read_at is not None and now - self._read_at < self._good_s
            self._calls.metrics.states(from_server=not fresh)
            if not fresh:
                self._states = self._calls.run("states", self._vaults.all)
                self._read_at = self._clock()
                self._complain_of_names()
            return self._states

    def _complain_of_names(self) -> None:
        ambiguous = frozenset(ambiguous_names(self._states.values()))
        for name in sorted(ambiguous - self._ambiguous):
            log.warning("several vaults are called %r: rights on it count as keeper/name only", name)
        self._ambiguous = ambiguous
