"""The words of new segments are read beside, before a search for a misspelt word needs them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from reliability_lab import in_one_process
from vault_at_work import Place, opened, place, wait_for

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.daemon.tasks.upkeep import WordsTask
from vault_indexer.search import load_words_in_background
from vault_indexer.service import VaultService
from vault_indexer.store.keywords import KeywordSnapshot


@pytest.fixture
def where(tmp_path: Path) -> Place:
    return place(tmp_path)


@pytest.fixture
def vault_sync(where: Place) -> Iterator[VaultSync]:
    with opened(where):
        pass
    with closing(VaultSync(Assembly.of(where.target()), live=False)) as made:
        assert made.open_current() == ()
        yield made


@pytest.fixture
def task(vault_sync: VaultSync) -> WordsTask:
    return WordsTask(vault_sync)


def keywords(vault_sync: VaultSync) -> KeywordSnapshot:
    assert vault_sync.current is not None
    with vault_sync.current.writer.holder.lease() as snapshot:
        return snapshot.keywords


def add_a_segment(where: Place, vault_sync: VaultSync) -> None:
    where.write("Compost.md", "# Compost\n\nTurn the heap.\n")
    vault_sync.sync(EVERYTHING)


def test_the_words_of_a_new_segment_are_read_when_the_loop_is_idle(
    where: Place, vault_sync: VaultSync, task: WordsTask
) -> None:
    keywords(vault_sync).lexicon.load()
    add_a_segment(where, vault_sync)
    assert keywords(vault_sync).lexicon.is_partly_read
    task.step(is_idle=False)
    assert not task.busy
    assert keywords(vault_sync).lexicon.is_partly_read
    task.step(is_idle=True)
    wait_for(lambda: not task.busy)
    assert not keywords(vault_sync).lexicon.is_partly_read
    assert [word.term for word in keywords(vault_sync).lexicon.near("compots")] == ["compost"]


@pytest.mark.long
def test_a_process_that_ends_does_not_wait_for_words_to_be_read(vault_sync: VaultSync) -> None:
    assert vault_sync.current is not None
    thread = load_words_in_background(vault_sync.current.reader.holder)
    is_daemon = thread.daemon
    thread.join()
    assert is_daemon


@pytest.mark.long
def test_a_daemon_has_read_the_words_of_an_edit_before_anybody_searches(where: Place) -> None:
    with opened(where):
        pass
    session = DaemonSession(in_one_process(where.target()))
    with closing(VaultService(session)):
        wait_for(lambda: has_read_all_words(session, notes=3))
        where.write("Compost.md", "# Compost\n\nTurn the heap.\n")
        wait_for(lambda: has_read_all_words(session, notes=4))
        with session.reader().holder.lease() as snapshot:
            assert [word.term for word in snapshot.keywords.lexicon.near("compots")] == ["compost"]


def has_read_all_words(session: DaemonSession, notes: int) -> bool:
    """Whether the snapshot has so many notes, and all their words have been read."""
    with session.reader().holder.lease() as snapshot:
        return snapshot.catalog.counts().notes == notes and not snapshot.keywords.lexicon.unread_segments
