"""Who reads a snapshot keeps it open; the last one closes what is no longer current."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest

from vault_indexer.errors import IndexUnusableError
from vault_indexer.model import FileRow
from vault_indexer.store import Snapshot, SnapshotHolder
from vault_indexer.store.catalog import CatalogReader, CatalogWriter
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import Lexicon, snapshot_of_documents
from vault_indexer.store.vectors import build_snapshot


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], Snapshot]:
    path = tmp_path / "catalog.db"
    with closing(CatalogWriter(path)) as writer, writer.commit():
        writer.put_file(FileRow("a.png", 1, 1, 0, 0, "", "linked"))

    def make_one() -> Snapshot:
        catalog = CatalogReader(path)
        words = snapshot_of_documents([], 1, Lexicon([]))
        return Snapshot(3, catalog, LinkGraph(catalog), build_snapshot(1, 2, []), words, ("en",))

    return make_one


def is_open(snapshot: Snapshot) -> bool:
    try:
        return snapshot.catalog.file_count() == 1
    except IndexUnusableError:
        return False


def test_a_snapshot_is_of_one_state_and_holds_the_whole_vault(make: Callable[[], Snapshot]) -> None:
    snapshot = make()
    assert (snapshot.seq, snapshot.generation, snapshot.languages) == (1, 3, ("en",))
    assert (snapshot.missing_vectors, snapshot.statistics) == (0, None)
    assert len(snapshot.vectors.search(np.ones(2, np.float32), 1)[0]) == 0
    snapshot.catalog.close()


def test_before_the_first_and_after_the_last_there_is_nothing_to_read(make: Callable[[], Snapshot]) -> None:
    holder = SnapshotHolder()
    with pytest.raises(IndexUnusableError, match="not open"), holder.lease():
        pass
    only = make()
    holder.publish(only)
    with holder.lease() as leased:
        assert leased is only
    assert is_open(only)
    holder.publish(only)
    assert is_open(only), "it is still the current one"
    holder.publish(None)
    assert not is_open(only)
    with pytest.raises(IndexUnusableError, match="not open"), holder.lease():
        pass


def test_an_older_snapshot_is_closed_after_its_last_reader(make: Callable[[], Snapshot]) -> None:
    holder = SnapshotHolder()
    older, newer = make(), make()
    holder.publish(older)
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(holder.lease())
        second.enter_context(holder.lease())
        holder.publish(newer)
        first.close()
        assert is_open(older)
        with holder.lease() as leased:
            assert leased is newer
        assert is_open(older)
        second.close()
        assert not is_open(older)
    assert is_open(newer)
    holder.publish(make())
    assert not is_open(newer), "nobody read it any more"
    holder.publish(None)


def test_a_reader_that_fails_gives_its_snapshot_back(make: Callable[[], Snapshot]) -> None:
    holder = SnapshotHolder()
    older = make()
    holder.publish(older)
    with pytest.raises(ZeroDivisionError), holder.lease():
        raise ZeroDivisionError
    holder.publish(None)
    assert not is_open(older)
