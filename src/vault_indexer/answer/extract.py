"""Answers without a model, by quoting the sentences of the passages that cover most of the question and
contain its answer.

The constants were chosen on the tuning halves of the sets of `benchmarks/ask.py` and
`benchmarks/ask_table.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from vault_indexer.answer.evidence import Evidence, Question, Surroundings, is_answer, sentence_terms
from vault_indexer.answer.matching import WORD, terms_of
from vault_indexer.answer.quotable import whole_steps
from vault_indexer.answer.sentences import Sentence
from vault_indexer.model import Hit
from vault_indexer.search import QuestionWord, share_held
from vault_indexer.system import record

RANK_SHARE = 0.7
"""The part of a sentence's value that depends on the score of its hit. The rest depends only on the share of
the question that the sentence covers."""

CODE_SHARE = 0.5
"""The weight of a line of code relative to a sentence of prose."""

DEFINED_SHARE = 2.0
"""The weight of a sentence that begins with the term that the question asks to define."""

STATED_SHARE = 3.0
"""The weight of a property or another labelled value that the question names by its label."""

OTHER_SUBJECT_SHARE = 0.5
"""The weight of a sentence of a note about something else ("Giant wolf spider") where another note has the
subject of the question as its title ("Giant spider")."""

NOVELTY = 0.1
"""The weight of the similarity to sentences already chosen (maximal marginal relevance, Carbonell 1998)."""

OF_ONE_HIT = 2
"""The maximum number of quotes from one hit. With one, 7 to 9 more of a hundred answers are missed (tuning
halves)."""

LEAST_WORTH = 0.4
"""Quotes with less than this share of the best one's value are left out. That removes one of three quotes and
loses less than one answer in a hundred."""

LEAST_OF_BEST = 0.95
"""The minimum weight of the question's words that a quote covers, relative to the best one of its note: the
next row of a table, or the next sentence, is often about something else."""

RELEVANCE_WORTH = 8.0
LEAST_SUPPORT = 4.5
"""Passages with a weak verdict may answer if `RELEVANCE_WORTH` times the relevance of the best hit plus the
weight of the question words in one sentence reach this sum. That requires 2.3 rare words at the lowest
relevance, half a word at the highest. Then 89% of all questions far from the vault's topics are declined, and
4% of those with an answer (XQuAD en, es, ru and zh, means). With 4, it is 86% and 3%, and "what is the
capital of Peru" is not declined for notes on a program; with 5, it is 91% and 5%."""


@record
class _Candidate:
    sentence: Sentence
    worth: float
    terms: frozenset[str]
    evidence: Evidence


def choose_quotes(
    sentences: Sequence[Sentence], hits: Sequence[Hit], question: Question, limit: int
) -> list[Sentence]:
    """Returns at most `limit` sentences that answer the question, best first: the best ones of each hit,
    without repetitions.

    The value of a sentence depends on the share of the question's words that it contains, each weighted by
    its rarity, and on the score of its hit. It is chosen only if it contains the kind of answer asked for,
    and covers enough of the question.
    """
    if listed := _of_several_notes(sentences, question):
        return listed[:limit]
    passages = _passage_terms(sentences)
    ordinary = _ordinary_terms(sentences) if question.asked.kind == "who" else frozenset()
    titles = {sentence.note.row.title for sentence in sentences}
    others = {title for title in titles if question.is_other_subject(title, titles)}
    of_hits: dict[int, list[_Candidate]] = {}
    paragraph = frozenset[str]()
    for before, sentence in pairwise((*sentences[:1], *sentences)):
        terms = sentence_terms(before) if _follows(sentence, before) else frozenset[str]()
        paragraph = paragraph | terms if terms else terms
        around = Surroundings(passages[sentence.hit], terms, paragraph, ordinary)
        evidence = question.evidence(sentence, around)
        weight = DEFINED_SHARE if question.is_defined_by(sentence) else 1.0
        weight *= STATED_SHARE if evidence.is_stated else 1.0
        weight *= OTHER_SUBJECT_SHARE if sentence.note.row.title in others else 1.0
        candidate = _candidate(sentence, hits[sentence.hit], evidence, weight)
        if candidate.worth > 0 and is_answer(candidate.evidence):
            of_hits.setdefault(sentence.hit, []).append(candidate)
    best = [
        candidate
        for candidates in of_hits.values()
        for candidate in sorted(candidates, key=lambda candidate: -candidate.worth)[:OF_ONE_HIT]
    ]
    stated = max((one.evidence.covered for one in best if one.evidence.is_stated), default=0.0)
    best = [one for one in best if not one.evidence.is_stated or one.evidence.covered >= stated]
    best = best if question.asked.kind in ("", "how", "why") else _without_lesser(best)
    if question.asked.kind == "how":
        best = [replace(one, sentence=whole_steps(one.sentence)) for one in best]
    return [candidate.sentence for candidate in _without_repeats(best, limit)]


def _without_lesser(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Returns the candidates that cover nearly as much of the question as the best one of their note."""
    most: dict[int, float] = {}
    for one in candidates:
        note = id(one.sentence.note)
        most[note] = max(one.evidence.covered, most.get(note, 0.0))
    return [one for one in candidates if one.evidence.covered >= LEAST_OF_BEST * most[id(one.sentence.note)]]


def _of_several_notes(sentences: Sequence[Sentence], question: Question) -> list[Sentence]:
    """Returns the best sentence of each note that a list question asks for, best hit first. Returns nothing
    for a single note."""
    of_notes: dict[tuple[str, str], list[tuple[float, Sentence]]] = {}
    for sentence in sentences:
        if share := question.listed_share(sentence):
            note = sentence.note
            of_notes.setdefault((note.vault, note.row.path), []).append((share, sentence))
    best = [max(own, key=lambda one: (one[0], -len(one[1].readable)))[1] for own in of_notes.values()]
    return sorted(best, key=lambda sentence: sentence.hit) if len(best) > 1 else []


def _follows(sentence: Sentence, before: Sentence) -> bool:
    """Whether a sentence directly follows another one in a paragraph."""
    between = sentence.note.text[before.end : sentence.start]
    is_behind = sentence.note is before.note and before.end <= sentence.start and before is not sentence
    return is_behind and not between.strip() and between.count("\n") < 2


def _passage_terms(sentences: Sequence[Sentence]) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    for one in sentences:
        found.setdefault(one.hit, set()).update(terms_of(one.readable, one.note.row.language))
    return {hit: frozenset(terms) for hit, terms in found.items()}


def _ordinary_terms(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Returns the index terms of the words that the sentences write in lower case."""
    found: set[str] = set()
    for one in sentences:
        small = " ".join(word for word in WORD.findall(one.readable) if word.islower())
        found |= terms_of(small, one.note.row.language)
    return frozenset(found)


def is_supported(sentences: Sequence[Sentence], hits: Sequence[Hit], words: Sequence[QuestionWord]) -> bool:
    """Whether a sentence covers enough of the question for the passages to answer it, although their
    relevance is weak."""
    total = sum(word.weight for word in words)
    held = max((share_held(words, sentence_terms(one)) for one in sentences), default=0.0)
    relevance = hits[0].relevance if hits else 0.0
    return RELEVANCE_WORTH * relevance + total * held >= LEAST_SUPPORT


def _candidate(sentence: Sentence, hit: Hit, evidence: Evidence, weight: float) -> _Candidate:
    worth = weight * evidence.share * (1 - RANK_SHARE + RANK_SHARE * hit.score)
    worth *= CODE_SHARE if sentence.is_code else 1.0
    return _Candidate(sentence, worth, sentence_terms(sentence), evidence)


def _without_repeats(candidates: list[_Candidate], limit: int) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    left = sorted(candidates, key=lambda candidate: -candidate.worth)
    while left and len(chosen) < limit:
        best = max(left, key=lambda candidate: candidate.worth - NOVELTY * _similarity(candidate, chosen))
        left.remove(best)
        if chosen and best.worth < LEAST_WORTH * chosen[0].worth:
            break
        if _similarity(best, chosen) < 1 and not any(_overlap(best.sentence, one.sentence) for one in chosen):
            chosen.append(best)
    return chosen


def _overlap(one: Sentence, other: Sentence) -> bool:
    return one.note is other.note and one.start < other.end and other.start < one.end


def _similarity(one: _Candidate, chosen: Iterable[_Candidate]) -> float:
    """Returns the largest Jaccard similarity of terms with a chosen sentence."""
    return max((len(one.terms & o.terms) / len(one.terms | o.terms) for o in chosen), default=0.0)
