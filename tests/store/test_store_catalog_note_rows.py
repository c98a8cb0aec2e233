"""The log of changes: what it says of the commits since, and how far back it reaches."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import Chunk, FileRow, Note
from vault_indexer.store.catalog import (
    CatalogReader,
    CatalogWriter,
    Changes,
    PreparedNote,
    ResolvedLink,
    note_rows,
)
from vault_indexer.store.catalog.integrity import record_page_checksums
from vault_indexer.store.catalog.note_rows import ADDED, EMBEDDED, REMOVED

MODEL = "test/model/2"
VECTOR = b"\x00\x3c\x00\x3c"
_numbers = count()


def resolve(target: str, _source: str) -> ResolvedLink:
    return ResolvedLink(target, None, ambiguous=False)


def put_note(writer: CatalogWriter, path: str, *, chunks: int = 2, has_vectors: bool = True) -> None:
    """A note of chunks whose texts nobody else has."""
    bodies = [f"{next(_numbers):06}" for _ in range(chunks)]
    note = Note(path=path, text="".join(bodies), title=path, language="en")
    made = [
        Chunk(f"{path}#{n}", n, "", 6 * n, 6 * n + 6, 1, 1, text, "none") for n, text in enumerate(bodies)
    ]
    digests = [text.encode() for text in bodies]
    vectors = dict.fromkeys(digests, VECTOR) if has_vectors else {}
    row = FileRow(path, 0, 0, 0, 0, "", "note")
    writer.put_note(PreparedNote(row, note_rows(note, made, digests), vectors, 0, 0), resolve, MODEL)


@contextmanager
def reading(path: Path) -> Iterator[CatalogReader]:
    with closing(CatalogReader(path)) as catalog:
        yield catalog


def changes_since(path: Path, seq: int) -> Changes | None:
    with reading(path) as catalog:
        return catalog.changes(seq)


STEPS = st.lists(
    st.tuples(st.sampled_from(("vectors", "words", "remove", "embed", "nothing")), st.sampled_from("ab")),
    max_size=8,
)


@given(steps=STEPS)
def test_changes_lead_from_any_state_to_the_last(steps: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "catalog.db"
        states: list[tuple[int, set[int], set[int]]] = []
        with closing(CatalogWriter(path)) as writer:
            for kind, name in steps:
                with reading(path) as catalog:
                    owed = catalog.missing_vectors(MODEL)
                    states.append((catalog.seq, catalog.chunk_keys(), set(owed)))
                with writer.commit():
                    if kind in ("vectors", "words"):
                        put_note(writer, name, has_vectors=kind == "vectors")
                    elif kind == "remove":
                        writer.remove_note(name)
                    elif kind == "embed":
                        writer.put_vectors(dict.fromkeys(owed.values(), VECTOR), MODEL)
                        writer.log_embedded(owed)
        with reading(path) as catalog:
            keys, owed_now = catalog.chunk_keys(), set(catalog.missing_vectors(MODEL))
            for seq, before, owed_before in states:
                changes = catalog.changes(seq)
                assert changes is not None
                assert (before - changes.removed) | changes.added == keys
                assert changes.added.isdisjoint(before)
                assert changes.removed <= before
                assert (owed_before & keys) - owed_now <= changes.embedded <= keys - owed_now


def test_a_log_reaches_back_to_where_it_was_trimmed_and_never_further(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with closing(CatalogWriter(path)) as writer:
        for _ in range(3):
            with writer.commit():
                put_note(writer, "a", chunks=1)
        assert changes_since(path, 0) is not None
        writer.trim_changes(2)
        writer.trim_changes(1)  # by an index that is further behind
        assert changes_since(path, 1) is None
        changes = changes_since(path, 2)
    assert changes is not None
    assert (len(changes.added), len(changes.removed)) == (1, 1)


def test_a_state_that_the_catalog_has_lost_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with closing(CatalogWriter(path)) as writer, writer.commit():
        put_note(writer, "a")
    assert changes_since(path, 2) is None


def test_a_catalog_of_before_says_how_far_its_log_reaches_once_it_is_written(tmp_path: Path) -> None:
    """Builds did not record it: what is there is a log that begins after the build, or none."""
    path = tmp_path / "catalog.db"
    with closing(CatalogWriter(path, bulk=True)) as writer, writer.commit():
        put_note(writer, "a")
    for since, reaches in ((0, False), (1, True)):
        with closing(sqlite3.connect(path)) as other:
            other.execute("DELETE FROM meta WHERE key = 'trimmed'")
            other.commit()
        record_page_checksums(path)
        with closing(CatalogWriter(path)) as writer:
            assert (changes_since(path, since) is not None) is reaches
            with writer.commit():
                put_note(writer, "a")
            assert (changes_since(path, since) is not None) is reaches


def test_a_chunk_that_came_and_went_is_in_no_set() -> None:
    changes = Changes()
    assert not Changes().touches_text
    for key, operation in ((1, EMBEDDED), (2, EMBEDDED), (2, REMOVED), (3, ADDED), (3, EMBEDDED)):
        changes.note(key, operation)
    assert changes == Changes({3}, {2}, {1, 3})
    assert changes.touches_text
    changes.note(3, REMOVED)
    assert changes == Changes(set(), {2}, {1})
    assert changes.touches_text
    assert Changes(added={1}).touches_text
    assert not Changes(embedded={1}).touches_text
