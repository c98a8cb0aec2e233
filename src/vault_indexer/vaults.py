"""The vaults of one server, by name."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import vault_indexer.answer as answering
from vault_indexer.answer import AskEvent, whole_answer
from vault_indexer.config import NamedVault, Settings
from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.state import CONFIG_NOT_USED, text_of
from vault_indexer.errors import IndexUnusableError, LockedError, UsageError, VaultError, VaultIndexerError
from vault_indexer.model import AskAnswer, AskRequest, SearchAnswer, SearchRequest, StatusReport, VaultSummary
from vault_indexer.search import never
from vault_indexer.service import AskedVaults, VaultService
from vault_indexer.system import folder_slug, record
from vault_indexer.vault import root_identity

if TYPE_CHECKING:
    from vault_indexer.answer import Answerer

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
        """Returns its service. Raises VaultIndexerError with the reason if the vault is not available."""

    def summary(self) -> VaultSummary: ...


@record
class OpenVault:
    """A vault whose service the caller opens and closes."""

    name: str
    path: Path
    opened: VaultService

    def service(self) -> VaultService:
        return self.opened

    def summary(self) -> VaultSummary:
        return summary_of(self.name, self.opened.status())


@record
class ClosedVault:
    """A vault that could not be opened, with the error."""

    name: str
    path: Path
    problem: VaultIndexerError

    def service(self) -> VaultService:
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
        """Begins to open the vault. Returns at once."""
        self._thread.start()

    def service(self) -> VaultService:
        """Returns its service. Raises IndexUnusableError if the vault cannot be opened or is being opened."""
        service, problem = self._service, self._problem
        if service is not None:
            return service
        if problem is not None:
            raise IndexUnusableError(f"vault {self.name} is unavailable: {problem}")
        raise IndexUnusableError(f"vault {self.name} is being opened: try again")

    def summary(self) -> VaultSummary:
        """Returns its state. A vault whose folder is missing is `unavailable`, even if its index is open."""
        service, problem = self._service, self._problem
        if service is not None:
            found = summary_of(self.name, service.status())
            try:
                root_identity(self.path)
            except VaultError as missing:
                return replace(found, state="unavailable", problem=str(missing))
            return found
        state = "opening" if problem is None else state_of(problem)
        return VaultSummary(self.name, str(self.path), state, 0, 0, str(problem or ""))

    def stop(self) -> None:
        """Begins to close the vault. Returns at once."""
        self._stopping.set()

    @property
    def is_closed(self) -> bool:
        """Whether the vault has been closed completely after `stop`."""
        return self._stopping.is_set() and not self._thread.is_alive()

    def close(self) -> None:
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
            if isinstance(self._problem, VaultError | LockedError):
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
        """Waits until the service has failed or must be closed, then closes it."""
        service = self._service
        assert service is not None
        while service.failure is None and not self._stopping.wait(_LOOK_EVERY_S):
            continue
        failure = service.failure
        # First: a request must not get a service that is being closed.
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
            _LOG.warning("vault %s is unavailable: %s", self.name, known)
        self._problem = known


def summary_of(name: str, status: StatusReport) -> VaultSummary:
    """Returns the list entry of an open vault, with its folder as resolved when it was opened."""
    return VaultSummary(name, status.vault, status.state, status.counts.notes, status.pending, status.detail)


def state_of(problem: VaultIndexerError) -> str:
    if isinstance(problem, VaultError):
        return "unavailable"
    return "locked" if isinstance(problem, LockedError) else "unusable"


@record
class _Kept:
    """The contents of `Vaults` at one time: the vaults by name, the settings and the answerer for questions
    to several vaults, and the problem of the configuration of the vaults ("": none)."""

    holders: Mapping[str, VaultRuntime]
    settings: Settings
    answerer: Callable[[], Answerer]
    problem: str = ""


def _answerer_when_asked(settings: Settings, llm_cache: Path | None) -> Callable[[], Answerer]:
    return functools.cache(lambda: answering.Answerer(settings, llm_cache))


class Vaults:
    """All vaults of a server, in the order of their names.

    It selects the vault that a request names. The code that created the holders opens and closes them.
    Thread-safe. `VaultSupervisor` replaces all vaults at once, so that a request uses either the old or the
    new set.
    """

    def __init__(
        self,
        holders: Sequence[VaultRuntime],
        settings: Settings | None = None,
        *,
        llm_cache: Path | None = None,
        may_change: bool = False,
    ) -> None:
        """`settings` apply to questions to several vaults; None means the defaults. `llm_cache` is the folder
        that stores the answers of the language model to such questions (None: they are not stored).
        `may_change`: the set of vaults can change later."""
        self._llm_cache = llm_cache
        settings = settings or Settings()
        self._kept = _Kept(_by_name(holders), settings, _answerer_when_asked(settings, llm_cache))
        self.may_change = may_change

    @classmethod
    def of(cls, service: VaultService, name: str = "") -> Self:
        """Creates the set of a single open vault. Its default name is that of its folder."""
        folder = service.vault
        return cls([OpenVault(name or folder_slug(folder), folder, service)])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._kept.holders)

    @property
    def are_several(self) -> bool:
        return len(self._kept.holders) != 1

    @property
    def problem(self) -> str:
        """The problem of the configuration that defines the vaults; "" if there is none."""
        return self._kept.problem

    def replace(self, holders: Sequence[VaultRuntime], settings: Settings) -> None:
        """Replaces the vaults, and clears the problem of the configuration."""
        answerer = self._kept.answerer
        if self._kept.settings != settings:
            answerer = _answerer_when_asked(settings, self._llm_cache)
        self._kept = _Kept(_by_name(holders), settings, answerer)

    def report_problem(self, problem: str) -> None:
        """Reports with every answer for all vaults that their configuration is invalid."""
        self._kept = replace(self._kept, problem=problem)

    def named(self, name: str) -> VaultRuntime:
        """Returns the vault of this name. Raises UsageError if there is none."""
        holders = self._kept.holders
        if name not in holders:
            raise UsageError(f"no vault {name[:60]!r} is served here: {_choices(holders)}")
        return holders[name]

    def service(self, name: str = "") -> VaultService:
        """The service of the vault of this name; without a name, of the only one.

        Raises UsageError if there is none, or several and no name; else as `VaultRuntime.service`.
        """
        return self.holder(name).service()

    def holder(self, name: str = "") -> VaultRuntime:
        """The vault of this name; without a name, the only one. Raises UsageError as `service`."""
        holders = self._kept.holders
        if name:
            return self.named(name)
        if len(holders) != 1:
            raise UsageError(f"vault = '' is missing: {_choices(holders)}")
        return next(iter(holders.values()))

    def holders(self, name: str = "") -> tuple[VaultRuntime, ...]:
        """The vault of this name; without a name, all. Raises UsageError if there is none."""
        return (self.named(name),) if name else tuple(self._kept.holders.values())

    def search(
        self, request: SearchRequest, name: str = "", *, is_cancelled: Callable[[], bool] = never
    ) -> SearchAnswer:
        """Ranked hits of the vault of this name, or of all together. Raises as `VaultService.search`."""
        return self._asked_vaults(name, is_cancelled).search(request)

    def ask(
        self, request: AskRequest, name: str = "", *, is_cancelled: Callable[[], bool] = never
    ) -> AskAnswer:
        """The answer from the vault of this name, or from all together. Raises as `VaultService.ask`."""
        return whole_answer(self.ask_events(request, name, is_cancelled=is_cancelled))

    def ask_events(
        self, request: AskRequest, name: str = "", *, is_cancelled: Callable[[], bool] = never
    ) -> Iterator[AskEvent]:
        yield from self._asked_vaults(name, is_cancelled).ask_events(request)

    def _asked_vaults(self, name: str, is_cancelled: Callable[[], bool]) -> AskedVaults:
        kept = self._kept
        if name or len(kept.holders) == 1:
            return self.service(name).asked_vaults(is_cancelled)
        services = {one.name: one.service for one in kept.holders.values()}
        return AskedVaults(services, kept.settings.search, kept.answerer, is_cancelled, kept.problem)

    def status(self, name: str = "") -> StatusReport:
        """The state of the vault of this name, with the problem of the configuration. Raises as `named`."""
        report, problem = self.service(name).status(), self.problem
        if not problem or problem in report.detail:
            return report
        return replace(report, detail="; ".join(filter(None, (report.detail, problem))))

    def summaries(self) -> tuple[VaultSummary, ...]:
        return tuple(one.summary() for one in self.holders())


def _by_name(holders: Sequence[VaultRuntime]) -> Mapping[str, VaultRuntime]:
    return {one.name: one for one in sorted(holders, key=lambda one: one.name)}


def _choices(holders: Mapping[str, VaultRuntime]) -> str:
    return f"choose one of {', '.join(holders)}" if holders else "there are no vaults"


class VaultTable(NamedTuple):
    """The content of the configuration: the vaults, and the settings for questions to all of them."""

    named: tuple[NamedVault, ...]
    settings: Settings


class VaultSupervisor:
    """The vaults of a server, as the configuration names them: it opens those that were added and closes
    those that were removed, each in the vault's own thread.

    The command `serve` owns it. As a context manager it keeps the vaults open for the duration of the block;
    at its end they close in parallel. Its own thread checks the files of the configuration. One that has just
    changed is read at the next check, because a program may still be writing it. A configuration that cannot
    be read, or whose vaults would share a folder, changes nothing: `Vaults.problem` reports it until it is
    corrected. A vault whose folder or index folder changes is another vault.
    """

    def __init__(
        self,
        table: VaultTable,
        read: Callable[[], VaultTable],
        keep: Callable[[NamedVault], ManagedVault],
        watch: ConfigWatch,
        llm_cache: Path,
    ) -> None:
        """`table` was read after `watch` was made. `read` reads it again and raises VaultIndexerError; `keep`
        creates a vault whose opening has not begun. `llm_cache` is that of `Vaults`."""
        self._read = read
        self._keep = keep
        self._kept = {one: keep(one) for one in table.named}
        self._leaving: list[ManagedVault] = []
        self._follower = ConfigFollower(watch, self._read_again, "indexer-vaults")
        self.vaults = Vaults(self._all(), table.settings, llm_cache=llm_cache, may_change=True)

    def __enter__(self) -> Self:
        """Begins to open the vaults; returns at once."""
        for one in self._all():
            one.start()
        self._follower.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes all vaults. Returns once they are closed."""
        self._follower.stop()
        for one in self._all():
            one.stop()
        for one in [*self._all(), *self._leaving]:
            one.close()

    def _all(self) -> Sequence[ManagedVault]:
        return tuple(self._kept.values())

    def _read_again(self) -> None:
        try:
            table = self._read()
        except (VaultIndexerError, OSError) as error:
            problem = text_of(CONFIG_NOT_USED, error)
            _LOG.error("%s", problem)
            self.vaults.report_problem(problem)
            return
        self._change_to(table)

    def _change_to(self, table: VaultTable) -> None:
        before = self._kept
        self._kept = {one: before.get(one) or self._keep(one) for one in table.named}
        # First no request comes to a vault that is closing, then it closes.
        self.vaults.replace(self._all(), table.settings)
        self._leaving = [one for one in self._leaving if not one.is_closed]
        for named, kept in before.items():
            if named not in self._kept:
                _LOG.info("vault %s was removed: it is closed", named.name)
                kept.stop()
                self._leaving.append(kept)
        for named, kept in self._kept.items():
            if named not in before:
                _LOG.info("vault %s was added: it is opened", named.name)
                kept.start()
