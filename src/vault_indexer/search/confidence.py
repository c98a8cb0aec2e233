"""The relevance of a hit: the probability that it is about the query, on one scale for all queries and
vaults.

It is a logistic regression over signs without units: the share of the query's words that the hit contains,
each word weighted by its rarity; the same share for the title of its note; the height of its cosine above
those of a sample of the vault's chunks, relative to the best of that number of chunks by chance, which has a
larger weight if the words are no evidence; and how far the cosine is from that of related texts.

`benchmarks/confidence_fit.py` fits the regression to the tuning halves of typed queries over many vaults
(paraphrases, half-remembered titles, keywords, typos, near misses, off topic) and of XQuAD in five languages.
A test compares the coefficients.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, islice, pairwise
from math import exp
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from vault_indexer.arrays import Floats, Keys, Mask, row_products
from vault_indexer.model import CHUNK_KEY_BITS, Verdict
from vault_indexer.search.prepare import PreparedQuery, typed_word
from vault_indexer.search.present import function_words
from vault_indexer.search.query import Either, Node, ranking_words
from vault_indexer.search.rank import Candidates
from vault_indexer.search.terms import weight_by_idf
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect, interrogatives
from vault_indexer.text.query import PART_WEIGHT, analyze_query, is_hyphenated, part_at_apostrophe
from vault_indexer.text.scripts import UNSPACED_LETTERS
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN, clusters, compound_parts

# The weight of character pairs in alphabetic scripts without spaces: Thai, Lao, Khmer, Burmese, Tibetan.
#
# The index has no words in these scripts. A pair of Han characters often is a word, but a pair of letters is
# a piece of a syllable that nearly every text contains. So the length of a run of consecutive pairs that a
# text contains decides, and pairs in question words and connecting words have weight 0. On XQuAD th (tuning
# halves, `benchmarks/confidence.py`) that raised the AUROC from .959 to .967 far and from .925 to .929 near.
# On zh runs lower it (near from .940 to .925), so Han, kana and Hangul count by pairs.


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
"""Question words (Thai, Lao, Khmer, Burmese) and connecting words (Thai). An answer need not contain them."""


def pair_contents(
    text: str, idle_words: re.Pattern[str] = _IDLE, letters: re.Pattern[str] = UNSPACED
) -> Mapping[str, float]:
    """Returns the weight, in [0, 1], of each pair of such letters in a query: 0 within an idle word, 0.5 at
    its edge. A pair that occurs several times has its largest weight."""
    contents: dict[str, float] = {}
    for run in _runs(text, letters):
        joined = "".join(run)
        idle = {place for match in idle_words.finditer(joined) for place in range(*match.span())}
        says = [start not in idle for start in accumulate(map(len, run[:-1]), initial=0)]
        for pair, (first, second) in zip(_pairs(run), pairwise(says), strict=True):
            contents[pair] = max(contents.get(pair, 0.0), (first + second) / 2)
    return contents


def weigh_runs(text: str, words: Sequence[QueryTerm], held: Floats) -> Floats:
    """Returns `held` with lower shares for pairs in shorter runs of matching pairs.

    `held` is the degree, in [0, 1], to which each text (row) contains each word (column). A part of the query
    without spaces has n characters. In a run of l of them whose pairs all match, each share is multiplied by
    (1 - 1/l) / (1 - 1/n), which is 1 for the whole part.
    """
    column = {term.word: number for number, term in enumerate(words)}
    rows = [[column[pair] for pair in _pairs(run)] for run in _runs(text, UNSPACED)]
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


def _runs(text: str, letters: re.Pattern[str]) -> Iterator[list[str]]:
    """Yields the characters of each run of at least two that begins with such a letter."""
    for run in RUN.findall(text):
        characters = clusters(run)
        if len(characters) > 1 and letters.match(run):
            yield characters


def _pairs(run: Sequence[str]) -> Iterator[str]:
    return map("".join, pairwise(run))


STRONG, LIKELY, WEAK = 0.8, 0.5, 0.18
"""The least relevance for each verdict. 95% of the answerable queries (tuning halves) reach `WEAK`."""

CORRECTED = 0.9
"""The share of a word that a hit covers by its likely spelling alone, or by spaces instead of hyphens. A rule
of thumb."""

INSIDE = 0.6
"""The share of a word that a hit covers by a compound alone: `haus` in `durchhaus`. A rule of thumb."""

_SMALL_VAULT = 10.0
"""In a vault with this number of chunks, the rarity of a word counts half. In a vault with one note, rarity
has no meaning. A rule of thumb."""

_LARGEST_DEVIATION = 1.8
"""The upper bound of a deviation relative to the best chunk by chance. So it alone makes no hit likely in a
language that the model does not read. A rule of thumb."""

_RELATED = 0.4
"""The cosine that related texts have at least, with both bundled models. Some chunk of a vault is always far
above the others, also for a query about something else. The best of .3, .35 and .4 on the tuning halves."""

_FIRST_HITS = 5
_LATER_HIT = 0.6
"""The verdict depends on the first `_FIRST_HITS` hits. A hit after the first counts from the relevance
`_LATER_HIT`. Without this bound, 76% of the unanswerable questions in English get the verdict "none" instead
of 80%, and 75% instead of 81% in Spanish (XQuAD, sets far)."""

_MOST_ALTERNATIVES = 64
"""Limit of alternatives compared, because several `OR` operators multiply. A rule of thumb."""

_LEAST_SPREAD = 1e-6
"""A smaller spread is the rounding error of equal cosines."""

QUESTION_CHARACTERS = frozenset("什么甚麼谁誰哪何吗嗎呢怎")
FUNCTION_CHARACTERS = frozenset("的了是在有和与與及或被把从從于於对對就都也而以为為之其")
"""A pair with a question character has weight 0, a pair with a function character half the usual weight. That
raised the AUROC on near zh from .922 to .928, on far zh from .973 to .976."""


@record
class Signs:
    """The evidence for the relevance of a hit: the shares of the query, in [0, 1], that the hit and the title
    of its note contain, its deviation relative to that of the best chunk by chance, and the amount by which
    its cosine falls short of `_RELATED` (0 without a cosine). `is_apart` is true if only the deviation is
    evidence, because the hit contains no query word or is in another language than the query. The model must
    read sentences in the query's language."""

    share: float
    title: float
    deviation: float
    shortfall: float
    is_apart: bool


class LogisticMap(NamedTuple):
    """The coefficients of the log odds of a hit's relevance. Deviations count by their square."""

    base: float
    share: float
    title: float
    deviation: float
    apart: float
    shortfall: float

    def relevance(self, signs: Signs) -> float:
        """Returns the relevance in [0, 1], which never falls as share, title or deviation grow, or as the
        shortfall shrinks."""
        slope = self.deviation + self.apart * signs.is_apart
        odds = self.base + self.share * signs.share + self.title * signs.title + slope * signs.deviation**2
        odds += self.shortfall * signs.shortfall
        return 1.0 / (1.0 + exp(-odds))


RELEVANCE = LogisticMap(base=-1.89, share=5.36, title=1.22, deviation=0.54, apart=0.74, shortfall=-4.18)
"""The coefficients that `benchmarks/confidence_fit.py` fits."""

_WHOLE = 1.5
"""The exponent of the share of words: two of three words are less than two thirds of an answer. In scripts
without spaces, an answer often contains only some of the character pairs, so their share has no exponent. The
best of 1, 1.5 and 2 on the tuning halves."""


def relevance_of(prepared: PreparedQuery, table: Candidates, rows: Sequence[int]) -> dict[int, float]:
    """Returns the relevance, in [0, 1], of rows of one vault: 1 for a note whose name is the query."""
    signs = signs_of(prepared, table, rows)
    return {row: 1.0 if table.title[row] else RELEVANCE.relevance(own) for row, own in signs.items()}


def signs_of(prepared: PreparedQuery, table: Candidates, rows: Sequence[int]) -> dict[int, Signs]:
    """Returns the evidence for the relevance of rows of one vault, in their order."""
    # The indices require ascending keys. The result has the order of `rows` again.
    ordered = np.array(sorted(rows, key=table.key.__getitem__), np.int64)
    keys = table.local_key[ordered]
    weights = word_weights(prepared) if prepared.words else np.empty(0)
    shares = _shares(prepared, weights, keys) ** (1.0 if RUN.search(prepared.text) else _WHOLE)
    titles = held_share(weights, _titled(prepared, keys))
    chance = best_by_chance(prepared.statistics.documents)
    cosines, background = _cosines(prepared, keys)
    deviations = np.minimum(z_scores(cosines, background) / chance, _LARGEST_DEVIATION)
    shortfalls = np.nan_to_num(np.maximum(_RELATED - cosines, 0.0))
    # A static model compares words, so without one of the query its cosines are no evidence.
    is_read = prepared.vault.embedder.model.provider != "wordllama" and prepared.language_weight >= 1.0
    foreign = _foreign_notes(prepared, keys) if is_read else set()
    columns = (column.tolist() for column in (ordered, keys, shares, titles, deviations, shortfalls))
    signs = {
        row: Signs(
            share, title, deviation, shortfall, is_read and (not share or key >> CHUNK_KEY_BITS in foreign)
        )
        for row, key, share, title, deviation, shortfall in zip(*columns, strict=True)
    }
    return {row: signs[row] for row in rows}


def verdict_of(relevance: Iterable[float]) -> Verdict:
    """Returns the verdict on results, from the relevance of their hits in order; "none" without hits.

    The best of the first five hits decides. A hit after the first counts only from `_LATER_HIT`, because the
    best of five irrelevant chunks often reaches `WEAK`."""
    # The 0.0 is the first relevance if there are no hits.
    first, *others = *islice(relevance, _FIRST_HITS), 0.0
    best = max(first, *(value for value in others if value >= _LATER_HIT), 0.0)
    if best >= STRONG:
        return "strong"
    if best >= LIKELY:
        return "likely"
    return "weak" if best >= WEAK else "none"


def word_weights(prepared: PreparedQuery) -> Floats:
    """Returns the weight of each query word as written. Rarer words weigh more. Function and question words
    weigh 0, unless the query has no other words. In a small vault all other words weigh about the same."""
    chunks = prepared.statistics.documents
    weighed = weight_by_idf(prepared.statistics, prepared.words)
    rarity = np.array([term.weight for term in weighed])
    alike = np.array([term.weight for term in prepared.words])
    weights = (chunks * rarity + _SMALL_VAULT * alike) / (chunks + _SMALL_VAULT)
    # The language of a short query is uncertain, and every vault has some English.
    languages = {prepared.language, detect(prepared.text) or "en"}
    idle = frozenset[str]().union(*map(function_words, languages), *map(interrogatives, languages))
    pairs = pair_contents(prepared.text)
    content = [pairs.get(term.word, _content(term.word, idle)) for term in prepared.words]
    kept = weights * np.array(content) * _at_apostrophes(prepared)
    return kept if kept.any() else weights


def _at_apostrophes(prepared: PreparedQuery) -> Floats:
    """Returns a factor for the weight of each word. Of `Newton's` only the part `Newton` counts, because a
    note may contain it with another ending or without an article."""
    counts = np.ones(len(prepared.words))
    for number, whole in enumerate(prepared.words):
        if not (main := part_at_apostrophe(whole.word, prepared.language)):
            continue
        counts[number] = 0.0
        for other, part in enumerate(prepared.words):
            if other != number and whole.start <= part.start and part.end <= whole.end:
                # The analysis lowers the weight of a part. Here the part stands for the whole word.
                counts[other] = 1.0 / PART_WEIGHT if part.word == main else 0.0
    return counts


def held_share(weights: Floats, held: Floats) -> Floats:
    """Returns the share of the weights, in [0, 1], that each row of `held` covers. `held` contains the
    degree, in [0, 1], to which each row contains each word."""
    total = float(weights.sum())
    return np.clip(row_products(held, weights) / total, 0.0, 1.0) if total else np.zeros(len(held))


def best_by_chance(chunks: int) -> float:
    """Returns the expected maximum of `chunks` standard normal numbers, in standard deviations above the
    mean, by the estimate of Blom (1958). Fewer than two count as two."""
    count = max(2, chunks)
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25))


def z_scores(cosines: Floats, background: Floats) -> Floats:
    """Returns the number of standard deviations, at least 0, by which each cosine exceeds the mean of the
    background. It is 0 for a missing cosine (NaN), or if the background cosines are all equal."""
    spread = float(background.std()) if len(background) else 0.0
    if spread <= _LEAST_SPREAD:
        return np.zeros(len(cosines))
    deviations: Floats = np.maximum(np.nan_to_num((cosines - background.mean()) / spread), 0.0)
    return deviations


def _content(word: str, idle: frozenset[str]) -> float:
    key = fold(normalize(word))
    parts = compound_parts(key)  # `est-ce` has no content if none of its parts has
    if key in idle or (parts and idle.issuperset(parts)):
        return 0.0
    if not RUN.match(key):
        return 1.0
    if any(character in QUESTION_CHARACTERS for character in key):
        return 0.0
    return 0.5 if any(character in FUNCTION_CHARACTERS for character in key) else 1.0


def _foreign_notes(prepared: PreparedQuery, keys: Keys) -> set[int]:
    """Returns the notes of the chunks in another language than the query."""
    if not prepared.language:
        return set()
    notes = prepared.snapshot.catalog.notes(set((keys >> CHUNK_KEY_BITS).tolist()))
    return {note_id for note_id, note in notes.items() if note.language not in ("", prepared.language)}


def _titled(prepared: PreparedQuery, keys: Keys) -> Floats:
    """Marks for each chunk (row) and word (column) whether its note has the word in its title or an alias."""
    presence = np.zeros((len(keys), len(prepared.words)))
    for number, term in enumerate(prepared.words):
        titled = prepared.snapshot.keywords.filter_keys(keys, term.forms, ("title", "aliases"))
        presence[:, number] = np.isin(keys, titled)
    return presence


def _shares(prepared: PreparedQuery, weights: Floats, keys: Keys) -> Floats:
    """Returns for each chunk the mean of the shares of the query that it and its note contain. For a query
    with alternatives, the best alternative counts."""
    own, whole = (weigh_runs(prepared.text, prepared.words, held) for held in _held(prepared, keys))
    choices = _alternatives(prepared, weights)
    shares: Floats = np.array([held_share(choice, own) + held_share(choice, whole) for choice in choices]) / 2
    share: Floats = shares.max(axis=0)
    return share


def _alternatives(prepared: PreparedQuery, weights: Floats) -> list[Floats]:
    """Returns the word weights for each alternative of the query: `a OR b` has those of `a` and those of `b`.
    Alternatives without any weight are left out."""
    choices = [weights]
    for condition in prepared.conditions:
        if isinstance(condition.node, Either):
            sides = [_words_of(prepared, part) for part in condition.node.parts]
            every = frozenset[str]().union(*sides)
            masks = [
                np.array([term.word not in every - side for term in prepared.words], float) for side in sides
            ]
            choices = list(
                islice((choice * mask for choice in choices for mask in masks), _MOST_ALTERNATIVES)
            )
    return [choice for choice in choices if choice.any()] or [weights]


def _words_of(prepared: PreparedQuery, part: Node) -> frozenset[str]:
    """Returns the words of a part of the query, analyzed like all its words."""
    terms = analyze_query(" ".join(ranking_words(part)), prepared.statistics.languages)
    return frozenset(term.word for term in terms)


def _held(prepared: PreparedQuery, keys: Keys) -> tuple[Floats, Floats]:
    """Returns the degrees, in [0, 1], to which each chunk and its whole note contain each word. A corrected
    word is covered by its likely spelling, any word by a compound with it, and a hyphenated word by its
    parts."""
    snapshot, languages = prepared.snapshot, prepared.statistics.languages
    notes = np.unique(keys >> CHUNK_KEY_BITS)
    note_of = notes.searchsorted(keys >> CHUNK_KEY_BITS)

    def held(terms: Sequence[QueryTerm]) -> tuple[Mask, Mask]:
        firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
        found = snapshot.keywords.term_presence(firsts, ends, terms, FIELD_WEIGHTS)
        return found.documents_of(keys), found.ranges[note_of]

    of_chunk, of_note = (mask.astype(np.float64) for mask in held(prepared.words))
    widened = {one.word: one for one in prepared.terms if one.compounds and not is_hyphenated(one.word)}
    spellings = {one.written: one.searched for one in prepared.corrections}
    spellings |= {one.word: one.word.replace("-", " ") for one in prepared.words if is_hyphenated(one.word)}
    instead: list[tuple[str, Sequence[QueryTerm], float]] = [
        *((word, [term], INSIDE) for word, term in widened.items()),
        *((word, analyze_query(other, languages), CORRECTED) for word, other in spellings.items()),
    ]
    for synonym in prepared.synonyms:
        instead += [(word.word, synonym.searched_words, CORRECTED) for word in synonym.written_words]
    numbers = {term.word: number for number, term in enumerate(prepared.words)}
    for word, terms, worth in instead:
        if (number := numbers.get(word)) is not None:
            for share, other in zip((of_chunk, of_note), held(terms), strict=True):
                # A spelling with several words covers the word only if the hit contains all of them.
                share[:, number] = np.maximum(share[:, number], worth * other.all(axis=1))
    # Every hit contains these words.
    required = frozenset[str]().union(*(_words_of(prepared, each.node) for each in prepared.conditions))
    for number, term in enumerate(prepared.words):
        typed = typed_word(prepared.text, term)
        # The index contains the term as it was typed, so `held` has already found every chunk with it.
        if typed == term.word and snapshot.keywords.knows(term, FIELD_WEIGHTS):
            typed = ""
        matching = prepared.typed_words.chunks_with(typed, keys) | (term.word in required)
        of_chunk[matching, number] = of_note[matching, number] = 1.0
    return of_chunk, of_note


def _cosines(prepared: PreparedQuery, keys: Keys) -> tuple[Floats, Floats]:
    """Returns the cosine of each chunk, NaN for one without a vector, and those of the background."""
    if not prepared.vector.any():
        return np.full(len(keys), np.nan), np.empty(0)
    vectors = prepared.snapshot.vectors
    background = vectors.background_scores(prepared.vector).astype(np.float64)
    return vectors.scores(prepared.vector, keys).astype(np.float64), background


# The end of the likely hits. Every view of the results uses this number to set off the hits after it.


_OF_BEST = 0.6
"""Hits below this share of the best hit's relevance count against the end of the list. A rule of thumb."""

_ALIKE_NOTES = 3
"""Limit of likely hits if no hit is strong. Ten barely likely hits with similar relevance are typical of a
query that no note answers, where notes match single words. A rule of thumb."""


def count_likely(relevance: Sequence[float], verdict: Verdict) -> int:
    """Returns the number of first hits that are likely: 0 for the verdict "weak" or "none", otherwise at
    least 1. `relevance` contains the relevance of each hit, in the order of the results.

    Relevance does not fall steadily, because the order uses more evidence. So each hit adds its distance from
    the lowest relevance of a likely hit, above or below, and the list ends where the sum is largest. A low
    hit between high ones is kept, and a high hit after many low ones does not include them.
    """
    if verdict in ("weak", "none") or not relevance:
        return 0
    best = max(relevance)
    least = max(_OF_BEST * best, min(best, LIKELY))
    sums = list(accumulate(value - least for value in relevance))
    first = next(at for at, value in enumerate(relevance) if value >= least)
    # Of several equal sums the longest list, so that a hit at exactly the lowest relevance is kept.
    end = max(range(first, len(sums)), key=lambda at: (sums[at], at)) + 1
    return end if best >= STRONG else min(end, first + _ALIKE_NOTES)
