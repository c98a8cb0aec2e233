"""The index of one command: what it refuses, and what it says of an index that it cannot bring in step."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from answering_daemon import answering_daemon
from reliability_lab import ModelDownPool, in_one_process, is_slow, pools_of
from vault_at_work import NOTES, WORDLLAMA, Place, opened, place, silent

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.local_session import WITHOUT_DAEMON, LocalSession, ReadOnlySession
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import DaemonError, IndexUnusableError, LockedError, VaultError, VaultIndexerError
from vault_indexer.model import Problem, Progress, SearchRequest
from vault_indexer.service import VaultService


def session_of(where: Place) -> LocalSession:
    return LocalSession(in_one_process(where.target()))


@contextmanager
def open_session(where: Place, *, build: bool = True, **changed: Any) -> Iterator[LocalSession]:
    with closing(LocalSession(replace(in_one_process(where.target()), **changed))) as session:
        session.open(silent, build=build)
        yield session


def write_many(where: Place) -> None:
    """So many are found before they have vectors."""
    for number in range(40):
        where.write(f"Part {number}.md", f"Rye, spelt and sourdough of the day {number}.")


@pytest.fixture
def in_use(where: Place) -> Iterator[Place]:
    with IndexLock(where.index_dir, "a test"):
        yield where


def test_an_index_that_another_process_writes_is_searched_as_it_is(in_use: Place) -> None:
    in_use.write("Bread.md", "# Bread\n\nToast.\n")
    with opened(in_use) as service:
        (hit, *_) = service.search(SearchRequest("dough")).results
        assert hit.path == "Bread.md"
        status = service.status()
        with service.ready_vault().reader.holder.lease() as snapshot:
            seq = snapshot.catalog.seq
        assert (status.state, status.generation, status.seq, status.pending) == ("in use", 1, seq, 0)
        assert (status.vault, status.index_dir) == (str(in_use.vault), str(in_use.index_dir))
        assert (status.counts.notes, status.vectors_owed, status.skipped) == (len(NOTES), 0, ())
        assert status.detail.startswith(f"the index {in_use.index_dir} is in use by process")
        behind = "the last changes may be missing: another command updates the index"
        assert service.search(SearchRequest("dough")).notices == (behind,)
        with answering_daemon() as daemon:  # which follows the changes: nothing is to be said
            daemon.announce(in_use.index_dir, in_use.vault)
            assert service.search(SearchRequest("dough")).notices == ()


def test_an_index_that_another_process_writes_is_never_written(in_use: Place) -> None:
    busy = LockedError("somebody writes it")
    session = ReadOnlySession(in_one_process(in_use.target()), busy)
    assert session.wait_fresh(0) is False
    assert session.pending() == session.missing() == 0
    refused: list[Callable[[], object]] = [
        partial(session.rebuild, silent, RebuildOptions()),
        partial(session.verify, repair=True),
        *(partial(session.pause, None), session.resume, partial(session.pause_upgrade, True)),
    ]
    for ask in refused:
        with pytest.raises(LockedError) as raised:
            ask()
        assert raised.value is busy
    session.close()
    with pytest.raises(VaultIndexerError), session.reader().holder.lease():
        pass


def test_an_index_that_another_process_still_makes_is_in_use(tmp_path: Path) -> None:
    busy = LockedError("somebody writes it")
    with pytest.raises(LockedError) as raised:
        ReadOnlySession(in_one_process(place(tmp_path).target()), busy)
    assert raised.value is busy


def test_answers_of_a_language_model_are_kept_in_the_index_folder_or_the_named_one(where: Place) -> None:
    assert session_of(where).llm_cache == where.index_dir / "llm-cache"
    where.configure('[llm]\ncache_dir = "answers"\n')
    assert session_of(where).llm_cache == where.config.parent / "answers"


def test_without_a_daemon_nothing_can_be_paused(where: Place) -> None:
    session = session_of(where)
    assert session.failure is None
    assert session.paused is False
    for ask in (partial(session.pause, 5), session.resume, partial(session.pause_upgrade, False)):
        depths = set()
        for _ in range(2):
            with pytest.raises(DaemonError, match=WITHOUT_DAEMON) as raised:
                ask()
            depths.add(len(raised.traceback))
        assert len(depths) == 1, "no trace is added to that of the time before"


def test_an_index_that_is_not_open_or_not_there_is_said(tmp_path: Path) -> None:
    where, missing = place(tmp_path), r"^there is no index yet: run `indexer rebuild`$"
    with closing(session_of(where)) as session:
        for ask in (session.reader, session.status, session.pending):
            with pytest.raises(IndexUnusableError, match=r"^the index is not open$"):
                ask()
        session.open_as_is()
        with pytest.raises(IndexUnusableError, match=missing):
            session.reader()
        assert session.notices() == ()
        assert session.status().generation == 0
    with pytest.raises(IndexUnusableError, match=missing), closing(session_of(where)) as again:
        again.open(silent, build=False)


def test_an_index_is_not_rebuilt_without_the_notes_that_the_vault_has_lost(where: Place) -> None:
    where.configure(f"{WORDLLAMA}[chunking]\nmax_chunk_chars = 400\n")
    shutil.rmtree(where.vault)
    where.vault.mkdir()
    with opened(where) as service:
        notices = service.search(SearchRequest("dough")).notices
        assert any(one.startswith("not rebuilt yet: ") for one in notices)
        status = service.status()
        assert (status.generation, status.state, status.counts.notes) == (1, "degraded", len(NOTES))
        with pytest.raises(VaultError, match="Not rebuilt: the vault looks empty"):
            service.rebuild(silent, RebuildOptions())


def test_a_damaged_catalog_is_built_again_by_a_repair(where: Place) -> None:
    with open_session(where) as session:
        with (where.index_dir / "generations" / "0001" / "catalog.db").open("r+b") as file:
            file.seek(-10, 2)
            file.write(b"\xff" * 5)
        (problem,) = session.verify(repair=False)
        assert (problem.store, problem.kind, session.status().generation) == ("catalog", "damaged", 1)
        assert session.verify(repair=True) == (problem,)
        assert session.status().generation == 2
        assert session.verify(repair=False) == ()


def test_vectors_that_cannot_be_made_are_no_reason_to_fail(where: Place) -> None:
    write_many(where)
    with open_session(where, is_slow=is_slow, make_pool=pools_of(ModelDownPool)) as session:
        assert "embedding failed: the model is down" in session.notices()
        assert any(one.startswith("semantic search is incomplete") for one in session.notices())
        with session.reader().holder.lease() as snapshot:
            assert snapshot.catalog.counts().notes == len(NOTES) + 40


@pytest.mark.posix("a file that is open is removed")
def test_an_index_that_cannot_be_closed_cleanly_lets_others_have_it(
    where: Place, caplog: pytest.LogCaptureFixture
) -> None:
    with open_session(where):
        shutil.rmtree(where.index_dir / "generations")
    ((level, text),) = [(record.levelname, record.message) for record in caplog.records]
    assert level == "WARNING"
    assert text.startswith(f"the index could not be closed cleanly: the index in {where.index_dir}")
    with IndexLock(where.index_dir, "the next one"):
        pass


def test_what_was_built_again_is_told_by_the_next_check_once(where: Place) -> None:
    (where.index_dir / "generations" / "0001" / "catalog.sums").unlink()
    with open_session(where) as session:
        (told,) = session.verify(repair=False)
        assert (told.store, told.kind) == ("catalog", "rebuilt")
        assert session.verify(repair=False) == ()
        assert isinstance(told, Problem)
        assert VaultService(session).status().detail == f"Index rebuilt: {told.detail}"


def test_the_first_use_of_an_index_is_told_and_no_later_one(where: Place) -> None:
    shutil.rmtree(where.index_dir)
    for told in ("Indexed 3 notes (first use).", ""):
        with open_session(where) as session:
            assert session.status().detail == told
            assert session.notices() == tuple(filter(None, [told]))
            assert session.verify(repair=False) == ()


def test_an_option_that_alters_the_index_rebuilds_it_and_is_told(where: Place) -> None:
    where.configure(f"{WORDLLAMA}[chunking]\nmax_chunk_chars = 400\n")
    with open_session(where, build=False) as session:
        assert (session.status().generation, session.status().detail) == (1, "")
    with open_session(where) as session:
        told = "Index rebuilt: chunking.max_chunk_chars is now 400"
        assert (session.status().generation, session.notices()) == (2, (told,))
        assert session.verify(repair=False) == (), "nothing was damaged"


def test_a_command_looks_at_the_vault_when_it_is_asked_to(where: Place) -> None:
    with open_session(where) as session:
        where.write("Plums.md", "# Plums\n\nRipe.\n")
        assert session.status().counts.notes == len(NOTES)
        assert session.wait_fresh(0) is True
        assert session.status().counts.notes == len(NOTES) + 1
        (where.vault / "Plums.md").unlink()
        assert session.rebuild(silent, RebuildOptions()).notes == len(NOTES)
        assert session.status().generation == 2


def test_vectors_that_are_owed_are_made_and_counted(where: Place) -> None:
    write_many(where)
    told: list[Progress] = []
    with closing(LocalSession(replace(in_one_process(where.target()), is_slow=is_slow))) as session:
        session.open(told.append, build=True)
        status = session.status()
        assert (status.vectors_owed, status.counts.notes) == (0, len(NOTES) + 40)
        assert session.notices() == ()
    made = [one for one in told if one.stage == "vectors"]
    assert made
    assert made[-1].chunks == status.counts.chunks
    assert (made[-1].notes, made[-1].total) == (status.counts.notes, status.counts.notes)
    assert all(one.notes == one.total * one.chunks // status.counts.chunks for one in made)
    assert all(0 <= one.seconds < 600 for one in made)
