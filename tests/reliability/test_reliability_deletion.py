"""An accident is not a deletion: a vault that is gone, empty, unreadable or in the cloud deletes nothing."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from reliability_lab import OPTIONS, assembly_of, make_vault, unheard
from waiting import wait_until

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.index.plan import Plan
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.slow


@dataclass
class Place:
    vault: Path
    index: Path

    @contextmanager
    def kept(self) -> Iterator[LocalSession]:
        """Keeps the index without a watcher: each `wait_fresh` is one look."""
        session = LocalSession(assembly_of(self.vault, self.index))
        try:
            session.open(unheard, build=True)
            yield session
        finally:
            session.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(make_vault(tmp_path / "vault", random.Random(8), 40), tmp_path / "index")


def notes(session: LocalSession | DaemonSession) -> int:
    return session.status().counts.notes


def test_a_vault_that_is_moved_away_is_served_and_comes_back(place: Place) -> None:
    with place.kept() as session:
        place.vault.rename(place.vault.with_name("elsewhere"))
        for _ in range(2):
            session.wait_fresh(0)
            assert (session.status().state, notes(session)) == ("degraded", 40)
            assert "no such vault" in session.status().detail
        answer = VaultService(session).search(SearchRequest("kestrel"))
        assert answer.results and all(hit.stale for hit in answer.results)
        assert any("no such vault" in notice for notice in answer.notices)
        place.vault.with_name("elsewhere").rename(place.vault)
        session.wait_fresh(0)
        assert (session.status().state, notes(session)) == ("ready", 40)


def test_a_note_that_vanishes_between_look_and_read_is_left_to_the_next_look(place: Place) -> None:
    """The disk may go while a plan is carried out: then every read fails, and nothing is a deletion."""
    with place.kept() as session:
        kept = session._open()
        assert kept.current is not None
        every = tuple(str(p.relative_to(place.vault)) for p in place.vault.rglob("*.md"))
        place.vault.rename(place.vault.with_name("elsewhere"))
        kept.current.writer.apply(Plan(read=every))
        assert notes(session) == 40
        place.vault.with_name("elsewhere").rename(place.vault)


def test_the_daemon_believes_an_emptied_vault_late_and_a_deleted_note_soon(place: Place) -> None:
    target = resolve_target(place.vault, place.index, None, environ={}, options=OPTIONS)
    session = DaemonSession(Assembly.of(target))
    try:
        wait_until(lambda: session.status().state == "ready" and not session.pending(), "ready")
        next(place.vault.glob("*.md")).unlink()
        assert wait_until(lambda: notes(session) == 39, "a deletion") >= 1.5
        began = time.monotonic()
        for path in sorted(place.vault.rglob("*.md"))[1:]:
            path.unlink()
        wait_until(lambda: session.status().state == "degraded", "it doubts")
        assert notes(session) == 39
        wait_until(lambda: notes(session) == 1, "the second look")
        assert time.monotonic() - began >= 2.0
        wait_until(lambda: session.status().state == "ready", "ready again")
        place.vault.rename(place.vault.with_name("elsewhere"))
        wait_until(lambda: session.status().state == "degraded", "it is gone")
        assert notes(session) == 1
        place.vault.with_name("elsewhere").rename(place.vault)
        wait_until(lambda: session.status().state == "ready", "it is back")
    finally:
        session.close()
