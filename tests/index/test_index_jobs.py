"""What a generation is opened with: what fits is taken as it is, all else is made from the catalog; and what
a note's chunks share in the keyword index."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from small_generation import MODEL, prepared, put, small_generation, vector

from vault_indexer.chunk import PROPERTIES
from vault_indexer.errors import DiskFullError, IndexUnusableError
from vault_indexer.index.derived import (
    CompactionJob,
    IndexPrefetch,
    KeywordFollower,
    MergeJob,
    discard_next_base,
    open_to_read,
    open_vectors,
    use_next_base,
)
from vault_indexer.index.jobs import (
    SHARED_TERMS,
    Job,
    KeywordsApplied,
    KeywordsJob,
    NoteWorker,
    Outcome,
    Pool,
    catch_up_keywords,
    keyword_documents,
    rebuild_keywords,
)
from vault_indexer.index.workers.pool import Died, Failed
from vault_indexer.model import Chunk, JsonValue, NoteRow, chunk_key
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader, CatalogWriter, Changes
from vault_indexer.store.keywords import KeywordDocument, KeywordIndex
from vault_indexer.store.keywords.index import Checksum, read_commit_record, write_commit_record
from vault_indexer.store.vectors import index as vectors
from vault_indexer.system import temporary_prefix


@pytest.fixture
def generation(tmp_path: Path) -> Generation:
    return small_generation(tmp_path)


@pytest.fixture
def catalog(generation: Generation) -> Iterator[CatalogReader]:
    with CatalogReader(generation.catalog) as catalog:
        yield catalog


@pytest.fixture
def writer(generation: Generation) -> Iterator[CatalogWriter]:
    with closing(CatalogWriter(generation.catalog)) as writer:
        yield writer


OAK, MAPLE, WILLOW = chunk_key(1, 1), chunk_key(1, 2), chunk_key(2, 1)


def healed(generation: Generation, *, dimension: int = 2, repair: bool = True) -> str:
    """What of the vectors was healed; whatever it was, they are those of the catalog then."""
    with CatalogReader(generation.catalog) as catalog:
        found = open_vectors(generation, catalog, MODEL, dimension, repair=repair)
        assert found.vectors.live_keys() == set(catalog.nonzero_vector_keys(MODEL))
        assert found.vectors.seq == catalog.seq
        assert found.missing_vectors == catalog.missing_vectors(MODEL)
    return found.healed


def test_what_fits_is_taken_as_it_is(generation: Generation, catalog: CatalogReader) -> None:
    before = generation.vectors.read_bytes()
    assert healed(generation) == ""
    assert healed(generation, dimension=0) == "", "nobody says which it is"
    assert generation.vectors.read_bytes() == before
    assert catalog.missing_vectors(MODEL) == {WILLOW: b"willow"}
    other = vectors.load_snapshot(generation.vectors)
    generation.vectors.unlink()
    found = open_vectors(generation, catalog, MODEL, 2, lambda: other)
    assert (found.vectors.base is other.base, found.healed) == (True, "")
    assert not generation.vectors.exists()


def test_what_came_since_is_added_from_the_log(generation: Generation, writer: CatalogWriter) -> None:
    put(writer, prepared("c.md", "birch"))
    with writer.commit():
        writer.remove_note("a.md")
        writer.put_vectors({b"willow": vector(6)}, MODEL)
        writer.log_embedded([WILLOW])
    assert healed(generation) == ""
    assert vectors.load_snapshot(generation.vectors).live_keys() == {OAK, MAPLE}


def other_vectors(seq: int, dimension: int, *rows: tuple[int, bytes]) -> Callable[[Path], None]:
    """The file holds these instead."""
    return lambda file: vectors.save_snapshot(vectors.build_snapshot(seq, dimension, rows), file)


@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda file: file.unlink(), "No such file"),
        (lambda file: file.write_bytes(b"x"), "not a vector file"),
        (other_vectors(1, 3), "they belong to another model"),
        (other_vectors(9, 2), "it does not fit the log of changes"),
        (other_vectors(0, 2), "it does not fit the log of changes"),
        (other_vectors(1, 2, (OAK, vector(1)), (7, vector(2))), "not those of the notes"),
        (other_vectors(1, 2, (1 << 40, vector(1))), "not those of the notes"),
    ],
)
def test_vectors_that_do_not_fit_are_made_again(
    generation: Generation, harm: Callable[[Path], object], told: str, repair: bool
) -> None:
    harm(generation.vectors)
    damaged = generation.vectors.read_bytes() if generation.vectors.exists() else None
    found = healed(generation, repair=repair)
    assert found.startswith("vectors: ")
    assert told in found
    assert found.endswith("; rebuilt from the notes in the index")
    after = generation.vectors.read_bytes() if generation.vectors.exists() else None
    assert (after == damaged) is not repair
    if repair:
        assert healed(generation) == ""


def test_a_catalog_without_chunks_has_no_vectors(tmp_path: Path) -> None:
    (tmp_path / "0001").mkdir()
    bare = Generation(1, tmp_path / "0001")
    CatalogWriter(bare.catalog).close()
    vectors.save_snapshot(vectors.build_snapshot(0, 2, []), bare.vectors)
    assert healed(bare) == ""
    vectors.save_snapshot(vectors.build_snapshot(0, 2, [(OAK, vector(1))]), bare.vectors)
    assert "not those of the notes" in healed(bare)


def test_a_generation_that_another_process_writes_is_only_read(
    generation: Generation, writer: CatalogWriter
) -> None:
    put(writer, prepared("c.md", "birch"))
    generation.vectors.write_bytes(b"x")
    snapshot = open_to_read(generation, MODEL, 2)
    with closing(snapshot.catalog):
        assert (snapshot.generation, snapshot.seq, snapshot.missing_vectors) == (1, 2, 1)
        assert snapshot.languages == ("en",)
        assert snapshot.vectors.live_keys() == {OAK, MAPLE, chunk_key(3, 1)}
        assert set(snapshot.keywords.keys.tolist()) == {OAK, MAPLE, WILLOW}
    assert generation.vectors.read_bytes() == b"x"


def test_files_are_read_in_advance_and_say_what_is_wrong_when_they_are_asked_for(
    generation: Generation,
) -> None:
    files = IndexPrefetch(generation)
    assert files.base().live_keys() == {OAK, MAPLE}
    assert files.keywords().keys() == {OAK, MAPLE, WILLOW}
    generation.vectors.write_bytes(b"x")
    (generation.keywords / "COMMIT").unlink()
    damaged = IndexPrefetch(generation)
    with pytest.raises(IndexUnusableError, match="vector index"):
        damaged.base()
    with pytest.raises(IndexUnusableError, match="keyword index"):
        damaged.keywords()


def test_a_base_is_written_again_beside_the_one_in_use(generation: Generation, writer: CatalogWriter) -> None:
    put(writer, prepared("c.md", "birch"))
    CompactionJob(generation, MODEL, 2).run(None)
    assert vectors.load_snapshot(generation.vectors).live_keys() == {OAK, MAPLE}
    use_next_base(generation)
    assert vectors.load_snapshot(generation.vectors).live_keys() == {OAK, MAPLE, chunk_key(3, 1)}
    assert not generation.next_vectors.exists()
    CompactionJob(generation, MODEL, 2).run(None)
    names = {path.name for path in generation.folder.iterdir()}
    left = generation.folder / f"{temporary_prefix(generation.next_vectors)}half.tmp"
    left.write_bytes(b"x")
    discard_next_base(generation)
    discard_next_base(generation)
    assert {path.name for path in generation.folder.iterdir()} == names - {generation.next_vectors.name}


def test_words_follow_the_log_or_are_compared_by_their_keys(
    generation: Generation, writer: CatalogWriter
) -> None:
    put(writer, prepared("c.md", "birch"))
    with writer.commit():
        writer.remove_note("a.md")
    for is_trimmed in (False, True):
        index = KeywordIndex.open(generation.keywords)
        assert catch_up_keywords(generation, index) == 3 + is_trimmed
        assert index.applied_seq == 3 + is_trimmed
        assert index.keys() == {WILLOW, chunk_key(3, 1), *([chunk_key(4, 1)] if is_trimmed else [])}
        assert index.snapshot().document_frequency("birch") >= 1
        put(writer, prepared("d.md", "aspen"))
        writer.trim_changes(4)


def test_nothing_is_written_for_vectors_alone(generation: Generation, writer: CatalogWriter) -> None:
    with writer.commit():
        writer.put_vectors({b"willow": vector(6)}, MODEL)
        writer.log_embedded([WILLOW])
    files = {path.name for path in generation.keywords.iterdir()}
    index = KeywordIndex.open(generation.keywords)
    assert catch_up_keywords(generation, index) == 2
    assert index.applied_seq == 1
    assert {path.name for path in generation.keywords.iterdir()} == files


def test_an_index_of_words_that_is_ahead_of_its_catalog_is_refused(generation: Generation) -> None:
    KeywordIndex.open(generation.keywords).apply([KeywordDocument(7)], [], 2)
    with pytest.raises(IndexUnusableError, match="changes that the index has lost"):
        catch_up_keywords(generation)
    rebuild_keywords(generation)
    assert catch_up_keywords(generation) == 1
    assert KeywordIndex.open(generation.keywords).keys() == {OAK, MAPLE, WILLOW}


class ScriptedPool:
    """A pool whose worker answers each job with the next of these."""

    def __init__(self, *answers: Outcome | Died) -> None:
        self._answers = list(answers)
        self.jobs: list[Job] = []

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome | Died]]:
        for job in jobs:
            self.jobs.append(job)
            yield job, self._answers.pop(0)


def follower_of(
    generation: Generation, *answers: Outcome | Died
) -> tuple[KeywordFollower, ScriptedPool, list[str]]:
    pool, told = ScriptedPool(*answers), list[str]()
    return KeywordFollower(generation, cast("Pool", pool), IndexPrefetch(generation), told), pool, told


def test_the_words_of_a_change_are_written_by_a_worker_once(
    generation: Generation, writer: CatalogWriter
) -> None:
    follower, pool, told = follower_of(generation, KeywordsApplied(2), KeywordsApplied(4))
    put(writer, prepared("c.md", "birch"))
    with CatalogReader(generation.catalog) as catalog:
        follower.follow(catalog, Changes(embedded={OAK}))
        assert pool.jobs == []
        follower.follow(catalog, Changes(added={chunk_key(3, 1)}))
        follower.follow(catalog, Changes(embedded={OAK}))
        follower.follow(catalog, Changes(added={chunk_key(3, 1)}))
        assert pool.jobs == [KeywordsJob(generation)]
    with writer.commit():
        writer.remove_note("c.md")
    with CatalogReader(generation.catalog) as catalog:
        follower.note_result(KeywordsApplied(3))
        follower.note_result(Died())
        follower.follow(catalog, Changes(removed={chunk_key(3, 1)}))
        assert pool.jobs == [KeywordsJob(generation)], "a job that went ahead has done it"
    follower.compact()
    assert pool.jobs[-1] == KeywordsJob(generation, compact=True)
    assert told == []


def test_words_that_cannot_be_written_are_made_again_or_named(
    generation: Generation, writer: CatalogWriter
) -> None:
    failed, full = Failed("it is damaged"), Failed("no room", disk_full=True)
    follower, pool, told = follower_of(
        generation, Died(), Died(), failed, full, Died("a"), Died("b"), Died("c")
    )
    put(writer, prepared("c.md", "birch"))
    changes = Changes(added={chunk_key(3, 1)})
    with CatalogReader(generation.catalog) as catalog:
        follower.follow(catalog, changes)
        assert told == ["keywords: it is damaged; rebuilt from the notes in the index"]
        assert follower.index.keys() == {OAK, MAPLE, WILLOW, chunk_key(3, 1)}
        follower.follow(catalog, changes)
        assert len(pool.jobs) == 3
    put(writer, prepared("d.md", "aspen"))
    with CatalogReader(generation.catalog) as catalog:
        with pytest.raises(DiskFullError, match="no room"):
            follower.follow(catalog, changes)
        with pytest.raises(
            IndexUnusableError, match=f"{re.escape(str(generation.folder))} cannot be brought up to date: c"
        ):
            follower.follow(catalog, changes)
    assert len(told) == 1


def test_words_that_are_damaged_are_made_again_when_they_are_opened(generation: Generation) -> None:
    (generation.keywords / "COMMIT").write_bytes(b"x")
    follower, pool, told = follower_of(generation)
    assert follower.index.keys() == {OAK, MAPLE, WILLOW}
    assert pool.jobs == []
    assert len(told) == 1
    assert told[0].startswith("keywords: keyword index: ")


def no_preparer() -> object:
    raise AssertionError("no note is read")


def test_a_worker_keeps_the_index_of_words_open_and_opens_another_generation(
    generation: Generation, writer: CatalogWriter, tmp_path: Path
) -> None:
    worker = NoteWorker(no_preparer)  # type: ignore[arg-type]
    assert worker.handle(KeywordsJob(generation)) == KeywordsApplied(1)
    put(writer, prepared("c.md", "birch"))
    assert worker.handle(KeywordsJob(generation)) == KeywordsApplied(2)
    with worker.keywords(generation) as index, worker.keywords(generation) as again:
        assert (index.applied_seq, index.keys()) == (2, {OAK, MAPLE, WILLOW, chunk_key(3, 1)})
        assert again is index
    with worker.keywords(replace(generation, number=2)) as other:
        assert other is not index
    with writer.commit():
        writer.remove_note("a.md")
    assert worker.handle(KeywordsJob(generation, compact=True)) == KeywordsApplied(3)
    assert KeywordIndex.open(generation.keywords).term_frequencies().get("oak", 0) == 0
    (generation.keywords / "COMMIT").write_bytes(b"x")
    failed = worker.handle(KeywordsJob(generation))
    assert isinstance(failed, Failed)
    assert not failed.disk_full
    rebuild_keywords(generation)
    assert worker.handle(KeywordsJob(generation)) == KeywordsApplied(3)
    assert worker.finish().segments == ()


def test_segments_are_merged_by_a_process_of_its_own(generation: Generation) -> None:
    index = KeywordIndex.open(generation.keywords)
    for seq in range(2, 7):
        index.apply([KeywordDocument(seq << 30 | at, content=["oak"]) for at in range(600)], [], seq)
    before = index.segment_count
    MergeJob(generation).run(None)
    index.refresh()
    assert index.segment_count < before
    assert not index.needs_merge


def test_whoever_opened_a_generation_has_checked_its_files_and_others_look_at_their_sizes(
    generation: Generation, catalog: CatalogReader
) -> None:
    record = read_commit_record(generation.keywords)
    wrong = {name: Checksum(size=one.size, crc=one.crc ^ 1) for name, one in record.files.items()}
    write_commit_record(generation.keywords, record.seq, record.generation, record.files, wrong)
    MergeJob(generation).run(None)
    assert NoteWorker(no_preparer).handle(KeywordsJob(generation)) == KeywordsApplied(1)  # type: ignore[arg-type]
    open_to_read(generation, MODEL, 2).catalog.close()
    for check in (catch_up_keywords, lambda one: IndexPrefetch(one).keywords()):
        with pytest.raises(IndexUnusableError, match="size or checksum differs"):
            check(generation)


def chunk(index: int, text: str = "kestrel", **extra: JsonValue) -> Chunk:
    is_context = extra.pop("is_context", False)
    made = Chunk(f"c{index}", index, "Part > One", 0, 9, 1, 1, text, "none", context="ctx", extra=extra)
    return replace(made, embed=not is_context)


def stored_note(path: str, title: str, *lists: object) -> NoteRow:
    aliases, tags, properties = map(json.dumps, lists)
    return NoteRow(0, path, title, "", properties, aliases, tags, 0)


def documents_of(note: NoteRow, *chunks: Chunk) -> list[KeywordDocument]:
    return list(keyword_documents(note, enumerate(chunks, start=10)))


def test_a_document_has_each_field_of_its_note_and_chunk() -> None:
    note = stored_note("dir/Note.md", "Title", ["Alias"], ["tag", "other"], {"material": "basalt"})
    first, second = documents_of(note, chunk(0), chunk(1))
    assert (first.key, second.key) == (10, 11)
    for document in (first, second):
        assert document.title == ["title"]
        assert document.aliases == ["alias"]
        assert document.tags == ["tag", "other"]
        assert document.headers == ["part", "one"]
        assert {"dir", "note"} <= set(document.path)
        assert document.content == ["ctx", "kestrel"]
    assert {"material", "basalt"} <= set(first.properties)
    assert second.properties == []


@pytest.mark.parametrize(
    ("chunks", "firsts"),
    [
        ((chunk(0), chunk(1)), [True, False]),
        ((chunk(0), chunk(1, child_index=0), chunk(2, child_index=0)), [True, True, False]),
        ((chunk(0), chunk(1, child_index=1)), [True, False]),
        (
            (chunk(0, level=0, is_context=True), chunk(1, child_index=0), chunk(2, child_index=1)),
            [True, False],
        ),
    ],
)
def test_the_words_of_a_note_are_whole_in_its_first_chunk_and_that_ones_first_child(
    chunks: tuple[Chunk, ...], firsts: list[bool]
) -> None:
    many = " ".join(f"w{number}x" for number in range(SHARED_TERMS + 1))
    note = stored_note("n.md", many, many.split(), many.split(), {"a": "basalt"})
    documents = documents_of(note, *chunks)
    for name in ("title", "aliases", "tags"):
        lengths = [len(getattr(document, name)) for document in documents]
        assert [length > SHARED_TERMS for length in lengths] == firsts
        assert min(lengths) == SHARED_TERMS
    assert [bool(document.properties) for document in documents] == firsts


def test_of_properties_that_are_the_text_only_what_is_written_otherwise_is_added() -> None:
    note = stored_note("n.md", "n", [], [], {"material": "basalt", "place": "Iceland"})
    (document,) = documents_of(note, chunk(0, "material: basalt", **{PROPERTIES: True}))
    assert set(document.properties) == {"place", "iceland"}
    (plain,) = documents_of(note, chunk(0, "material: basalt"))
    assert {"material", "basalt", "place", "iceland"} <= set(plain.properties)
