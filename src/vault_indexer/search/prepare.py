"""Turns a request into a PreparedQuery: parsed, filtered, analysed, corrected, embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.errors import ProviderError, QueryError
from vault_indexer.model import Correction, SearchRequest
from vault_indexer.ports import Embedder, WordVectors
from vault_indexer.providers import WORD_LANGUAGES, word_vectors
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.filters import ChunkFilter
from vault_indexer.search.query import Condition, Query, in_vault, parse_query
from vault_indexer.search.terms import (
    Groups,
    Synonym,
    WordStatistics,
    as_spelt,
    find_corrections,
    find_synonyms,
    language_of,
    language_weight,
    query_words,
    weight_by_idf,
    with_compounds,
    with_corrections,
    with_synonyms,
)
from vault_indexer.search.typed_words import TypedWords
from vault_indexer.store import Snapshot
from vault_indexer.text.fold import has_words
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from vault_indexer.arrays import Keys, Mask
    from vault_indexer.ports import Vectors


@dataclass(frozen=True, slots=True)
class SearchedVault:
    """A vault in a search. `name` is "" for a vault that is searched alone. `folder` contains the files of
    its notes; if it is None, hits have no URI and are never stale. `embedder` is the model of the snapshot's
    vectors."""

    name: str
    folder: Path | None
    snapshot: Snapshot
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A request prepared for retrieval in one vault. A search over several vaults has one for each.

    `statistics` are the word statistics of all the vaults. `text` is the ranking text as written; it is "" if
    the query has only filters. `words` are its words. `terms` are these words with their `corrections` and
    `synonyms`, each with its weight. `language` is the language of the query, "" if unknown. `vector` is its
    embedding, and `language_weight`, in (0, 1], is the weight of vectors in that language. `chosen` selects
    the chunks that meet the conditions; None means no filter. `typed_words` searches the vault's texts for
    words. `word_vectors` compares words of the language; None if there are none for it.
    """

    vault: SearchedVault
    statistics: WordStatistics
    text: str
    words: tuple[QueryTerm, ...]
    terms: tuple[QueryTerm, ...]
    language: str
    vector: Vectors
    language_weight: float
    conditions: tuple[Condition, ...]
    chosen: ChunkFilter | None
    corrections: tuple[Correction, ...]
    notices: tuple[str, ...]
    deadline: QueryDeadline
    typed_words: TypedWords
    word_vectors: WordVectors | None = None
    synonyms: tuple[Synonym, ...] = ()

    @property
    def snapshot(self) -> Snapshot:
        return self.vault.snapshot

    def passing(self, keys: Keys) -> Mask:
        """Marks the chunks that may be results: those that are indexed and meet the conditions."""
        return self.snapshot.keywords.holds(keys) if self.chosen is None else self.chosen.passing(keys)

    @property
    def filters(self) -> tuple[str, ...]:
        return tuple(condition.source for condition in self.conditions)

    def notices_of_filters(self, *, found: bool) -> tuple[str, ...]:
        """Returns the notices about the filters. `found` is true if the query has hits."""
        if self.chosen is None:
            return ()
        left = found or self.chosen.leaves_any()
        if self.chosen.unchecked:
            return (_unchecked_notice(self.chosen, self.filters),)
        return () if left else (_no_match_notice(self.filters),)


def prepare_query(
    vaults: Sequence[SearchedVault],
    request: SearchRequest,
    deadline: QueryDeadline,
    synonym_groups: Groups = (),
) -> list[PreparedQuery]:
    """Prepares a query for each of the vaults, whose models must be comparable.

    The vaults form one collection of words (`WordStatistics`): a word is corrected in all of them or in none.
    Raises QueryError for an invalid or empty query. If a model is unavailable, only words and links are
    searched, and a notice reports this.
    """
    now = datetime.now().astimezone()
    statistics = WordStatistics([vault.snapshot for vault in vaults])
    query = parse_query(request.query)
    if not query.text and not query.conditions:
        raise QueryError("the query has neither words nor filters", 1)
    corrections: dict[str, Correction] = {}
    typing = request.as_you_type and query.open_end
    words = query_words(statistics, query.text, typing=typing)
    synonyms = find_synonyms(synonym_groups, statistics.languages, words)
    # A word for which the user has set synonyms is spelt correctly.
    spelt = {word.word for synonym in synonyms for word in synonym.written_words}
    doubtful = [word for word in words if word.word not in spelt]
    for vault in vaults if request.correct else ():
        for correction in find_corrections(vault.snapshot, statistics, query, doubtful):
            corrections.setdefault(correction.written, correction)
    analyzed = _Analyzed(query, words, tuple(corrections.values()), synonyms, statistics)
    return [_prepare(vault, request, analyzed, now, deadline) for vault in vaults]


class _Analyzed(NamedTuple):
    """A parsed query with its words, their corrections and synonyms, and the word statistics of all the
    vaults."""

    query: Query
    terms: Sequence[QueryTerm]
    corrections: tuple[Correction, ...]
    synonyms: tuple[Synonym, ...]
    statistics: WordStatistics


def _prepare(
    vault: SearchedVault,
    request: SearchRequest,
    analyzed: _Analyzed,
    now: datetime,
    deadline: QueryDeadline,
) -> PreparedQuery:
    snapshot, embedder = vault.snapshot, vault.embedder
    query, terms, corrections, synonyms, statistics = analyzed
    conditions = tuple(replace(one, node=in_vault(one.node, vault.name)) for one in query.conditions)
    chosen = ChunkFilter(snapshot, conditions, now, deadline) if conditions else None
    notices = [] if request.as_you_type else [*query.notices, *map(_correction_notice, corrections)]
    language = language_of(query.text, statistics.languages)
    corrected = with_corrections(statistics.languages, terms, corrections)
    compounded = with_compounds(snapshot, statistics, corrected, language)
    # Synonyms join the words only: adding them to the vector lowered nDCG@10 by .03 to .09.
    weighed = weight_by_idf(statistics, with_synonyms(compounded, synonyms))
    vector, fault = _meaning(snapshot, embedder, as_spelt(query.text, corrections))
    return PreparedQuery(
        vault=vault,
        statistics=statistics,
        text=query.text,
        words=tuple(terms),
        terms=tuple(statistics.scaled(snapshot.keywords, weighed)),
        language=language,
        vector=vector,
        language_weight=language_weight(embedder.model, language),
        conditions=conditions,
        chosen=chosen,
        corrections=corrections,
        notices=(*notices, *fault),
        deadline=deadline,
        typed_words=TypedWords(snapshot, deadline),
        word_vectors=word_vectors() if language in WORD_LANGUAGES else None,
        synonyms=synonyms,
    )


def _meaning(snapshot: Snapshot, embedder: Embedder, text: str) -> tuple[Vectors, tuple[str, ...]]:
    try:
        return embedder.embed_query(text), ()
    except ProviderError as error:
        nowhere = np.zeros(snapshot.vectors.dimension, np.float32)  # a zero vector is near no chunk
        return nowhere, (f"only words and links were searched: {error}",)


def _correction_notice(correction: Correction) -> str:
    return f"no note holds {correction.written!r}: searched for {correction.searched!r} as well"


def _no_match_notice(filters: Sequence[str]) -> str:
    said = f"no note matches the filter {' '.join(filters)}"
    if not any('"' in one for one in filters):
        return f"{said}; to search for it as text, put it in quotes"
    is_phrase = all(one.startswith('"') for one in filters) and any(map(has_words, filters))
    return f"{said}; in quotes, only whole words match" if is_phrase else said


def _unchecked_notice(chosen: ChunkFilter, filters: Sequence[str]) -> str:
    checked = chosen.candidates - chosen.unchecked
    return (
        f"some hits may be missing: the filter {' '.join(filters)} matches too common words, so only"
        f" {checked:,} of {chosen.candidates:,} notes were checked; add a rarer word, a tag or a folder"
    )
