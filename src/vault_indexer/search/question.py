"""The words of a question, each with its weight and whether any note contains it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

import numpy as np

from vault_indexer.search.confidence import word_weights
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, TypedWords, typed_word
from vault_indexer.search.query import parse_query
from vault_indexer.search.terms import Groups, WordStatistics, find_synonyms, language_of, query_words
from vault_indexer.system import record
from vault_indexer.text.language import asking_characters, detect
from vault_indexer.text.query import ENDS_AFTER_APOSTROPHE, analyze_query, is_hyphenated, part_at_apostrophe
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN, clusters

_LEAST_STRETCH = 2
"""A shorter stretch of characters is not a word."""

_AT_BORDERS = "的了是在和与與はがをにでとのもへや"
"""Chinese and Japanese particles, which are no part of the word before or behind them."""

_NO_LIMIT_S = 60.0
"""A time limit that is never reached, in seconds."""

_PUNCTUATION = re.compile(r":(?=\s|$)")
_INVERTED = re.compile(r"(?<=\w)-(?:t-)?(?=(?:je|tu|il|elle|on|ce|nous|vous|ils|elles)\b)", re.IGNORECASE)


@record
class QuestionWord:
    """A word of a question. `weight` is its rarity in the vault, 0 for function and question words. `terms`
    are its index terms, including those of its one-word synonyms. `is_known` is False if it is certain that
    no note contains the word in any form. `written` is the word as written, or for a pair of characters the
    run without spaces that contains it. A piece of a word counts as known, because the word itself is
    searched for."""

    word: str
    weight: float
    terms: frozenset[str]
    is_known: bool
    written: str = ""


def question_as_query(question: str) -> str:
    """Returns the question as a query. A colon before a space or the end is punctuation, not an operator, and
    a French pronoun behind a verb is a word ("sera-t-il")."""
    is_french = "-t-" in question or detect(question) == "fr"
    return _PUNCTUATION.sub(" ", _INVERTED.sub(" ", question) if is_french else question)


def question_words(
    vaults: Sequence[SearchedVault], question: str, synonym_groups: Groups = ()
) -> tuple[QuestionWord, ...]:
    """Returns the words of the question in order, without its filters. All the vaults form one collection of
    words, whatever their models. Raises QueryError as a search does."""
    query = parse_query(question)
    statistics = WordStatistics([vault.snapshot for vault in vaults])
    words = tuple(query_words(statistics, query.text))
    if not words:
        return ()
    deadline = QueryDeadline(_NO_LIMIT_S)
    prepared = PreparedQuery(
        vault=vaults[0],
        snapshot=vaults[0].snapshot,
        statistics=statistics,
        text=query.text,
        words=words,
        language=language_of(query.text, statistics.languages),
        vector=np.zeros(0, np.float32),
        language_weight=1.0,
        deadline=deadline,
        typed_words=TypedWords(vaults[0].snapshot, deadline),
        synonyms=find_synonyms(synonym_groups, statistics.languages, words),
    )
    others = [TypedWords(vault.snapshot, deadline) for vault in vaults[1:]]
    return _weighed_words(prepared, [prepared.typed_words, *others])


def missing_words(group: Sequence[PreparedQuery]) -> tuple[str, ...]:
    """Returns the content words of a query that no note of its vaults contains, once each, as written."""
    if not group[0].words:
        return ()
    return unknown_words(_weighed_words(group[0], [query.typed_words for query in group]))


def unknown_words(words: Sequence[QuestionWord]) -> tuple[str, ...]:
    """Returns the content words that no note contains, each once, as written. In scripts without spaces,
    these are stretches of at least two characters of which no note contains any pair."""
    pairs = {word.word: word.is_known or not word.weight for word in words if RUN.match(word.word)}
    unknown: dict[str, None] = {}
    for word in words:
        if word.word in pairs:
            unknown.update(dict.fromkeys(_unknown_stretches(word.written or word.word, pairs)))
        elif not word.is_known:
            unknown[word.written or word.word] = None
    return tuple(unknown)


def _unknown_stretches(run: str, is_known: Mapping[str, bool]) -> Iterator[str]:
    """Yields the stretches of a run whose characters are in no known pair, without question words."""
    characters = clusters(run)
    known = [False] * len(characters)
    for at, pair in enumerate(map("".join, pairwise(characters))):
        if is_known.get(pair, True):
            known[at] = known[at + 1] = True
    for unknown, places in groupby(range(len(characters)), key=lambda place: not known[place]):
        stretch = "".join(characters[place] for place in places) if unknown else ""
        parts = (part.strip(_AT_BORDERS) for part in asking_characters().split(stretch))
        yield from (part for part in parts if len(clusters(part)) >= _LEAST_STRETCH)


def _weighed_words(prepared: PreparedQuery, texts: Sequence[TypedWords]) -> tuple[QuestionWord, ...]:
    weights = word_weights(prepared).tolist()
    claims = list(_claims(prepared, texts, weights))
    synonyms: dict[str, frozenset[str]] = {}
    known: set[str] = set()
    for synonym in prepared.synonyms:
        if all(map(prepared.statistics.knows, synonym.searched_words)):
            known |= {word.word for word in synonym.written_words}
        for word in synonym.written_words if len(synonym.searched_words) == 1 else ():
            synonyms[word.word] = synonyms.get(word.word, frozenset()) | synonym.searched_words[0].forms
    return tuple(
        QuestionWord(
            term.word,
            weight,
            term.forms | synonyms.get(term.word, frozenset()),
            claim is None or term.word in known,
            claim or prepared.text[term.start : term.end],
        )
        for term, weight, claim in zip(prepared.words, weights, claims, strict=True)
    )


def _claims(
    prepared: PreparedQuery, texts: Sequence[TypedWords], weights: Sequence[float]
) -> Iterator[str | None]:
    """Yields for each word of the query the text that no note contains, as written: the word, or the number
    or run that contains it. Yields None if a note contains or may contain it, or if the word has no content
    of its own."""
    weight_of = {term.word: weight for term, weight in zip(prepared.words, weights, strict=True)}
    whole, is_held = prepared.words[0], True
    for number, term in enumerate(prepared.words):
        if not number or RUN.match(term.word) or not whole.start <= term.start < term.end <= whole.end:
            whole, is_held = term, _is_held(prepared, texts, term)
        main = part_at_apostrophe(whole.word, prepared.language)
        says = weight_of[main] if main in weight_of else weight_of[term.word]
        is_part_held = term is not whole and prepared.statistics.knows(term)
        if says and not is_held and not is_part_held and _is_reported(term, whole, main, prepared.language):
            yield typed_word(prepared.text, term) or prepared.text[term.start : term.end].strip("_")
        else:
            yield None


def _is_reported(piece: QueryTerm, whole: QueryTerm, main: str, language: str) -> bool:
    """Whether a piece of a word, or the word itself, is reported if no note contains the word. Parts between
    hyphens are reported. For a word with an ending after an apostrophe, its `main` part is reported instead.
    `don't` is never reported."""
    if not main:
        return piece is whole or is_hyphenated(whole.word)
    ending = whole.word[len(main) + 1 :].lower() if whole.word.startswith(main) else ""
    has_ending = language in ENDS_AFTER_APOSTROPHE or ending == "s"
    return ending != "t" and piece.word == (main if has_ending else whole.word)


def _is_held(prepared: PreparedQuery, texts: Sequence[TypedWords], term: QueryTerm) -> bool:
    """Whether a note contains or may contain the word: in any indexed form, by all its hyphenated parts, by
    the main part at an apostrophe, or as typed."""
    statistics = prepared.statistics
    if statistics.knows(term):
        return True
    main = part_at_apostrophe(term.word, prepared.language)
    parts = term.word.split("-") if is_hyphenated(term.word) else [main] if main else []
    if parts and all(
        statistics.knows(piece) for part in parts for piece in analyze_query(part, statistics.languages)
    ):
        return True
    word = typed_word(prepared.text, term)
    return bool(word) and any(typed_words.may_be_there(word) for typed_words in texts)


def share_held(words: Collection[QuestionWord], terms: Collection[str]) -> float:
    """Returns the share of the words' weight, in [0, 1], that a text with these index terms covers."""
    total = sum(word.weight for word in words)
    held = sum(word.weight for word in words if not word.terms.isdisjoint(terms))
    return held / total if total else 0.0
