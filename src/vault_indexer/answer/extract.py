"""An answer without a model: the sentences of the passages that hold most of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_indexer.answer.sentences import Sentence
from vault_indexer.model import Hit
from vault_indexer.search import QuestionWord, share_held
from vault_indexer.text.tokens import analyze

RANK_SHARE = 0.5
"""How much of a sentence's worth depends on the score of its hit; the rest is the share of the question."""

HEADING_SHARE = 0.2
"""What a word of the question counts that only the title or a heading above the sentence holds."""

CODE_SHARE = 0.5
"""What a line of code counts beside a sentence of prose."""

NOVELTY = 0.3
"""The weight of likeness to sentences chosen before (maximal marginal relevance, Carbonell 1998)."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    sentence: Sentence
    worth: float
    terms: frozenset[str]


def choose_quotes(
    sentences: Sequence[Sentence], hits: Sequence[Hit], words: Sequence[QuestionWord], most: int
) -> list[Sentence]:
    """At most `most` sentences, best first: the best one of each hit, and none that repeats another.

    A sentence is as good as the share of the question's words that it holds, each word by its rarity, and as
    its hit. One that holds no word of the question is not chosen.
    """
    best: dict[int, _Candidate] = {}
    for sentence in sentences:
        one = _candidate(sentence, hits[sentence.hit], words)
        held = best.get(sentence.hit)
        if one.worth > 0 and (held is None or one.worth > held.worth):
            best[sentence.hit] = one
    return [one.sentence for one in _without_repeats(list(best.values()), most)]


def _candidate(sentence: Sentence, hit: Hit, words: Sequence[QuestionWord]) -> _Candidate:
    language = sentence.note.row.language
    terms = frozenset(analyze(sentence.readable, language))
    share = share_held(words, terms)
    if not share:
        return _Candidate(sentence, 0.0, terms)
    around = terms.union(analyze(f"{sentence.note.row.title} {hit.header_path}", language))
    share += HEADING_SHARE * (share_held(words, around) - share)
    worth = share * (1 - RANK_SHARE + RANK_SHARE * hit.score)
    return _Candidate(sentence, worth * (CODE_SHARE if sentence.is_code else 1.0), terms)


def _without_repeats(candidates: list[_Candidate], most: int) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    left = sorted(candidates, key=lambda one: -one.worth)
    while left and len(chosen) < most:
        best = max(left, key=lambda one: one.worth - NOVELTY * _likeness(one, chosen))
        left.remove(best)
        if _likeness(best, chosen) < 1:
            chosen.append(best)
    return chosen


def _likeness(one: _Candidate, chosen: Sequence[_Candidate]) -> float:
    """The largest share of terms in common with one of the chosen (Jaccard)."""
    return max((len(one.terms & o.terms) / len(one.terms | o.terms) for o in chosen), default=0.0)
