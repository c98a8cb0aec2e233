"""Which vaults are published: read from the server, and good for a few seconds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from vault_indexer.config.gateway import GatewaySettings, GatewayUser
from vault_indexer.errors import UnknownVaultError
from vault_indexer.gateway.calls import MilvusCalls
from vault_indexer.gateway.rights import CurrentUsers
from vault_indexer.gateway.single_flight import SingleFlight
from vault_indexer.gateway.users import full_name, readable
from vault_indexer.store.milvus import MilvusVaults, VaultState

log = logging.getLogger("vault_indexer.gateway")

_SHOWN_RIGHTS = 20
"""Rights without a vault that the log names at once."""

States = Mapping[str, VaultState]


class PublishedVaults:
    """The states of all published vaults, for all users; what leaves it is what one user may read.

    Any thread may ask. One request reads the states; others meanwhile take those of before, and wait only
    where there are none. A state that is older than one that was read before never replaces it. Vaults that
    are withdrawn are left out.
    """

    def __init__(
        self,
        vaults: MilvusVaults,
        calls: MilvusCalls,
        users: CurrentUsers,
        settings: GatewaySettings,
        clock: Callable[[], float] = time.monotonic,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._vaults = vaults
        self._calls = calls
        self._users = users
        self._good_s = settings.states_s
        self._stale_after_s = settings.stale_after_s
        self._clock = clock
        self._now_s = now_s
        self._states: States | None = None
        self._read_at = 0.0
        self._reading: SingleFlight[str, States] = SingleFlight()
        self._looking: SingleFlight[str, States] = SingleFlight()
        self._unmatched: frozenset[tuple[str, str]] = frozenset()

    def of(self, user: GatewayUser, named: str = "") -> dict[str, VaultState]:
        """The vaults that the user may read, by id; only those called `named` (an id, a name, or
        `keeper/name`), if that is given. Raises UnknownVaultError where none of them is called so, whether or
        not another one is, and BackendError."""
        mine = readable(user, self.all())
        if not named:
            return mine
        chosen = {vault: one for vault, one in mine.items() if named in (one.vault, one.name, full_name(one))}
        if not chosen:
            raise UnknownVaultError("no vault of this name: /v1/vaults lists those that you may read")
        return chosen

    def is_stale(self, state: VaultState) -> bool:
        """Whether the keeper of a vault has not been seen for too long."""
        return self._now_s() - state.seen_ms / 1000 > self._stale_after_s

    def unmatched_rights(self) -> int:
        """How many rights stand for no published vault, as of the last reading."""
        return len(self._unmatched)

    def models(self) -> int:
        """How many models the vaults have whose hits cannot be compared, as of the last reading."""
        return len({one.collection for one in (self._states or {}).values()})

    def all(self) -> States:
        """All of them. Raises BackendError where they cannot be read any more."""
        is_reader = False

        def read() -> States:
            nonlocal is_reader
            is_reader = True
            return self._read()

        found = self._good()
        if found is None:
            found = self._reading.get("", read, meanwhile=self._states)
        self._calls.metrics.states(from_server=is_reader)
        withdrawn = self._users.withdrawn
        return {vault: one for vault, one in found.items() if vault not in withdrawn} if withdrawn else found

    def look(self) -> None:
        """Read the list, unless that was just done: for probes, which ask the server even while searches do
        not try it. Raises BackendError."""
        if self._good() is None:
            self._looking.get("", lambda: self._take_in(self._vaults.all()))

    def _good(self) -> States | None:
        """What was read, if that was not too long ago."""
        return self._states if self._clock() - self._read_at < self._good_s else None

    def _read(self) -> States:
        """Read the states, for all that wait for it."""
        good = self._good()
        if good is not None:  # another one has just read them
            return good
        return self._take_in(self._calls.run("states", self._vaults.all))

    def _take_in(self, read: States) -> States:
        found = _newest(self._states or {}, read)
        self._states, self._read_at = found, self._clock()
        self._look_at(found)
        return found

    def _look_at(self, states: States) -> None:
        withdrawn = self._users.withdrawn
        live = {vault: one for vault, one in states.items() if vault not in withdrawn}
        unmatched = frozenset(right for right in self._users.rights() if right[1] not in live)
        new = sorted(unmatched - self._unmatched)
        self._unmatched = unmatched
        for user, vault in new[:_SHOWN_RIGHTS]:
            log.warning("the right of %s to %s matches no published vault", user, vault)
        if len(new) > _SHOWN_RIGHTS:
            log.warning("%d more rights match no published vault", len(new) - _SHOWN_RIGHTS)
        stale = sum(self.is_stale(one) for one in live.values())
        self._calls.metrics.publications(live)
        self._calls.metrics.vaults(len(live), stale, len(unmatched))


def _newest(before: States, read: States) -> States:
    """What was read; a state that is older than the one before gives way: a reader may get the past."""

    def newest(state: VaultState) -> VaultState:
        known = before.get(state.vault)
        is_older = known is not None and (state.epoch, state.seq) < (known.epoch, known.seq)
        return known if known is not None and is_older else state

    return {vault: newest(state) for vault, state in read.items()}
