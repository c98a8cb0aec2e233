"""What becomes of the results of the workers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from small_generation import MODEL, prepared

from vault_indexer.config import Manifest, Settings
from vault_indexer.errors import DiskFullError, ProcessError, ProviderError
from vault_indexer.index.build import BuildSpec, build, build_next
from vault_indexer.index.compatibility import manifest_for
from vault_indexer.index.jobs import (
    ENDED_TWICE,
    Finished,
    FinishJob,
    Job,
    Outcome,
    Pool,
    PrepareJob,
    prepare_all,
)
from vault_indexer.index.reading import Skipped
from vault_indexer.index.workers.pool import Died, Failed
from vault_indexer.model import (
    QUARANTINED,
    FileKind,
    FileRow,
    Progress,
    RebuildReport,
    SkippedFile,
    chunk_key,
)
from vault_indexer.providers.wordllama import wordllama_model
from vault_indexer.store import Generation, IndexDir
from vault_indexer.store.catalog import CatalogReader, PreparedNote
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.store.vectors.index import load_snapshot
from vault_indexer.vault.files import FileStat, RootIdentity
from vault_indexer.vault.ignore import Decision
from vault_indexer.vault.walk import Scan, ScannedFile

Answer = Callable[[PrepareJob, bool], Outcome | Died]


class AnsweringPool:
    """A pool whose workers answer as they are told; each call, with whether it asked for fresh workers."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.closed = 0
        self.told: list[Progress] = []
        self.calls: list[tuple[bool, list[Job]]] = []

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Outcome | Died]]:
        given = list(jobs)
        self.calls.append((fresh, given))
        for job in given:
            yield job, self._answer(job, fresh) if isinstance(job, PrepareJob) else Finished(())

    def close(self) -> None:
        self.closed += 1

    def prepared(self, *jobs: Job) -> list[tuple[str, str]]:
        """The path and the reason of each note that was given back."""
        done = list(prepare_all(cast("Pool", self), jobs))
        return [(one.file.path, one.file.reason) for one in done]


def read(job: PrepareJob) -> Outcome:
    """As a worker would, for notes that are only named."""
    return [Skipped(FileRow(path, 0, 0, 0, 0, "", "skipped", job.quarantine)) for path in job.paths]


def test_every_note_is_given_back_and_other_jobs_are_done_beside() -> None:
    pool = AnsweringPool(lambda job, _: read(job))
    others: list[object] = []
    jobs: list[Job] = [PrepareJob(("a", "b")), FinishJob(), PrepareJob(("c",))]
    done = list(prepare_all(cast("Pool", pool), jobs, others.append))
    assert [one.file.path for one in done] == ["a", "b", "c"]
    assert others == [Finished(())]
    assert pool.calls == [(False, jobs)]
    assert list(prepare_all(cast("Pool", pool), jobs)) == done
    assert list(prepare_all(cast("Pool", pool), [])) == []


def test_a_job_whose_worker_died_is_done_again_a_note_at_a_time() -> None:
    def answer(job: PrepareJob, fresh: bool) -> Outcome | Died:
        return Died("it crashed") if len(job.paths) > 1 else read(job)

    pool = AnsweringPool(answer)
    whole = PrepareJob(("a", "b", "c"), (7, 8, 9), at_once=3, ask=False)
    assert pool.prepared(whole) == [("a", ""), ("b", ""), ("c", "")]
    numbered = zip("abc", (7, 8, 9), strict=True)
    alone = [PrepareJob((path,), (number,), at_once=3, ask=False) for path, number in numbered]
    assert pool.calls == [(False, [whole]), (False, alone)]


def test_a_note_that_was_too_slow_is_set_aside_and_the_others_are_read() -> None:
    def answer(job: PrepareJob, fresh: bool) -> Outcome | Died:
        return Died(excess="took over 9 s", slow_note="b") if len(job.paths) > 1 else read(job)

    pool = AnsweringPool(answer)
    reason = f"{QUARANTINED}took over 9 s"
    given_back = pool.prepared(PrepareJob(("a", "b", "c"), (7, 8, 9)))
    assert given_back == [("a", ""), ("b", reason), ("c", "")]
    aside = PrepareJob(("b",), quarantine=reason)
    assert pool.calls[1] == (False, [PrepareJob(("a",), (7,)), aside, PrepareJob(("c",), (9,))])


def test_a_note_that_alone_took_too_much_is_set_aside_at_once() -> None:
    excess = Died(excess="took over 5 MB of memory")
    pool = AnsweringPool(lambda job, _: read(job) if job.quarantine else excess)
    assert pool.prepared(PrepareJob(("a",))) == [("a", f"{QUARANTINED}took over 5 MB of memory")]
    assert [fresh for fresh, _ in pool.calls] == [False, False]


def test_a_note_that_ends_two_fresh_workers_is_set_aside() -> None:
    pool = AnsweringPool(lambda job, fresh: read(job) if job.quarantine else Died("it crashed", fresh=fresh))
    assert pool.prepared(PrepareJob(("a",))) == [("a", ENDED_TWICE)]
    alone, aside = PrepareJob(("a",)), PrepareJob(("a",), quarantine=ENDED_TWICE)
    assert pool.calls == [(False, [alone]), (True, [alone]), (True, [alone]), (False, [aside])]


def test_a_worker_that_was_ended_by_what_came_before_says_nothing_of_a_note() -> None:
    deaths = 0

    def answer(job: PrepareJob, fresh: bool) -> Outcome | Died:
        nonlocal deaths
        deaths += not fresh
        return read(job) if fresh else Died("it crashed")

    pool = AnsweringPool(answer)
    assert pool.prepared(PrepareJob(("a",)), PrepareJob(("b",))) == [("a", ""), ("b", "")]
    assert [fresh for fresh, _ in pool.calls] == [False, True]
    assert deaths == 2


def test_where_even_naming_a_note_ends_workers_the_work_ends() -> None:
    pool = AnsweringPool(lambda _job, fresh: Died("it crashed", fresh=fresh))
    with pytest.raises(ProcessError, match="end even where a is only named: it crashed"):
        pool.prepared(PrepareJob(("a",)))
    named = [jobs for _, jobs in pool.calls if isinstance(jobs[0], PrepareJob) and jobs[0].quarantine]
    assert len(named) == 5
    assert len(pool.calls) == 3 + 5


class Builders(AnsweringPool):
    """A pool of a build: notes as they are given, and no segment."""

    def __init__(self, *notes: PreparedNote | Skipped) -> None:
        given = {note.file.path: note for note in notes}
        super().__init__(lambda job, _: [given[path] for path in job.paths])

    def each(self, job: Job) -> Iterator[tuple[Job, Outcome | Died]]:
        yield job, Finished(())
        yield job, Died("it was killed")


def spec(**more: object) -> BuildSpec:
    made = BuildSpec(lambda names: manifest_for(Settings(), wordllama_model(), "", names), MODEL, 2)
    return replace(made, **more)  # type: ignore[arg-type]


def found(*paths: str, size: int = 10) -> Scan:
    def decide(path: str) -> Decision:
        return Decision.INDEX if path.endswith(".md") else Decision.LINK_ONLY

    files = [
        ScannedFile(FileStat(path, size, n, n, n + 1), FileKind.NOTE, decide(path))
        for n, path in enumerate(paths)
    ]
    return Scan(RootIdentity(1, 1), files=tuple(files), skipped=(("odd", "not a file"),))


def skip(path: str, reason: str) -> Skipped:
    return Skipped(FileRow(path, 9, 9, 9, 0, "", "skipped", reason))


def test_a_build_says_what_it_has_made_and_what_it_left_out(tmp_path: Path) -> None:
    shortfall = prepared("b.md", "ash")
    shortfall = replace(shortfall, file=replace(shortfall.file, reason="no model"), embedded=2, reused=3)
    whole = replace(prepared("d.md", "oak", "elm", owed=["elm"]), embedded=1)
    pool = Builders(shortfall, skip("a.md", "too deep"), whole, skip("gone.md", ""))
    told: list[Progress] = []
    (tmp_path / "0001").mkdir()
    generation = Generation(1, tmp_path / "0001")
    scanned = found("a.md", "b.md", "c.png", "d.md", "gone.md")
    report = build(generation, spec(blobs={"weights": b"w"}), scanned, cast("Pool", pool), told.append)
    assert (report.generation, report.notes, report.chunks) == (1, 2, 5)
    assert (report.embedded, report.reused, report.left_out) == (3, 3, 0)
    assert report.skipped == (
        SkippedFile("a.md", "too deep"),
        SkippedFile("b.md", "no model", is_indexed=True),
        SkippedFile("odd", "not a file"),
    )
    assert 0 < report.seconds < 600
    stages = [(one.stage, one.notes, one.total) for one in told]
    assert stages == [*(("notes", notes, 4) for notes in (0, 1, 2, 2)), ("keywords", 2, 4), ("vectors", 2, 4)]
    assert (told[-1].notes, told[-1].total, told[-1].chunks) == (2, 4, 5)
    with CatalogReader(generation.catalog) as catalog:
        assert {note.path: note.note_id for note in catalog.all_notes()} == {"b.md": 2, "d.md": 3}
        files = {row.path: (row.state, row.reason) for row in catalog.files()}
        assert files == {
            "a.md": ("skipped", "too deep"),
            "b.md": ("note", "no model"),
            "c.png": ("linked", ""),
            "d.md": ("note", ""),
            "odd": ("skipped", "not a file"),
        }
        assert catalog.blob("weights") == b"w"
        words = KeywordIndex.open(generation.keywords)
        assert words.keys() == catalog.chunk_keys()
        assert words.applied_seq == catalog.seq == 1
        vectors = load_snapshot(generation.vectors)
        assert vectors.live_keys() == {chunk_key(2, 1), chunk_key(3, 1)}
    assert Manifest.from_toml(generation.read_manifest()).embedding_model == wordllama_model()
    assert pool.closed == 1


@pytest.mark.parametrize(("words_first", "at_once"), [(False, None), (True, 0)])
def test_jobs_of_a_build_have_48_notes_with_their_ids(
    tmp_path: Path, words_first: bool, at_once: int | None
) -> None:
    paths = [f"{number:03}.md" for number in range(100)]
    pool = Builders(*(skip(path, "why") for path in paths))
    (tmp_path / "0001").mkdir()
    generation = Generation(1, tmp_path / "0001")
    build(
        generation, spec(words_first=words_first), found(*paths, "z.png"), cast("Pool", pool), lambda _: None
    )
    ((_, jobs),) = pool.calls
    prepares = [job for job in jobs if isinstance(job, PrepareJob)]
    assert [len(job.paths) for job in prepares] == [48, 48, 4]
    assert [job.note_ids[0] for job in prepares] == [1, 49, 97]
    assert {(job.at_once, job.segments, job.ask) for job in prepares} == {
        (at_once, generation.keywords, True)
    }


def next_build(
    index_dir: IndexDir, pool: AnsweringPool, scanned: Scan, first_bytes: int = 1, **more: bool
) -> tuple[Generation, RebuildReport]:
    made = spec(first_bytes=first_bytes)
    return build_next(index_dir, made, scanned, cast("Pool", pool), pool.told.append, **more)


def test_the_next_generation_is_complete_and_not_active(tmp_path: Path) -> None:
    index_dir = IndexDir(tmp_path / "index")
    pool = Builders(prepared("a.md", "oak"), prepared("b.md", "elm"))
    scanned = found("a.md", "b.md")
    generation, report = next_build(index_dir, pool, scanned, 4, newest_only=True)
    assert generation.folder == tmp_path / "index" / "generations" / "0001"
    assert (report.notes, report.left_out) == (0, 2)
    assert {one.total for one in pool.told} == {2}
    assert pool.closed >= 1
    whole, report = next_build(index_dir, pool, scanned, 4)
    assert (whole.number, report.notes, report.left_out) == (2, 2, 0)
    _, report = next_build(index_dir, pool, scanned, 5, newest_only=True)
    assert (report.notes, report.left_out) == (2, 0), "a small vault is built whole"


def test_what_a_failed_build_has_written_is_removed(tmp_path: Path) -> None:
    index_dir = IndexDir(tmp_path / "index")
    pool = AnsweringPool(lambda _job, _fresh: Failed("no model"))
    with pytest.raises(ProviderError, match="no model"):
        next_build(index_dir, pool, found("a.md"))
    assert list((tmp_path / "index" / "generations").iterdir()) == []
    full = AnsweringPool(lambda _job, _fresh: Failed("no room", disk_full=True))
    with pytest.raises(DiskFullError, match=r"about 67 MB required"):
        next_build(index_dir, full, found("a.md", "b.png", size=10_000_000))
    current = index_dir.finish(index_dir.begin())
    index_dir.publish(current)
    (current.folder / "file").write_bytes(bytes(20_000_000))
    with pytest.raises(DiskFullError, match=r"about 37 MB required"):
        next_build(index_dir, full, found("a.md", size=10_000_000))
