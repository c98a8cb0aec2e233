"""A note from its file to its rows, with the vectors that are known, made or owed; samples of a vault; and a
note that is looked at without an index."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from asked_vault import ScriptedLlm
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import write_notes
from small_generation import scan_of

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.chunk import ChoosingChunker, chunker_for
from vault_indexer.chunk.llm_client import MODEL_UNREACHED, LlmSwitch
from vault_indexer.config import Settings
from vault_indexer.config.manifest import Manifest, strategies_in
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.index.compatibility import (
    WEIGHTS_BLOB,
    StrategiesInUse,
    manifest_for,
    stored_weights,
    weights_for_build,
)
from vault_indexer.index.jobs import NoteWorker, PrepareJob, WarmJob
from vault_indexer.index.reading import (
    FIRST_BYTES,
    Inspector,
    Parsed,
    Preparer,
    Skipped,
    first_part,
    has_drifted,
    sample_texts,
    text_digest,
)
from vault_indexer.index.workers.pool import Failed
from vault_indexer.model import Chunk, InspectedNote, Note, SizeLimits
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers.wordllama import wordllama_model
from vault_indexer.store import Generation, IndexDir
from vault_indexer.store.catalog import (
    CatalogReader,
    CatalogWriter,
    NoteTableRows,
    PreparedNote,
    is_sound,
    unpack_words,
)
from vault_indexer.vault import IgnoreRules, scan

MODEL = EmbeddingModel("test", "model", 2)
ONE, TWO, THREE = (f"The {name} tree of the old garden.\n" for name in ("first", "second", "very last"))


class Embedder:
    """A model that remembers what it was asked, and fails where it is told to."""

    model = MODEL

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.is_down = False

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.append(list(texts))
        if self.is_down:
            raise ProviderError("down")
        return np.array([[len(text), 1] for text in texts], np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        return self.embed([text])[0]  # type: ignore[no-any-return]


class Lines:
    """Splits a note at its lines, which say whether they are embedded and whether a model was reached."""

    strategy = "lines"

    def chunk(self, note: Note) -> list[Chunk]:
        chunks, start = [], 0
        for at, line in enumerate(note.text.splitlines(keepends=True)):
            extra = {MODEL_UNREACHED: True} if "unreached" in line else {}
            end = start + len(line)
            made = Chunk(f"c{at}", at, "", start, end, at, at, line, "lines", extra=extra)
            chunks.append(replace(made, embed="context" not in line))
            start = end
        return chunks


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.fixture
def embedder() -> Embedder:
    return Embedder()


def preparer_of(vault: Path, embedder: Embedder, *caches: CatalogReader) -> Preparer:
    return Preparer(vault, SizeLimits(1000), lambda _: Lines(), embedder, caches)


def parsed(preparer: Preparer, path: str) -> Parsed:
    found = preparer.parse(path)
    assert isinstance(found, Parsed)
    return found


def test_a_note_is_read_with_its_file_as_it_was_then(vault: Path, embedder: Embedder) -> None:
    (vault / "Oven.md").write_text(f"{ONE}This is only context for others.\n", newline="\n")
    stat = (vault / "Oven.md").stat()
    found = parsed(preparer_of(vault, embedder), "Oven.md")
    file = found.file
    assert (file.path, file.size, file.state, file.reason) == ("Oven.md", len(ONE) + 33, "note", "")
    assert (file.mtime_ns, file.ctime_ns, file.inode) == (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    assert file.seen_ns >= stat.st_mtime_ns
    assert len(file.digest) == 64
    assert found.hashes == (text_digest(f"Oven\n\n{ONE}"), None)
    assert text_digest("one") != text_digest("two")
    assert len(text_digest("\ud800")) == 16
    assert embedder.asked == []


def test_a_note_that_its_model_did_not_reach_is_split_again_later(vault: Path, embedder: Embedder) -> None:
    (vault / "1.md").write_text(f"{ONE}unreached\n", newline="\n")
    found = parsed(preparer_of(vault, embedder), "1.md")
    reason = "split without its language model, which has not answered yet; it is asked again"
    assert (found.file.state, found.file.reason) == ("note", reason)


@pytest.mark.parametrize(("ask", "questions"), [(True, ["Who?", "Why?"]), (False, ["Why?"])])
def test_a_language_model_is_asked_where_notes_may_wait_for_it(
    vault: Path, embedder: Embedder, ask: bool, questions: list[str]
) -> None:
    (vault / "1.md").write_text(ONE, newline="\n")
    model = ScriptedLlm(["Anna"])
    llm = LlmSwitch(model)

    class Asking(Lines):
        def chunk(self, note: Note) -> list[Chunk]:
            with suppress(ProviderError):
                llm.complete("Who?", timeout_s=1.0)
            return super().chunk(note)

    preparer = Preparer(vault, SizeLimits(1000), lambda _: Asking(), embedder, llm=llm)
    assert isinstance(preparer.parse("1.md", ask=ask), Parsed)
    llm.complete("Why?", timeout_s=1.0)
    assert model.prompts == questions


@pytest.mark.parametrize("quarantine", [False, True])
def test_a_file_that_is_no_note_is_skipped_with_its_reason(
    vault: Path, embedder: Embedder, quarantine: bool
) -> None:
    (vault / "large.md").write_text("x" * 1001)
    (vault / "just.md").write_text("x" * 1000)
    (vault / "broken.md").write_bytes(b"\xff\xfe\x00not text")
    preparer = preparer_of(vault, embedder)

    def skip(path: str) -> Skipped:
        found = preparer.quarantine(path, "why") if quarantine else preparer.parse(path)
        assert isinstance(found, Skipped)
        return found

    gone, large = skip("gone.md").file, skip("large.md").file
    assert (gone.state, gone.reason, gone.inode, gone.size) == ("skipped", "", 0, 0)
    assert (large.state, large.size, large.digest, large.mtime_ns) == ("skipped", 0, "", 0)
    assert (gone.mtime_ns, gone.ctime_ns, large.ctime_ns) == (0, 0, 0), "it is tried again"
    assert large.inode == (vault / "large.md").stat().st_ino
    assert large.reason and large.reason != "why"
    assert large.seen_ns > 0
    broken = skip("broken.md").file
    assert (broken.state, broken.size, bool(broken.digest)) == ("skipped", 11, True)
    assert (broken.reason == "why") is quarantine
    assert not broken.reason.startswith("broken.md")
    if not quarantine:
        assert isinstance(preparer.parse("just.md"), Parsed)


def test_each_text_is_embedded_once_in_one_call(vault: Path, embedder: Embedder) -> None:
    (vault / "1.md").write_text(f"{ONE}{TWO}{ONE}This is only context for others.\n", newline="\n")
    (vault / "2.md").write_text(f"{TWO}{THREE}", newline="\n")
    preparer = preparer_of(vault, embedder)
    first, second = preparer.embed([parsed(preparer, "1.md"), parsed(preparer, "2.md")])
    assert embedder.asked == [[ONE, TWO, THREE]]
    assert set(first.vectors) == {text_digest(ONE), text_digest(TWO)}
    assert np.frombuffer(second.vectors[text_digest(THREE)], np.float16).tolist() == [len(THREE), 1]
    assert [(one.embedded, one.reused) for one in (first, second)] == [(2, 0), (2, 0)]
    assert len(first.rows.chunks) == 4
    numbers, sizes = unpack_words(first.rows.words)
    assert all(sizes.tolist()) and len(numbers) == sum(sizes.tolist())
    assert preparer.embed([]) == []
    assert embedder.asked == [[ONE, TWO, THREE]], "nothing is asked for nothing"


@pytest.mark.parametrize(("at_once", "made"), [(None, 3), (0, 0), (1, 1), (2, 2), (9, 3)])
def test_so_many_texts_get_their_vectors_at_once(
    vault: Path, embedder: Embedder, at_once: int | None, made: int
) -> None:
    (vault / "1.md").write_text(f"{ONE}{TWO}{THREE}", newline="\n")
    preparer = preparer_of(vault, embedder)
    (note,) = preparer.embed([parsed(preparer, "1.md")], at_once)
    assert (len(note.vectors), note.embedded, note.reused) == (made, made, 0)
    assert [len(asked) for asked in embedder.asked] == ([made] if made else [])


def test_a_model_that_fails_is_owed_only_where_vectors_may_be(vault: Path, embedder: Embedder) -> None:
    (vault / "1.md").write_text(ONE, newline="\n")
    preparer = preparer_of(vault, embedder)
    note = parsed(preparer, "1.md")
    embedder.is_down = True
    with pytest.raises(ProviderError, match="down"):
        preparer.embed([note])
    (owed,) = preparer.embed([note], 5)
    assert (owed.vectors, owed.embedded) == ({}, 0)


@pytest.fixture
def caches(tmp_path: Path) -> Iterator[list[CatalogReader]]:
    readers = []
    for number, texts in enumerate(([ONE], [ONE, TWO])):
        path = tmp_path / f"{number}.db"
        with closing(CatalogWriter(path)) as writer, writer.commit():
            writer.put_vectors({text_digest(text): bytes([number, 0, 0, 60]) for text in texts}, MODEL.key)
            writer.put_vectors({text_digest(THREE): bytes(4)}, "another")
        readers.append(CatalogReader(path))
    yield readers
    for reader in readers:
        reader.close()


def test_known_vectors_come_from_the_first_cache_that_has_them(
    vault: Path, embedder: Embedder, caches: list[CatalogReader]
) -> None:
    (vault / "1.md").write_text(f"{ONE}{TWO}{THREE}", newline="\n")
    preparer = preparer_of(vault, embedder, *caches)
    (note,) = preparer.embed([parsed(preparer, "1.md")])
    assert embedder.asked == [[THREE]]
    assert note.vectors[text_digest(ONE)] == bytes([0, 0, 0, 60])
    assert note.vectors[text_digest(TWO)] == bytes([1, 0, 0, 60])
    assert (note.embedded, note.reused) == (1, 2)


def test_a_worker_writes_the_words_of_the_notes_it_reads(
    vault: Path, embedder: Embedder, tmp_path: Path
) -> None:
    (vault / "1.md").write_text("oak\n", newline="\n")
    (vault / "2.md").write_text("elm\nash context\n", newline="\n")
    worker = NoteWorker(lambda: preparer_of(vault, embedder))
    done = worker.handle(PrepareJob(("gone.md", "1.md", "2.md"), (7, 8, 9), tmp_path / "keywords"))
    assert isinstance(done, list)
    assert [one.file.path for one in done] == ["gone.md", "1.md", "2.md"]
    assert [type(one) for one in done] == [Skipped, PreparedNote, PreparedNote]
    (segment,) = worker.finish().segments
    assert segment.doc_count_all() == 3
    assert worker.finish().segments == ()
    assert worker.handle(PrepareJob(("1.md",))) is not None
    assert worker.finish().segments == (), "no segment was asked for"
    named = worker.handle(PrepareJob(("1.md",), quarantine="why"))
    assert isinstance(named, list)
    assert [one.file.reason for one in named] == ["why"]


@pytest.mark.parametrize(
    ("sizes", "limit", "chosen"),
    [
        ((10, 10, 10, 10), 10, "0123"),
        ((10, 10, 10, 11), 10, ""),
        ((1, 20, 10, 10), 10, "3"),
        ((30, 4, 5, 5), 10, "23"),
        ((30, 4, 5, 6), 10, "3"),
    ],
)
def test_the_first_part_is_as_large_as_it_may_be(sizes: tuple[int, ...], limit: int, chosen: str) -> None:
    assert "".join(file.path[0] for file in first_part(scan_of(*sizes), limit).files) == chosen


@given(st.lists(st.integers(0, 5_000_000), max_size=12))
def test_the_first_part_is_bounded_and_the_newest(sizes: list[int]) -> None:
    whole = scan_of(*sizes)
    part = first_part(whole)
    if len(part.files) < len(sizes):
        assert sum(file.stat.size for file in part.files) <= FIRST_BYTES
        assert part.files == whole.files[len(sizes) - len(part.files) :]


def test_links_of_the_first_part_find_their_files() -> None:
    part = first_part(scan_of(*[1_000_000] * 10, attachment=9_000_000))
    assert [file.path for file in part.files] == ["8.md", "9.md", "z.png"]


@pytest.mark.parametrize(
    ("before", "now", "drifted"),
    [(100, 125, False), (100, 126, True), (100, 80, False), (100, 79, True), (0, 0, False), (0, 1, True)],
)
def test_a_vault_has_drifted_by_a_quarter(before: int, now: int, drifted: bool) -> None:
    assert has_drifted(before, now) is drifted


def test_a_sample_is_spread_over_the_vault(vault: Path) -> None:
    for number in range(10):
        (vault / f"{number}.md").write_text(str(number) * (1500 if number == 3 else 5))
    (vault / "9.md").write_bytes(b"x" * (256 * 1024 + 1))
    (vault / "pic.png").write_bytes(b"x")
    whole = scan(vault, IgnoreRules(), limits=SizeLimits(1 << 20))
    short = {n: str(n) * 5 for n in range(9)}
    sample = [short[0], short[1], short[2], "3" * 1000, "3" * 500, *(short[n] for n in range(4, 9))]
    assert list(sample_texts(vault, whole)) == sample
    assert [text[0] for text in sample_texts(vault, whole, 3)] == ["0", "3", "3", "6"]
    assert [text[0] for text in sample_texts(vault, whole, 4)] == ["0", "2", "4", "6"]
    (vault / "0.md").unlink()
    assert [text[0] for text in sample_texts(vault, whole, 3)] == ["3", "3", "6"]


def generation_with(folder: Path, weights: bytes | None, notes: int = 0) -> IndexDir:
    index_dir = IndexDir(folder)
    building = index_dir.begin()
    with closing(CatalogWriter(building.catalog, bulk=True)) as writer, writer.commit():
        if weights is not None:
            writer.put_blob(WEIGHTS_BLOB, weights)
        for number in range(notes):
            writer.release().execute(
                "INSERT INTO notes VALUES (NULL, ?, '', '', '', '', '', 0, '')", (str(number),)
            )
    index_dir.publish(index_dir.finish(building))
    return index_dir


@pytest.mark.parametrize(
    ("weights", "notes", "recompute", "expected"),
    [
        (b"kept", 4, False, b"kept"),
        (b"kept", 4, True, b"kept"),
        (b"kept", 9, False, b"kept"),
        (b"kept", 9, True, b"fitted"),
        (None, 4, False, b"fitted"),
    ],
)
def test_token_weights_stay_as_long_as_they_fit(
    tmp_path: Path, weights: bytes | None, notes: int, recompute: bool, expected: bytes
) -> None:
    index_dir = generation_with(tmp_path / "index", weights, notes)
    current = index_dir.current()
    assert current is not None
    assert stored_weights(current) == weights

    def made() -> bytes:
        return weights_for_build(
            scan_of(1, 1, 1, 1), index_dir, lambda: b"fitted", recompute_weights=recompute
        )

    assert made() == expected
    with current.catalog.open("r+b") as file:
        file.seek(-9, 2)
        file.write(b"damaged")
    assert not is_sound(current.catalog)
    assert made() == b"fitted"


def rows_by(*strategies: str) -> PreparedNote:
    chunks = [("c", 0, "", 0, 1, 1, 1, strategy, "", "", "", "{}", None) for strategy in strategies]
    rows = NoteTableRows("1.md", (), b"", (), (), b"", (), (), (), chunks)
    return PreparedNote(None, rows, {}, 0, 0)  # type: ignore[arg-type]


def test_a_strategy_that_a_note_chooses_first_is_kept_in_the_manifest(tmp_path: Path) -> None:
    generation = Generation(1, tmp_path)
    settings = Settings()
    generation.write_manifest(manifest_for(settings, wordllama_model(), "", ["paragraph"]).to_toml())

    def recorded() -> set[str]:
        return set(strategies_in(Manifest.from_toml(generation.read_manifest()).chunking_config))

    before = recorded()
    assert "paragraph" in before
    in_use = StrategiesInUse(generation, settings)
    assert in_use.put([rows_by("paragraph")]) == frozenset()
    assert in_use.put([]) == frozenset()
    assert recorded() == before
    assert in_use.put([rows_by("code", "paragraph"), rows_by("code")]) == {"code"}
    assert recorded() == {*before, "code"}
    written = generation.manifest.stat().st_ino
    assert in_use.put([rows_by("code")]) == frozenset()
    assert generation.manifest.stat().st_ino == written
    assert StrategiesInUse(generation, settings).put([rows_by("code")]) == frozenset()
    assert generation.manifest.stat().st_ino == written


def test_a_manifest_that_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    generation = Generation(1, tmp_path)
    in_use = StrategiesInUse(generation, Settings())
    assert in_use.put([rows_by("code")]) == frozenset()
    assert not generation.manifest.exists()
    for held in (b"spec_version = 1\n", b"\xff"):
        generation.manifest.write_bytes(held)
        assert in_use.put([rows_by("code")]) == frozenset()
        assert generation.manifest.read_bytes() == held


def test_a_worker_loads_the_model_with_the_first_text_or_when_it_is_warmed(
    vault: Path, embedder: Embedder
) -> None:
    made: list[Preparer] = []

    def make() -> Preparer:
        made.append(preparer_of(vault, embedder))
        return made[-1]

    worker = NoteWorker(make)
    worker.handle(PrepareJob(("gone.md",)))
    worker.handle(WarmJob(model=False))
    assert embedder.asked == []
    assert worker.handle(WarmJob()) == []
    assert len(embedder.asked) == 1
    assert len(made) == 1
    embedder.is_down = True
    assert worker.handle(WarmJob()) == Failed("down")
    assert NoteWorker(make).handle(PrepareJob(("gone.md",))) != []


def test_a_grammar_that_is_missing_is_named_once(tmp_path: Path) -> None:
    block = "```cobol\nDISPLAY 1.\n```\n\n"
    (tmp_path / "Code.md").write_text(f"# Code\n\n{block * 9}", "utf-8", newline="\n")
    chunker = chunker_for(ChunkingSettings.model_validate({"strategy": "code", "max_chunk_size": 100}))
    (found,) = Inspector(tmp_path, Settings(), chunker).inspect(["Code.md"])
    assert isinstance(found, InspectedNote)
    assert [(one.detail, one.line) for one in found.diagnostics] == [("no grammar for cobol", 1)]


def test_diagnostics_come_from_the_note_and_from_the_options_it_chose(tmp_path: Path) -> None:
    (tmp_path / "Note.md").write_text("---\nchunking: {strategy: nonsense}\nbroken: [\n---\n# Note\n")
    (tmp_path / "Own.md").write_text("---\nchunking: {strategy: nonsense}\n---\n# Own\n\nText.\n")
    inspector = Inspector(tmp_path, Settings(), ChoosingChunker(ChunkingSettings()))
    broken, own = inspector.inspect(["Note.md", "Own.md"])
    assert isinstance(broken, InspectedNote)
    assert isinstance(own, InspectedNote)
    assert "frontmatter" in {one.kind for one in broken.diagnostics}
    ((kind, detail),) = ((one.kind, one.detail) for one in own.diagnostics)
    assert kind == "chunking"
    assert detail.startswith(
        'chunking in the frontmatter is ignored: strategy = "nonsense": one of: header_based, '
    )


CARDS = ["# Ferry\n\nThe ferry leaves the harbour at noon.", "Bring the tent and the stove."]


def canvas() -> str:
    nodes = [
        {"id": str(at), "type": "text", "text": text, "x": 300 * at, "y": 0, "width": 250, "height": 60}
        for at, text in enumerate(CARDS)
    ]
    return json.dumps({"nodes": nodes, "edges": []})


@pytest.mark.long
def test_another_strategy_is_compared_for_notes_and_for_canvases(tmp_path: Path) -> None:
    notes = {"Trip.md": "# Trip\n\nThe ferry.\n\n## Camp\n\nThe tent.\n", "Board.canvas": canvas()}
    vault = write_notes(tmp_path / "vault", notes)
    target = resolve_target(vault, tmp_path / "index", None, environ={}, options={})
    with closing(open_index(target, lambda _: None)) as service:
        for path, texts in (("Trip.md", ["The ferry.", "The tent."]), ("Board.canvas", CARDS)):
            stored, compared = service.chunks(path), service.chunks(path, "paragraph")
            assert (stored.strategy, compared.strategy) == ("header_based", "paragraph")
            for text in texts:
                assert any(text in chunk.content for chunk in compared.chunks)
