"""The better vectors of `auto`: made while the daemon is idle, kept over restarts, then searched by."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from loop_by_hand import Clock
from reliability_lab import in_one_process
from vault_at_work import Place, daemon, hits, holding, opened, place, wait_for

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.tasks.upgrade import UpgradeRules, UpgradeTask
from vault_indexer.errors import UsageError
from vault_indexer.index.jobs import Embedded
from vault_indexer.model import VectorUpgrade
from vault_indexer.providers import better_model
from vault_indexer.service import VaultService
from vault_indexer.store import IndexDir
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.catalog.integrity import record_page_checksums

pytestmark = pytest.mark.long

NOTES = {
    "Bread.md": "# Bread\n\nKnead the dough until it is smooth, and then let it rise for an hour.\n",
    "Boat.md": "# Regatta\n\nThe sailors hoisted the sail before they left the harbour in the wind.\n",
    "Dentista.md": "# Dientes\n\nEl dentista dice que hay que cepillarse los dientes dos veces al día.\n",
}


def model_of(service: VaultService) -> object:
    model = service.status().manifest["embedding_model"]
    assert isinstance(model, dict)
    return model["provider"]


def built_static(folder: Path) -> Place:
    """A vault whose index has static vectors, as that of a large vault has at first."""
    where = place(folder, NOTES)
    with opened(where, {"embedding.provider": "wordllama"}) as service:
        assert model_of(service) == "wordllama"
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


def test_the_index_changes_to_the_better_model_by_itself(tmp_path: Path) -> None:
    where = built_static(tmp_path)
    before = words_of_chunks(where)
    assert all(before.values())
    with daemon(where, processes=True) as service:
        where.write("Oven.md", "# Oven\n\nError E-417 means that the fan of the oven is blocked: basalt.\n")
        wait_for(lambda: "Oven.md" in holding(service, "basalt"))
        wait_for(lambda: model_of(service) == "multilingual" and service.status().state == "ready")
        assert "Oven.md" in holding(service, "basalt"), "an edit on the way is in both"
        assert service.status().upgrade is None
        assert hits(service, "how often should I brush my teeth")[0].path == "Dentista.md"
        assert service.verify() == ()
        upgraded = list(service.export())
    assert words_of_chunks(where) == before
    with opened(Place(where.vault, where.index_dir.with_name("fresh"), where.config)) as service:
        assert model_of(service) == "multilingual"
        assert upgraded == list(service.export())


def test_an_index_whose_chunks_have_no_words_is_built_again_with_the_vectors_it_has(tmp_path: Path) -> None:
    where = place(tmp_path, NOTES)
    with opened(where) as service:
        assert model_of(service) == "multilingual"
    expected = words_of_chunks(where)
    make_older(where)
    assert not any(words_of_chunks(where).values())
    _, report = in_one_process(where.target()).build_next(lambda _: None, recompute_weights=False)
    assert (report.embedded, report.reused) == (0, len(NOTES))
    with opened(where) as service:
        assert service.status().generation > 1
        assert model_of(service) == "multilingual"
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


def test_a_rebuild_uses_the_better_model_where_that_is_asked_for_and_nobody_chose_another(
    tmp_path: Path,
) -> None:
    where = built_static(tmp_path)
    with opened(where, {"embedding.provider": "wordllama"}) as service:
        with pytest.raises(UsageError, match=r'embedding\.provider is "wordllama": only "auto"'):
            service.rebuild(lambda _: None, RebuildOptions(better=True))
        assert model_of(service) == "wordllama"
    where.configure("[index]\nworkers = 1\n[embedding]\nmax_upgrade_hours = 0\n")
    with opened(where) as service:
        assert model_of(service) == "wordllama"
        service.rebuild(lambda _: None, RebuildOptions(better=True))
        assert model_of(service) == "multilingual"


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
