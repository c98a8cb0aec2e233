"""The rights of users while a gateway runs: read again when the file that holds them changes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from vault_indexer.config.gateway import GatewaySettings, GatewayUser
from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch
from vault_indexer.errors import ConfigError
from vault_indexer.gateway.metrics import GatewayMetrics
from vault_indexer.gateway.users import Identity, Users
from vault_indexer.serve.http.guard import App, Message, Receive, Refusal, Send, refuse

log = logging.getLogger("vault_indexer.gateway")


class CurrentUsers:
    """The users of the configuration as it is now. Any thread may ask; a request sees the users of before a
    change or those of after.

    As a context manager it follows the file: a thread looks twice a second, and reads one that has changed at
    the next look, since whoever writes it may not be done. A file that cannot be used changes no right for
    `rights_grace_s`, and then nobody is answered: a right that was taken away ends. The log says why, and the
    figure `rights_current` is 0 until it is corrected. Other keys than `users`,
    `groups` and `withdrawn` count after a restart.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        read: Callable[[], GatewaySettings],
        watch: ConfigWatch,
        metrics: GatewayMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`settings` were read after `watch` was made. `read` reads them again and raises ConfigError."""
        self._settings = settings
        self._users = Users(settings.users, settings.groups)
        self._withdrawn = frozenset(settings.withdrawn)
        self._read = read
        self._clock = clock
        self._unusable_since: float | None = None
        self._metrics = metrics
        self._follower = ConfigFollower(watch, self._read_again, "gateway-rights")
        metrics.rights(current=True)
        metrics.count_rights(*self._users.counts())

    def by_token(self, token: str) -> GatewayUser | None:
        """The user of a token, with the rights that hold now."""
        return self._users.by_token(token)

    def of(self, identity: Identity) -> GatewayUser | None:
        """Whoever asks, with the rights that hold now; None where a token was taken away."""
        return self._users.of(identity)

    def rights(self) -> Iterator[tuple[str, str]]:
        """The rights to vaults: the user's name and the vault's id."""
        return self._users.rights()

    @property
    def hold(self) -> bool:
        """Whether the rights may be used: those of the file, or former ones that are not too old."""
        since = self._unusable_since
        return since is None or self._clock() - since < self._settings.rights_grace_s

    @property
    def withdrawn(self) -> frozenset[str]:
        """The ids of vaults that nobody finds."""
        return self._withdrawn

    def __enter__(self) -> Self:
        """Follow the file."""
        self._follower.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Follow it no longer."""
        self._follower.stop()

    def _read_again(self) -> None:
        try:
            found = self._read()
        except ConfigError as error:
            problem = "; ".join(line.strip() for line in str(error).splitlines())
            if self._unusable_since is None:
                self._unusable_since = self._clock()
            log.error(
                "the changed configuration is not used, the former rights hold for %g seconds: %s",
                self._settings.rights_grace_s,
                problem,
            )
            self._metrics.rights(current=False)
            return
        self._users, self._withdrawn = Users(found.users, found.groups), frozenset(found.withdrawn)
        self._unusable_since = None
        self._metrics.rights(current=True)
        self._metrics.count_rights(*self._users.counts())
        log.warning("the rights were read again: %d users", len(found.users))
        former = {name: getattr(self._settings, name) for name in ("users", "groups", "withdrawn")}
        if found.model_copy(update=former) != self._settings:
            log.warning(
                "other keys than users, groups and withdrawn have changed: they count after a restart"
            )


RIGHTS_UNKNOWN = Refusal(
    503,
    "rights",
    "who may read what is not known: the configuration of the gateway cannot be used",
    (("retry-after", "5"),),
)


class WhileRightsHold:
    """ASGI middleware: nobody is answered once former rights are too old."""

    def __init__(self, app: App, users: CurrentUsers) -> None:
        self._app = app
        self._users = users

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand the request on, or answer 503."""
        if scope["type"] == "http" and not self._users.hold:
            await refuse(send, RIGHTS_UNKNOWN)
        else:
            await self._app(scope, receive, send)
