"""A build in a process of its own: when it begins, what is said of its end, and who gets the answer."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from scripted_builds import ScriptedAssembly
from vault_at_work import wait_for

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.state import Cause, StateHolder
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.rebuild import (
    BuilderProcess,
    BuildJob,
    BuildRequest,
    CheckRequest,
    RebuildResult,
    RebuildTask,
)
from vault_indexer.errors import DiskFullError, UnavailableError, VaultError
from vault_indexer.index.workers.pool import Slots
from vault_indexer.model import Problem, Progress, RebuildReport
from vault_indexer.store import Generation

pytestmark = pytest.mark.long

REPORT = RebuildReport(5, 1, 2, (), 0.5)


class Daemon:
    """Implements what the task asks of a VaultSync, and counts as another vault that wants to build."""

    def __init__(self, folder: Path, plan: object = "done", reasons: tuple[str, ...] = ()) -> None:
        self.assembly = ScriptedAssembly(folder, plan)
        self.current: object = SimpleNamespace(reasons=())
        self.losses = ""
        self.documents_wait = False
        self.activated: list[Generation] = []
        self.after: tuple[str, ...] = ()
        self.state, self.slots = StateHolder(reasons=reasons), Slots()
        self.task = RebuildTask(cast(VaultSync, self), self.state, self.slots)

    def has_unconfirmed_losses(self) -> bool:
        return bool(self.losses)

    def check_losses(self) -> None:
        if self.losses:
            raise VaultError(self.losses)

    def activate(
        self, made: Generation, _built: RebuildReport, on_progress: Callable[[int], None], _parts: object
    ) -> None:
        self.activated.append(made)
        on_progress(3)
        assert self.task.catching_up
        self.current = SimpleNamespace(reasons=self.after)

    def step(self) -> RebuildResult | None:
        return self.task.step(lambda _left: None, lambda: None)

    def result(self) -> RebuildResult:
        found: list[RebuildResult] = []

        def is_there() -> bool:
            found.extend(filter(None, [self.step()]))
            return bool(found)

        wait_for(is_there)
        return found[0]

    def may_build(self) -> bool:
        """Whether another vault could build now."""
        is_free = self.slots.try_acquire(self)
        self.slots.release(self)
        return is_free


def error_of(request: BuildRequest | CheckRequest) -> BaseException | None:
    return request.answer.exception(timeout=0)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    made = Daemon(tmp_path)
    yield made
    made.task.end()


def test_a_build_rests_while_it_is_held_and_goes_on(daemon: Daemon, tmp_path: Path) -> None:
    seen: list[Progress] = []
    request = BuildRequest(seen.append, RebuildOptions(refit=False, better=True))
    daemon.after = ("another program",)
    daemon.task.request(request)
    assert daemon.step() is None
    assert (daemon.task.busy, daemon.may_build()) == (True, False)
    daemon.task.hold(True)
    assert daemon.may_build()
    wait_for(lambda: daemon.step() or seen)
    assert daemon.state.next.progress == seen[0] == Progress("notes", 1, 2, 3, 0.5)
    (tmp_path / "resumed").touch()
    daemon.task.hold(False)
    result = daemon.result()
    assert result.report is not None
    assert result.report.reasons == ("0011",), "better, and told to rest before it was done"
    assert [made.number for made in daemon.activated] == [5]
    assert not (daemon.task.busy or daemon.task.catching_up or daemon.state.next.progress)
    daemon.task.answer(result)
    assert request.answer.result(timeout=0) is result.report
    told = "restart the daemon: its builds are incompatible with it (another program)"
    assert daemon.state.next.fault(Cause.UNFIT) == told
    assert daemon.state.next.reasons == ("another program",)
    assert daemon.step() is None
    assert not daemon.task.busy, "to build again and again would not help"


@pytest.mark.parametrize(
    ("is_first", "requested", "asked"),
    [(True, False, "1100"), (True, True, "1000"), (False, False, "0000"), (False, True, "0000")],
)
def test_a_first_build_that_nobody_waits_for_begins_with_the_newest_notes(
    daemon: Daemon, is_first: bool, requested: bool, asked: str
) -> None:
    if is_first:
        daemon.current = None
    if requested:
        daemon.task.request(BuildRequest())
    else:
        daemon.task.use_reasons(("the model is another",))
    report = daemon.result().report
    assert report is not None
    assert report.reasons == (asked,)


def test_a_needed_build_waits_while_documents_wait_for_mains_power(daemon: Daemon) -> None:
    daemon.documents_wait = True
    daemon.task.use_reasons(("documents",))
    assert daemon.step() is None
    assert not daemon.task.busy
    daemon.task.request(BuildRequest())
    assert daemon.result().report is not None


@pytest.mark.parametrize(
    ("plan", "needed", "kind", "said"),
    [
        ("fail", True, UnavailableError, "the vault is gone"),
        ("full", False, DiskFullError, "[Errno 28] No space left on device"),
    ],
)
def test_a_build_that_fails_is_a_fault_where_it_was_needed(
    tmp_path: Path, plan: str, needed: bool, kind: type[Exception], said: str
) -> None:
    daemon = Daemon(tmp_path, plan, ("the model is another",) if needed else ())
    request = BuildRequest()
    if not needed:
        daemon.task.request(request)
    result = daemon.result()
    assert (type(result.error), str(result.error), result.report) == (kind, said, None)
    assert result.reasons == daemon.state.next.reasons
    daemon.task.answer(result)
    assert needed or error_of(request) is result.error
    assert daemon.state.next.fault(Cause.BUILD) == ("the rebuild failed: the vault is gone" if needed else "")
    assert daemon.step() is None
    assert (daemon.task.busy, daemon.may_build()) == (False, True)
    daemon.task.use_reasons(())
    assert daemon.state.next.fault_texts == ()


def test_a_build_that_ends_without_a_result_begins_again_twice(tmp_path: Path) -> None:
    assembly = cast(Assembly, ScriptedAssembly(tmp_path, "die"))
    builder = BuilderProcess(BuildJob(assembly, recompute_weights=True, newest_only=False))
    seen: list[Progress] = []
    with pytest.raises(UnavailableError, match=r"^the build ended without a result 3 times: .* status 7$"):
        wait_for(lambda: builder.poll(seen.append))
    assert (tmp_path / "tries").read_text() == "xxx"
    assert len(seen) == 3
    builder.kill()


def test_a_build_waits_for_that_of_another_vault(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path)
    assert daemon.slots.try_acquire("another vault")
    first, second = BuildRequest(), BuildRequest()
    daemon.task.request(first)
    assert daemon.step() is None
    assert (daemon.task.busy, daemon.may_build()) == (True, False)
    refused = UnavailableError("paused")
    daemon.task.refuse(refused)
    assert error_of(first) is refused
    assert daemon.step() is None
    assert (daemon.task.busy, daemon.may_build()) == (False, False)
    daemon.task.request(second)
    daemon.step()
    daemon.task.end()
    assert str(error_of(second)) == "the daemon was stopped"


def test_notes_that_the_vault_has_suddenly_lost_are_not_built_away(daemon: Daemon) -> None:
    daemon.losses = "the vault looks empty"
    daemon.task.use_reasons(("the model is another",))
    assert daemon.step() is None
    assert not daemon.task.busy
    daemon.task.use_reasons(())
    request = BuildRequest()
    daemon.task.request(request)
    assert daemon.step() is None
    assert str(error_of(request)) == "the vault looks empty"
    assert (daemon.task.busy, daemon.may_build()) == (False, True)
    assert not (daemon.assembly.folder / "tries").exists()


def test_a_build_that_cannot_begin_lets_others_build(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, plan=lambda: "no process takes this")
    daemon.task.request(BuildRequest())
    with pytest.raises((AttributeError, TypeError)):
        daemon.step()
    assert daemon.may_build()


def test_a_check_is_answered_when_the_build_that_repairs_has_ended(daemon: Daemon) -> None:
    problems = (Problem("catalog", "damaged", "a page"),)
    repaired, failed, nothing = CheckRequest(), CheckRequest(), CheckRequest()
    daemon.task.answer_after_repair(repaired, problems)
    daemon.task.answer(RebuildResult((), report=REPORT))
    assert repaired.answer.result(timeout=0) == problems
    daemon.task.answer_after_repair(failed, problems)
    error = UnavailableError("no room")
    daemon.task.answer(RebuildResult((), error=error))
    assert error_of(failed) is error
    daemon.task.answer_after_repair(nothing, problems)
    daemon.task.answer(RebuildResult(()))
    assert str(error_of(nothing)) == "the build has no result"
