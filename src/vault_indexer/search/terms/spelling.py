"""Likely spellings of words that the vault does not know, searched beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from vault_indexer.model import Correction
from vault_indexer.search.query import Query, ranking_words
from vault_indexer.search.terms.common_words import is_common
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights, edit_distances
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

CORRECTION_WEIGHT = 0.6
"""What a likely spelling counts beside a word that the user wrote."""

_SHORTEST = 4
_TWO_EDITS_FROM = 8
_CANDIDATES = 8
_FREQUENT = 3
"""A word that so many chunks hold is hardly a misspelling itself."""

_MOST = 8
"""So many words of a query are corrected: each costs milliseconds, and with more it is no misspelt query."""

_LETTERS = re.compile(r"[^\W\d_]+")


def find_corrections(
    snapshot: Snapshot, query: Query, terms: Iterable[QueryTerm], weights: FieldWeights
) -> tuple[Correction, ...]:
    """A likely spelling for each word that is probably misspelt, in the order of the text.

    A word is probably misspelt if no chunk and no title holds any form of it, it is no common word of any
    language, and no filter of the query asks for it as written. Its likely spelling is the nearest word of
    the vault that is frequent there or common in a language: one edit away, or two from eight letters on. A
    query in a language that the vault does not know has no corrections. `terms` are the words of the query.
    """
    unknown = [term for term in terms if _is_unknown(snapshot, term, weights)]
    language = detect(query.text) if unknown else ""
    if not unknown or (language and language not in snapshot.languages):
        return ()
    found: list[Correction] = []
    at = 0
    for term in sorted(unknown, key=lambda term: (term.start, -term.end))[:_MOST]:
        likely = _likely(snapshot, term.word) if term.start >= at else None
        if likely:
            at = term.end
            found.append(Correction(term.word, likely))
    kept = _words_of_filters(query) | _words_of_blank_notes(snapshot) if found else frozenset()
    return tuple(one for one in found if _key(one.written) not in kept)


def correction_terms(snapshot: Snapshot, corrections: Iterable[Correction]) -> Iterator[QueryTerm]:
    """The query terms of the likely spellings, which count less than words that the user wrote."""
    for one in corrections:
        for term in analyze_query(one.searched, snapshot.languages):
            yield replace(term, weight=term.weight * CORRECTION_WEIGHT)


def _is_unknown(snapshot: Snapshot, term: QueryTerm, weights: FieldWeights) -> bool:
    if len(term.word) < _SHORTEST or not term.word.isalpha():
        return False
    return not snapshot.keywords.knows(term, weights) and not is_common(term.word)


def _likely(snapshot: Snapshot, word: str) -> str | None:
    exact = normalize(word)
    near = [one for one in snapshot.keywords.lexicon.near(exact, _CANDIDATES) if one.term.isalpha()]
    allowed = 1 if len(exact) < _TWO_EDITS_FROM else 2
    apart = edit_distances(exact, [one.term for one in near])
    close = (one for one, edits in zip(near, apart, strict=True) if edits <= allowed)
    return next((one.term for one in close if one.frequency >= _FREQUENT or is_common(one.term)), None)


def _words_of_filters(query: Query) -> frozenset[str]:
    """The words, folded, of phrases in quotes and of operators: a hit holds them as they are written."""
    texts = (text for condition in query.conditions for text in ranking_words(condition.node))
    return frozenset(_key(word) for text in texts for word in _LETTERS.findall(text))


def _words_of_blank_notes(snapshot: Snapshot) -> frozenset[str]:
    """The words, folded, of titles, aliases and names of notes without text, which no chunk holds."""
    rows: Sequence[tuple[object, ...]] = snapshot.catalog.rows(
        "SELECT title, aliases, path FROM notes n"
        " WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.note_id = n.note_id)"
    )
    names = (f"{title} {' '.join(json.loads(str(aliases)))} {path}" for title, aliases, path in rows)
    return frozenset(_key(word) for name in names for word in _LETTERS.findall(name))


def _key(word: str) -> str:
    return fold(normalize(word))
