"""After any series of edits the index equals that of a fresh build, and each commit is read once; with
vectors that are owed it is whole by word and link before. A note that vanishes during a build is no
target of links, and `verify` knows where links lead."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from chunk_laws import EDGE_NOTES, EVERY_STRATEGY, SMALL, build, note_of
from hypothesis import given, settings
from hypothesis import strategies as st
from reliability_lab import (
    InProcessPool,
    assembly_of,
    assert_equal,
    is_slow,
    make_vault,
    opened,
    sized,
    told_by,
    told_by_a_fresh_build,
    unheard,
)
from vault_at_work import Place, place
from vault_at_work import opened as opened_service

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.index.derived import PendingEmbeddings
from vault_indexer.index.jobs import Embedded, Job, Outcome, Pool
from vault_indexer.index.note_workers import WorkerSpec, start_worker
from vault_indexer.index.reading import text_digest
from vault_indexer.index.workers.pool import Died
from vault_indexer.index.writer import AT_ONCE, IndexWriter, Linker
from vault_indexer.model import FileRow
from vault_indexer.service import VaultService
from vault_indexer.store.catalog import CatalogReader, CatalogWriter, PreparedNote, ResolvedLink, note_rows

PATHS = ("Anchor.md", "Basalt.md", "Sub/Cobalt.md", "Sub/Ember.md", "Über/Anchor.md", "Fathom.png")
WORDS = ("kestrel", "[[Anchor]]", "[[Basalt#Harbour]]", "#garnet/ivory", "\n\n## Ember\n\n", "[[Fathom.png]]")
edits = st.tuples(
    st.sampled_from(("save", "save", "delete", "rename")),
    st.sampled_from(PATHS),
    st.sampled_from(PATHS),
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
)


def edit_vault(vault: Path, edit: tuple[str, str, str, str]) -> None:
    kind, name, to, text = edit
    path = vault / name
    if kind == "save":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    elif kind == "delete":
        path.unlink(missing_ok=True)
    elif path.exists() and (vault / to).parent.exists():
        path.rename(vault / to)


@pytest.mark.long
@settings(max_examples=settings().max_examples // 5)  # each is two builds
@given(history=st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_history_of_edits_gives_the_index_of_a_fresh_build(
    history: list[list[tuple[str, str, str, str]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    room = tmp_path_factory.mktemp("history")
    vault = make_vault(room / "vault", random.Random("history"), 3)
    with opened(assembly_of(vault, room / "index")) as session:
        for batch in history:
            for edit in batch:
                edit_vault(vault, edit)
            session.wait_fresh(0)
        found = told_by(session)
        assert session.verify(repair=False) == ()
    assert_equal(found, told_by_a_fresh_build(vault, room / "fresh"))


@dataclass
class LogReads:
    """How often each side has read the catalog's log of changes: statements, by "keeper" and "worker"."""

    counts: Counter[str]
    reading: str = "keeper"


class CountedPool(InProcessPool):
    def __init__(self, worker: WorkerSpec, reads: LogReads) -> None:
        super().__init__(lambda: start_worker(worker))
        self._reads = reads

    def each(self, job: Job) -> Iterator[tuple[Job, Outcome | Died]]:
        self._reads.reading = "worker"
        done = list(super().each(job))
        self._reads.reading = "keeper"
        yield from done


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> LogReads:
    made, rows = LogReads(Counter()), CatalogReader.rows

    def counted(reader: CatalogReader, sql: str, *rest: object) -> list[tuple[object, ...]]:
        made.counts[made.reading] += " changes " in f"{sql} "
        return rows(reader, sql, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(CatalogReader, "rows", counted)
    return made


def test_a_commit_is_read_once_in_each_process(tmp_path: Path, reads: LogReads) -> None:
    vault = make_vault(tmp_path / "vault", random.Random("reads"), 3)
    assembly = assembly_of(vault, tmp_path / "index")
    counted = replace(assembly, make_pool=lambda worker, _size: cast(Pool, CountedPool(worker, reads)))
    with opened(counted) as session:
        edit_vault(vault, ("save", "Anchor.md", "", "a kestrel"))
        session.wait_fresh(0)
        reads.counts.clear()
        edit_vault(vault, ("save", "Anchor.md", "", "another kestrel"))
        session.wait_fresh(0)
    assert reads.counts == {"keeper": 1, "worker": 1}


MODEL = "test/model/2"


def slow_assembly(vault: Path, index: Path) -> Assembly:
    return replace(assembly_of(vault, index), is_slow=is_slow)


def words_first(vault: Path, index: Path) -> None:
    """As the daemon makes its first index."""
    assembly = slow_assembly(vault, index)
    assembly.index_dir.prepare()
    generation, report = assembly.build_next(unheard, recompute_weights=True, newest_only=True)
    assert (report.embedded, report.reused) == (0, 0)
    assembly.index_dir.publish(generation)


@contextmanager
def as_it_is(vault: Path, index: Path, *, slow: bool = True) -> Iterator[tuple[LocalSession, IndexWriter]]:
    """The index as it is on disk: opened, not completed."""
    with closing(LocalSession(slow_assembly(vault, index) if slow else assembly_of(vault, index))) as session:
        kept, _ = session.open_as_is()
        assert kept.current is not None
        yield session, kept.current.writer


def a_portion(session: LocalSession, texts: int) -> int:
    """What the daemon does while it is idle. How many chunks got their vectors."""
    kept = session._vault_sync
    assert kept is not None and kept.current is not None
    live = kept.current.writer
    ((_, result),) = kept.current.spare.run([live.next_embed_job(texts)])
    assert isinstance(result, Embedded)
    return live.put_vectors(result.vectors)


def consistent(live: IndexWriter) -> None:
    """What the vector index holds and what is owed are all chunks, and the catalog says the same."""
    with live.holder.lease() as snapshot:
        catalog = snapshot.catalog
        assert snapshot.missing_vectors == live.missing_vectors == len(catalog.missing_vectors(live.model))
        assert snapshot.vectors.live_keys() == set(catalog.nonzero_vector_keys(live.model))
        assert set(snapshot.keywords.keys.tolist()) == catalog.chunk_keys()
        held = snapshot.vectors
        assert held.size == len(held.live_keys()), "a chunk is there twice"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", random.Random("owed"), 12)


def test_words_are_found_before_any_vector_is_made(vault: Path, tmp_path: Path) -> None:
    words_first(vault, tmp_path / "index")
    with as_it_is(vault, tmp_path / "index") as (session, live):
        consistent(live)
        with live.holder.lease() as snapshot:
            chunks = snapshot.catalog.counts().chunks
            assert snapshot.vectors.size == 0
            assert len(snapshot.keywords.keys_containing(["kestrel"])) > 0
        assert live.missing_vectors == session.status().vectors_owed == chunks
        (notice,) = session.notices()
        assert notice == (f"semantic search is incomplete: {chunks} of {chunks} chunks have no embedding yet")
        assert session.verify(repair=False) == ()


@pytest.mark.long
def test_opening_goes_on_where_it_stood_and_one_command_completes_it(vault: Path, tmp_path: Path) -> None:
    words_first(vault, tmp_path / "index")
    with as_it_is(vault, tmp_path / "index") as (session, live):
        a_portion(session, 7)
        left = live.missing_vectors
    with as_it_is(vault, tmp_path / "index") as (session, live):
        consistent(live)
        assert live.missing_vectors == left > 0
    told = []
    with closing(LocalSession(slow_assembly(vault, tmp_path / "index"))) as session:
        session.open(lambda progress: told.append((progress.stage, progress.chunks)), build=True)
        assert session.status().vectors_owed == 0
        assert told[-1] == ("vectors", session.status().counts.chunks)
        assert_equal(told_by(session), told_by_a_fresh_build(vault, tmp_path / "fresh"))


def test_a_command_that_only_looks_makes_no_vectors(vault: Path, tmp_path: Path) -> None:
    words_first(vault, tmp_path / "index")
    with closing(LocalSession(slow_assembly(vault, tmp_path / "index"))) as session:
        session.open(unheard, build=False)
        assert session.status().vectors_owed > 10


@pytest.mark.long
def test_a_small_edit_has_its_vectors_at_once_and_a_large_one_owes_them(vault: Path, tmp_path: Path) -> None:
    with closing(LocalSession(slow_assembly(vault, tmp_path / "index"))) as session:
        session.open(unheard, build=True)
        kept = session._vault_sync
        assert kept is not None and kept.current is not None
        live = kept.current.writer
        (vault / "small.md").write_text("# Small\n\nOne zirconium crystal in a drawer.\n")
        kept.sync([""])
        assert live.missing_vectors == 0
        for number in range(AT_ONCE):
            text = f"# Many\n\nNote {number} of hafnium and what it is good for.\n"
            (vault / f"many {number}.md").write_text(text)
        kept.sync([""])
        assert live.missing_vectors == AT_ONCE
        (vault / "small.md").write_text("# Small\n\nTwo zirconium crystals in a drawer.\n")
        kept.sync([""])
        assert live.missing_vectors == AT_ONCE + 1, "while others wait, no edit waits for the model"
        consistent(live)
        with live.holder.lease() as snapshot:
            (key,) = live.next_embed_job(1).keys
            edited = snapshot.catalog.chunks([key])[key].chunk.body
            assert "Two zirconium" in edited, "what was edited comes first"
        session.wait_fresh(0)
        assert live.missing_vectors == 0
        assert_equal(told_by(session), told_by_a_fresh_build(vault, tmp_path / "fresh"))


@pytest.mark.long
def test_a_lost_vector_is_found_and_made_again(vault: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    session = LocalSession(slow_assembly(vault, index))
    session.open(unheard, build=True)
    session.close()
    (catalog,) = index.glob("generations/*/catalog.db")
    writer = CatalogWriter(catalog)
    with writer.commit():
        writer._db.execute("DELETE FROM vectors WHERE rowid IN (SELECT min(rowid) FROM vectors)")
    writer.close()
    with as_it_is(vault, index) as (session, live):
        assert live.missing_vectors >= 1
        assert [problem.store for problem in session.verify(repair=True)] == ["vectors"]
        assert live.missing_vectors == 0
        assert session.verify(repair=False) == ()
        assert_equal(told_by(session), told_by_a_fresh_build(vault, tmp_path / "fresh"))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, sized(2, 60)))]
)
def test_any_history_ends_in_a_fresh_build(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    vault, index = make_vault(tmp_path / "vault", rng, 8), tmp_path / "index"
    words_first(vault, index)
    for _ in range(3):
        with as_it_is(vault, index) as (session, live):
            for _ in range(rng.randint(1, 4)):
                _change(vault, rng)
                assert session._vault_sync is not None
                if rng.random() < 0.8:
                    session._vault_sync.sync([""])
                for _ in range(rng.randint(0, 3)):
                    a_portion(session, rng.choice([1, 2, 8]))
                if rng.random() < 0.2:
                    live.derived.compact_vectors()
                consistent(live)
    with as_it_is(vault, index) as (session, live):
        session.wait_fresh(0)
        consistent(live)
        assert live.missing_vectors == 0
        assert session.verify(repair=False) == ()
        assert_equal(told_by(session), told_by_a_fresh_build(vault, tmp_path / "fresh"))


def _change(vault: Path, rng: random.Random) -> None:
    notes = sorted(vault.rglob("*.md"))
    kind = rng.choice(["edit", "copy", "delete", "many"])
    if kind == "delete" and len(notes) > 4:
        rng.choice(notes).unlink()
    elif kind == "copy":
        (vault / f"copy {rng.randrange(9)}.md").write_bytes(rng.choice(notes).read_bytes())
    elif kind == "many":
        for number in range(40):
            (vault / f"many {number}.md").write_text(f"Number {rng.randrange(30)} of quartz.\n")
    else:
        with rng.choice(notes).open("a") as note:
            note.write(f"\n\nAppended {rng.randrange(99)} of marble.\n")


@pytest.mark.parametrize("strategy", EVERY_STRATEGY)
@pytest.mark.parametrize(
    "contextual",
    [pytest.param(False, id="plain"), pytest.param(True, id="contextual", marks=pytest.mark.long)],
)
def test_the_catalog_gives_the_text_that_was_to_be_embedded(
    strategy: str, contextual: bool, tmp_path: Path
) -> None:
    """What a vector is made from later is what the digest names, for every strategy."""
    writer = CatalogWriter(tmp_path / "catalog.db", bulk=True)
    embedded = 0
    with writer.commit():
        for number, text in enumerate(EDGE_NOTES.values()):
            note = note_of(text, f"Note {number}.md")
            chunks = build(strategy, **SMALL[strategy]).chunk(note)
            if contextual:
                chunks = [replace(chunk, preamble=f"Of {chunk.chunk_id}: trees.") for chunk in chunks]
            hashes = [
                text_digest(chunk.embedding_text(note.title)) if chunk.embed else None for chunk in chunks
            ]
            embedded += sum(digest is not None for digest in hashes)
            file = FileRow(note.path, 0, 0, 0, 0, "", "note")
            writer.put_note(PreparedNote(file, note_rows(note, chunks, hashes), {}, 0, 0), Linker([]), MODEL)
    writer.close()
    with CatalogReader(tmp_path / "catalog.db") as catalog:
        owed = catalog.missing_vectors(MODEL)
        rows = catalog.chunks(owed)
        notes = catalog.notes({row.note_id for row in rows.values()})
        texts = {key: row.chunk.embedding_text(notes[row.note_id].title) for key, row in rows.items()}
        assert {key: text_digest(text) for key, text in texts.items()} == owed
        assert len(owed) == embedded > 0


OWED = st.dictionaries(st.integers(0, 30), st.sampled_from([b"a", b"b", b"c", b"d", b"e"]), max_size=12)
SOME_KEYS = st.sets(st.integers(0, 30))
STEPS = st.lists(
    st.tuples(st.just("first"), OWED) | st.tuples(st.sampled_from(("drop", "last")), SOME_KEYS), max_size=8
)


@given(start=OWED, steps=STEPS)
def test_the_queue_is_a_list_of_texts_with_their_chunks(
    start: dict[int, bytes], steps: list[tuple[str, object]]
) -> None:
    owed, model = PendingEmbeddings("", start), dict(start)
    for kind, what in steps:
        if kind == "first":
            assert isinstance(what, dict)
            new = {key: digest for key, digest in what.items() if key not in model}
            owed.put_first(new)
            model |= new
        else:
            assert isinstance(what, set)
            if kind == "drop":
                owed.drop(what)
                model = {key: digest for key, digest in model.items() if key not in what}
            else:
                owed.put_last(what)
        assert len(owed) == len(model)
        assert {key for key in range(31) if key in owed} == model.keys()
        assert sorted(owed.waiting_for({*model.values(), b"z"})) == sorted(model)
        named = [model[key] for key in owed.next(99)]
        assert len(set(named)) == len(named) and set(named) == set(model.values())
        if kind == "first" and new:
            assert named[: len(set(new.values()))] == list(dict.fromkeys(new.values()))
        if kind == "last" and what & model.keys() and named:
            assert named[-1] in {model[key] for key in what & model.keys()}


NOTES = {"A.md": "To [[Gone]] and [[Other]].\n", "Gone.md": "# Gone\n", "Other.md": "# Other\n\n[[Gone]]\n"}


class Vanishing(InProcessPool):
    """A file goes between the scan and the reading."""

    file: Path

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Outcome | Died]]:
        self.file.unlink(missing_ok=True)
        yield from super().run(jobs, fresh=fresh)


def build_while_it_vanishes(where: Place) -> VaultService:
    def make_pool(worker: WorkerSpec, _size: int) -> Pool:
        pool = Vanishing(lambda: start_worker(worker))
        pool.file = where.vault / "Gone.md"
        return cast(Pool, pool)

    session = LocalSession(replace(Assembly.of(where.target()), make_pool=make_pool))
    session.open(lambda _progress: None, build=True)
    return VaultService(session)


@pytest.mark.long
def test_a_note_that_vanishes_during_a_build_is_no_target(tmp_path: Path) -> None:
    where = place(tmp_path, NOTES)
    with closing(build_while_it_vanishes(where)) as service:
        assert [link.resolved for link in service.links("A").outgoing] == [None, "Other.md"]
        assert [(one.target, len(one.places)) for one in service.unresolved_links()] == [("Gone", 2)]
        assert service.verify() == ()
        built = list(service.export())
    with opened_service(Place(where.vault, tmp_path / "fresh", where.config)) as fresh:
        assert built == list(fresh.export())


@pytest.mark.long
@pytest.mark.parametrize("resolved", ["Gone.md", None])
def test_links_that_lead_elsewhere_are_found_and_repaired(tmp_path: Path, resolved: str | None) -> None:
    where = place(tmp_path, {name: text for name, text in NOTES.items() if name != "Gone.md"})
    with opened_service(where):
        pass
    catalog = CatalogWriter(where.index_dir / "generations" / "0001" / "catalog.db")
    with catalog.commit() as writer:
        writer.relink(["gone", "other"], lambda target, _: ResolvedLink(target, resolved, False))
    catalog.close()
    with opened_service(where) as service:
        found = service.verify()
        assert {(problem.store, problem.kind, problem.path) for problem in found} >= {
            ("links", "stale", "A.md")
        }
        service.verify(repair=True)
        assert service.verify() == ()
        assert [link.resolved for link in service.links("A").outgoing] == [None, "Other.md"]
