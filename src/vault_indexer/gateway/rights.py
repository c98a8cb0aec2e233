"""The rights of users while a gateway runs: read again when the file that holds them changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from vault_indexer.config.gateway import GatewaySettings, GatewayUser
from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch
from vault_indexer.errors import ConfigError
from vault_indexer.gateway.metrics import GatewayMetrics
from vault_indexer.gateway.users import Users

log = logging.getLogger("vault_indexer.gateway")


class CurrentUsers:
    """The users of the configuration as it is now. Any thread may ask; a request sees the users of before a
    change or those of after.

    As a context manager it follows the file: a thread looks twice a second, and reads one that has changed at
    the next look, since whoever writes it may not be done. A file that cannot be used changes no right: the
    log says why, and the figure `rights_current` is 0 until it is corrected. Other keys than `users` and
    `withdrawn` count after a restart.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        read: Callable[[], GatewaySettings],
        watch: ConfigWatch,
        metrics: GatewayMetrics,
    ) -> None:
        """`settings` were read after `watch` was made. `read` reads them again and raises ConfigError."""
        self._settings = settings
        self._users = Users(settings.users)
        self._withdrawn = frozenset(settings.withdrawn)
        self._read = read
        self._metrics = metrics
        self._follower = ConfigFollower(watch, self._read_again, "gateway-rights")
        metrics.rights(current=True)

    def by_token(self, token: str) -> GatewayUser | None:
        """The user of a token, with the rights that hold now."""
        return self._users.by_token(token)

    def rights(self) -> Iterator[tuple[str, str]]:
        """The rights to vaults: the user's name and the vault's id."""
        return self._users.rights()

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
            log.error("the changed configuration is not used, the former rights hold: %s", problem)
            self._metrics.rights(current=False)
            return
        self._users, self._withdrawn = Users(found.users), frozenset(found.withdrawn)
        self._metrics.rights(current=True)
        log.warning("the rights were read again: %d users", len(found.users))
        former = {"users": self._settings.users, "withdrawn": self._settings.withdrawn}
        if found.model_copy(update=former) != self._settings:
            log.warning("other keys than users and withdrawn have changed: they count after a restart")
