"""Notes for a server are prepared in a process, and are those of the catalog."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest
from notes_here import NotesHere
from vault_at_work import NOTES, StartedProcesses, opened, place

from vault_indexer.errors import UnavailableError
from vault_indexer.index.published_notes import PublishingWorker, published_notes
from vault_indexer.store import IndexDir
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import ProcessLimits


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")
def test_they_are_the_same_as_made_here_and_their_process_ends_when_told(tmp_path: Path) -> None:
    where = place(tmp_path)
    with opened(where) as service:
        model = service.reader().model
        dimension = service.reader().searcher.embedder.model.dimension
    generation = IndexDir(where.index_dir).current()
    assert generation is not None
    started = StartedProcesses()
    worker = PublishingWorker(generation, ProcessLimits())
    with closing(CatalogReader(generation.catalog)) as catalog:
        ids = catalog.note_ids()
        expected = list(published_notes(catalog, model, ids))
    assert [note.stored.rows.path for note in expected] == sorted(NOTES)
    assert list(worker.notes(model, [*ids, 1 << 40])) == expected
    counted = worker.statistics("one", model, dimension)
    assert counted == NotesHere(generation).statistics("one", model, dimension)
    assert counted != NotesHere(generation).statistics("another", model, dimension)  # each removes its own
    assert len(started()) == 1
    worker.rest()
    assert not started()
    assert list(worker.notes(model, [])) == []
    worker.stop()
    with pytest.raises(UnavailableError, match="stopped"):
        list(worker.notes(model, ids))
    worker.rest()
