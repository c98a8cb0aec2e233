"""Corrections of words that the vault does not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights, edit_distances
from vault_indexer.text.fold import normalize
from vault_indexer.text.language import detect
from vault_indexer.text.terms import QueryTerm

_SHORTEST = 4
_TWO_EDITS_FROM = 8
_CANDIDATES = 5
_MOST = 8
"""So many words of a query are corrected: each costs milliseconds, and with more it is no misspelt query."""


class Correction(NamedTuple):
    """A word of the query, and the one that was searched instead."""

    written: str
    searched: str


def correct_spelling(
    snapshot: Snapshot, text: str, terms: Sequence[QueryTerm], weights: FieldWeights
) -> tuple[str, tuple[Correction, ...]]:
    """The text with every unknown word replaced by a likely one, and the replacements in order.

    A word is unknown if no chunk holds any form of it. One edit is allowed, two from eight letters on. A
    query in a language that the vault does not know is left alone.
    """
    unknown = [term for term in terms if _is_unknown(snapshot, term, weights)]
    language = detect(text) if unknown else ""
    if not unknown or (language and language not in snapshot.languages):
        return text, ()
    found: list[Correction] = []
    parts, at = [], 0
    for term in sorted(unknown, key=lambda term: (term.start, -term.end))[:_MOST]:
        better = _likely(snapshot, normalize(term.word))
        if better and term.start >= at and text[term.start : term.end] == term.word:
            parts += [text[at : term.start], better]
            at = term.end
            found.append(Correction(term.word, better))
    return "".join([*parts, text[at:]]), tuple(found)


def _is_unknown(snapshot: Snapshot, term: QueryTerm, weights: FieldWeights) -> bool:
    if len(term.word) < _SHORTEST or not term.word.isalpha():
        return False
    return not snapshot.keywords.knows(term, weights)


def _likely(snapshot: Snapshot, word: str) -> str | None:
    near = [one.term for one in snapshot.keywords.lexicon.near(word, _CANDIDATES) if one.term.isalpha()]
    allowed = 1 if len(word) < _TWO_EDITS_FROM else 2
    apart = edit_distances(word, near)
    return next((term for term, edits in zip(near, apart, strict=True) if edits <= allowed), None)
