"""What a writer of the index makes of plans and vectors, where the workers answer as they are told."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from small_generation import MODEL, prepared, small_generation, vector

from vault_indexer.config import Settings
from vault_indexer.errors import IndexUnusableError, ProviderError, UnavailableError
from vault_indexer.index.compatibility import StrategiesInUse
from vault_indexer.index.jobs import (
    Embedded,
    EmbedJob,
    Job,
    KeywordsJob,
    NoteWorker,
    Outcome,
    Pool,
    PrepareJob,
    WarmJob,
)
from vault_indexer.index.plan import Applied, Plan
from vault_indexer.index.reading import Skipped
from vault_indexer.index.workers.pool import Died, Failed
from vault_indexer.index.writer import AT_ONCE, IndexWriter, Linker
from vault_indexer.model import SPLIT_WITHOUT_MODEL, FileRow, Problem, chunk_key
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader, CatalogWriter, PreparedNote

OAK, MAPLE, WILLOW = chunk_key(1, 1), chunk_key(1, 2), chunk_key(2, 1)


class Desk:
    """A pool that gives the notes that lie on it; words are written as by a worker."""

    def __init__(self) -> None:
        self.notes: dict[str, PreparedNote | Skipped] = {}
        self.jobs: list[Job] = []
        self.embeds: list[Outcome | Died] = []
        self.is_closed = False
        self.stops = 0
        self._worker = NoteWorker(lambda: pytest.fail("no note is parsed"))

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Outcome | Died]]:
        assert not fresh
        for job in jobs:
            self.jobs.append(job)
            yield job, self._answer(job)

    def _answer(self, job: Job) -> Outcome | Died:
        if isinstance(job, PrepareJob):
            return [self.notes[path] for path in job.paths]
        if isinstance(job, EmbedJob):
            return self.embeds.pop(0)
        return [] if isinstance(job, WarmJob) else self._worker.handle(job)

    def stop(self) -> None:
        self.stops += 1

    def close(self) -> None:
        self.is_closed = True

    def put(self, *notes: PreparedNote | Skipped) -> Plan:
        """Lay notes down, and plan to read them."""
        self.notes |= {note.file.path: note for note in notes}
        return Plan(read=tuple(note.file.path for note in notes))


@pytest.fixture
def generation(tmp_path: Path) -> Generation:
    return small_generation(tmp_path)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def open_writer(generation: Generation, desk: Desk, *, slow: bool = False) -> IndexWriter:
    strategies = StrategiesInUse(generation, Settings())
    return IndexWriter(generation, MODEL, 2, cast(Pool, desk), strategies=strategies, is_slow_model=slow)


@pytest.fixture
def writer(generation: Generation, desk: Desk) -> Iterator[IndexWriter]:
    with closing(open_writer(generation, desk)) as writer:
        yield writer


def paths_in(writer: IndexWriter) -> list[str]:
    with writer.holder.lease() as snapshot:
        assert snapshot.seq == snapshot.vectors.seq == snapshot.catalog.seq
        assert set(snapshot.keywords.keys.tolist()) == snapshot.catalog.chunk_keys()
        assert snapshot.missing_vectors == writer.missing_vectors
        return snapshot.catalog.note_paths()


def test_a_plan_is_carried_out_and_says_what_it_did(writer: IndexWriter, desk: Desk) -> None:
    skipped = Skipped(FileRow("big.md", 9, 9, 9, 9, "", "skipped", "too large"))
    vanished = Skipped(FileRow("gone.md", 0, 0, 0, 0, "", "skipped", ""))
    plan = desk.put(prepared("c.md", "birch"), skipped, vanished, prepared("b.md", "willow", "ash"))
    linked = FileRow("pic.png", 1, 1, 1, 1, "", "linked")
    left: list[int] = []
    done = writer.apply(replace(plan, linked=(linked,), removed=("a.md",)), left.append)
    assert done == Applied(("c.md", "b.md"), ("a.md",), ("pic.png", "big.md"), 0, frozenset())
    assert left == [3, 2, 1, 0]
    assert paths_in(writer) == ["b.md", "c.md"]
    with writer.holder.lease() as snapshot:
        files = {row.path: row.state for row in snapshot.catalog.files()}
        assert files == {"b.md": "note", "c.md": "note", "big.md": "skipped", "pic.png": "linked"}
        assert snapshot.vectors.live_keys() == {chunk_key(3, 1), chunk_key(4, 1), chunk_key(4, 2)}
    assert writer.missing_vectors == 0


def test_an_empty_plan_changes_nothing_nor_does_a_note_that_still_cannot_be_read(
    writer: IndexWriter, desk: Desk
) -> None:
    vanished = Skipped(FileRow("gone.md", 0, 0, 0, 0, "", "skipped", ""))
    unreadable = [
        Skipped(FileRow("shut.md", 0, 0, 0, 9, "", "skipped", "unreadable: Permission denied", seen_ns))
        for seen_ns in (1, 2)
    ]
    writer.apply(desk.put(unreadable[0]))
    with writer.holder.lease() as before:
        assert writer.apply(Plan()) == writer.apply(desk.put(vanished, unreadable[1])) == Applied()
        with writer.holder.lease() as after:
            assert after is before


def test_a_note_that_cannot_be_read_now_stays_as_it_was(writer: IndexWriter, desk: Desk) -> None:
    shut = FileRow("a.md", 0, 0, 0, 9, "", "skipped", "unreadable: Permission denied", 1)
    with writer.holder.lease() as snapshot:
        before = snapshot.catalog.file("a.md")
    assert before is not None
    for seen_ns, files in ((1, ("a.md",)), (2, ())):
        done = writer.apply(desk.put(Skipped(replace(shut, seen_ns=seen_ns))))
        assert done == Applied(files=files)
    assert paths_in(writer) == ["a.md", "b.md"]
    with writer.holder.lease() as snapshot:
        assert snapshot.catalog.file("a.md") == replace(before, ctime_ns=0, reason=shut.reason, seen_ns=1)
        assert list(snapshot.catalog.quarantine()) == ["a.md"]
    # What says that the note is another file, or too large, takes it out.
    writer.apply(desk.put(Skipped(replace(shut, reason="not a plain file"))))
    assert paths_in(writer) == ["b.md"]


@pytest.mark.parametrize(
    ("digest", "state", "known_reason", "reason", "is_same"),
    [
        ("d", "note", "", "", True),
        ("other", "note", "", "", False),
        ("d", "linked", "", "", False),
        ("d", "note", SPLIT_WITHOUT_MODEL, SPLIT_WITHOUT_MODEL, True),
        ("d", "note", f"line 2: x; {SPLIT_WITHOUT_MODEL}", "line 2: x", False),
        ("d", "note", "", SPLIT_WITHOUT_MODEL, True),
        ("d", "note", "line 2: x", "line 2: x", True),
    ],
)
def test_a_note_of_the_same_text_is_only_touched(
    writer: IndexWriter, desk: Desk, digest: str, state: str, known_reason: str, reason: str, is_same: bool
) -> None:
    def note(digest: str, mtime_ns: int, reason: str) -> PreparedNote:
        made = prepared("c.md", "birch")
        return replace(made, file=replace(made.file, digest=digest, mtime_ns=mtime_ns, reason=reason))

    writer.apply(desk.put(note("d", 1, known_reason)))
    if state != "note":
        writer.apply(Plan(linked=(FileRow("c.md", 1, 1, 1, 1, "d", state),)))
    done = writer.apply(desk.put(note(digest, 2, reason)))
    assert done.indexed == (() if is_same else ("c.md",))
    with writer.holder.lease() as snapshot:
        found = snapshot.catalog.note("c.md")
        assert found is not None
        assert found.mtime_ns == 2
        assert (found.note_id == 3) is is_same


def test_a_plan_of_many_notes_is_committed_in_parts_and_others_come_between(
    writer: IndexWriter, desk: Desk
) -> None:
    plan = desk.put(*(prepared(f"{number:03}.md", "birch") for number in range(100)))
    between: list[int] = []
    left: list[int] = []

    def other() -> None:
        between.append(len(paths_in(writer)))
        writer.apply(desk.put(prepared("between.md", "aspen")))

    done = writer.apply(plan, left.append, other, ask=False)
    assert len(done.indexed) == 100
    assert between == [2], "what is published is of the commits before"
    assert left == [99 - number for number in range(100)]
    assert len(paths_in(writer)) == 2 + 100 + 1
    reads = [job for job in desk.jobs if isinstance(job, PrepareJob)]
    assert [len(job.paths) for job in reads] == [32, 32, 1, 32, 4]
    assert [job.ask for job in reads] == [False, False, True, False, False]
    kinds = [type(job) for job in desk.jobs]
    assert kinds.count(KeywordsJob) == 2 + 1


@pytest.mark.parametrize(
    ("slow", "notes", "owed", "at_once"),
    [(False, 40, False, None), (True, 32, False, AT_ONCE), (True, 33, False, 0), (True, 1, True, 0)],
)
def test_how_many_texts_of_an_edit_are_embedded_at_once(
    generation: Generation, desk: Desk, slow: bool, notes: int, owed: bool, at_once: int | None
) -> None:
    with closing(open_writer(generation, desk, slow=slow)) as writer:
        if not owed:
            writer.put_vectors({b"willow": vector(6)})
        writer.apply(desk.put(*(prepared(f"{number}.md", "birch") for number in range(notes))))
    reads = [job for job in desk.jobs if isinstance(job, PrepareJob)]
    assert {job.at_once for job in reads} == {at_once}


def test_vectors_that_were_owed_are_stored_for_the_chunks_that_wait(
    writer: IndexWriter, generation: Generation
) -> None:
    assert writer.missing_vectors == 1
    job = writer.next_embed_job(5)
    assert job == EmbedJob(generation, (WILLOW,))
    assert writer.is_waiting_for(job)
    with writer.holder.lease() as before:
        assert writer.put_vectors({b"nobody": vector(1)}) == 0
        with writer.holder.lease() as after:
            assert after is before
    assert writer.put_vectors({b"nobody": vector(1), b"willow": vector(6)}) == 1
    assert (writer.missing_vectors, writer.is_waiting_for(job)) == (0, False)
    with writer.holder.lease() as snapshot:
        assert snapshot.vectors.live_keys() == {OAK, MAPLE, WILLOW}
        assert snapshot.catalog.vectors(MODEL, [b"nobody"]) == {}
    assert writer.next_embed_job(5).keys == ()


def test_texts_that_failed_come_last(writer: IndexWriter, desk: Desk) -> None:
    writer.apply(desk.put(prepared("c.md", "birch", owed=["birch"])))
    birch = chunk_key(3, 1)
    assert writer.next_embed_job(2).keys == (birch, WILLOW)
    writer.postpone(writer.next_embed_job(1))
    assert writer.next_embed_job(2).keys == (WILLOW, birch)


def test_vectors_of_another_model_are_kept_for_chunks_that_are_still_there(writer: IndexWriter) -> None:
    made = {b"oak": vector(3), b"gone": vector(4)}
    writer.keep_vectors(made, "another", [OAK, MAPLE, chunk_key(9, 1)])
    with writer.holder.lease() as snapshot:
        assert set(snapshot.catalog.vectors("another", [b"oak", b"gone", b"maple"])) == {b"oak"}
        assert snapshot.vectors.live_keys() == {OAK, MAPLE}
        assert snapshot.seq == 2


def test_all_that_is_owed_is_made_and_a_worker_may_die_once(writer: IndexWriter, desk: Desk) -> None:
    desk.embeds = [Died("ended"), Embedded({b"willow": vector(6)}, 0.1)]
    left: list[int] = []
    writer.complete(left.append)
    assert (left, writer.missing_vectors) == ([0], 0)
    embeds = [job for job in desk.jobs if isinstance(job, EmbedJob)]
    assert embeds == [EmbedJob(writer.generation, (WILLOW,))] * 2


@pytest.mark.parametrize(
    ("answers", "told"), [([Failed("no model")], "no model"), ([Died("one"), Died("two")], "two")]
)
def test_vectors_that_cannot_be_made_are_an_error(
    writer: IndexWriter, desk: Desk, answers: list[Outcome | Died], told: str
) -> None:
    desk.embeds = answers
    with pytest.raises(ProviderError, match=told):
        writer.complete()
    assert writer.missing_vectors == 1


def test_a_commit_that_fails_leaves_the_links_as_they_were(
    writer: IndexWriter, desk: Desk, generation: Generation
) -> None:
    with closing(CatalogReader(generation.catalog)) as before:
        paths = before.note_paths()
    broken = prepared("c.md", "birch")
    broken = replace(broken, rows=replace(broken.rows, headings=[("too few",)]))
    with pytest.raises(IndexUnusableError):
        writer.apply(desk.put(broken))
    assert paths_in(writer) == paths
    writer.apply(desk.put(prepared("d.md", "aspen")))
    assert paths_in(writer) == [*paths, "d.md"]


def test_what_was_found_damaged_is_made_again(generation: Generation, desk: Desk) -> None:
    writer = open_writer(generation, desk)
    generation.vectors.write_bytes(b"x")
    (generation.keywords / "COMMIT").write_bytes(b"x")
    damaged = [Problem(store, "damaged", "") for store in ("vectors", "keywords")]
    writer.repair([Problem("vault", "stale", "why", "a.md"), *damaged])
    with writer.holder.lease() as snapshot:
        files = {row.path: row.digest for row in snapshot.catalog.files()}
        assert files["a.md"] == ""
        assert snapshot.seq == 2
    writer.repair([Problem("links", "stale", "", "a.md")])
    with writer.holder.lease() as snapshot:
        assert snapshot.seq == 3
    writer.repair([Problem("vectors", "missing", "")])
    with writer.holder.lease() as snapshot:
        assert snapshot.seq == 3, "nothing of the catalog is wrong"
    writer.close()
    with closing(open_writer(generation, Desk())) as again:
        assert again.derived.take_healed() == []


def test_what_was_deleted_is_removed_from_disk(writer: IndexWriter, generation: Generation) -> None:
    writer.apply(Plan(removed=("a.md",)))
    writer.purge()
    assert writer.empty_log()
    with writer.holder.lease() as snapshot:
        assert snapshot.catalog.vectors(MODEL, [b"oak", b"maple"]) == {}
        assert snapshot.keywords.document_frequency("oak") == 0
        assert snapshot.vectors.keys.tolist() == []
    assert generation.catalog.with_name("catalog.db-wal").stat().st_size == 0
    assert b"maple" not in generation.catalog.read_bytes()
    assert writer.corruption() == ""


def test_warming_up_loads_the_model_only_where_no_vector_is_owed(writer: IndexWriter, desk: Desk) -> None:
    writer.warm_up()
    assert desk.jobs == [WarmJob(model=False), KeywordsJob(writer.generation)]
    writer.put_vectors({b"willow": vector(6)})
    desk.jobs.clear()
    writer.warm_up()
    assert desk.jobs == [WarmJob(model=True), KeywordsJob(writer.generation)]

    def refuse(_jobs: object) -> Iterator[tuple[Job, Outcome]]:
        raise UnavailableError("stopped")

    desk.run = refuse  # type: ignore[method-assign, assignment]
    writer.warm_up()
    writer.rest()
    writer.stop()
    assert (desk.is_closed, desk.stops) == (True, 1)


def test_links_follow_the_files_that_come_and_go(generation: Generation) -> None:
    with closing(CatalogWriter(generation.catalog)) as catalog:
        linker = Linker(["a.md", "d/b.md"])
        linker.load()
        assert linker("b", "a.md").path == "d/b.md"
        assert (linker("gone", "a.md").path, linker("gone", "a.md").ambiguous) == (None, False)
        linker.add("gone.md")
        linker.remove("d/b.md")
        assert (linker("gone", "a.md").path, linker("b", "a.md").path) == ("gone.md", None)
        with catalog.commit():
            assert (linker.relink(catalog), linker.relink_all(catalog)) == (0, 0)


@pytest.mark.parametrize("harm", ["catalog.db", "catalog.sums"])
def test_a_catalog_that_is_damaged_is_not_opened(generation: Generation, desk: Desk, harm: str) -> None:
    with (generation.folder / harm).open("r+b") as file:
        file.seek(-9, 2)
        file.write(b"damaged")
    with pytest.raises(IndexUnusableError):
        open_writer(generation, desk)


def test_what_is_behind_or_damaged_is_made_good_when_it_is_opened(generation: Generation, desk: Desk) -> None:
    generation.vectors.write_bytes(b"x")
    generation.next_vectors.write_bytes(b"left")
    with closing(open_writer(generation, desk)) as writer:
        (healed,) = writer.derived.take_healed()
        assert healed.startswith("vectors: ")
        assert writer.derived.take_healed() == []
        assert not generation.next_vectors.exists()
        assert not writer.derived.is_behind
        assert not writer.derived.needs_merge
        assert not writer.derived.worth_compacting
        with writer.holder.lease() as snapshot:
            assert snapshot.vectors.live_keys() == {OAK, MAPLE}
    with pytest.raises(IndexUnusableError, match="not open"), writer.holder.lease():
        pass


def test_a_new_base_is_searched_with_what_has_changed_since(
    writer: IndexWriter, desk: Desk, generation: Generation
) -> None:
    writer.derived.begin_compaction().run(None)
    writer.apply(desk.put(prepared("c.md", "birch")))
    made = writer.derived.load_next_base()
    assert made.look.coarse is None
    assert writer.derived.adopt_base(made)
    birch = chunk_key(3, 1)
    with writer.holder.lease() as snapshot:
        assert snapshot.vectors.live_keys() == {OAK, MAPLE, birch}
        assert snapshot.vectors.base is made.base
        found, _ = snapshot.vectors.search(np.frombuffer(vector(5), np.float16).astype(np.float32), 9)
        assert set(found.tolist()) == {OAK, MAPLE, birch}
    assert not generation.next_vectors.exists()
    writer.derived.begin_compaction().run(None)
    late = writer.derived.load_next_base()
    writer.derived.compact_vectors()
    assert not writer.derived.adopt_base(late), "another base is in use"
    assert not generation.next_vectors.exists()


def test_a_base_that_is_like_the_one_in_use_is_made_ready_in_the_same_way(writer: IndexWriter) -> None:
    with writer.holder.lease() as snapshot:
        snapshot.vectors.look.make()
    writer.derived.begin_compaction().run(None)
    assert writer.derived.load_next_base().look.coarse is not None
