"""How likely a hit is about what the query asks, on a scale that is the same for all queries and vaults.

A logistic regression over signs of which none has a unit: the share of the query's words that the hit holds,
each word at its rarity; the same of its note's title; how far its cosine is above those of a sample of the
vault's chunks, beside the best of as many chunks by chance, which counts more where words say nothing.

`benchmarks/confidence_fit.py` fits it to the tuning halves of queries as they are typed over many vaults
(paraphrases, half-remembered titles, keywords, typos, near misses, off topic) and of XQuAD in 12 languages; a
test compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, islice, pairwise
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
from vault_indexer.store import row_products
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect, interrogatives
from vault_indexer.text.query import PART_WEIGHT, analyze_query, is_hyphenated, part_at_apostrophe
from vault_indexer.text.scripts import UNSPACED_LETTERS
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN, clusters, compound_parts

if TYPE_CHECKING:
    from vault_indexer.arrays import Floats, Keys, Mask


# What pairs of characters say in scripts of letters without spaces: Thai, Lao, Khmer, Burmese, Tibetan.
#
# The index knows no words there. A pair of Han characters often is a word, but a pair of letters is a
# piece of a syllable that nearly every text holds. So what counts is how many pairs in a row a text
# holds, and pairs in words that ask or join count nothing. On XQuAD th (tuning halves,
# `benchmarks/confidence.py`) that raised the AUROC from .959 to .967 far and from .925 to .929 near. On
# zh runs lower it (near from .940 to .925), so Han, kana and Hangul count by pairs.


UNSPACED = re.compile(f"[{UNSPACED_LETTERS}]")

_IDLE_WORDS = """
อะไร ใคร ไหน ที่ไหน เมื่อไหร่ เมื่อไร เมื่อใด กี่ เท่าไหร่ เท่าไร เท่าใด ทำไม เหตุใด อย่างไร ยังไง ใด ไหม หรือไม่
จำนวน ชื่อ ประเภท ชนิด
ที่ ซึ่ง อัน ของ และ หรือ ใน เป็น คือ มี ได้ ให้ จาก กับ โดย ว่า ไม่ ถูก ต่อ เพื่อ แต่ แล้ว ก็ จะ
ไป มา นี้ นั้น ตาม ระหว่าง เมื่อ
การ ความ บน แห่ง ถึง อยู่ ด้วย
ໃຜ ຫຍັງ ໃສ ເມື່ອໃດ ຈັກ ເທົ່າໃດ ແນວໃດ
អ្វី អ្នកណា ណា ពេលណា ប៉ុន្មាន ហេតុអ្វី យ៉ាងណា
ဘာ ဘယ်သူ ဘယ်နေရာ ဘယ်အချိန် ဘယ်လောက် ဘာကြောင့် ဘယ် မည်သူ မည်သည့်
"""
_IDLE = re.compile("|".join(sorted(map(re.escape, _IDLE_WORDS.split()), key=len, reverse=True)))
"""Words that ask (Thai, Lao, Khmer, Burmese) or join (Thai): a text that answers need not hold them."""


def pair_contents(text: str) -> Mapping[str, float]:
    """How much each pair of such letters in a query says, in [0, 1]: 0 within an idle word, half at its edge.
    Of a pair that stands at several places the most counts."""
    contents: dict[str, float] = {}
    for run in _runs(text):
        joined = "".join(run)
        idle = {place for match in _IDLE.finditer(joined) for place in range(*match.span())}
        says = [start not in idle for start in accumulate(map(len, run[:-1]), initial=0)]
        for pair, (first, second) in zip(_pairs(run), pairwise(says), strict=True):
            contents[pair] = max(contents.get(pair, 0.0), (first + second) / 2)
    return contents


def weigh_runs(text: str, words: Sequence[QueryTerm], held: Floats) -> Floats:
    """`held` with a lower share for pairs that stand in shorter runs of held pairs.

    `held` says for each text (row) how far it holds each word (column), in [0, 1]. Of n characters without a
    space in the query, l in a row whose pairs are all held count (1 - 1/l) / (1 - 1/n) each, so all count 1.
    """
    column = {term.word: number for number, term in enumerate(words)}
    rows = [[column[pair] for pair in _pairs(run)] for run in _runs(text)]
    if not rows:
        return held
    weighed = held.copy()
    for values, own in zip(weighed, held, strict=True):
        shares: dict[int, float] = {}
        for row in rows:
            for is_held, places in groupby(row, key=lambda place: own[place] > 0):
                run = list(places) if is_held else []
                for place in run:
                    share = (1 - 1 / (len(run) + 1)) / (1 - 1 / (len(row) + 1))
                    shares[place] = max(shares.get(place, 0.0), share)
        for place, share in shares.items():
            values[place] *= share
    return weighed


def _runs(text: str) -> Iterator[list[str]]:
    """The characters of each run, with their marks, of which there are two at least."""
    for run in RUN.findall(text):
        characters = clusters(run)
        if len(characters) > 1 and UNSPACED.match(run):
            yield characters


def _pairs(run: Sequence[str]) -> Iterator[str]:
    return map("".join, pairwise(run))


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


# Where an answer ends: every view of it sets off the hits behind that place by the same number.


_OF_BEST = 0.6
"""A hit with less than this part of the best one's relevance is behind a fall. A rule of thumb."""

_ALIKE_NOTES = 3
"""Where no hit is a strong one, at most this many are likely: ten hits that are barely likely, all alike, are
what a vault has on single words of a query that no note answers. A rule of thumb."""


def count_likely(relevance: Sequence[float], verdict: Verdict) -> int:
    """How many of the first hits, whose relevances these are in the order of the answer, are likely: 0 where
    the verdict is "weak" or "none", else at least 1.

    Relevance does not fall steadily, as the order has more evidence. So each hit counts by how far it is
    above the least relevance of a likely one, or below it, and the answer ends where the sum is greatest: one
    lower hit between high ones stays in, and a high one behind many low ones does not bring them in.
    """
    if verdict in ("weak", "none") or not relevance:
        return 0
    best = max(relevance)
    least = max(_OF_BEST * best, min(best, LIKELY))
    sums = list(accumulate(value - least for value in relevance))
    first = next(at for at, value in enumerate(relevance) if value >= least)
    end = max(range(first, len(sums)), key=lambda at: (sums[at], at)) + 1
    return end if best >= STRONG else min(end, first + _ALIKE_NOTES)
