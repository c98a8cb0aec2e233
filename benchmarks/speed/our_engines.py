"""Our own search, and its parts alone, as engines beside the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from speed.keyword_engines import Asked, tantivy_searcher, whoosh_searcher
from speed.material import CANDIDATES, HITS, Material, Opened, documents, silent
from speed.questions import Question
from vault_indexer.bootstrap import open_index
from vault_indexer.model import SearchRequest
from vault_indexer.store.catalog.reader import CatalogReader
from vault_indexer.store.generations import Generation
from vault_indexer.store.keywords.index import KeywordIndex
from vault_indexer.store.keywords.schema import FIELDS, FieldWeights
from vault_indexer.store.snapshot import Snapshot
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm


@contextmanager
def our_hybrid(material: Material) -> Iterator[Opened]:
    """The whole use case, as the Python API has it: vector, keyword and graph, fusion, reasons, snippets."""
    keys = _keys(material)
    service = open_index(material.target, silent)

    def answer(question: Question) -> list[int]:
        return [keys[hit.chunk_id] for hit in service.search(SearchRequest(question.text, HITS)).results]

    try:
        yield Opened(answer)
    finally:
        service.close()


@contextmanager
def our_hybrid_cold(material: Material) -> Iterator[Opened]:
    """The same search, with every cache of ours empty before each query: postings, scores, note texts."""
    keys, generation = _keys(material), material.generation
    opened = material.assembly().open_to_read(generation)
    with opened.holder.lease() as snapshot:
        state = _Cold(snapshot, generation)

        def answer(question: Question) -> list[int]:
            hits = opened.searcher.search(state.snapshot, SearchRequest(question.text, HITS)).hits
            return [keys[hit.chunk_id] for hit in hits]

        yield Opened(answer, state.drop)


@contextmanager
def our_keyword(material: Material) -> Iterator[Opened]:
    """The keyword ranking as a search asks for it: analysis, stems of each language, folded forms."""
    with _leased(material) as snapshot:
        yield Opened(_keyword_answer(lambda: snapshot))


@contextmanager
def our_keyword_cold(material: Material) -> Iterator[Opened]:
    """The keyword ranking with nothing cached before each query."""
    with _leased(material) as snapshot:
        state = _Cold(snapshot, material.generation)
        yield Opened(_keyword_answer(lambda: state.snapshot), state.drop)


@contextmanager
def our_words(material: Material) -> Iterator[Opened]:
    """The exact words alone in all fields: what Whoosh and tantivy are asked here."""
    weights = FieldWeights()
    with _leased(material) as snapshot:

        def answer(question: Question) -> list[int]:
            terms = [QueryTerm.plain(word) for word in question.words]
            found: list[int] = snapshot.keywords.search(terms, weights, CANDIDATES).keys.tolist()
            return found

        yield Opened(answer)


@contextmanager
def our_vector(material: Material) -> Iterator[Opened]:
    """Embedding the query, and the nearest chunks."""
    embedder = material.embedder()
    with _leased(material) as snapshot:

        def answer(question: Question) -> list[int]:
            keys, _ = snapshot.vectors.search(embedder.embed_query(question.text), CANDIDATES)
            found: list[int] = keys.tolist()
            return found

        yield Opened(answer)


@contextmanager
def whoosh_words(material: Material) -> Iterator[Opened]:
    """Whoosh's own searcher on our keyword index as it lies on the disk."""
    answer = whoosh_searcher(material.generation.keywords, Asked(FIELDS, CANDIDATES))
    yield Opened(lambda question: answer(question.words))


@contextmanager
def tantivy_words(material: Material) -> Iterator[Opened]:
    """tantivy on the same term lists in the same fields."""
    with material.catalog() as catalog:
        answer = tantivy_searcher(material.folder, documents(catalog), Asked(FIELDS, CANDIDATES))
    yield Opened(lambda question: answer(question.words))


class _Cold:
    """A snapshot that is opened again at will, so that it has cached nothing. Vectors have no cache."""

    def __init__(self, snapshot: Snapshot, generation: Generation) -> None:
        self.snapshot = snapshot
        self._generation = generation
        self._opened: CatalogReader | None = None

    def drop(self) -> None:
        """Begin with empty caches."""
        if self._opened is not None:
            self._opened.close()
        self._opened = CatalogReader(self._generation.catalog)
        keywords = KeywordIndex.open(self._generation.keywords, check=False).snapshot()
        self.snapshot = replace(self.snapshot, catalog=self._opened, keywords=keywords)


def _keyword_answer(snapshot: Callable[[], Snapshot]) -> Callable[[Question], list[int]]:
    weights = FieldWeights()

    def answer(question: Question) -> list[int]:
        now = snapshot()
        terms = analyze_query(question.text, now.languages)
        found: list[int] = now.keywords.search(terms, weights, CANDIDATES).keys.tolist()
        return found

    return answer


@contextmanager
def _leased(material: Material) -> Iterator[Snapshot]:
    opened = material.assembly().open_to_read(material.generation)
    with opened.holder.lease() as snapshot:
        yield snapshot


def _keys(material: Material) -> dict[str, int]:
    with material.catalog() as catalog:
        return {str(name): int(key) for key, name in catalog.rows("SELECT key, chunk_id FROM chunks")}
