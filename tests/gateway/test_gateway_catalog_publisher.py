"""What a server holds of a vault after each step, and how a publication finds out what it lacks."""

import copy
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from milvus_in_memory import MilvusInMemory
from notes_here import NotesHere
from reliability_lab import in_one_process
from vault_at_work import Place, place, silent

from vault_gateway.access import PublishedVaults, Users
from vault_gateway.bodies import NoBodies
from vault_gateway.calls import MilvusCalls
from vault_gateway.metrics import GatewayMetrics
from vault_gateway.milvus import (
    CollectionMissingError,
    MilvusPublisher,
    MilvusVaults,
    OutdatedStateError,
    VaultState,
)
from vault_gateway.owner import NotOwnerError, PublishedVault
from vault_gateway.publication import CatalogPublisher, Change, Publication, PublishedEpoch
from vault_gateway.reading import GatewayReader
from vault_gateway.search import GatewaySearch
from vault_gateway.settings import GatewayMilvus, GatewaySettings, GatewayUser
from vault_gateway.wire import GatewaySearchRequest
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.errors import BackendError, UnknownNoteError
from vault_indexer.index.compatibility import WEIGHTS_BLOB
from vault_indexer.model import chunk_key, note_id_of
from vault_indexer.ports import EmbeddingModel
from vault_indexer.store import Generation, IndexDir
from vault_indexer.store.catalog import CatalogReader, CatalogWriter


def words(number: int) -> str:
    """A text of so many chunks."""
    return " ".join(f"marmalade{at} harbour juniper lantern" for at in range(number)) + "\n"


SOUP = (
    "Chopping these leeks carefully and simmering them together "
    "with yellow butter makes another wonderful evening soup\n"
)
NOTES = {"Bread.md": words(51), "Oven.md": words(2), "Soup.md": SOUP}
VAULT = PublishedVault("kitchen-1", "kitchen", "keeper", "place", "owner")


class CountingSource(NotesHere):
    """What is asked of it."""

    def __init__(self, generation: Generation) -> None:
        super().__init__(generation)
        self.asked: list[str] = []

    def statistics(self, vault: str, model: str, dimension: int) -> bytes:
        self.asked.append("statistics")
        return super().statistics(vault, model, dimension)

    def rest(self) -> None:
        self.asked.append("rest")

    def stop(self) -> None:
        self.asked.append("stop")


@dataclass
class Kitchen:
    """A vault with its index, which can be edited, and a server of its own."""

    where: Place
    model: EmbeddingModel
    server: MilvusInMemory = field(default_factory=MilvusInMemory)

    def __post_init__(self) -> None:
        self.source = CountingSource(self.generation)
        self.vaults = MilvusVaults(self.server.connect(), "test")

    @property
    def generation(self) -> Generation:
        generation = IndexDir(self.where.index_dir).current()
        assert generation is not None
        return generation

    @property
    def mark(self) -> PublishedEpoch:
        return PublishedEpoch(self.generation)

    def catalog(self) -> CatalogReader:
        return CatalogReader(self.generation.catalog)

    def keys(self) -> list[int]:
        with self.catalog() as catalog:
            return sorted(catalog.chunk_keys())

    def publisher(self, vault: PublishedVault = VAULT, generation: int = 1) -> CatalogPublisher:
        rows = MilvusPublisher(self.vaults, vault.vault, self.model, store_bodies=True)
        return CatalogPublisher(self.vaults, rows, vault, generation, self.model, self.source)

    def publish(self, publisher: CatalogPublisher) -> VaultState:
        """All of it, as a new edition."""
        with self.catalog() as catalog:
            return publisher.publish_all(catalog).state

    def follow(self, publisher: CatalogPublisher, state: VaultState, *, whole: bool = True) -> Change:
        with self.catalog() as catalog:
            return publisher.follow(catalog, state, whole=whole)

    def note_id(self, name: str) -> int:
        """Of a note, 0 if there is none."""
        with self.catalog() as catalog:
            note = catalog.note(name)
        return note.note_id if note else 0

    def writer(self) -> closing[CatalogWriter]:
        return closing(CatalogWriter(self.generation.catalog))

    def publication(self) -> Publication:
        return Publication(self.publisher(), self.mark)

    def step(self, publication: Publication) -> bool:
        with self.catalog() as catalog:
            return publication.step(catalog)

    def edit(self, notes: Mapping[str, str]) -> None:
        """A note without text goes."""
        for name, text in notes.items():
            if text:
                self.where.write(name, text)
            else:
                (self.where.vault / name).unlink()
        with index_of(self.where) as session:
            assert not session.pending()

    def state(self) -> VaultState:
        state = self.vaults.state(VAULT.vault)
        assert state is not None
        return state

    def held(self, state: VaultState | None = None) -> list[int]:
        """The keys of an edition's rows, by default of the active one."""
        edition = (state or self.state()).edition
        return sorted(row["key"] for row in self.server.rows("_chunks_") if row["edition"] == edition)

    def row(self, key: int) -> dict[str, object]:
        (row,) = [row for row in self.server.rows("_chunks_") if row["key"] == key]
        assert isinstance(row, dict)
        return row

    def drop_row(self, key: int) -> None:
        (chunks,) = [rows for name, rows in self.server.collections.items() if "_chunks_" in name]
        del chunks[f"{self.state().edition}:{key}"]

    def drop_part(self, state: VaultState, note_id: int, number: int) -> None:
        (notes,) = [rows for name, rows in self.server.collections.items() if "_notes_" in name]
        del notes[f"{state.edition}:{note_id}:{number:04d}"]

    def assert_same(self) -> None:
        """The server has the chunks and the notes of the catalog, and its state says so."""
        state = self.state()
        with self.catalog() as catalog:
            keys = sorted(catalog.chunk_keys())
            assert self.held() == keys
            assert self.vaults.note_ids(state) == set(map(note_id_of, keys)) == set(catalog.note_ids())
            assert (state.seq, state.chunks, state.notes) == (catalog.seq, len(keys), len(NOTES))
            vectors = set(catalog.nonzero_vector_keys(self.model.key))
        assert {key for key in keys if self.row(key)["has_vector"]} == vectors == set(keys)


@contextmanager
def index_of(where: Place) -> Iterator[LocalSession]:
    """The index, in step with the vault."""
    with closing(LocalSession(in_one_process(where.target()))) as session:
        session.open(silent, build=True)
        yield session


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, EmbeddingModel]:
    """Small chunks, so that a short note has several."""
    made = place(tmp_path_factory.mktemp("built"), NOTES)
    made.configure(
        '[index]\nworkers = 1\n[embedding]\nprovider = "wordllama"\n'
        '[chunking]\nstrategy = "word"\nchunk_size = 4\nchunk_overlap = 0\n'
    )
    made.tune('[embedding]\ntoken_weights = "none"\n')
    with index_of(made) as session:
        return made, session.reader().searcher.embedder.model


@pytest.fixture
def kitchen(built: tuple[Place, EmbeddingModel], tmp_path: Path) -> Kitchen:
    where, model = built
    shutil.copytree(where.vault.parent, tmp_path, dirs_exist_ok=True)
    return Kitchen(Place(tmp_path / "vault", tmp_path / "index", tmp_path / "config.toml"), model)


def test_everything_is_published_with_a_state_that_describes_it(kitchen: Kitchen) -> None:
    before_ms = time.time_ns() // 1_000_000
    with kitchen.catalog() as catalog:
        change = kitchen.publisher(generation=4).publish_all(catalog)
    state = kitchen.state()
    kitchen.assert_same()
    keys = kitchen.keys()
    assert change.state == state
    assert (change.present, change.absent) == (tuple(keys[-50:]), ())
    assert len(keys) > 50
    assert (state.vault, state.name, state.keeper) == (VAULT.vault, VAULT.name, VAULT.keeper)
    assert (state.place, state.owner) == (VAULT.place, VAULT.owner)
    assert (state.model, state.languages) == (kitchen.model.key, ("en",))
    assert (state.generation, state.withdrawn_ms) == (4, 0)
    assert before_ms <= state.claimed_ms == state.published_ms == state.seen_ms < before_ms + 600_000
    statistics = NotesHere(kitchen.generation).statistics(VAULT.vault, state.model, kitchen.model.dimension)
    assert kitchen.vaults.blob(state.statistics) == statistics
    assert state.weights == "", "the vault has none of its own"


def test_an_edition_replaces_the_one_before_whose_rows_are_swept(kitchen: Kitchen) -> None:
    publisher = kitchen.publisher()
    first = kitchen.publish(publisher)
    kitchen.vaults.overwrite(replace(first, claimed_ms=7))
    left = replace(first, epoch=first.epoch + 1)
    kitchen.vaults.put_notes(left, [(99, b"left by a publication that failed")])
    kitchen.server.calls.clear()
    kitchen.server.fault = lambda operation: (
        "no room" if operation == "upsert" and "delete" in kitchen.server.calls else ""
    )
    with pytest.raises(BackendError, match="no room"):
        kitchen.publish(publisher)
    assert kitchen.vaults.note_ids(left) == set(), "failed attempts do not add up"
    kitchen.server.fault = lambda _operation: ""
    second = kitchen.publish(publisher)
    assert second.epoch > first.epoch
    assert (second.claimed_ms, second.published_ms) == (7, second.seen_ms)
    assert kitchen.held(first) == kitchen.held(second) == kitchen.keys()
    publisher.sweep(second)
    assert kitchen.held(first) == []
    kitchen.assert_same()
    assert kitchen.vaults.note_ids(first) == set()


@pytest.mark.parametrize("by_log", [True, False])
def test_an_edit_is_followed_by_the_log_or_by_comparing_keys(kitchen: Kitchen, by_log: bool) -> None:
    publisher = kitchen.publisher()
    first = kitchen.publish(publisher)
    before = set(kitchen.keys())
    kitchen.edit({"Bread.md": words(60), "Oven.md": "", "Fish.md": words(2)})
    if not by_log:
        with kitchen.writer() as writer:
            writer.trim_changes(writer.seq)
    kitchen.server.calls.clear()
    known = replace(first, claimed_ms=7, published_ms=8, seen_ms=9)
    kitchen.vaults.overwrite(known)
    change = kitchen.follow(publisher, known)
    assert ("query_iterator" in kitchen.server.calls) is not by_log
    after = set(kitchen.keys())
    kitchen.assert_same()
    assert change.state == kitchen.state()
    assert change.present == tuple(sorted(after - before)[-50:])
    assert change.absent == tuple(sorted(before - after)[-50:])
    assert len(after - before) > 50 < len(before - after)
    assert (change.state.epoch, change.state.claimed_ms) == (first.epoch, 7)
    assert change.state.published_ms >= first.published_ms
    assert change.state.seen_ms >= first.seen_ms
    assert publisher.shows(change)
    assert not publisher.shows(replace(change, present=(*change.present, 1)))
    assert not publisher.shows(replace(change, present=(), absent=(max(after),)))


@pytest.mark.parametrize("gone", [True, False])
def test_a_note_that_has_lost_a_chunk_and_stays_is_kept(kitchen: Kitchen, gone: bool) -> None:
    """Its chunks, with or without new ones, make no difference to the note itself."""
    publisher = kitchen.publisher()
    state, soup = kitchen.publish(publisher), kitchen.note_id("Soup.md")
    kitchen.edit({"Soup.md": "" if gone else words(1)})
    kept = kitchen.vaults.note_ids(kitchen.follow(publisher, state).state)
    left = kitchen.note_id("Soup.md")
    assert (left in kept) is not gone
    assert (soup in kept) is (left == soup)


def test_a_chunk_that_gets_its_vector_is_written_again(kitchen: Kitchen) -> None:
    publisher = kitchen.publisher()
    state = kitchen.publish(publisher)
    (key, *_) = kitchen.keys()
    kitchen.row(key)["has_vector"] = False
    with kitchen.writer() as writer, writer.commit():
        writer.log_embedded([key])
    change = kitchen.follow(publisher, state)
    kitchen.assert_same()
    assert (change.present, change.absent) == ((key,), ())


def test_what_the_server_has_lost_is_found_by_comparing_and_written_again(kitchen: Kitchen) -> None:
    publisher = kitchen.publisher()
    state = kitchen.publish(publisher)
    bread, oven, soup = map(kitchen.note_id, NOTES)
    lost, late, *_ = kitchen.keys()
    ghosts = chunk_key(oven, 900), chunk_key(99, 0)
    kitchen.row(late)["has_vector"] = False
    kitchen.vaults.connection.write(
        state.collection,
        [{**kitchen.row(late), "pk": f"{state.edition}:{ghost}", "key": ghost} for ghost in ghosts],
    )
    kitchen.drop_row(lost)
    kitchen.vaults.delete_notes(state, [soup])
    kitchen.vaults.put_notes(state, [(99, b"a ghost"), (98, b"no chunk names it"), (97, b"n" * 100_000)])
    kitchen.drop_part(state, 97, 0)
    change = kitchen.follow(publisher, state, whole=False)
    kitchen.assert_same()
    assert publisher.is_whole(change.state)
    with kitchen.catalog() as catalog:
        of_soup = {row.key for row in catalog.chunks_of(soup)}
    assert change.present == tuple(sorted({lost, late} | of_soup))
    assert change.absent == ghosts
    parts = {row["part"].split(":")[-2] for row in kitchen.server.rows("_notes_")}
    assert parts == {str(bread), str(oven), str(soup)}


def test_the_newest_five_rows_are_looked_up(kitchen: Kitchen) -> None:
    publisher = kitchen.publisher()
    with kitchen.catalog() as catalog:
        state = publisher.publish_all(catalog).state
        assert publisher.has_newest(catalog, state)
        *_, sixth, fifth, _, _, _, _ = kitchen.keys()
        kitchen.drop_row(sixth)
        assert publisher.has_newest(catalog, state)
        kitchen.drop_row(fifth)
        assert not publisher.has_newest(catalog, state)
        state = publisher.follow(catalog, state, whole=False).state
        assert publisher.has_newest(catalog, state)
        kitchen.drop_part(state, note_id_of(kitchen.keys()[-1]), 0)
        assert not publisher.has_newest(catalog, state)
        kitchen.server.lose("_chunks_")
        with pytest.raises(CollectionMissingError):
            publisher.has_newest(catalog, state)


def test_only_a_state_of_this_generation_as_it_was_published_counts(kitchen: Kitchen) -> None:
    publisher = kitchen.publisher()
    kitchen.vaults.create()
    assert publisher.applied(1) is None
    state = kitchen.publish(publisher)
    assert publisher.applied(state.epoch) == state
    assert publisher.applied(state.epoch + 1) is None
    assert kitchen.publisher(generation=2).applied(state.epoch) is None
    kitchen.vaults.overwrite(replace(state, collection="of another model"))
    assert publisher.applied(state.epoch) is None
    assert publisher.is_whole(state)
    assert not publisher.is_whole(replace(state, chunks=state.chunks + 1))
    assert not publisher.is_whole(replace(state, notes=state.notes + 1))


def test_an_index_that_is_not_the_owner_changes_nothing(kitchen: Kitchen) -> None:
    state = kitchen.publish(kitchen.publisher())
    other = kitchen.publisher(replace(VAULT, owner="another"))
    kitchen.edit({"Soup.md": ""})
    kitchen.server.calls.clear()
    for write in (
        lambda: kitchen.publish(other),
        lambda: kitchen.follow(other, state),
        lambda: other.applied(1),
    ):
        with pytest.raises(NotOwnerError):
            write()
    assert not {"upsert", "delete"} & set(kitchen.server.calls)


def test_a_keeper_that_has_nothing_new_shows_that_it_is_there(kitchen: Kitchen) -> None:
    early = replace(kitchen.publish(kitchen.publisher()), seen_ms=1, published_ms=2, claimed_ms=3)
    kitchen.vaults.overwrite(early)
    moved = replace(VAULT, name="galley", keeper="ship", place="elsewhere")
    change = kitchen.publisher(moved).show_presence(early)
    assert change.state == kitchen.state()
    assert (change.present, change.absent) == ((), ())
    seen_ms = change.state.seen_ms
    assert seen_ms > 1
    assert change.state == replace(early, name="galley", keeper="ship", place="elsewhere", seen_ms=seen_ms)


@pytest.mark.parametrize(
    ("others", "chunks", "counted"), [(1, 20, 1), (1, 21, 2), (383, 23, 1), (383, 24, 2)]
)
def test_words_are_counted_again_once_a_twentieth_of_the_chunks_is_new(
    kitchen: Kitchen, others: int, chunks: int, counted: int
) -> None:
    publisher = kitchen.publisher()
    kitchen.edit({"Roe.md": words(others), "Fish.md": words(chunks)})
    state = kitchen.publish(publisher)
    kitchen.edit({"Fish.md": ""})
    after = kitchen.follow(publisher, state).state
    assert kitchen.source.asked == ["statistics"] * counted
    assert (after.statistics == state.statistics) is (counted == 1)
    kitchen.follow(publisher, after)
    assert kitchen.source.asked == ["statistics"] * counted


@pytest.mark.parametrize(("minutes", "counted"), [(10, 1), (11, 2)])
def test_words_are_counted_again_after_long(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch, minutes: int, counted: int
) -> None:
    publisher = kitchen.publisher()
    began = time.time_ns()
    with monkeypatch.context() as clock:
        clock.setattr(time, "time_ns", lambda: began)
        state = kitchen.publish(publisher)
        clock.setattr(time, "time_ns", lambda: began + minutes * 60 * 10**9)
        kitchen.follow(publisher, state)
    assert kitchen.source.asked == ["statistics"] * counted


def test_a_process_that_has_not_counted_the_words_of_an_edition_does(kitchen: Kitchen) -> None:
    state = kitchen.publish(kitchen.publisher())
    started_again = kitchen.publisher()
    for _ in range(2):
        state = kitchen.follow(started_again, state).state
    assert kitchen.source.asked == ["statistics"] * 2
    for other in (replace(state, epoch=2), replace(state, epoch=2, generation=3)):
        kitchen.vaults.overwrite(other)
        kitchen.follow(started_again, other)
    assert kitchen.source.asked == ["statistics"] * 4


def test_nothing_to_publish_ends_the_worker_and_closing_ends_its_work(kitchen: Kitchen) -> None:
    publication = kitchen.publication()
    publication.rest()
    assert kitchen.source.asked == ["rest"]
    publication.close()
    assert kitchen.source.asked == ["rest", "stop"]
    assert kitchen.server.is_closed


def test_a_change_counts_once_the_server_answers_with_it(kitchen: Kitchen) -> None:
    publication = kitchen.publication()
    assert kitchen.step(publication)
    assert publication.applied_seq == kitchen.state().seq
    kitchen.server.hold_back()
    kitchen.edit({"Soup.md": words(1)})
    for _ in range(2):
        assert not kitchen.step(publication)
        assert publication.applied_seq == -1
    kitchen.server.catch_up()
    kitchen.server.calls.clear()
    assert kitchen.step(publication)
    assert "upsert" not in kitchen.server.calls
    assert publication.applied_seq == kitchen.state().seq
    kitchen.assert_same()


def test_after_a_failed_step_the_rows_are_counted(kitchen: Kitchen) -> None:
    publication = kitchen.publication()
    assert kitchen.step(publication)
    kitchen.edit({"Soup.md": words(3)})
    kitchen.server.fault = lambda operation: "no room" if operation == "delete" else ""
    with pytest.raises(BackendError, match="no room"):
        kitchen.step(publication)
    assert publication.applied_seq == -1
    kitchen.server.fault = lambda _operation: ""
    kitchen.drop_row(kitchen.held()[0])
    assert kitchen.step(publication)
    kitchen.assert_same()


def test_a_daemon_that_starts_again_writes_only_what_is_new_and_sweeps(kitchen: Kitchen) -> None:
    publication = kitchen.publication()
    assert kitchen.step(publication)
    first = kitchen.state()
    old = replace(first, epoch=7)
    kitchen.vaults.put_notes(old, [(1, b"left by an edition that failed")])
    kitchen.edit({"Soup.md": words(1)})
    assert kitchen.step(publication)
    assert kitchen.vaults.note_ids(old) == {1}, "one sweep is enough while nothing was published beside"
    words_left = kitchen.vaults.put_statistics(VAULT.vault, b"left by a count that failed")
    assert kitchen.step(kitchen.publication())
    assert kitchen.vaults.note_ids(old) == set()
    assert kitchen.vaults.blob(words_left) is None
    assert kitchen.state().epoch == first.epoch
    kitchen.assert_same()
    kitchen.server.lose("_chunks_")
    kitchen.edit({"Soup.md": words(2)})
    kitchen.vaults.put_notes(old, [(1, b"left again")])
    assert kitchen.step(publication)
    assert kitchen.state().epoch > first.epoch
    assert kitchen.vaults.note_ids(old) == set()


@pytest.mark.parametrize("writes", range(9))
def test_a_publisher_that_was_killed_leaves_no_row_behind(kitchen: Kitchen, writes: int) -> None:
    """It is killed after so many writes. The notes that it was writing have then been edited again, so no log
    of changes names them; they had as many chunks as before, so no count shows them."""
    assert kitchen.step(kitchen.publication())
    kitchen.edit(
        {"Soup.md": SOUP.replace("yellow", "golden"), "Oven.md": words(2).replace("lantern", "anchor")}
    )
    left = iter(range(writes))
    kitchen.server.fault = lambda operation: (
        "killed" if operation in ("upsert", "delete") and next(left, None) is None else ""
    )
    with suppress(BackendError):
        kitchen.step(kitchen.publication())
    kitchen.server.fault = lambda _operation: ""
    kitchen.edit({"Soup.md": SOUP + words(4), "Oven.md": words(2)})
    assert kitchen.step(kitchen.publication())
    kitchen.assert_same()
    editions = {row["edition"] for kind in ("_notes_", "_chunks_") for row in kitchen.server.rows(kind)}
    assert editions == {kitchen.state().edition}
    parts = {row["part"].split(":")[0]: row["data"] for row in kitchen.server.rows("_blobs_")}
    assert [part for part, data in parts.items() if data] == [kitchen.state().statistics]


def test_a_restored_server_is_not_told_that_it_has_what_it_lacks(kitchen: Kitchen) -> None:
    """The keeper has not noticed the restore when it publishes an edit."""
    publication = kitchen.publication()
    assert kitchen.step(publication)
    copies = [copy.deepcopy(kitchen.server.collections)]
    kitchen.edit({"Soup.md": words(3)})
    assert kitchen.step(publication)
    copies.append(copy.deepcopy(kitchen.server.collections))
    kitchen.mark.write(0)
    publication = kitchen.publication()
    assert kitchen.step(publication), "a new edition"
    known = kitchen.state()
    of_its_edition = copy.deepcopy(kitchen.server.collections)
    kitchen.edit({"Soup.md": words(9)})
    assert kitchen.step(publication)
    copies.append({name: {} for name in copies[0]})
    for number, restored in enumerate([of_its_edition, *copies]):
        kitchen.server.collections = restored
        kitchen.vaults.put_notes(replace(known, epoch=9), [(1, b"of an edition not yet swept")])
        kitchen.edit({"Soup.md": words(4 + number)})
        kitchen.server.calls.clear()
        with pytest.raises(OutdatedStateError):
            kitchen.step(publication)
        assert not {"upsert", "delete"} & set(kitchen.server.calls)
        assert kitchen.step(publication)
        kitchen.assert_same()
        assert {row["edition"] for row in kitchen.server.rows("_notes_")} == {kitchen.state().edition}
        assert (kitchen.state().epoch == known.epoch) is (restored is of_its_edition)
        known = kitchen.state()


@pytest.mark.parametrize("kind", ["_chunks_", "_notes_", "_blobs_", "_vaults_"])
@pytest.mark.parametrize("emptied", [True, False])
def test_a_collection_that_was_dropped_or_emptied_is_written_again(
    kitchen: Kitchen, kind: str, emptied: bool
) -> None:
    with kitchen.writer() as writer, writer.commit():
        writer.put_blob(WEIGHTS_BLOB, b"weights of this vault")
    publication = kitchen.publication()
    assert kitchen.step(publication)
    (name,) = [name for name in kitchen.server.collections if kind in name]
    kitchen.server.lose(kind)
    if emptied:
        kitchen.server.collections[name] = {}
    publication.look()
    assert kitchen.step(publication)
    kitchen.assert_same()
    state = kitchen.state()
    assert kitchen.vaults.blob(state.statistics)
    assert kitchen.vaults.blob(state.weights) == b"weights of this vault"
    assert all(kitchen.vaults.notes(state, kitchen.vaults.note_ids(state)).values())


class RunningGateway:
    """A gateway that reads its list of vaults only once."""

    def __init__(self, vaults: MilvusVaults) -> None:
        settings = GatewaySettings(milvus=GatewayMilvus(uri="http://127.0.0.1:1"), states_s=60)
        calls = MilvusCalls(GatewayMetrics(frozenset()), lambda: True)
        users = cast("Any", SimpleNamespace(withdrawn=frozenset(), current=Users([])))
        published = PublishedVaults(vaults, calls, users, settings)
        self._search = GatewaySearch(vaults, published, calls, NoBodies(), settings)
        self._reader = GatewayReader(vaults, published, calls, self._search)
        self._user = GatewayUser(name="ana", vaults=("*",))

    def notes(self) -> dict[str, str]:
        """The words after "# " of each note that it gives by its path and finds by a search."""
        found = self._search.search(self._user, GatewaySearchRequest("harbour", 20, by_note=True))
        texts = {hit.path: hit.content.split()[1] for hit in found.results}
        for path in NOTES:
            try:
                given = self._reader.note(self._user, path, "").text.split()[1]
            except UnknownNoteError:
                given = ""
            assert given == texts.get(path, ""), "by its path and by a search"
        return texts


def test_a_running_gateway_answers_with_what_the_server_has_now(kitchen: Kitchen) -> None:
    def write(word: str, names: Sequence[str]) -> dict[str, str]:
        kitchen.edit({name: f"# {word}\n\nThe harbour of {name}.\n" for name in names})
        return dict.fromkeys(names, word)

    one = RunningGateway(kitchen.vaults)
    first = write("first", [*NOTES])
    assert kitchen.step(kitchen.publication())
    assert one.notes() == first
    backup = copy.deepcopy(kitchen.server.collections)

    (kitchen.where.vault / "Oven.md").unlink()
    for number in range(2):
        shutil.rmtree(kitchen.where.index_dir)  # the ids of notes and all counts begin again
        later = write(f"build{number}", ["Bread.md", "Soup.md"])
        kitchen.source = CountingSource(kitchen.generation)
        if number:
            kitchen.server.collections.clear()
        publication = kitchen.publication()
        assert kitchen.step(publication)
        assert one.notes() == later

    kitchen.server.collections = backup
    assert one.notes() == first
    publication.look()
    assert kitchen.step(publication)
    assert one.notes() == later
