"""The pace of owed vectors: portions that fit the model, and one text that it cannot take."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import cast

import pytest
from reliability_lab import InProcessPool, assembly_of, is_slow, make_vault, unheard

from vault_indexer.daemon.assembly import Assembly, OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.embedding import EmbeddingTask
from vault_indexer.daemon.tasks.upkeep import Upkeep
from vault_indexer.index.jobs import Embedded, EmbedJob, Job, Outcome, Pool
from vault_indexer.index.workers.pool import Died, Failed

NOTES = 60


@dataclass
class ScriptedPool:
    """The spare process with a model that takes `seconds` a text, and fails as `fails` says of a job."""

    inner: InProcessPool
    seconds: float = 0.01
    poison: set[int] = field(default_factory=set)
    failure: Failed | Died = field(default_factory=lambda: Failed("it is down"))
    sizes: list[int] = field(default_factory=list)
    closed: int = 0
    _job: EmbedJob | None = None

    def begin(self, job: EmbedJob) -> None:
        assert self._job is None, "one portion at a time"
        self._job = job
        self.sizes.append(len(job.keys))

    def result(self) -> tuple[Job, Outcome | Died] | None:
        job, self._job = self._job, None
        if job is None:
            return None
        if self.poison & set(job.keys):
            return job, self.failure
        ((_, result),) = self.inner.each(job)
        assert isinstance(result, Embedded)
        return job, replace(result, seconds=self.seconds * len(job.keys))

    def close(self) -> None:
        self.closed += 1


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    folder = tmp_path_factory.mktemp("owed")
    vault = make_vault(folder / "vault", random.Random("owed"), 1)
    for number in range(NOTES):
        (vault / f"{number:02}.md").write_text(f"Number {number} of the long list of notes.\n")
    made = replace(assembly_of(vault, folder / "index"), is_slow=is_slow)
    made.index_dir.prepare()
    return made


@pytest.fixture
def current(built: Assembly) -> Iterator[OpenGeneration]:
    shutil.rmtree(built.root / "generations")  # it would know all vectors
    built.index_dir.prepare()
    generation, _ = built.build_next(unheard, recompute_weights=True, newest_only=True)
    built.index_dir.publish(generation)
    opened = built.open_generation(generation)
    yield replace(opened, spare=cast(Pool, ScriptedPool(cast(InProcessPool, opened.spare))))
    opened.close()


def scripted(current: OpenGeneration) -> ScriptedPool:
    return cast(ScriptedPool, current.spare)


@pytest.fixture
def source(built: Assembly, current: OpenGeneration) -> VaultSync:
    made = VaultSync(built, live=True)
    made.current = current
    return made


def worked_off(embedding: Upkeep, current: OpenGeneration, clock: Clock) -> list[float]:
    """Steps until nothing is owed; the seconds that were waited between portions."""
    waited: list[float] = []
    for _ in range(400):
        if not current.writer.missing_vectors:
            return waited
        begun = len(scripted(current).sizes)
        embedding.step(is_idle=True)
        if (
            current.writer.missing_vectors
            and len(scripted(current).sizes) == begun
            and embedding.doing is None
        ):
            waited.append(0.5)
            clock.now += 0.5
    raise AssertionError("it does not come to an end")


@pytest.mark.parametrize(("seconds", "expected"), [(0.25, 2), (0.02, 25), (0.0001, 32)])
def test_a_portion_grows_or_shrinks_to_half_a_second(
    source: VaultSync, current: OpenGeneration, seconds: float, expected: int
) -> None:
    pool, clock = scripted(current), Clock()
    pool.seconds = seconds
    task = EmbeddingTask(clock)
    embedding = Upkeep(source, [task])
    assert worked_off(embedding, current, clock) == []
    embedding.step(is_idle=True)
    assert pool.sizes[0] == 16
    assert expected in pool.sizes
    assert all(size * seconds <= 0.55 for size in pool.sizes[4:])
    assert (pool.closed, embedding.doing, task.fault) == (1, None, "")


@pytest.mark.parametrize(
    "failure", [Failed("too long for the model"), Died("ended by signal 11")], ids=["refused", "killed"]
)
def test_one_text_that_the_model_cannot_take_holds_up_no_other(
    source: VaultSync, current: OpenGeneration, failure: Failed | Died
) -> None:
    pool, clock = scripted(current), Clock()
    owed, bad = current.writer.missing_vectors, current.writer.next_embed_job(1).keys[0]
    pool.poison, pool.failure = {bad}, failure
    task = EmbeddingTask(clock)
    embedding = Upkeep(source, [task])
    for _ in range(200):
        embedding.step(is_idle=True)
        clock.now += 0.5
    assert current.writer.missing_vectors == 1 < owed
    assert current.writer.next_embed_job(9).keys == (bad,)
    assert "will retry" in task.fault
    assert failure.reason in task.fault
    pool.poison = set()
    worked_off(embedding, current, clock)
    embedding.step(is_idle=True)
    assert task.fault == ""


def test_a_model_that_is_down_is_asked_ever_more_rarely(source: VaultSync, current: OpenGeneration) -> None:
    pool, clock = scripted(current), Clock()
    pool.poison = set(current.writer.next_embed_job(999).keys)
    embedding, before = Upkeep(source, [EmbeddingTask(clock)]), current.writer.missing_vectors
    for _ in range(3600):
        embedding.step(is_idle=True)
        clock.now += 1.0
    assert 10 <= len(pool.sizes) <= 24, "an hour"
    assert current.writer.missing_vectors == before
