"""The figures of an index: sizes of chunks, strategies, and what links want."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from vault_indexer.model import Chunk, FileRow, Note, SizeBucket, UnresolvedTarget
from vault_indexer.search.vault_contents import vault_health
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import CatalogReader, CatalogWriter, PreparedNote, ResolvedLink, note_rows
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import Lexicon, snapshot_of_documents
from vault_indexer.store.vectors import build_snapshot

BOUNDS = (100, 250, 500, 1000, 1500, 2000, 3000, 5000, None)


def health_of(folder: Path, notes: Sequence[Sequence[tuple[int, str]]], wanted: int = 0) -> dict[str, object]:
    """Of notes whose chunks have these sizes and strategies; an index of 8 bytes beside the catalog."""
    catalog = folder / "catalog.db"
    with closing(CatalogWriter(catalog)) as writer, writer.commit():
        for number, sizes in enumerate(notes):
            chunks = [
                Chunk(f"{n}", n, "", 5, 5 + size, 1, 1, "", name) for n, (size, name) in enumerate(sizes)
            ]
            rows = note_rows(Note(f"{number}.md", "x" * 9_000, "t", "en"), chunks, [None] * len(chunks))
            file = FileRow(f"{number}.md", 1, 1, 1, 1, "", "note")
            writer.put_note(
                PreparedNote(file, rows, {}, 0, 0), lambda target, _: ResolvedLink(target, None, False), "m"
            )
    (folder / "index").mkdir()
    (folder / "index" / "file").write_bytes(b"12345678")
    targets = tuple(UnresolvedTarget(f"{n}", 1, ()) for n in range(wanted))
    with CatalogReader(catalog) as reader:
        words = snapshot_of_documents([], 1, Lexicon([]))
        snapshot = Snapshot(1, reader, LinkGraph(reader), build_snapshot(1, 2, []), words, ("en",))
        found = vault_health(snapshot, folder / "index", targets)
    return {each.name: getattr(found, each.name) for each in fields(found)}


def test_an_index_without_chunks_has_no_sizes(tmp_path: Path) -> None:
    found = health_of(tmp_path, [[]])
    assert (found["notes"], found["chunks"], found["smallest"], found["median"], found["largest"]) == (
        1,
        0,
        0,
        0,
        0,
    )
    assert found["histogram"] == tuple(SizeBucket(bound, 0) for bound in BOUNDS)
    assert (found["strategies"], found["wanted"], found["wanted_count"]) == ({}, (), 0)


def test_sizes_are_counted_below_their_bounds(tmp_path: Path) -> None:
    sizes = [99, 100, 249, 250, 999, 1000, 4999, 5000, 7000]
    found = health_of(tmp_path, [[(size, "a") for size in sizes[:5]], [(size, "b") for size in sizes[5:]]], 3)
    assert (found["notes"], found["chunks"], found["orphans"], found["index_bytes"]) == (2, 9, 2, 8)
    assert (found["smallest"], found["median"], found["largest"]) == (99, 999, 7000)
    counts = dict(zip(BOUNDS, (1, 2, 1, 1, 1, 0, 0, 1, 2), strict=True))
    assert found["histogram"] == tuple(SizeBucket(bound, count) for bound, count in counts.items())
    assert list(found["strategies"].items()) == [("a", 5), ("b", 4)]  # type: ignore[attr-defined]
    assert found["languages"] == {"en": 2}


@pytest.mark.parametrize(("wanted", "shown"), [(20, 20), (21, 20)])
def test_the_twenty_most_wanted_targets_are_shown(tmp_path: Path, wanted: int, shown: int) -> None:
    found = health_of(tmp_path, [[(10, "b"), (20, "b"), (30, "a"), (40, "a")]], wanted)
    assert found["wanted_count"] == wanted
    assert [one.target for one in found["wanted"]] == [f"{n}" for n in range(shown)]  # type: ignore[attr-defined]
    assert list(found["strategies"]) == ["a", "b"]  # type: ignore[call-overload]
    assert found["median"] == np.sort([10, 20, 30, 40])[2]
