"""A vault of a server: opened in its own thread, told of while it cannot be asked, closed."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from waiting import DEADLINE_S, wait_until

from vault_indexer import errors
from vault_indexer.answer import Answerer
from vault_indexer.config import Settings
from vault_indexer.model import (
    IndexCounts,
    IndexState,
    SearchAnswer,
    SearchRequest,
    StatusReport,
    VaultSummary,
)
from vault_indexer.search import ReadyVaults
from vault_indexer.service import AskedVaults, VaultService
from vault_indexer.vaults import ClosedVault, ManagedVault, OpenVault, Vaults


@dataclass
class Service:
    """What a managed vault uses of its service."""

    vault: str
    detail: str = ""
    failure: errors.VaultIndexerError | None = None
    closed: threading.Event = field(default_factory=threading.Event)

    def status(self) -> StatusReport:
        counts = IndexCounts(3, 5, 0, 0)
        return StatusReport(self.vault, "/index", "ready", 1, 1, 2, counts, detail=self.detail)

    def close(self) -> None:
        self.closed.set()


def as_service(service: Service) -> VaultService:
    return cast("VaultService", service)


@dataclass
class Events:
    """What a vault tells whoever keeps it."""

    opened: list[VaultService] = field(default_factory=list)
    closed: int = 0

    def close(self) -> None:
        self.closed += 1

    def keep(self, path: Path, open_service: Callable[[], VaultService]) -> ManagedVault:
        return ManagedVault("work", path, open_service, self.opened.append, self.close)


def test_a_vault_is_opened_told_of_and_closed(tmp_path: Path) -> None:
    events, service = Events(), Service(str(tmp_path), "a word")
    vault = events.keep(tmp_path, lambda: as_service(service))
    assert vault.summary() == VaultSummary("work", str(tmp_path), "opening", 0, 0, "")
    with pytest.raises(errors.IndexUnusableError, match="vault work is being opened: try again"):
        vault.service()
    vault.start()
    wait_until(lambda: vault.summary().state == "ready")
    assert vault.service() is as_service(service)
    assert events.opened == [as_service(service)]
    assert vault.summary() == VaultSummary("work", str(tmp_path), "ready", 3, 2, "a word")
    assert (vault.is_closed, events.closed) == (False, 0)
    vault.close()
    assert (vault.is_closed, events.closed, service.closed.is_set()) == (True, 1, True)


def test_a_vault_whose_folder_goes_is_unavailable_although_it_is_open(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    vault = Events().keep(folder, lambda: as_service(Service(str(folder))))
    vault.start()
    wait_until(lambda: vault.summary().state == "ready")
    folder.rmdir()
    found = vault.summary()
    assert (found.state, found.notes) == ("unavailable", 3)
    assert found.problem.startswith(f"no such vault: {folder}")
    vault.close()


@pytest.mark.parametrize(
    ("error", "state", "problem"),
    [
        (errors.VaultError("the disk is gone"), "unavailable", "the disk is gone"),
        (errors.LockedError("somebody has it"), "locked", "somebody has it"),
        (errors.UsageError("no such thing"), "unusable", "no such thing"),
        (OSError(5, "Input/output error"), "unusable", "[Errno 5] Input/output error"),
        (OSError(), "unusable", "OSError()"),
    ],
)
def test_a_vault_that_cannot_be_opened_says_why(
    tmp_path: Path, error: Exception, state: str, problem: str
) -> None:
    def fail() -> VaultService:
        raise error

    events = Events()
    vault = events.keep(tmp_path, fail)
    vault.start()
    wait_until(lambda: vault.summary().state != "opening")
    assert vault.summary() == VaultSummary("work", str(tmp_path), state, 0, 0, problem)
    with pytest.raises(errors.IndexUnusableError) as raised:
        vault.service()
    assert str(raised.value) == f"vault work is unavailable: {problem}"
    vault.close()
    assert (events.opened, events.closed, vault.is_closed) == ([], 0, True)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), errors.LockedError("in use")])
def test_a_vault_that_cannot_be_announced_is_closed_again(tmp_path: Path, error: Exception) -> None:
    def refuse(_: VaultService) -> None:
        raise error

    service = Service(str(tmp_path))
    vault = ManagedVault("work", tmp_path, lambda: as_service(service), refuse, lambda: None)
    vault.start()
    assert service.closed.wait(DEADLINE_S)
    wait_until(lambda: vault.summary().state != "opening")
    assert str(error) in vault.summary().problem
    vault.close()


def test_an_error_of_this_program_is_told_until_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: reported.set())

    def break_down() -> VaultService:
        raise ZeroDivisionError

    vault = Events().keep(tmp_path, break_down)
    vault.start()
    assert reported.wait(DEADLINE_S)
    assert vault.summary().problem == "internal error: see the daemon's log"
    assert not vault.is_closed, "nobody has asked for its end"
    vault.stop()
    wait_until(lambda: vault.is_closed)


def test_a_vault_that_is_not_open_raises_its_problem(tmp_path: Path) -> None:
    problem = errors.LockedError("somebody has it")
    closed = ClosedVault("b", tmp_path, problem)
    assert closed.summary() == VaultSummary("b", str(tmp_path), "locked", 0, 0, "somebody has it")
    with pytest.raises(errors.LockedError) as raised:
        closed.service()
    assert raised.value is problem


@pytest.mark.parametrize(
    ("problem", "detail"),
    [("", "a word"), ("the table is wrong", "a word; the table is wrong"), ("word", "a word")],
)
def test_the_state_of_a_vault_says_once_what_is_wrong_with_the_table_of_all(
    tmp_path: Path, problem: str, detail: str
) -> None:
    a = OpenVault("a", tmp_path, as_service(Service(str(tmp_path), "a word")))
    vaults = Vaults((ClosedVault("b", tmp_path, errors.VaultError("gone")), a))
    assert [one.state for one in vaults.summaries()] == ["ready", "unavailable"]
    vaults.report_problem(problem)
    assert vaults.status("a").detail == detail


@dataclass
class Fresh:
    """What a request uses of the service of a vault."""

    is_fresh: bool = True
    paused: bool = False
    told: tuple[str, ...] = ()
    waited: list[float] = field(default_factory=list)

    def wait_fresh(self, seconds: float) -> bool:
        self.waited.append(seconds)
        return self.is_fresh

    def notices(self) -> tuple[str, ...]:
        return self.told

    def ready_vault(self, name: str) -> str:
        return name


def asked(services: Mapping[str, Fresh], problem: str = "", *, is_over: bool = False) -> AskedVaults:
    """Vaults of which each is ready, and a closed one."""

    def gone() -> VaultService:
        raise errors.VaultError("gone")

    opened = {name: partial(cast, "VaultService", service) for name, service in services.items()}
    closed = {} if "" in services else {"c": gone}
    return AskedVaults(
        {**opened, **closed}, Settings().search, lambda: Answerer(Settings(), None), lambda: is_over, problem
    )


@pytest.fixture(autouse=True)
def _one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(_: ReadyVaults, request: SearchRequest) -> SearchAnswer:
        return SearchAnswer(request.query, 1.0, IndexState(1, 1, 0), (), notices=("found",))

    monkeypatch.setattr(ReadyVaults, "answer", answer)


def notices(services: Mapping[str, Fresh], problem: str = "") -> tuple[str, ...]:
    """Of a search, which waits for each vault to be fresh unless there is a problem with the table."""
    fresh = not problem
    answer = asked(services, problem).search(SearchRequest("x", fresh=fresh))
    assert [len(one.waited) for one in services.values()] == [int(fresh)] * len(services)
    assert all(9 < seconds <= 10 for one in services.values() for seconds in one.waited)
    return answer.notices


def test_notices_of_several_vaults_begin_with_their_names() -> None:
    wrong, of_all = "the table is wrong", ("found", "the vault c is not searched: gone")
    b = Fresh(told=("is old",))
    found = notices({"a": Fresh(told=("is small", wrong)), "b": b}, wrong)
    assert found == (*of_all, wrong, "a: is small", "b: is old")
    found = notices({"a": Fresh(is_fresh=False, told=(wrong,)), "b": b})
    assert found == ("a: some changes were not indexed within 10 s", *of_all, f"a: {wrong}", "b: is old")
    found = notices({"": Fresh(is_fresh=False, paused=True, told=("is old",))})
    assert found == ("results may be out of date: indexing is paused", "found", "is old")


def test_a_cancelled_search_waits_for_nothing() -> None:
    services = {"a": Fresh()}
    with pytest.raises(errors.QueryCancelledError, match="the search was cancelled"):
        asked(services, is_over=True).search(SearchRequest("x", fresh=True))
    assert services["a"].waited == []
