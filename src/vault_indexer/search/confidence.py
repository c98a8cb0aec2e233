"""How likely a hit is about what the query asks, on a scale that is the same for all queries and vaults.

A logistic regression over signs of which none has a unit: the share of the query's words that the hit holds,
each word at its rarity; the same of its note's title; how far its cosine is above those of a sample of the
vault's chunks, beside the best of as many chunks by chance, which counts more where words say nothing.

`benchmarks/confidence_fit.py` fits it to the tuning halves of queries as they are typed over many vaults
(paraphrases, half-remembered titles, keywords, typos, near misses, off topic) and of XQuAD in 12 languages; a
test compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, Verdict, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.present import function_words
from vault_indexer.search.query import Either, Node, ranking_words
from vault_indexer.search.rank import Candidates
from vault_indexer.search.terms import weight_by_idf
from vault_indexer.search.typed_words import typed_word
from vault_indexer.search.unspaced import pair_contents, weigh_runs
from vault_indexer.store import row_products
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.interrogatives import interrogatives
from vault_indexer.text.language import detect
from vault_indexer.text.query import PART_WEIGHT, analyze_query, is_hyphenated, part_at_apostrophe
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN, compound_parts

if TYPE_CHECKING:
    from vault_indexer.arrays import Floats, Keys, Mask

STRONG, LIKELY, WEAK = 0.8, 0.5, 0.2
"""The least relevance of the best hit for each verdict. 96% of the answerable queries of the tuning half have
the last."""

CORRECTED = 0.9
"""How far a word counts as held of which the hit holds only the likely spelling, or with spaces instead of
hyphens. A rule of thumb."""

INSIDE = 0.5
"""How far a word counts as held of which the hit holds only a compound with it: `haus` in `durchhaus`. A rule
of thumb."""

_SMALL_VAULT = 10.0
"""In a vault with this many chunks the rarity of a word counts half: with one note it says nothing. A rule of
thumb."""

_LARGEST_Z = 8.0
"""A deviation counts up to here: more says nothing more. A rule of thumb."""

_FIRST_HITS = 5
_LATER_HIT = 0.6
"""The hits that the verdict depends on, and the relevance from which one behind the first does. Without this
bound, "none" is said of 76% of the questions without an answer in English instead of 80%, in Spanish of 75%
instead of 81% (XQuAD, sets far)."""

_MOST_ALTERNATIVES = 64
"""At most so many are compared: several `OR` side by side multiply. A rule of thumb."""

_LEAST_SPREAD = 1e-6
"""Less is the rounding of equal cosines."""

QUESTION_CHARACTERS = frozenset("什么甚麼谁誰哪何吗嗎呢怎")
FUNCTION_CHARACTERS = frozenset("的了是在有和与與及或被把从從于於对對就都也而以为為之其")
"""A pair with one of the first says nothing, one with one of the second half as much as others: that raised
AUROC on near zh from .922 to .928, on far zh from .973 to .976."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What the relevance of a hit is made of: how far it holds the query, and its note's title does, in
    [0, 1]; its deviation, beside that of the best chunk by chance; and whether that alone tells, as the hit
    holds no word or is in another language than the query (whose language the model knows)."""

    share: float
    title: float
    deviation: float
    is_apart: bool


class LogisticMap(NamedTuple):
    """Log odds of a hit's relevance by its signs; deviations count by their square."""

    base: float
    share: float
    title: float
    deviation: float
    apart: float

    def relevance(self, signs: Signs) -> float:
        """In [0, 1]; never lower for a larger share (of the same words), title or deviation."""
        slope = self.deviation + self.apart * signs.is_apart
        odds = self.base + self.share * signs.share + self.title * signs.title + slope * signs.deviation**2
        return 1.0 / (1.0 + exp(-odds))


RELEVANCE = LogisticMap(base=-2.68, share=6.06, title=3.61, deviation=0.51, apart=0.65)
"""As `benchmarks/confidence_fit.py` fits it."""

_WHOLE = 1.5
"""The power to which the share of words counts: two of three words are less than two thirds of an answer. Of
pairs of characters, in scripts without spaces, an answer often holds a part only: their share counts as it
is. The best of 1, 1.5 and 2 on the tuning halves."""


def relevance_of(prepared: PreparedQuery, table: Candidates, rows: Sequence[int]) -> dict[int, float]:
    """The relevance of rows of one vault, in [0, 1], in their order. A note whose name is the query has 1."""
    signs = signs_of(prepared, table, rows)
    return {row: 1.0 if table.title[row] else RELEVANCE.relevance(one) for row, one in signs.items()}


def signs_of(prepared: PreparedQuery, table: Candidates, rows: Sequence[int]) -> dict[int, Signs]:
    """What the relevance of rows of one vault is made of, in their order."""
    ordered = np.array(sorted(rows, key=table.key.__getitem__), np.int64)
    keys = table.local_key[ordered]
    weights = word_weights(prepared) if prepared.words else np.empty(0)
    shares = _shares(prepared, weights, keys) ** (1.0 if RUN.search(prepared.text) else _WHOLE)
    titles = held_share(weights, _titled(prepared, keys))
    deviations = _above_background(prepared, keys) / best_by_chance(prepared.statistics.documents)
    foreign = _foreign_notes(prepared, keys)
    is_read = prepared.language_weight >= 1.0
    known = zip(*(one.tolist() for one in (ordered, keys, shares, titles, deviations)), strict=True)
    found = {
        row: Signs(share, title, deviation, is_read and (not share or note_id_of(key) in foreign))
        for row, key, share, title, deviation in known
    }
    return {row: found[row] for row in rows}


def verdict_of(relevance: Iterable[float]) -> Verdict:
    """What an answer is worth, by the relevance of its hits, in their order; "none" without hits.

    The best of the first five hits decides. One behind the first counts from `_LATER_HIT` on: the best of
    five chunks that are not about the query is often a weak one."""
    first, *others = *islice(relevance, _FIRST_HITS), 0.0
    best = max(first, *(one for one in others if one >= _LATER_HIT), 0.0)
    if best >= STRONG:
        return "strong"
    if best >= LIKELY:
        return "likely"
    return "weak" if best >= WEAK else "none"


def word_weights(prepared: PreparedQuery) -> Floats:
    """What each word of the query, as written, counts: the rarer, the more, but function and question words
    nothing, unless there is nothing else. In a small vault all other words count about alike."""
    chunks = prepared.statistics.documents
    weighed = weight_by_idf(prepared.statistics, prepared.words)
    rarity = np.array([term.weight for term in weighed])
    alike = np.array([term.weight for term in prepared.words])
    weights = (chunks * rarity + _SMALL_VAULT * alike) / (chunks + _SMALL_VAULT)
    languages = _languages(prepared)
    idle = frozenset[str]().union(*map(function_words, languages), *map(interrogatives, languages))
    pairs = pair_contents(prepared.text)
    content = [pairs.get(term.word, _content(term.word, idle)) for term in prepared.words]
    kept = weights * np.array(content) * _at_apostrophes(prepared)
    return kept if kept.any() else weights


def _at_apostrophes(prepared: PreparedQuery) -> Floats:
    """What each word counts, relative to others: of `Newton's` the part `Newton` all, the rest nothing, since
    a note may hold it with another ending, or without an article."""
    counts = np.ones(len(prepared.words))
    for number, whole in enumerate(prepared.words):
        if not (main := part_at_apostrophe(whole.word, prepared.language)):
            continue
        counts[number] = 0.0
        for other, part in enumerate(prepared.words):
            if other != number and whole.start <= part.start and part.end <= whole.end:
                counts[other] = 1.0 / PART_WEIGHT if part.word == main else 0.0
    return counts


def held_share(weights: Floats, held: Floats) -> Floats:
    """For each row of `held` (how far it holds each word, in [0, 1]) the part of the weights, in [0, 1]."""
    total = float(weights.sum())
    return np.clip(row_products(held, weights) / total, 0.0, 1.0) if total else np.zeros(len(held))


def best_by_chance(chunks: int) -> float:
    """How many standard deviations the best of so many normally distributed numbers is above their mean, as
    Blom (1958) estimates it; that of two for fewer."""
    count = max(2, chunks)
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25))


def standardized(cosines: Floats, background: Floats) -> Floats:
    """How many standard deviations each cosine is above the mean of the background, in [0, 8]; without a
    cosine (NaN), or where all are equal, 0."""
    spread = float(background.std()) if len(background) else 0.0
    if spread <= _LEAST_SPREAD:
        return np.zeros(len(cosines))
    found: Floats = np.clip(np.nan_to_num((cosines - background.mean()) / spread), 0.0, _LARGEST_Z)
    return found


def _languages(prepared: PreparedQuery) -> set[str]:
    """A short query hardly tells its language: then English, as it is everywhere, counts too."""
    return {prepared.language, detect(prepared.text) or "en"}


def _content(word: str, idle: frozenset[str]) -> float:
    key = fold(normalize(word))
    parts = compound_parts(key)  # of `est-ce`, which says nothing if no part does
    if key in idle or (parts and idle.issuperset(parts)):
        return 0.0
    if not RUN.match(key):
        return 1.0
    if any(character in QUESTION_CHARACTERS for character in key):
        return 0.0
    return 0.5 if any(character in FUNCTION_CHARACTERS for character in key) else 1.0


def _foreign_notes(prepared: PreparedQuery, keys: Keys) -> set[int]:
    """The notes of the chunks that are in another language than the query, if the model reads whole sentences
    and knows the query's language: others tell nothing of them."""
    is_read = prepared.vault.embedder.model.provider != "wordllama" and prepared.language_weight >= 1.0
    if not (is_read and prepared.language):
        return set()
    notes = prepared.snapshot.catalog.notes({note_id_of(key) for key in keys.tolist()})
    return {note_id for note_id, note in notes.items() if note.language not in ("", prepared.language)}


def _titled(prepared: PreparedQuery, keys: Keys) -> Floats:
    """For each chunk and word whether its note has the word in its title or an alias."""
    held = np.zeros((len(keys), len(prepared.words)))
    for number, term in enumerate(prepared.words):
        found = prepared.snapshot.keywords.filter_keys(keys, term.forms, ("title", "aliases"))
        held[:, number] = np.isin(keys, found)
    return held


def _shares(prepared: PreparedQuery, weights: Floats, keys: Keys) -> Floats:
    """For each chunk the mean of what it and its note hold of the query, or of one of its alternatives."""
    own, whole = (weigh_runs(prepared.text, prepared.words, held) for held in _held(prepared, keys))
    asked = _alternatives(prepared, weights)
    shares: Floats = np.array([held_share(one, own) + held_share(one, whole) for one in asked]) / 2
    share: Floats = shares.max(axis=0)
    return share


def _alternatives(prepared: PreparedQuery, weights: Floats) -> list[Floats]:
    """The weights of the words once for each alternative of the query: of `a OR b` those of `a`, and those of
    `b`. One whose words count nothing is none."""
    found = [weights]
    for condition in prepared.conditions:
        if isinstance(condition.node, Either):
            sides = [_words_of(prepared, part) for part in condition.node.parts]
            every = frozenset[str]().union(*sides)
            masks = [
                np.array([term.word not in every - side for term in prepared.words], float) for side in sides
            ]
            found = list(islice((one * mask for one in found for mask in masks), _MOST_ALTERNATIVES))
    return [one for one in found if one.any()] or [weights]


def _words_of(prepared: PreparedQuery, part: Node) -> frozenset[str]:
    """The words of a part of the query, as they stand among all its words."""
    terms = analyze_query(" ".join(ranking_words(part)), prepared.statistics.languages)
    return frozenset(term.word for term in terms)


def _held(prepared: PreparedQuery, keys: Keys) -> tuple[Floats, Floats]:
    """How far each chunk, and its whole note, holds each word, in [0, 1]: a corrected word by its likely
    spelling, any word by a compound with it, a hyphenated one by its parts."""
    snapshot, languages = prepared.snapshot, prepared.statistics.languages
    notes = np.unique(keys >> CHUNK_KEY_BITS)
    note_of = notes.searchsorted(keys >> CHUNK_KEY_BITS)

    def held(terms: Sequence[QueryTerm]) -> tuple[Mask, Mask]:
        firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
        found = snapshot.keywords.term_presence(firsts, ends, terms, FIELD_WEIGHTS)
        return found.documents_of(keys), found.ranges[note_of]

    of_chunk, of_note = (mask.astype(np.float64) for mask in held(prepared.words))
    widened = {
        term.word: [term] for term in prepared.terms if term.compounds and not is_hyphenated(term.word)
    }
    likely = {one.written: analyze_query(one.searched, languages) for one in prepared.corrections}
    spaced = {
        term.word: analyze_query(term.word.replace("-", " "), languages)
        for term in prepared.words
        if is_hyphenated(term.word)
    }
    alike = [(word, one.searched_words) for one in prepared.synonyms for word in one.written_words]
    instead = [
        *((word, terms, INSIDE) for word, terms in widened.items()),
        *((word, terms, CORRECTED) for word, terms in (likely | spaced).items()),
        *((word.word, terms, CORRECTED) for word, terms in alike),
    ]
    numbers = {term.word: number for number, term in enumerate(prepared.words)}
    for word, terms, worth in instead:
        if (number := numbers.get(word)) is not None:
            for share, other in zip((of_chunk, of_note), held(terms), strict=True):
                share[:, number] = np.maximum(share[:, number], worth * other.all(axis=1))
    required = _required(prepared)
    for number, term in enumerate(prepared.words):
        typed = typed_word(prepared.text, term)
        if typed == term.word and snapshot.keywords.knows(term, FIELD_WEIGHTS):
            typed = ""
        found = prepared.typed_words.chunks_with(typed, keys) | (term.word in required)
        of_chunk[found, number] = of_note[found, number] = 1.0
    return of_chunk, of_note


def _required(prepared: PreparedQuery) -> frozenset[str]:
    """The words that every hit holds, since a condition of the query asks for them."""
    return frozenset[str]().union(*(_words_of(prepared, one.node) for one in prepared.conditions))


def _above_background(prepared: PreparedQuery, keys: Keys) -> Floats:
    """How near the query each chunk is, as `standardized` says."""
    if not prepared.vector.any():
        return np.zeros(len(keys))
    vectors = prepared.snapshot.vectors
    background = vectors.background_scores(prepared.vector).astype(np.float64)
    return standardized(vectors.scores(prepared.vector, keys).astype(np.float64), background)
