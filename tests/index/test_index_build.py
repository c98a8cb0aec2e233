"""What becomes of the results of the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast

import pytest

from vault_indexer.errors import DiskFullError, ProcessError, ProviderError
from vault_indexer.index.build import ENDED_TWICE, Pool, prepare_all
from vault_indexer.index.jobs import Finished, FinishJob, Job, Outcome, PrepareJob
from vault_indexer.index.reading.prepare import Skipped
from vault_indexer.index.workers.job import Died, Failed
from vault_indexer.model import QUARANTINED, FileRow

Answer = Callable[[PrepareJob, bool], Outcome | Died]


class FailingPool:
    """A pool whose workers have no disk, or no model."""

    def __init__(self, disk_full: bool) -> None:
        self._failed = Failed("no room", disk_full)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Failed]]:
        for job in jobs:
            yield job, self._failed


@pytest.mark.parametrize(("disk_full", "error"), [(True, DiskFullError), (False, ProviderError)])
def test_a_full_disk_is_told_from_a_model_that_fails(disk_full: bool, error: type[Exception]) -> None:
    with pytest.raises(error, match="no room") as raised:
        list(prepare_all(cast(Pool, FailingPool(disk_full)), [PrepareJob(("Bread.md",))]))
    assert raised.type is error


class AnsweringPool:
    """A pool whose workers answer as they are told; each call, with whether it asked for fresh workers."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.calls: list[tuple[bool, list[Job]]] = []

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Outcome | Died]]:
        given = list(jobs)
        self.calls.append((fresh, given))
        for job in given:
            yield job, self._answer(job, fresh) if isinstance(job, PrepareJob) else Finished(())

    def prepared(self, *jobs: Job) -> list[tuple[str, str]]:
        """The path and the reason of each note that was given back."""
        done = list(prepare_all(cast(Pool, self), jobs))
        return [(one.file.path, one.file.reason) for one in done]


def read(job: PrepareJob) -> Outcome:
    """As a worker would, for notes that are only named."""
    return [Skipped(FileRow(path, 0, 0, 0, 0, "", "skipped", job.quarantine)) for path in job.paths]


def test_every_note_is_given_back_and_other_jobs_are_done_beside() -> None:
    pool = AnsweringPool(lambda job, _: read(job))
    others: list[object] = []
    jobs: list[Job] = [PrepareJob(("a", "b")), FinishJob(), PrepareJob(("c",))]
    done = list(prepare_all(cast(Pool, pool), jobs, others.append))
    assert [one.file.path for one in done] == ["a", "b", "c"]
    assert others == [Finished(())]
    assert pool.calls == [(False, jobs)]
    assert list(prepare_all(cast(Pool, pool), jobs)) == done
    assert list(prepare_all(cast(Pool, pool), [])) == []


def test_a_job_whose_worker_died_is_done_again_a_note_at_a_time() -> None:
    def answer(job: PrepareJob, fresh: bool) -> Outcome | Died:
        return Died("it crashed") if len(job.paths) > 1 else read(job)

    pool = AnsweringPool(answer)
    whole = PrepareJob(("a", "b", "c"), (7, 8, 9), at_once=3, ask=False)
    assert pool.prepared(whole) == [("a", ""), ("b", ""), ("c", "")]
    assert pool.calls == [
        (False, [whole]),
        (
            False,
            [
                PrepareJob((path,), (number,), at_once=3, ask=False)
                for path, number in (("a", 7), ("b", 8), ("c", 9))
            ],
        ),
    ]


def test_a_note_that_was_too_slow_is_set_aside_and_the_others_are_read() -> None:
    def answer(job: PrepareJob, fresh: bool) -> Outcome | Died:
        return Died(excess="took over 9 s", slow_note="b") if len(job.paths) > 1 else read(job)

    pool = AnsweringPool(answer)
    assert pool.prepared(PrepareJob(("a", "b", "c"), (7, 8, 9))) == [
        ("a", ""),
        ("b", f"{QUARANTINED}took over 9 s"),
        ("c", ""),
    ]
    assert pool.calls[1] == (
        False,
        [
            PrepareJob(("a",), (7,)),
            PrepareJob(("b",), quarantine=f"{QUARANTINED}took over 9 s"),
            PrepareJob(("c",), (9,)),
        ],
    )


def test_a_note_that_alone_took_too_much_is_set_aside_at_once() -> None:
    pool = AnsweringPool(
        lambda job, _: read(job) if job.quarantine else Died(excess="took over 5 MB of memory")
    )
    assert pool.prepared(PrepareJob(("a",))) == [("a", f"{QUARANTINED}took over 5 MB of memory")]
    assert [fresh for fresh, _ in pool.calls] == [False, False]


def test_a_note_that_ends_two_fresh_workers_is_set_aside() -> None:
    pool = AnsweringPool(lambda job, fresh: read(job) if job.quarantine else Died("it crashed", fresh=fresh))
    assert pool.prepared(PrepareJob(("a",))) == [("a", ENDED_TWICE)]
    alone = PrepareJob(("a",))
    assert pool.calls == [
        (False, [alone]),
        (True, [alone]),
        (True, [alone]),
        (False, [PrepareJob(("a",), quarantine=ENDED_TWICE)]),
    ]


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
