"""A vault of given notes with its index, open to be asked and to be read."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from reliability_lab import in_one_process, opened

from vault_indexer.bootstrap import resolve_target
from vault_indexer.config.sources import OptionValue
from vault_indexer.model import note_id_of
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.filters.chunk_filter import ChunkFilter
from vault_indexer.search.query.parser import parse_query
from vault_indexer.search.searcher import IndexReader
from vault_indexer.service import VaultService

NOW = datetime(2024, 6, 1, tzinfo=UTC)
"""The moment at which tests ask."""

Indexed = tuple[VaultService, IndexReader]
"""The service of a vault, and the same index opened to be read."""


def write_notes(folder: Path, notes: Mapping[str, str]) -> Path:
    """The folder, made, with these notes by name."""
    folder.mkdir()
    for name, text in notes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


@contextmanager
def indexed_vault(
    vault: Path,
    index_dir: Path,
    provider: str = "wordllama",
    options: Mapping[str, OptionValue] | None = None,
) -> Iterator[tuple[VaultService, IndexReader]]:
    """The vault's service, and the same index opened to be read. It is built in this process, since to start
    another takes a second each time."""
    chosen = {"index.workers": 1, "embedding.provider": provider, **(options or {})}
    assembly = in_one_process(resolve_target(vault, index_dir, None, environ={}, options=chosen))
    with opened(assembly) as session:
        generation = assembly.index_dir.current()
        assert generation is not None
        yield VaultService(session, assembly.chunker), assembly.open_to_read(generation)


OpenNotes = Callable[..., Indexed]
"""`indexed_vault` of notes by name; the index stays open to the end of the module."""


@pytest.fixture(scope="module")
def open_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenNotes]:
    with ExitStack() as stack:

        def opened(notes: Mapping[str, str], *args: object, **options: object) -> Indexed:
            folder = tmp_path_factory.mktemp("notes")
            vault = write_notes(folder / "vault", notes)
            return stack.enter_context(indexed_vault(vault, folder / "index", *args, **options))  # type: ignore[arg-type]

        yield opened


def notes_left(reader: IndexReader, query: str) -> set[str]:
    """The paths of the notes that the filters of a query leave."""
    with reader.holder.lease() as snapshot:
        chosen = ChunkFilter(snapshot, parse_query(query).conditions, NOW, QueryDeadline(600))
        chosen.settle()
        assert (np.diff(chosen.keys) > 0).all()
        rows = snapshot.catalog.notes({note_id_of(key) for key in chosen.keys.tolist()})
        return {row.path for row in rows.values()}
