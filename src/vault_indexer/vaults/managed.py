"""One vault of a server: its service while it is open, and otherwise the reason why it is not."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from vault_indexer.daemon.retry import Retry
from vault_indexer.errors import IndexUnusableError, LockedError, VaultError, VaultIndexerError
from vault_indexer.model import StatusReport, VaultSummary
from vault_indexer.service import VaultService
from vault_indexer.vault import root_identity

_LOG = logging.getLogger("vault_indexer.vaults")

_LOOK_EVERY_S = 0.5
_RETRY_S = 2.0
"""A vault that could not be opened is retried after this number of seconds. A disk that was plugged in is
available within this time."""

_RETRY_LATEST_S = 60.0
"""The longest interval for a vault whose index fails repeatedly. A vault whose folder is missing, or whose
index another process has locked, is retried every `_RETRY_S`, because that costs only one system call."""


class VaultRuntime(Protocol):
    """A vault of a server, whether or not it is available now."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> Path: ...

    def service(self) -> VaultService:
        """Return its service. Raises VaultIndexerError with the reason if the vault is not available."""
        ...

    def summary(self) -> VaultSummary: ...


@dataclass(frozen=True, slots=True)
class OpenVault:
    """A vault whose service the caller opens and closes."""

    name: str
    path: Path
    opened: VaultService

    def service(self) -> VaultService:
        return self.opened

    def summary(self) -> VaultSummary:
        return summary_of(self.name, self.opened.status())


@dataclass(frozen=True, slots=True)
class ClosedVault:
    """A vault that could not be opened, with the error."""

    name: str
    path: Path
    problem: VaultIndexerError

    def service(self) -> VaultService:
        """Raise the error that kept the vault from opening."""
        raise self.problem

    def summary(self) -> VaultSummary:
        return VaultSummary(self.name, str(self.path), state_of(self.problem), 0, 0, str(self.problem))


class ManagedVault:
    """A vault that is opened in a separate thread, and again after it could not be opened or had to end.

    `open_service` opens it. `opened` is called with each new service before it answers, and `closed` after it
    has stopped. Any thread may call the methods. Its failures do not affect other vaults: a missing folder,
    and an index that is locked by another process or unusable, are states that `summary` reports, and the
    vault is retried until `close`.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        open_service: Callable[[], VaultService],
        opened: Callable[[VaultService], None],
        closed: Callable[[], None],
    ) -> None:
        self.name = name
        self.path = path
        self._open_service = open_service
        self._opened = opened
        self._closed = closed
        self._service: VaultService | None = None
        self._problem: VaultIndexerError | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"indexer-vault {name}", daemon=True)

    def start(self) -> None:
        """Begin to open the vault. Returns at once."""
        self._thread.start()

    def service(self) -> VaultService:
        """Return its service. Raises IndexUnusableError if the vault cannot be opened or is being opened."""
        service, problem = self._service, self._problem
        if service is not None:
            return service
        if problem is not None:
            raise IndexUnusableError(f"vault {self.name} cannot be asked now: {problem}")
        raise IndexUnusableError(f"vault {self.name} is being opened: try again")

    def summary(self) -> VaultSummary:
        """Return its state. A vault whose folder is missing is `unavailable`, even if its index is open."""
        service, problem = self._service, self._problem
        if service is not None:
            found = summary_of(self.name, service.status())
            missing = _missing(self.path)
            return found if missing is None else replace(found, state="unavailable", problem=str(missing))
        state = "opening" if problem is None else state_of(problem)
        return VaultSummary(self.name, str(self.path), state, 0, 0, str(problem or ""))

    def stop(self) -> None:
        """Begin to close the vault. Returns at once."""
        self._stopping.set()

    @property
    def is_closed(self) -> bool:
        """Whether the vault has been closed completely after `stop`."""
        return self._stopping.is_set() and not self._thread.is_alive()

    def close(self) -> None:
        """Close the vault, and wait until it is closed."""
        self.stop()
        self._thread.join()

    def _keep(self) -> None:
        try:
            self._keep_open()
        finally:
            if not self._stopping.is_set():  # an error in this program, which the thread's end reports
                self._problem = IndexUnusableError("internal error: see the daemon's log")

    def _keep_open(self) -> None:
        retry = Retry(_RETRY_S, _RETRY_LATEST_S)
        while not self._stopping.is_set():
            if self._try_to_open():
                retry.reset()
                self._serve()
            if self._problem is not None and _is_cheap(self._problem):
                retry.wait(_RETRY_S)
            elif self._problem is not None:
                retry.record_failure()
            self._stopping.wait(retry.remaining_s)

    def _try_to_open(self) -> bool:
        try:
            service = self._open_service()
        except (VaultIndexerError, OSError) as error:
            self._fail(error)
            return False
        try:
            self._opened(service)
        except (VaultIndexerError, OSError) as error:
            service.close()
            self._fail(error)
            return False
        self._service, self._problem = service, None
        _LOG.info("vault %s is open: %s", self.name, self.path)
        return True

    def _serve(self) -> None:
        """Wait until the service has failed or must be closed, then close it."""
        service = self._service
        assert service is not None
        while service.failure is None and not self._stopping.wait(_LOOK_EVERY_S):
            continue
        failure = service.failure
        self._service = None
        try:
            self._closed()
        finally:
            service.close()
        if failure is not None:
            self._fail(failure)

    def _fail(self, error: Exception) -> None:
        known = (
            error if isinstance(error, VaultIndexerError) else IndexUnusableError(str(error) or repr(error))
        )
        if str(known) != str(self._problem or ""):
            _LOG.warning("vault %s cannot be kept now: %s", self.name, known)
        self._problem = known


def summary_of(name: str, status: StatusReport) -> VaultSummary:
    """Return the list entry of an open vault, with its folder as resolved when it was opened."""
    return VaultSummary(name, status.vault, status.state, status.counts.notes, status.pending, status.detail)


def _missing(path: Path) -> VaultError | None:
    try:
        root_identity(path)
    except VaultError as error:
        return error
    return None


def state_of(problem: VaultIndexerError) -> str:
    """Return the state of a vault that cannot be opened."""
    if isinstance(problem, VaultError):
        return "unavailable"
    return "locked" if isinstance(problem, LockedError) else "unusable"


def _is_cheap(problem: VaultIndexerError | None) -> bool:
    return isinstance(problem, VaultError | LockedError)
