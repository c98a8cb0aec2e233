"""How surely a text contains a word of a question.

In a script without spaces the index has pairs of characters instead of words. Half of them span the border of
two words, and a sentence with both words in another order does not contain them (XQuAD zh: .615 answered,
.740 with the functions for pairs).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from vault_indexer.answer.asked_kind import AskedKind
from vault_indexer.answer.check.lexicon import lexicon
from vault_indexer.answer.check.numbers import value_of_word
from vault_indexer.providers import WORD_LANGUAGES, word_vectors
from vault_indexer.search import QuestionWord, pair_contents
from vault_indexer.text.fold import fold
from vault_indexer.text.language import asking_characters
from vault_indexer.text.stem import stem
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import RUN, analyze, clusters

BEGUN_SHARE = 0.8
"""The weight of a question word that occurs in a sentence only with an ending that no stemmer removes."""

SHORTEST_BEGUN = 4
LONGEST_ENDING = 5
"""The minimum letters of such a word, and the maximum letters of its ending."""

LEAST_OF_NAME = 0.75
SHORTEST_NAME = 6
"""A name may have another ending ("Ctenophora", "ctenophores"): the minimum share of its letters that are the
same, and the minimum letters of such a name."""

LEAST_ALIKE = 0.5
"""The minimum cosine of two words of similar meaning."""

LIGHT_SHARE = 0.3
"""The weight of a word that says little, such as "get" or "need", relative to another one."""


WORD = re.compile(r"[^\W_]+")


class SentenceTerms(NamedTuple):
    """The index terms of a sentence, of it with its title and headings, of the sentence before it, and of its
    passage."""

    own: frozenset[str]
    placed: frozenset[str]
    before: frozenset[str]
    passage: frozenset[str]


class Degrees(NamedTuple):
    """The degrees, in [0, 1], to which a word is in a sentence, also in its title and headings, in these or
    the sentence before it, and in these or its passage."""

    here: float
    there: float
    around: float
    nearby: float


def words_of(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


def unmark(terms: frozenset[str]) -> frozenset[str]:
    return frozenset(term.removeprefix("~") for term in terms)


def roots_of(text: str, language: str) -> frozenset[str]:
    """Returns the index terms of a text, those of stems without their mark."""
    return unmark(terms_of(text, language))


@lru_cache(maxsize=4096)
def terms_of(text: str, language: str) -> frozenset[str]:
    return frozenset(analyze(text, language))


def degrees_of(word: QuestionWord, terms: SentenceTerms, text: str, place: str, language: str) -> Degrees:
    """Compares a word with the text of a sentence and its place, the title and headings."""
    here = degree_of(word, terms.own, text, language)
    there = max(here, degree_of(word, terms.placed, place, language))
    around, nearby = (max(there, degree_of(word, one, "", language)) for one in terms[2:])
    return Degrees(here, there, around, nearby)


def degree_of(word: QuestionWord, terms: frozenset[str], text: str, language: str) -> float:
    """Returns the degree, in [0, 1], to which a text with these terms contains a word or one like it."""
    if not word.terms.isdisjoint(terms):
        return 1.0
    if _is_begun(word, terms):
        return BEGUN_SHARE
    if not text or language not in WORD_LANGUAGES:
        return 0.0
    alike = _likeness(word.word, text)
    return alike if alike >= LEAST_ALIKE else 0.0


@lru_cache(maxsize=8192)
def _likeness(word: str, text: str) -> float:
    vectors = word_vectors()
    numbers = vectors.numbers(text)
    if not len(numbers):
        return 0.0
    cosines = vectors.likeness([word], numbers)
    best = float(cosines.max())
    # NaN, which does not equal itself, is the cosine of a word that the model does not know.
    return best if best == best else 0.0


def _is_begun(word: QuestionWord, terms: frozenset[str]) -> bool:
    begin = word.word.lower()
    least, most = len(begin), len(begin) + LONGEST_ENDING
    return least >= SHORTEST_BEGUN and any(
        term.startswith(begin) and least < len(term) <= most for term in terms
    )


def is_piece(word: QuestionWord, asked: AskedKind) -> bool:
    """Whether the question contains the word only as a part of a longer one ("Get" in "Get-Verb")."""
    return not re.search(
        rf"(?<!\w)(?<!\w[-_.]){re.escape(word.written or word.word)}(?![-_.]?\w)", asked.question
    )


def is_named(word: QuestionWord, terms: frozenset[str]) -> bool:
    """Whether a text with these terms contains a name: as written, in a form of the same word, all its
    parts ("1620–21" for "1620-21"), or a number in words."""
    if degree_of(word, terms, "", "") >= BEGUN_SHARE:
        return True
    parts = [part.lower() for part in WORD.findall(word.word)]
    if len(parts) > 1:
        return terms.issuperset(parts)
    name = word.word.lower()
    if name.isdecimal():
        return any(value_of_word(term) == int(name) for term in terms)
    shared = math.ceil(LEAST_OF_NAME * len(name))
    return len(name) >= SHORTEST_NAME and any(
        term[:shared] == name[:shared] and abs(len(term) - len(name)) <= 2 for term in terms
    )


def weigh(word: QuestionWord, asked: AskedKind) -> QuestionWord:
    """Returns the word with a low weight if it has little meaning. Otherwise it does not match words with
    little meaning, even if they share a stem ("founded", "is found")."""
    words = lexicon(asked.language)
    if words.find("light", word.word):
        return replace(word, weight=word.weight * LIGHT_SHARE)
    light = words.classes["light"].phrases
    alike = set(words.alike.get(stem(word.word, asked.language), ()))
    if words.find("belonging", word.word):
        alike.update(noun for (noun,) in words.classes["owners"].phrases)
    terms = frozenset(term for term in word.terms if (term,) not in light)
    terms = terms.union(*((fold(one), VARIANT_MARK + fold(one)) for one in alike))
    if words.language == "de":  # "wartet", "gewartet"; "Emmas", "Emma"
        terms = terms.union(term.replace("~", "~ge") if "~" in term else f"ge{term}" for term in terms)
        terms |= {term.removesuffix("s") for term in terms if (word.written or "")[:1].isupper()}
    return replace(word, terms=terms)


def is_name(word: QuestionWord, asked: AskedKind) -> bool:
    written = word.written or word.word
    at = asked.question.find(written)
    is_first = at <= len(asked.question) - len(asked.question.lstrip(" \"'¿¡(«„“"))
    if any(char.isdigit() for char in written) or re.search(r"\w[-_.]\w|[a-z][A-Z]", written):
        return True
    return asked.language != "de" and not is_first and written[:1].isupper()


Pair = tuple[frozenset[str], list[frozenset[str]]]
"""The index terms of a pair, and those of the pairs that share a character with it."""


def without_idle_pairs(words: list[QuestionWord], question: str) -> list[QuestionWord]:
    """Returns the words without the pairs in question words. A pair at the edge of such a word has half its
    weight. Returns all words if no others are left."""
    contents = pair_contents(question, asking_characters(), RUN)
    weighed = (replace(word, weight=word.weight * contents.get(word.word, 1.0)) for word in words)
    return [word for word in weighed if word.weight] or words


def pairs_of(words: Sequence[QuestionWord]) -> list[Pair]:
    """Returns the words that are pairs of characters and have a neighbour among them."""
    pairs = [(word.terms, clusters(word.word)) for word in words if RUN.match(word.word)]
    found: list[Pair] = [(terms, []) for terms, _ in pairs]
    for number, ((_, first), (_, second)) in enumerate(pairwise(pairs)):
        if first[-1] == second[0]:
            found[number][1].append(pairs[number + 1][0])
            found[number + 1][1].append(pairs[number][0])
    return [pair for pair in found if pair[1]]


def with_border_pairs(terms: frozenset[str], pairs: Sequence[Pair]) -> frozenset[str]:
    """Returns index terms and those of each pair whose neighbours are all among them."""
    border = [own for own, neighbours in pairs if not any(map(terms.isdisjoint, neighbours))]
    return terms.union(*border) if border else terms
