"""How likely a hit is about what the query asks, on a scale that is the same for all queries and vaults.

Two signs go into a logistic regression: the share of the query's words that the hit's note holds, each word
at its rarity, and how far the hit's cosine is above those of a sample of the vault's chunks. The first says
whether the vault holds the answer; a high second one finds it where the notes use other words.

`benchmarks/confidence_fit.py` fits the maps to the tuning halves of the sets near, far and foreign of
`benchmarks/confidence.py` (XQuAD in 12 languages, JSQuAD; models wordllama, multilingual); a test compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp, isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, Verdict, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.present import function_words
from vault_indexer.search.query import Either, Node, ranking_words
from vault_indexer.search.rank import Candidates
from vault_indexer.search.terms import is_common, weight_by_idf
from vault_indexer.search.typed_words import typed_word
from vault_indexer.search.unspaced import UNSPACED, pair_contents, weigh_runs
from vault_indexer.store import row_products
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.interrogatives import interrogatives
from vault_indexer.text.language import detect
from vault_indexer.text.query import PART_WEIGHT, analyze_query, is_hyphenated, part_at_apostrophe
from vault_indexer.text.scripts import KANA
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN, compound_parts

if TYPE_CHECKING:
    from vault_indexer.arrays import Floats, Keys, Mask

MapName = Literal["letters", "inflected", "syllables", "unspaced", "cjk", "kana", "foreign"]

STRONG, LIKELY, WEAK = 0.8, 0.5, 0.28
"""The least relevance of the best hit for each verdict. Below the last it is "none", as for 76% to 96% of the
questions whose whole article is hidden (XQuAD in nine languages, halves kept aside)."""

CORRECTED = 0.9
"""How far a word counts as held of which the hit holds only the likely spelling, or with spaces instead of
hyphens. A rule of thumb."""

INSIDE = 0.5
"""How far a word counts as held of which the hit holds only a compound with it: `haus` in `durchhaus`. A rule
of thumb."""

_SMALL_VAULT = 10.0
"""In a vault with this many chunks the rarity of a word counts half: with one note it says nothing. A rule of
thumb."""

_FEW_VECTORS = 16.0
"""With this many vectors in the background, a deviation from it counts half. A rule of thumb."""

_NEUTRAL_Z = 3.0
"""The mean deviation of best hits, right and wrong ones: what is assumed where too few vectors are known."""

_LARGEST_Z = 12.0
"""A deviation counts up to here: more says nothing more. A rule of thumb."""

_SHORT = 2
_NEAR_Z = 2.0
"""Of a query of so few words, one of which exists, the words that no note holds say little: it may be a
paraphrase. A hit that is so near to it is at least a weak one; one that holds a part of the query need not be
as near, by that part. A rule of thumb."""

_ANCHOR = 0.2
_ANCHOR_SHARE = 1.5
"""Where links that lead to the note say the query's words, they count as held. Lower weights are of notes
that are only a link away from other hits. A rule of thumb."""

_SMALL_ODDS = 2.7
_FEW_CHUNKS = 20.0
"""What a small vault adds to the log odds at most, and at how many chunks it adds half of that: rarity and
background tell little there, so a hit that contains some query words is never rated "none". A rule of
thumb."""

_FIRST_HITS = 5
_LATER_HIT = 0.6
"""The hits that the verdict depends on, and the relevance from which one behind the first does. Without this
bound, "none" is said of 76% of the questions without an answer in English instead of 80%, in Spanish of 75%
instead of 81% (XQuAD, sets far)."""

_CODES = "ar bg cs de el et eu fa fi ga he hi hu hy lt ne pl ro ru sr ta tr uk yi"
_INFLECTED = frozenset(_CODES.split())
"""Languages (ISO 639-1) whose words have so many forms that stems often miss one. Arabic, German, Greek,
Hindi, Romanian, Russian and Turkish were measured."""

_KANA = re.compile(f"[{KANA}]")

_OF_SYLLABLES = frozenset({"vi"})
"""Languages that write a space between syllables: most of a question's syllables stand in any longer text."""

_MOST_ALTERNATIVES = 64
"""At most so many are compared: several `OR` side by side multiply. A rule of thumb."""

_LEAST_SPREAD = 1e-6
"""Less is the rounding of equal cosines."""

QUESTION_CHARACTERS = frozenset("什么甚麼谁誰哪何吗嗎呢怎")
FUNCTION_CHARACTERS = frozenset("的了是在有和与與及或被把从從于於对對就都也而以为為之其")
"""A pair with one of the first says nothing, one with one of the second half as much as others: that raised
AUROC on near zh from .922 to .928, on far zh from .973 to .976."""


def small_vault_odds(chunks: int) -> float:
    """What a vault with this number of chunks adds to the log odds of a hit."""
    return _SMALL_ODDS * _FEW_CHUNKS / (chunks + _FEW_CHUNKS)


@dataclass(frozen=True, slots=True)
class LogisticMap:
    """Log odds of a hit's relevance: `base`, plus `share` for all words held, plus `z` a deviation."""

    base: float
    share: float
    z: float

    def relevance(self, share: float, z: float, chunks: int) -> float:
        """In [0, 1], in a vault of `chunks` chunks; never lower for a larger `share` (in [0, 1]) or `z`."""
        odds = self.base + self.share * share + self.z * z + small_vault_odds(chunks)
        return 1.0 / (1.0 + exp(-odds))


MAPS: Mapping[MapName, LogisticMap] = MappingProxyType(
    {
        "letters": LogisticMap(-6.67, 9.71, 0.66),
        "inflected": LogisticMap(-5.54, 10.68, 0.44),
        "syllables": LogisticMap(-7.45, 8.95, 0.63),
        "cjk": LogisticMap(-5.04, 12.73, 0.55),
        "kana": LogisticMap(-6.25, 14.26, 0.29),
        "unspaced": LogisticMap(-6.86, 12.27, 0.19),
        "foreign": LogisticMap(-9.77, 12.61, 2.64),
    }
)
"""In `unspaced` (Thai and its like), `cjk` (Han and Hangul) and `kana` (Japanese) the words are pairs of
characters. `foreign`: the note is in another language than the query; what the two share are names and
numbers, so a deviation tells nearly all. `benchmarks/confidence_fit.py` fits them."""


def map_name(text: str, language: str) -> MapName:
    """The map for a query in a language (ISO 639-1, "" if it is not known) over notes in the same one. All
    models share them, as a deviation has no unit."""
    if run := RUN.search(text):
        if UNSPACED.match(run[0]):
            return "unspaced"
        return "kana" if _KANA.search(text) else "cjk"
    if language in _OF_SYLLABLES:
        return "syllables"
    return "inflected" if language in _INFLECTED else "letters"


@dataclass(frozen=True, slots=True)
class Signs:
    """What the relevance of a hit is made of: the map, the share of the query that it holds, in [0, 1], its
    deviation, and the least that the relevance is."""

    map_name: MapName
    share: float
    z: float
    least: float


def relevance_of(prepared: PreparedQuery, table: Candidates, rows: Sequence[int]) -> dict[int, float]:
    """The relevance of rows of one vault, in [0, 1], in their order. A note whose name is the query has 1;
    one whose title has a word of the query is at least weakly about it."""
    chunks = prepared.statistics.documents
    found: dict[int, float] = {}
    for row, signs in signs_of(prepared, table, rows).items():
        odds = MAPS[signs.map_name].relevance(signs.share, signs.z, chunks)
        found[row] = 1.0 if table.title[row] else max(signs.least, odds)
    return found


def signs_of(prepared: PreparedQuery, table: Candidates, rows: Sequence[int]) -> dict[int, Signs]:
    """What the relevance of rows of one vault is made of, in their order."""
    ordered = np.array(sorted(rows, key=table.key.__getitem__), np.int64)
    wanted = table.local_key[ordered]
    weights = word_weights(prepared) if prepared.words else np.empty(0)
    shares = _shares(prepared, weights, wanted)
    above = _above_background(prepared, wanted)
    own = map_name(prepared.text, prepared.language)
    foreign_notes = _foreign_notes(prepared, wanted)
    is_short = _is_short(prepared, weights)
    titled = _titled(prepared, weights, wanted)
    found: dict[int, Signs] = {}
    known = zip(ordered.tolist(), wanted.tolist(), shares.tolist(), above, strict=True)
    for row, key, held, z in known:
        share = max(held, _linked_share(float(table.link[row])))
        is_near = is_short and z >= _NEAR_Z * (1.0 - held)
        least = WEAK if key in titled or is_near else 0.0
        found[row] = Signs("foreign" if note_id_of(key) in foreign_notes else own, share, z, least)
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


def deviations(cosines: Iterable[float], background: Floats) -> list[float]:
    """How many standard deviations each cosine is above the mean of the background, in [0, 12]; the fewer
    vectors that has, the nearer to a neutral 3. Without a cosine (NaN) it is 0."""
    count = len(background)
    mean, spread = (float(background.mean()), float(background.std())) if count else (0.0, 0.0)

    def deviation(cosine: float) -> float:
        if isnan(cosine):
            return 0.0
        z = (cosine - mean) / spread if spread > _LEAST_SPREAD else _NEUTRAL_Z
        known = _NEUTRAL_Z + (z - _NEUTRAL_Z) * count / (count + _FEW_VECTORS)
        return min(_LARGEST_Z, max(0.0, known))

    return [deviation(cosine) for cosine in cosines]


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


def _linked_share(link: float) -> float:
    """The part of the query that links to the note say."""
    return min(1.0, _ANCHOR_SHARE * link) if link > _ANCHOR else 0.0


def _is_short(prepared: PreparedQuery, weights: Floats) -> bool:
    """Whether the query has one or two words that say something, any of them known to the vault or common."""
    words = [term for term, weight in zip(prepared.words, weights.tolist(), strict=True) if weight]
    if not 0 < len(words) <= _SHORT:
        return False
    return any(prepared.statistics.knows(term) or is_common(term.word) for term in words)


def _titled(prepared: PreparedQuery, weights: Floats, keys: Keys) -> set[int]:
    """Those of the chunks whose note has a word of the query that says something in its title or an alias."""
    words = [term for term, weight in zip(prepared.words, weights.tolist(), strict=True) if weight]
    forms = {form for term in words for form in term.forms}
    found: list[int] = prepared.snapshot.keywords.filter_keys(keys, forms, ("title", "aliases")).tolist()
    return set(found)


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


def _above_background(prepared: PreparedQuery, keys: Keys) -> list[float]:
    """How near the query each chunk is, as `deviations` says."""
    if not prepared.vector.any():
        return [0.0] * len(keys)
    vectors = prepared.snapshot.vectors
    background = vectors.background_scores(prepared.vector).astype(np.float64)
    return deviations(vectors.scores(prepared.vector, keys).tolist(), background)
