"""The better vectors of `auto`: when they are made, how much at a time, what is kept of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from golden_cases import check_golden, of_parts
from loop_by_hand import Clock
from reliability_lab import in_one_process
from vault_at_work import Place, daemon, fresh_export, hits, holding, opened, place, provider_of, wait_for

from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.tasks.upgrade import UpgradeRules, UpgradeTask
from vault_indexer.errors import UsageError
from vault_indexer.index.jobs import Embedded, EmbedJob
from vault_indexer.model import VectorUpgrade
from vault_indexer.providers import better_model
from vault_indexer.store import IndexDir
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.catalog.integrity import record_page_checksums


class Index:
    """Stands for an open generation: the chunks that lack a vector, its writer, catalog and process."""

    def __init__(self, chunks: int, number: int = 1) -> None:
        self.chunks = chunks
        self.missing = list(range(chunks))
        self.kept: list[tuple[str, tuple[int, ...]]] = []
        self.closed = 0
        self.lists = 0
        self.has_workers = False
        self.generation = SimpleNamespace(number=number)
        self.writer = self.holder = self.catalog = self
        model = SimpleNamespace(key="better", name="the better model", provider="multilingual")
        self.upgrade = SimpleNamespace(model=model, pool=self)

    @contextmanager
    def lease(self) -> Iterator[Index]:
        yield self

    def newest_missing(self, model: str, limit: int) -> list[int]:
        assert model == "better"
        self.lists += 1
        return self.missing[:limit]

    def embedded_count(self) -> int:
        return self.chunks

    def missing_count(self, model: str) -> int:
        assert model == "better"
        return len(self.missing)

    def keep_vectors(self, vectors: object, model: str, keys: tuple[int, ...]) -> None:
        del vectors
        self.kept.append((model, keys))
        self.missing = [key for key in self.missing if key not in keys]

    def close(self) -> None:
        self.closed += 1


def open_as(index: Index) -> OpenGeneration:
    return cast(OpenGeneration, index)


class ByHand:
    """A task, and what it finds of the machine."""

    def __init__(self, most_s: float = 3600.0, *, on_battery: bool = True) -> None:
        self.clock = Clock()
        self.completed = 0
        self.is_on_battery = False
        self.free: int | None = None
        self.task = UpgradeTask(
            UpgradeRules(most_s, on_battery),
            self._complete,
            self.clock,
            is_on_battery=lambda: self.is_on_battery,
            free_memory=lambda: self.free,
        )

    def _complete(self) -> None:
        self.completed += 1

    @property
    def progress(self) -> VectorUpgrade:
        assert self.task.progress is not None
        return self.task.progress

    def begin(self, index: Index) -> tuple[int, ...]:
        """The chunks of the portion that would be begun now."""
        work = self.task.next_work(open_as(index))
        return () if work is None else work.job.keys

    def made(self, index: Index, seconds: float = 2.0) -> tuple[int, ...]:
        """Have a portion made in so many seconds."""
        keys = self.begin(index)
        self.clock.now += seconds
        result = cast(Embedded, SimpleNamespace(vectors={}, seconds=seconds))
        self.task.accept(open_as(index), cast(EmbedJob, SimpleNamespace(keys=keys)), result)
        return keys

    def fail(self, index: Index) -> tuple[int, ...]:
        keys = self.begin(index)
        self.task.fail(open_as(index), cast(EmbedJob, SimpleNamespace(keys=keys)), "it is down")
        return keys


def test_portions_go_through_the_chunks_once_newest_notes_first() -> None:
    one, index = ByHand(), Index(70)
    assert [one.made(index) for _ in range(3)] == [(*range(32),), (*range(32, 64),), (*range(64, 70),)]
    assert index.lists == 1, "what is missing is listed once"
    assert {model for model, _ in index.kept} == {"better"}
    assert one.begin(index) == ()
    assert (one.completed, index.closed, index.lists) == (1, 1, 2)


def test_what_is_left_and_how_long_it_takes_follows_what_was_made() -> None:
    one, index = ByHand(), Index(1000)
    assert one.begin(index) == tuple(range(32))
    assert one.task.progress == VectorUpgrade("multilingual", 0, 1000, 11, "")  # 90 texts a second
    one.made(index, seconds=3.2)
    # 10 texts a second were made, so that 50 are expected, and 968 are left
    assert one.task.progress == VectorUpgrade("multilingual", 32, 1000, 19, "")


def test_what_takes_too_long_a_battery_or_too_much_memory_is_not_begun() -> None:
    def waits_for(chunks: str, rules: str, machine: str) -> str:
        one, index, found = ByHand(**json.loads(rules)), Index(int(chunks)), json.loads(machine)
        index.has_workers = found.pop("has_workers", False)
        vars(one).update(found)
        is_begun, waits = bool(one.begin(index)), one.progress.waits_for
        assert is_begun is (not waits)
        assert index.closed == bool(waits), "a model that is not used takes no memory"
        return waits or "begun"

    check_golden(Path(__file__).parent / "fixtures" / "upgrade_pace.md", {"": of_parts(waits_for)})


def test_what_was_waited_for_is_looked_at_again_after_a_minute() -> None:
    one, index = ByHand(on_battery=False), Index(5)
    one.is_on_battery = True
    assert one.begin(index) == ()
    one.is_on_battery = False
    one.clock.now += 59.9
    assert one.begin(index) == ()
    one.clock.now += 0.1
    assert one.begin(index) == (0, 1, 2, 3, 4)


def test_an_index_that_has_all_vectors_is_looked_at_again_after_five_minutes() -> None:
    one, index = ByHand(), Index(5)
    index.missing = []
    assert one.begin(index) == ()
    one.clock.now += 299.9
    assert (one.begin(index), one.completed) == ((), 1)
    one.clock.now += 0.1
    assert (one.begin(index), one.completed) == ((), 2)
    empty = ByHand()
    assert (empty.begin(Index(0)), empty.completed) == ((), 0), "there is nothing to change to another model"


def test_an_edit_puts_it_off_for_three_seconds() -> None:
    one, index = ByHand(), Index(5)
    one.task.observe(is_idle=False)
    one.clock.now += 2.9
    one.task.observe(is_idle=True)
    assert one.begin(index) == ()
    one.clock.now += 0.1
    assert one.begin(index) != ()


def test_another_generation_begins_anew() -> None:
    one = ByHand()
    one.made(Index(70))
    one.task.size = 1
    one.fail(Index(70))
    one.clock.now += 600.0
    assert one.begin(Index(3, number=2)) == (0,), "and tries what failed before"


def test_a_text_that_failed_alone_is_left_out_and_the_rest_is_made() -> None:
    one, index = ByHand(), Index(3)
    one.task.size = 1
    assert one.fail(index) == (0,)
    assert one.task.fault == "creating better vectors failed, will retry: it is down"
    one.clock.now += 4.9
    assert one.begin(index) == ()
    one.clock.now += 0.1
    assert one.made(index) == (1,)
    assert one.task.fault == ""
    assert (one.progress.done, one.progress.total) == (1, 3)
    assert one.made(index) == (2,)
    assert one.begin(index) == ()
    assert (one.completed, index.missing) == (1, [0])


def test_while_they_are_paused_the_model_takes_no_memory_and_that_is_said_once() -> None:
    one, index = ByHand(), Index(40)
    one.made(index)
    one.fail(index)
    one.task.paused = True
    for _ in range(3):
        assert one.begin(index) == ()
        assert one.progress.waits_for == "paused: indexer embed --resume continues"
    assert (one.progress.done, one.progress.total, index.closed) == (32, 40, 1)
    one.task.paused = False
    assert one.begin(index) != (), "it goes on at once"


def test_an_index_with_the_best_model_has_nothing_to_say() -> None:
    one, index = ByHand(), Index(40)
    one.fail(index)
    assert one.task.progress and one.task.fault
    index.upgrade = None  # type: ignore[assignment]
    assert one.begin(index) == ()
    assert not one.task.progress
    assert not one.task.fault


@pytest.mark.parametrize(("hours", "on_battery", "most_s"), [(2.5, True, 9000.0), (0.0, False, 0.0)])
def test_the_rules_are_those_of_the_configuration(hours: float, on_battery: bool, most_s: float) -> None:
    settings = EmbeddingSettings(max_upgrade_hours=hours, upgrade_on_battery=on_battery)
    assert UpgradeRules.of(settings) == UpgradeRules(most_s, on_battery)


NOTES = {
    "Bread.md": "# Bread\n\nKnead the dough until it is smooth, and then let it rise for an hour.\n",
    "Boat.md": "# Regatta\n\nThe sailors hoisted the sail before they left the harbour in the wind.\n",
    "Dentista.md": "# Dientes\n\nEl dentista dice que hay que cepillarse los dientes dos veces al día.\n",
}


def built_static(folder: Path) -> Place:
    """A vault whose index has static vectors, as that of a large vault has at first."""
    where = place(folder, NOTES)
    with opened(where, {"embedding.provider": "wordllama"}) as service:
        assert provider_of(service) == "wordllama"
    return where


def catalog_of(where: Place) -> CatalogReader:
    generation = IndexDir(where.index_dir).current()
    assert generation is not None
    return CatalogReader(generation.catalog)


def words_of_chunks(where: Place) -> dict[str, bytes]:
    """What the index keeps of the words of its chunks, by note."""
    with catalog_of(where) as catalog:
        keys = catalog.chunk_keys_at(list(NOTES))
        return {path: catalog.chunk_words(own).get(own[0], b"") for path, own in keys.items()}


def missing(where: Place) -> int:
    """How many chunks of the index have no vector of the better model."""
    model = better_model()
    assert model is not None
    with catalog_of(where) as catalog:
        return catalog.missing_count(model.key)


@pytest.mark.long
def test_the_index_changes_to_the_better_model_by_itself(tmp_path: Path) -> None:
    where = built_static(tmp_path)
    before = words_of_chunks(where)
    assert all(before.values())
    with daemon(where, processes=True) as service:
        where.write("Oven.md", "# Oven\n\nError E-417 means that the fan of the oven is blocked: basalt.\n")
        wait_for(lambda: "Oven.md" in holding(service, "basalt"))
        wait_for(lambda: provider_of(service) == "multilingual" and service.status().state == "ready")
        assert "Oven.md" in holding(service, "basalt"), "an edit on the way is in both"
        assert service.status().upgrade is None
        assert hits(service, "how often should I brush my teeth")[0].path == "Dentista.md"
        assert service.verify() == ()
        upgraded = list(service.export())
    assert words_of_chunks(where) == before
    assert upgraded == fresh_export(where)


@pytest.mark.long
def test_an_index_whose_chunks_have_no_words_is_built_again_with_the_vectors_it_has(tmp_path: Path) -> None:
    where = place(tmp_path, NOTES)
    with opened(where) as service:
        assert provider_of(service) == "multilingual"
    expected = words_of_chunks(where)
    make_older(where)
    assert not any(words_of_chunks(where).values())
    _, report = in_one_process(where.target()).build_next(lambda _: None, recompute_weights=False)
    assert (report.embedded, report.reused) == (0, len(NOTES))
    with opened(where) as service:
        assert service.status().generation > 1
        assert provider_of(service) == "multilingual"
    assert words_of_chunks(where) == expected


def make_older(where: Place) -> None:
    """The index as it was before words were numbered beside the vectors of the sentence model."""
    generation = IndexDir(where.index_dir).current()
    assert generation is not None
    with closing(sqlite3.connect(generation.catalog)) as database:
        database.execute("DELETE FROM chunk_words")
        database.commit()
    record_page_checksums(generation.catalog)
    lines = generation.read_manifest().splitlines(keepends=True)
    generation.write_manifest("".join(line for line in lines if not line.startswith("word_vectors")))


@pytest.mark.long
def test_nothing_is_made_that_is_not_wanted(tmp_path: Path) -> None:
    where = built_static(tmp_path)
    for key in ("max_upgrade_hours = 0", 'provider = "wordllama"'):
        where.configure(f"[index]\nworkers = 1\n[embedding]\n{key}\n")
        with taken(where) as current:
            assert current.upgrade is None


@contextmanager
def taken(where: Place) -> Iterator[OpenGeneration]:
    """The open generation of an index, with workers in this process, for a task that is called by hand."""
    assembly = in_one_process(where.target())
    generation = assembly.index_dir.current()
    assert generation is not None
    with closing(assembly.open_generation(generation)) as current:
        yield current


@pytest.mark.long
def test_a_rebuild_uses_the_better_model_where_that_is_asked_for_and_nobody_chose_another(
    tmp_path: Path,
) -> None:
    where = built_static(tmp_path)
    with opened(where, {"embedding.provider": "wordllama"}) as service:
        with pytest.raises(UsageError, match=r'embedding\.provider is "wordllama": only "auto"'):
            service.rebuild(lambda _: None, RebuildOptions(better=True))
        assert provider_of(service) == "wordllama"
    where.configure("[index]\nworkers = 1\n[embedding]\nmax_upgrade_hours = 0\n")
    with opened(where) as service:
        assert provider_of(service) == "wordllama"
        service.rebuild(lambda _: None, RebuildOptions(better=True))
        assert provider_of(service) == "multilingual"


@pytest.mark.long
def test_what_is_made_is_kept_and_never_made_again(tmp_path: Path) -> None:
    where, completed = built_static(tmp_path), list[bool]()

    def made() -> UpgradeTask:
        rules = UpgradeRules(most_s=3600, on_battery=True)
        return UpgradeTask(rules, lambda: completed.append(True), Clock(), free_memory=lambda: None)

    assert missing(where) == 3
    with taken(where) as current:
        task = made()
        work = task.next_work(current)
        assert work is not None
        assert task.progress == VectorUpgrade("multilingual", 0, 3, 0)
        assert missing(where) == 3
        ((job, result),) = work.pool.run([work.job])
        assert isinstance(result, Embedded)
        task.accept(current, job, result)
    assert (missing(where), completed) == (0, [])
    with taken(where) as current:
        again = made()
        assert again.next_work(current) is None
        assert (again.progress, completed) == (VectorUpgrade("multilingual", 3, 3, 0), [True])
