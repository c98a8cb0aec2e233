"""The published vaults: read from the server, and cached for a few seconds."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from datetime import UTC, date, datetime
from functools import partial
from typing import Literal

from vault_gateway.calls import MilvusCalls, SingleFlight
from vault_gateway.metrics import GatewayMetrics
from vault_gateway.milvus import MilvusVaults, VaultState
from vault_gateway.milvus.retrieval import VaultScope
from vault_gateway.settings import EVERY_VAULT, GatewayGroup, GatewaySettings, GatewayUser
from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch
from vault_indexer.errors import ConfigError, UnknownVaultError
from vault_indexer.serve.http.guard import App, Message, Receive, Refusal, Send, refuse
from vault_indexer.system import record

# Users, and the vaults that they may read.


@record
class Identity:
    """The identity of a requester: by a token of the configuration, by one of an OIDC provider, or from a
    trusted proxy. The three do not mix: a `name` of one is never a user of another."""

    by: Literal["token", "oidc", "proxy"]
    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    """A token of the configuration; "" for the others."""

    @property
    def share(self) -> str:
        """The key of the requester's share of requests. A provider and a proxy in front of it name the same
        people."""
        return f"{'token' if self.by == 'token' else 'login'}:{self.name}"


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Users:
    """The users of one configuration. Immutable; any thread may use it."""

    def __init__(
        self,
        users: Sequence[GatewayUser],
        groups: Sequence[GatewayGroup] = (),
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._today = today
        self._groups = {group.name: group for group in groups}
        self._users = tuple(self._with_groups(user, user.groups) for user in users)
        self._by_login = {user.name: user for user in self._users if not user.digests}
        self._by_digest = {
            digest: (user, expires) for user in self._users for digest, expires in user.digests
        }

    def by_token(self, token: str) -> GatewayUser | None:
        """The user of a token. The cost does not depend on the number of users. The look-up uses the digest,
        whose beginning an attacker cannot choose, so its duration reveals nothing."""
        user, expires = self._by_digest.get(digest_of(token), (None, None))
        is_over = expires is not None and self._today() > expires
        return user if token and not is_over else None

    def by_login(self, name: str, groups: Sequence[str]) -> GatewayUser:
        """The user that a provider or a proxy names, with the rights of the groups. A user without an entry
        in the configuration, and without a group in it, has no rights."""
        return self._with_groups(self._by_login.get(name) or GatewayUser(name=name), groups)

    def of(self, identity: Identity) -> GatewayUser | None:
        """The user with the current rights; None if the token was withdrawn."""
        if identity.by == "token":
            return self.by_token(identity.token)
        return self.by_login(identity.name, identity.groups)

    @property
    def _holders(self) -> Iterator[GatewayUser | GatewayGroup]:
        yield from self._users
        yield from self._groups.values()

    def rights(self) -> Iterator[tuple[str, str]]:
        """The rights to vaults: the name of the user or of the group, and the vault's id."""
        for holder in self._holders:
            for vault in holder.vaults:
                if vault != EVERY_VAULT:
                    yield holder.name, vault

    def counts(self) -> tuple[int, int]:
        """The number of users and groups with rights, and the number of vaults that these name."""
        return sum(bool(holder.vaults) for holder in self._holders), len(
            {vault for _, vault in self.rights()}
        )

    def _with_groups(self, user: GatewayUser, names: Sequence[str]) -> GatewayUser:
        groups = [self._groups[name] for name in names if name in self._groups]
        if not groups:
            return user
        vaults = dict.fromkeys([*user.vaults, *(vault for group in groups for vault in group.vaults)])
        metrics = user.metrics or any(group.metrics for group in groups)
        return user.model_copy(update={"vaults": tuple(vaults), "metrics": metrics})


def readable(user: GatewayUser, states: Mapping[str, VaultState]) -> dict[str, VaultState]:
    """The published vaults that the user may read, by id."""
    if EVERY_VAULT in user.vaults:
        return dict(states)
    return {vault: states[vault] for vault in user.vaults if vault in states}


# The rights of users while a gateway runs: read again when the configuration file changes.


log = logging.getLogger("vault_indexer.gateway")


class CurrentUsers:
    """The `current` users of the configuration, and the ids of `withdrawn` vaults. Any thread may use it; a
    request sees the users before a change or those after it.

    Within `following` it follows the file: a thread checks twice a second, and reads a changed file at the
    following check, since the writer may not have finished. An invalid file changes no right for
    `rights_grace_s`; after that all requests are refused, so that a withdrawn right ends. The log contains
    the reason, and the metric `rights_current` is 0 until the file is corrected. Keys other than `users`,
    `groups` and `withdrawn` take effect after a restart.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        read: Callable[[], GatewaySettings],
        watch: ConfigWatch,
        metrics: GatewayMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`settings` were read after `watch` was created. `read` reads them again and raises ConfigError."""
        self._settings = settings
        self._read = read
        self._clock = clock
        self._metrics = metrics
        self._unusable_since: float | None = None
        self._follower = ConfigFollower(watch, self._read_again, "gateway-rights")
        self._take(settings)

    @property
    def hold(self) -> bool:
        """Whether the rights may be used: those of the file, or earlier ones that are not too old."""
        since = self._unusable_since
        return since is None or self._clock() - since < self._settings.rights_grace_s

    @contextmanager
    def following(self) -> Iterator[None]:
        self._follower.start()
        try:
            yield
        finally:
            self._follower.stop()

    def _read_again(self) -> None:
        try:
            found = self._read()
        except ConfigError as error:
            problem = "; ".join(line.strip() for line in str(error).splitlines())
            # The grace period begins with the first invalid version; later ones do not extend it.
            if self._unusable_since is None:
                self._unusable_since = self._clock()
            log.error(
                "the changed configuration has errors, the previous rights stay valid for %g seconds: %s",
                self._settings.rights_grace_s,
                problem,
            )
            self._metrics.rights_current.set(0)
            return
        self._take(found)
        log.warning("rights reloaded: %d users", len(found.users))
        # With the keys that follow the file reset, any remaining difference is in keys that need a restart.
        former = {name: getattr(self._settings, name) for name in ("users", "groups", "withdrawn")}
        if found.model_copy(update=former) != self._settings:
            log.warning(
                "keys other than users, groups and withdrawn have changed: they take effect after a restart"
            )

    def _take(self, settings: GatewaySettings) -> None:
        self.current = Users(settings.users, settings.groups)
        self.withdrawn = frozenset(settings.withdrawn)
        self._unusable_since = None
        self._metrics.rights(*self.current.counts())


RIGHTS_UNKNOWN = Refusal(
    503,
    "rights",
    "the rights of users are unknown: the configuration of the gateway has errors",
    (("retry-after", "5"),),
)


@record
class WhileRightsHold:
    """ASGI middleware that refuses all requests once earlier rights are too old."""

    app: App
    users: CurrentUsers

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if self.users.hold:
            await self.app(scope, receive, send)
        else:
            await refuse(send, RIGHTS_UNKNOWN)


_SHOWN_RIGHTS = 20
"""The maximum number of rights without a vault in one log entry."""

States = Mapping[str, VaultState]


class PublishedVaults:
    """The states of all published vaults, for all users; results contain only what one user may read.

    Any thread may use it. One request reads the list; concurrent ones use the previous list, and wait only
    if there is none. Withdrawn vaults are omitted.
    """

    def __init__(
        self,
        vaults: MilvusVaults,
        calls: MilvusCalls,
        users: CurrentUsers,
        settings: GatewaySettings,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._vaults = vaults
        self._calls = calls
        self._users = users
        self._good_s = settings.states_s
        self._stale_after_s = settings.stale_after_s
        self._now_s = now_s
        self._states: States | None = None
        self._read_at = 0.0
        self._reading: SingleFlight[str, States] = SingleFlight()
        self._looking: SingleFlight[str, States] = SingleFlight()
        self._unmatched: frozenset[tuple[str, str]] = frozenset()

    def of(self, user: GatewayUser, named: str = "") -> dict[str, VaultState]:
        """The vaults that the user may read, by id, limited to those whose id, name or `keeper/name` is
        `named` if that is given. Raises UnknownVaultError if none of them matches, even if another vault
        does, and BackendError."""
        mine = readable(user, self.all())
        if not named:
            return mine
        chosen = {vault: one for vault, one in mine.items() if named in (one.vault, one.name, one.full_name)}
        if not chosen:
            raise UnknownVaultError("no such vault: /v1/vaults lists those that you may read")
        return chosen

    def reread(self, states: States) -> dict[str, VaultState]:
        """The states of these vaults as the server has them now, by id; unpublished vaults are omitted. A
        request takes hits, notes and statistics from one such reading, so that all are of one edition. Raises
        BackendError."""
        read = partial(self._vaults.states, VaultScope.of(states))
        return self._calls.run("states", partial(self._read_newest, read))

    def is_stale(self, state: VaultState) -> bool:
        return self._now_s() - state.seen_ms / 1000 > self._stale_after_s

    def all(self) -> States:
        """All published vaults. Raises BackendError if the cached states have expired and cannot be read
        again."""
        is_reader = False

        def read() -> States:
            nonlocal is_reader
            is_reader = True
            good = self._good()  # another request may have just read them
            if good is not None:
                return good
            return self._take_in(self._calls.run("states", partial(self._read_newest, self._vaults.all)))

        found = self._good()
        if found is None:
            found = self._reading.get("", read, meanwhile=self._states)
        self._calls.metrics.states(from_server=is_reader)
        withdrawn = self._users.withdrawn
        return {vault: one for vault, one in found.items() if vault not in withdrawn} if withdrawn else found

    def look(self) -> tuple[str, ...]:
        """Reads the list, unless it was just read, and returns warnings about it. For probes, which query the
        server even while searches do not try it. Raises BackendError."""
        if self._good() is None:
            self._looking.get("", lambda: self._take_in(self._read_newest(self._vaults.all)))
        warnings = []
        if self._unmatched:
            warnings.append(f"rights that match no published vault: {len(self._unmatched)}")
        models = len({one.collection for one in (self._states or {}).values()})
        if models > 1:
            warnings.append(
                f"the vaults have {models} embedding models: hits of different models are ordered only by "
                "relevance"
            )
        return tuple(warnings)

    def _good(self) -> States | None:
        return self._states if time.monotonic() - self._read_at < self._good_s else None

    def _read_newest(self, read: Callable[..., dict[str, VaultState]]) -> dict[str, VaultState]:
        """The states that `read` returns. If one is older than a known one, either the server answered with
        an earlier state, or it was restored: a reading with strong consistency decides."""
        found, known = read(), self._states or {}
        if any(vault in known and _order(one) < _order(known[vault]) for vault, one in found.items()):
            return read(consistency="Strong")
        return found

    def _take_in(self, found: States) -> States:
        self._states, self._read_at = found, time.monotonic()
        withdrawn = self._users.withdrawn
        live = {vault: one for vault, one in found.items() if vault not in withdrawn}
        unmatched = frozenset(right for right in self._users.current.rights() if right[1] not in live)
        new = sorted(unmatched - self._unmatched)
        self._unmatched = unmatched
        for user, vault in new[:_SHOWN_RIGHTS]:
            log.warning("the right of %s to %s matches no published vault", user, vault)
        if len(new) > _SHOWN_RIGHTS:
            log.warning("%d more rights match no published vault", len(new) - _SHOWN_RIGHTS)
        stale = sum(self.is_stale(one) for one in live.values())
        self._calls.metrics.vaults(live, stale, len(unmatched))
        return found


def _order(state: VaultState) -> tuple[int, int]:
    return state.epoch, state.seq
