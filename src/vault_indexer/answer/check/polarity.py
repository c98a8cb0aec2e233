"""Whether two clauses deny the same: words that deny or reverse are counted, and contrary words compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vault_indexer.answer.check.lexicon import (
    UNSPACED_LANGUAGES,
    Lexicon,
    expand_contractions,
    lexicon,
    tokens,
)
from vault_indexer.text.stem import stem

_LEAST_BASE = 4


def count_negations(text: str, language: str) -> int:
    """How many words of the text deny or reverse ("not", "fails to"); affixes are not counted. A language
    that is not known counts as English."""
    own = lexicon(language)
    plain = own.without("no_negations", expand_contractions(text))
    reversing = own.find("reversing", plain)
    return len(reversing) + len(own.find("negators", own.without("reversing", plain)))


def same_polarity(clause: str, evidence: Sequence[str], language: str) -> bool:
    """Whether a clause denies where the clauses of the evidence do that it is about.

    An affix ("unhealthy" for "healthy") or a contrary word ("closed" for "open") turns the sense as a word
    does, so "not healthy" and "unhealthy" agree.
    """
    here = count_negations(clause, language)
    there = sum(count_negations(one, language) for one in evidence)
    if _is_turned(clause, " \n".join(evidence), lexicon(language)):
        return (here > 0) != (there > 0)
    return (here > 0) == (there > 0) and here <= max(there, 1)


def _is_turned(clause: str, evidence: str, own: Lexicon) -> bool:
    if own.language in UNSPACED_LANGUAGES:
        return _has_contrary_part(clause, evidence, own.opposites)
    here, there = _stems(clause, own.language), _stems(evidence, own.language)
    by_affix = _has_affix(here, there, own) != _has_affix(there, here, own)
    return by_affix or _has_contrary(here, there, own.opposites)


def _has_contrary(
    here: Mapping[str, str], there: Mapping[str, str], opposites: Mapping[str, frozenset[str]]
) -> bool:
    """Whether a word here is contrary to one there, and each is on one side alone."""
    return any(
        contrary in there and contrary not in here
        for word in here.keys() - there.keys()
        for contrary in opposites.get(word, ())
    )


def _has_contrary_part(here: str, there: str, opposites: Mapping[str, frozenset[str]]) -> bool:
    return any(
        word in here and word not in there and contrary in there and contrary not in here
        for word, contraries in opposites.items()
        for contrary in contraries
    )


def _stems(text: str, language: str) -> dict[str, str]:
    """The words of a text by their stems."""
    return {one.stem: one.normal for one in tokens(text, language)}


def _has_affix(own: Mapping[str, str], other: Mapping[str, str], words: Lexicon) -> bool:
    """Whether a word of the one is a word of the other with an affix that denies."""
    return any(
        base in other
        for own_stem, word in own.items()
        if own_stem not in other
        for base in _bases(word, words)
        if base not in own
    )


def _bases(word: str, words: Lexicon) -> Iterable[str]:
    for prefix in words.prefixes:
        if word.startswith(prefix) and len(word) - len(prefix) >= _LEAST_BASE:
            yield stem(word[len(prefix) :], words.language)
    for suffix in words.suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_BASE:
            yield stem(word[: -len(suffix)], words.language)
