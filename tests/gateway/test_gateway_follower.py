"""The thread that publishes: when it takes a step, what it says of failures, and when it begins again."""

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from loop_by_hand import Clock, LoopByHand, built, kept, loop_by_hand
from vault_at_work import WORDLLAMA, Place, wait_for

from vault_gateway.follower import PublishTask, publication_of
from vault_gateway.owner import IdentityFile
from vault_gateway.publication import Publication
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.errors import BackendError, IndexUnusableError, UnavailableError
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader, CatalogWriter

__all__ = ["built", "kept"]

FAILED = "publishing to Milvus failed and will be retried; local search is not affected: "
MILVUS = (
    '[embedding]\nprovider = "wordllama"\n[index]\nworkers = 1\nbackend = "milvus"\n'
    '[milvus]\nuri = "http://127.0.0.1:1"\n'
)


@dataclass
class Served:
    """Implements what the task asks of a Publication. `outcomes` are those of the next steps: an error, or
    whether the server answers with all of it; after them it always does."""

    outcomes: list[Exception | bool] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    applied_seq: int = -1

    def __post_init__(self) -> None:
        self.is_closed = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()

    def step(self, catalog: CatalogReader) -> bool:
        self.asked.append("step")
        self.may_answer.wait()
        outcome = self.outcomes.pop(0) if self.outcomes else True
        if isinstance(outcome, Exception):
            raise outcome
        self.applied_seq = catalog.seq if outcome else -1
        return outcome

    def look(self) -> None:
        self.asked.append("look")

    def check(self) -> None:
        self.asked.append("check")

    def rest(self) -> None:
        self.asked.append("rest")

    def close(self) -> None:
        self.asked.append("close")
        self.is_closed.set()


class SlowServed(Served):
    """A step that takes until the connection is closed, and fails then."""

    def step(self, catalog: CatalogReader) -> bool:
        self.asked.append("step")
        self.is_closed.wait()
        raise BackendError(f"cut off at {catalog.seq}")


class ReadSettings(SimpleNamespace):
    """The tables that are read."""

    def table(self, name: str) -> object:
        return getattr(self, name)


class Daemon:
    """Implements what the task asks of a VaultSync: a generation with a catalog, and its settings."""

    def __init__(self, folder: Path, served: Served) -> None:
        self.clock = Clock()
        self.served: Served | Exception | None = served
        self.writer = CatalogWriter(folder / "catalog.db")
        self.generation = Generation(1, folder)
        self.settings = ReadSettings(index=SimpleNamespace(backend="milvus"), milvus="here", search="x")
        self.seq = 0
        self.current: object = None
        self.open()
        self.task = PublishTask(cast(VaultSync, self), self.clock, self.publication)

    @property
    def assembly(self) -> object:
        return SimpleNamespace(settings=self.settings)

    def publication(self, _assembly: object, _current: object) -> Publication | None:
        if isinstance(self.served, Exception):
            raise self.served
        return cast("Publication | None", self.served)

    def open(self) -> None:
        """A generation becomes active."""
        writer = SimpleNamespace(holder=self)
        self.current = SimpleNamespace(writer=writer, generation=self.generation)

    @contextmanager
    def lease(self) -> Iterator[object]:
        yield SimpleNamespace(seq=self.seq)

    def commit(self) -> None:
        with self.writer.commit():
            self.seq = self.writer.seq

    def step(self) -> None:
        self.task.step(is_idle=False)

    def begin(self) -> None:
        """A thread starts, and nothing but its start has it take a step, until the server answers."""
        assert isinstance(self.served, Served)
        self.seq = -1
        self.served.may_answer.clear()
        self.step()
        self.served.may_answer.set()
        wait_for(lambda: self.task.behind() == 0)
        self.seq = self.writer.seq

    def publish(self) -> None:
        """One more commit, until the server answers with it."""
        self.commit()
        assert self.task.behind() == 1
        self.step()
        wait_for(lambda: self.task.behind() == 0)


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture
def daemon(tmp_path: Path, served: Served) -> Iterator[Daemon]:
    made = Daemon(tmp_path, served)
    with closing(made.writer):
        yield made
        made.task.end()


def test_a_commit_wakes_the_thread_and_nothing_else_does(daemon: Daemon, served: Served) -> None:
    assert daemon.task.behind() == 1, "nobody knows what the server has"
    daemon.begin()
    for _ in range(5):
        daemon.step()
    daemon.publish()
    daemon.publish()
    assert served.asked == ["step"] * 3
    daemon.seq -= 2
    assert daemon.task.behind() == 0


def test_a_commit_counts_as_missing_until_the_server_answers_with_it(daemon: Daemon, served: Served) -> None:
    served.outcomes = [False]
    daemon.begin()
    assert served.asked == ["step"] * 2
    assert daemon.task.faults == ()


def test_a_failure_is_named_once_and_tried_again(
    daemon: Daemon, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "vault_indexer.daemon")
    served.outcomes = [BackendError("the server is down"), OSError("no room"), ZeroDivisionError("odd"), True]
    past_every_retry = count(step=3).__next__
    daemon.task = PublishTask(cast(VaultSync, daemon), past_every_retry, daemon.publication)
    daemon.begin()
    assert served.asked == ["step"] * 4
    assert daemon.task.faults == ()
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "the index is not published: the server is down"),
        ("ERROR", "publishing failed"),
        ("INFO", "publishing works again"),
    ]


def test_a_fault_stands_until_the_next_try_whatever_is_edited(daemon: Daemon, served: Served) -> None:
    served.outcomes = [BackendError("the server is down"), BackendError("still down")]
    daemon.commit()
    daemon.step()
    wait_for(lambda: daemon.task.fault)
    assert daemon.task.faults == (f"{FAILED}the server is down",)
    asked = len(served.asked)
    for _ in range(3):
        daemon.commit()
        daemon.step()
    assert len(served.asked) == asked
    assert daemon.task.behind() == 1


@pytest.mark.parametrize(
    ("seconds", "asked"),
    [
        ([59], ["step"]),
        ([60, 59], ["look", "step", "step"]),
        ([60, 60], ["look", "step", "look", "step"]),
        ([3599, 1], ["look", "step", "check", "step"]),
        ([3600, 59], ["check", "step", "step"]),
        ([3600, 60], ["check", "step", "look", "step"]),
    ],
)
def test_the_server_is_looked_at_each_minute_and_its_rows_are_counted_each_hour(
    daemon: Daemon, served: Served, seconds: list[int], asked: list[str]
) -> None:
    daemon.begin()
    served.asked.clear()
    for passed in seconds:
        daemon.clock.now += passed
        daemon.publish()
    assert served.asked == asked


def test_a_call_under_way_is_cut_off_at_the_end_and_is_no_fault(
    daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    daemon.served = slow = SlowServed()
    daemon.step()
    wait_for(lambda: slow.asked)
    daemon.task.end()
    assert slow.asked == ["step", "close", "close", "rest"]
    assert daemon.task.faults == ()
    assert caplog.records == []
    assert not any("indexer-publish" in thread.name for thread in threading.enumerate())


def test_another_generation_has_a_thread_of_its_own(daemon: Daemon, served: Served) -> None:
    daemon.begin()
    daemon.served = fresh = Served()
    daemon.publish()
    assert fresh.asked == []
    daemon.open()
    daemon.begin()
    assert fresh.asked == ["step"]
    assert "close" in served.asked
    daemon.current = None
    daemon.step()
    assert daemon.task.behind() == 0
    assert "close" in fresh.asked


@pytest.mark.parametrize(("name", "restarts"), [("milvus", True), ("search", False)])
def test_a_changed_configuration_counts_where_it_is_about_the_server(
    daemon: Daemon, name: str, restarts: bool
) -> None:
    daemon.publish()
    daemon.served = fresh = Served()
    daemon.settings = ReadSettings(**{**vars(daemon.settings), name: "changed"})
    daemon.publish()
    assert bool(fresh.asked) is restarts


def test_an_index_that_is_not_to_be_published_is_not_behind(daemon: Daemon, served: Served) -> None:
    daemon.served = None
    daemon.settings.index.backend = "embedded"
    daemon.commit()
    daemon.step()
    assert daemon.task.behind() == 0
    assert daemon.task.faults == ()
    daemon.served, daemon.settings = served, ReadSettings(**vars(daemon.settings))
    daemon.settings.index = SimpleNamespace(backend="milvus")
    daemon.publish()


def test_what_prevents_publishing_at_all_is_named_until_the_configuration_changes(
    daemon: Daemon, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    daemon.served = UnavailableError("the variable is not set")
    for _ in range(2):
        daemon.step()
    assert daemon.task.faults == (f"{FAILED}the variable is not set",)
    assert [record.message for record in caplog.records] == [f"{FAILED}the variable is not set"]
    assert daemon.task.behind() == 1
    daemon.served, daemon.settings = served, ReadSettings(**{**vars(daemon.settings), "milvus": "there"})
    daemon.publish()
    assert not daemon.task.faults


def test_the_loop_says_why_nothing_is_published_and_counts_it_as_pending(built: Place) -> None:
    built.configure(f'{MILVUS}token_env = "NO_SUCH_TOKEN"\n')
    try:
        with loop_by_hand(built) as made:
            fault = f"{FAILED}milvus.token_env = 'NO_SUCH_TOKEN': this environment variable is not set"
            assert made.notices == (fault,)
            assert (made.loop.pending(), made.loop.state.unpublished) == (1, 1)
            assert made.loop.state.waits_for == fault
    finally:
        built.configure(WORDLLAMA)


def test_an_index_is_published_under_one_id_if_the_settings_say_so(kept: LoopByHand) -> None:
    current, assembly = kept.vault_sync.current, kept.vault_sync.assembly
    assert current is not None
    assert publication_of(assembly, current) is None
    file = IdentityFile(kept.where.index_dir)
    assert file.read() is None
    kept.where.configure(MILVUS)
    publishing = assembly.with_reloaded_config()
    publication = publication_of(publishing, current)
    assert publication is not None
    assert publication.applied_seq == -1
    identity = file.read()
    assert identity is not None
    assert identity.vault.startswith("vault-")
    assert publication_of(publishing, current) is not None
    assert file.read() == identity
    file.forget()
    (kept.where.index_dir / "publication").mkdir()
    with pytest.raises(IndexUnusableError, match=r"cannot write .*index.publication: [AI]"):
        publication_of(publishing, current)
