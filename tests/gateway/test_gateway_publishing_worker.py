"""Notes for a server are prepared in a process, and are those of the catalog."""

import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from notes_here import NotesHere
from small_generation import MODEL, small_generation, vector
from vault_at_work import NOTES, StartedProcesses, opened, place

from vault_gateway.publication import PublishingWorker, published_notes, statistics_of
from vault_indexer.errors import UnavailableError
from vault_indexer.model import chunk_key
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


def test_what_is_published_of_notes_leaves_context_out(tmp_path: Path) -> None:
    oak, maple, willow = chunk_key(1, 1), chunk_key(1, 2), chunk_key(2, 1)
    generation = small_generation(tmp_path)
    with CatalogReader(generation.catalog) as catalog:
        first, second = published_notes(catalog, MODEL, [2, 9, 1])
        found = statistics_of(generation, catalog, MODEL, 2)
        of_another_model = statistics_of(generation, catalog, "another", 2)
    assert (first.note_id, second.note_id) == (1, 2)
    assert (first.keys, second.keys) == ((oak, maple), (willow,))
    assert first.terms[oak]["content"][0] == "oak"
    assert (dict(first.vectors), dict(second.vectors)) == ({oak: vector(3), maple: vector(5)}, {})
    assert (found.documents, found.notes_by_language) == (3, {"en": 2})
    assert found.vocabulary.frequency("maple") == 1
    expected = np.frombuffer(vector(3) + vector(5), np.float16).reshape(2, 2).astype(np.float32)
    assert found.background.tolist() == expected.tolist()
    assert of_another_model.background.shape == (0, 2)
