"""How much of a query a chunk says: the words that it holds, and words that are like them."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import Indexed, OpenNotes

from vault_indexer.model import SearchRequest
from vault_indexer.ports import WordVectors
from vault_indexer.providers import word_vectors
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.rank.retrieve import ALIKE, BY_CHANCE, HELD, chunk_coverage
from vault_indexer.search.searcher import IndexReader
from vault_indexer.service import VaultService
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import CatalogReader, CatalogWriter, pack_words, unpack_words
from vault_indexer.store.keywords import FIELD_WEIGHTS, held_weight
from vault_indexer.text.language import function_words

NOTES = {
    "Garage.md": "# Garage\n\nThe vehicle was repaired, and the engine is quiet again.\n",
    "Meadow.md": "# Meadow\n\nGrass, clover and a quiet evening with bees.\n",
    "Xylotomous.md": "# Xylotomous\n\nXylotomous insects cut wood.\n",
    "Symbols.md": "# \u2192\n\n\u2190\u2191\u2193 \u25a0\u25a1 \u2605\n",
    **{f"Letter {n}.md": f"# Letter {n}\n\nTo the council, about noise number {n}.\n" for n in range(9)},
}


@pytest.fixture(scope="module")
def reader(opened: Indexed) -> IndexReader:
    return opened[1]


def prepared(reader: IndexReader, snapshot: Snapshot, query: str, *, typing: bool = False) -> PreparedQuery:
    request = SearchRequest(query, as_you_type=typing)
    vault = SearchedVault("", None, snapshot, reader.searcher.embedder)
    return prepare_query([vault], request, QueryDeadline(30.0))[0]


def held_by(asked: PreparedQuery, keys: list[int]) -> np.ndarray:
    """Which terms each of the chunks holds; shape (chunks, terms)."""
    ranges = np.array(keys, np.int64)
    held = asked.snapshot.keywords.term_presence(ranges, ranges + 1, asked.terms, FIELD_WEIGHTS)
    return held.documents_of(ranges)


def coverage_at(asked: PreparedQuery, keys: list[int]) -> tuple[dict[int, float], float]:
    """The share of each chunk by key, and what it counts."""
    shares, weight = chunk_coverage(asked, np.array(keys, np.int64), held_by(asked, keys))
    return dict(zip(keys, shares.tolist(), strict=True)), weight


def coverage_of(reader: IndexReader, query: str, *, typing: bool = False) -> dict[str, float]:
    """The share of each note's only chunk, by path."""
    with reader.holder.lease() as snapshot:
        asked = prepared(reader, snapshot, query, typing=typing)
        keys = snapshot.keywords.keys.tolist()
        shares, weight = coverage_at(asked, keys)
        assert weight == ALIKE
        rows = snapshot.catalog.chunks(keys)
        notes = snapshot.catalog.notes(row.note_id for row in rows.values())
        return {notes[rows[key].note_id].path: share for key, share in shares.items()}


def test_a_hit_says_how_much_of_the_query_it_covers_by_like_words(service: VaultService) -> None:
    answer = service.search(SearchRequest("quiet car motor"))
    shares = {hit.path: hit.why.keyword.coverage for hit in answer.results if hit.why.keyword is not None}
    garage, meadow = shares["Garage.md"], shares["Meadow.md"]  # both hold only the first word
    assert garage is not None
    assert meadow is not None
    assert garage > meadow + 0.1
    assert answer.results[0].path == "Garage.md"


@pytest.mark.long
def test_the_sentence_model_finds_like_words_too(open_notes: OpenNotes) -> None:
    _, reader = open_notes(NOTES, "multilingual")
    shares = coverage_of(reader, "quiet car motor")  # both hold only the first word
    assert shares["Garage.md"] > shares["Meadow.md"] + 0.1


def test_words_of_a_language_that_is_not_compared_count_where_they_are_held(reader: IndexReader) -> None:
    with reader.holder.lease() as snapshot:
        assert prepared(reader, snapshot, "quiet car motor").word_vectors is not None
        assert prepared(reader, snapshot, "¿qué es lo que dice el coche y por qué?").word_vectors is None


def test_a_function_word_counts_nothing_beside_others(reader: IndexReader) -> None:
    assert coverage_of(reader, "the grass with bees") == coverage_of(reader, "grass bees")
    assert coverage_of(reader, "to the")["Letter 1.md"] == pytest.approx(1.0)


def test_a_word_that_is_still_typed_counts_where_it_begins_one(reader: IndexReader) -> None:
    shares = coverage_of(reader, "vehic", typing=True)
    assert shares.pop("Garage.md") == pytest.approx(1.0)
    assert set(shares.values()) == {0.0}
    assert coverage_of(reader, "meadow gras", typing=True)["Meadow.md"] == pytest.approx(1.0)


@pytest.mark.parametrize("path", ["Garage.md", "Meadow.md", "Xylotomous.md"])
def test_without_vectors_of_words_a_chunk_counts_by_what_it_holds(reader: IndexReader, path: str) -> None:
    with reader.holder.lease() as snapshot:
        asked = replace(prepared(reader, snapshot, "quiet insects"), word_vectors=None)
        (key,) = snapshot.catalog.chunk_keys_at([path])[path]
        shares, weight = coverage_at(asked, [key])
        held = float(held_weight(held_by(asked, [key]), asked.terms)[0])
        assert shares == {key: pytest.approx(held)}
        assert 0.0 < held < 1.0
        assert weight == HELD


def test_chunks_without_known_words_count_by_what_they_hold(reader: IndexReader) -> None:
    with reader.holder.lease() as snapshot:
        (symbols,) = snapshot.catalog.chunk_keys_at(["Symbols.md"])["Symbols.md"]
        shares, weight = coverage_at(prepared(reader, snapshot, "symbols car"), [symbols])
        assert weight == HELD
        assert 0.0 < shares[symbols] < 1.0


WORDS = ["car", "motor", "quiet", "bees", "council", "xylotomous", "wood", "the"]


@given(words=st.lists(st.sampled_from(WORDS), min_size=1))
def test_each_word_counts_by_its_nearest_word_of_the_chunk(reader: IndexReader, words: list[str]) -> None:
    """The law, by the definition: one word and one chunk after the other."""
    with reader.holder.lease() as snapshot:
        asked = prepared(reader, snapshot, " ".join(words))
        shares, _ = coverage_at(asked, snapshot.keywords.keys.tolist())
        vectors = asked.word_vectors
        assert vectors is not None
        idle = function_words("en")
        speaking = [term for term in asked.terms if term.word not in idle] or asked.terms
        total = sum(term.weight for term in speaking)
        for key, share in shares.items():
            text = _embedded(snapshot.catalog, key)
            said = 0.0
            for term in speaking:
                likeness = _nearest(vectors, term.word, text)
                if likeness is None:
                    one = np.array([key], np.int64)
                    likeness = float(
                        snapshot.keywords.term_presence(one, one + 1, [term], FIELD_WEIGHTS).ranges[0, 0]
                    )
                said += term.weight * likeness
            assert share == pytest.approx(said / total, abs=1e-5)
            assert 0.0 <= share <= 1.0 + 1e-6


def _embedded(catalog: CatalogReader, key: int) -> str:
    row = catalog.chunks([key])[key]
    return row.chunk.embedding_text(catalog.notes([row.note_id])[row.note_id].title)


def _nearest(vectors: WordVectors, word: str, text: str) -> float | None:
    """The likeness of the text's nearest word; None for a word that the model does not know."""
    numbers = vectors.numbers(text)
    if np.isnan(vectors.likeness([word], vectors.numbers("and"))).any():
        return None
    best = max(vectors.likeness([word], numbers)[0].tolist(), default=0.0)
    return max(0.0, (best - BY_CHANCE) / (1 - BY_CHANCE))


def test_the_catalog_keeps_the_words_of_each_chunk_and_drops_them_with_its_note(
    reader: IndexReader, tmp_path: Path
) -> None:
    words = word_vectors()
    with reader.holder.lease() as snapshot:
        kept = snapshot.catalog.chunk_words(snapshot.keywords.keys.tolist())
        assert kept.keys() == set(snapshot.keywords.keys.tolist())
        for key in kept:
            assert kept[key] == pack_words(words.numbers(_embedded(snapshot.catalog, key)))
        (gone,) = snapshot.catalog.chunk_keys_at(["Garage.md"])["Garage.md"]
    copy = _copied(reader, tmp_path)
    with closing(CatalogWriter(copy)) as writer, writer.commit():
        writer.remove_note("Garage.md")
    with closing(CatalogReader(copy)) as catalog:
        assert catalog.chunk_words(kept) == {key: own for key, own in kept.items() if key != gone}


@given(st.lists(st.lists(st.integers(0, 65_535), max_size=5)))
def test_words_are_kept_in_two_bytes_each_and_read_again(chunks: list[list[int]]) -> None:
    packed = [pack_words(np.array(numbers, np.uint16)) for numbers in chunks]
    assert packed == [b"".join(number.to_bytes(2, "little") for number in own) for own in chunks]
    every, sizes = unpack_words(packed)
    assert every.tolist() == [number for numbers in chunks for number in numbers]
    assert sizes.tolist() == list(map(len, chunks))


def test_a_catalog_from_before_they_were_kept_is_read(reader: IndexReader, tmp_path: Path) -> None:
    copy = _copied(reader, tmp_path)
    with closing(sqlite3.connect(copy)) as database:
        database.executescript("DROP TABLE chunk_words")
    with closing(CatalogReader(copy)) as catalog:
        keys = [row[0] for row in catalog.rows("SELECT key FROM chunks")]
        assert catalog.chunk_words(keys) == {}


def _copied(reader: IndexReader, folder: Path) -> Path:
    """A copy of the catalog that the reader has open."""
    with reader.holder.lease() as snapshot:
        (_, _, source), *_ = snapshot.catalog.rows("PRAGMA database_list")
    for file in Path(source).parent.glob("catalog.*"):
        shutil.copy(file, folder / file.name)
    return folder / "catalog.db"
