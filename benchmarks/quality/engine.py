"""The real engine over a set: an index built once in a folder, then each query by each variant of it."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from quality.measures import MEASURES, OPENS, measured
from quality.queries import Query
from quality.sets import QuerySet, SpanQuestion, overlapping
from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.config.settings import RecencySettings, SearchSettings, WeightSettings
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.errors import QueryError
from vault_indexer.model import Hit, Progress, SearchRequest
from vault_indexer.search import Searcher, SearchResult
from vault_indexer.search.query.parser import parse_query
from vault_indexer.store.snapshot import Snapshot

_DEFAULT = WeightSettings()
_DEPTH = 10
_OPERATORS = re.compile(r'["\[\]()/]|(?:^|(?<=\s))-+|(?<=\w):(?=\s|$)')


def variant(**weights: float) -> SearchSettings:
    """The default search with other weights. Age does not count: the files are as old as their unpacking."""
    return SearchSettings(
        weights=_DEFAULT.model_copy(update=weights),
        recency=RecencySettings(enabled=False),
        max_chunks_per_note=_DEPTH,
    )


FULL = "all three"
VARIANTS: Mapping[str, SearchSettings] = {
    "keyword": variant(vector=0, graph=0),
    "vector": variant(keyword=0, graph=0),
    "RRF 1:1": variant(vector=1, graph=0).model_copy(update={"rerank": 0}),
    "fusion": variant(graph=0),
    FULL: variant(),
}


@dataclass(frozen=True, slots=True)
class OpenSet:
    """A set whose index is open for reading."""

    queries: tuple[Query, ...]
    by_note: bool
    searcher: Searcher
    snapshot: Snapshot

    opens_at_start: bool = False

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the values that `run` gives for each query."""
        return (*MEASURES, OPENS) if self.opens_at_start else MEASURES

    def run(self, settings: SearchSettings) -> list[tuple[float, ...]]:
        """The measures of each query, in order."""
        searcher = self.searcher.with_settings(settings)
        return [self._measured(searcher, query) for query in self.queries]

    def answer(self, searcher: Searcher, text: str) -> SearchResult:
        """The first ten hits, as a user of the search gets them."""
        request = SearchRequest(plain(text), limit=_DEPTH, by_note=self.by_note)
        return searcher.search(self.snapshot, request)

    def _measured(self, searcher: Searcher, query: Query) -> tuple[float, ...]:
        hits = self.answer(searcher, query.text).hits
        found = _notes(hits) if self.by_note else [_chunk(hit) for hit in hits]
        values = measured(found[:_DEPTH], query.grades)
        if not self.opens_at_start:
            return values
        opens = bool(hits) and query.grades.get(hits[0].path, 0) > 0 and hits[0].chunk_index == 0
        return (*values, float(opens))


@contextmanager
def opened(of: QuerySet, work: Path, provider: str) -> Iterator[OpenSet]:
    """Builds the index in `work` if need be."""
    target = resolve_target(
        of.vault,
        work / f"index-{provider}-{of.vault.name}",
        None,
        environ={},
        options={"embedding.provider": provider},
    )
    open_index(target, _Told()).close()
    assembly = Assembly.of(target)
    current = assembly.index_dir.current()
    assert current is not None
    index = assembly.open_to_read(current)
    with index.holder.lease() as snapshot:
        queries = of.queries or _judged(of.questions, snapshot)
        yield OpenSet(queries, of.by_note, index.searcher, snapshot, of.opens_at_start)


class _Told:
    """Tells on stderr now and then how far a build is."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() - self._last > 10:
            self._last = time.monotonic()
            print(f"{progress.stage}: {progress.notes} of {progress.total} notes", file=sys.stderr)


def _judged(questions: Sequence[SpanQuestion], snapshot: Snapshot) -> tuple[Query, ...]:
    chunks = [
        (f"{note.path}:{row.chunk.start_pos}", note.path, row.chunk.start_pos, row.chunk.end_pos)
        for note in snapshot.catalog.all_notes()
        for row in snapshot.catalog.chunks_of(note.note_id)
    ]
    return tuple(Query("question", one.text, overlapping(chunks, one.spans)) for one in questions)


def _notes(hits: Sequence[Hit]) -> list[str]:
    """The notes that the hits name: a hit counts with its copies, which the judgements list apart."""
    return [path for hit in hits for path in (hit.path, *hit.copies)]


def _chunk(hit: Hit) -> str:
    return f"{hit.path}:{hit.start_pos}"


def plain(text: str) -> str:
    """The query without what the query language would read as an operator: ranking is measured here."""
    try:
        is_plain = not parse_query(text).conditions
    except QueryError:
        is_plain = False
    return text if is_plain else _OPERATORS.sub(" ", text).strip()
