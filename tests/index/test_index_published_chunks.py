"""Chunks for a server are prepared in a process, and are those of the catalog."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest
from vault_at_work import StartedProcesses, opened, place

from vault_indexer.errors import UnavailableError
from vault_indexer.index.published_chunks import ChunkWorker, published_chunks
from vault_indexer.store import IndexDir
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import ProcessLimits


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")
def test_they_are_the_same_as_made_here_and_their_process_ends_when_told(tmp_path: Path) -> None:
    where = place(tmp_path)
    with opened(where) as service:
        model = service.reader().model
    generation = IndexDir(where.index_dir).current()
    assert generation is not None
    started = StartedProcesses()
    worker = ChunkWorker(generation.catalog, ProcessLimits())
    with closing(CatalogReader(generation.catalog)) as catalog:
        keys = catalog.chunk_keys()
        expected = list(published_chunks(catalog, model, keys))
    assert list(worker.chunks(model, [*keys, 1 << 40])) == expected
    assert len(started()) == 1
    worker.rest()
    assert not started()
    assert list(worker.chunks(model, [])) == []
    worker.stop()
    with pytest.raises(UnavailableError, match="stopped"):
        list(worker.chunks(model, keys))
    worker.rest()
