"""The user's synonyms (`search.synonyms`): other words and phrases for those of a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

SYNONYM_WEIGHT = 0.6
"""The weight of a synonym relative to the words of the query. It is below 1, so that notes with the query's
own words come first. A rule of thumb: between another form of a word (`VARIANT_WEIGHT`) and a compound with
it (`COMPOUND_WEIGHT`)."""

Groups = tuple[tuple[str, ...], ...]
Words = tuple[QueryTerm, ...]


@dataclass(frozen=True, slots=True)
class Synonym:
    """A phrase (`searched`) that is searched for in addition to words of a query (`written`), each with its
    words."""

    written: str
    written_words: Words
    searched: str
    searched_words: Words


def find_synonyms(
    groups: Groups, languages: Sequence[str], words: Iterable[QueryTerm]
) -> tuple[Synonym, ...]:
    """Returns for each phrase of a group that occurs in the query, in any form, the other phrases of its
    group. `languages` are those of the vault."""
    if not groups:
        return ()
    table = _phrases(groups, tuple(languages))
    whole = _whole_words(words)
    synonyms: dict[Synonym, None] = {}
    for start, word in enumerate(whole):
        for number in dict.fromkeys(number for form in word.forms for number in table.by_form.get(form, ())):
            phrase = table.phrases[number]
            written = whole[start : start + len(phrase.words)]
            if _are_same(written, phrase.words):
                text = " ".join(term.word for term in written)
                others = (table.phrases[other] for other in table.groups[phrase.group] if other != number)
                synonyms |= {Synonym(text, written, other.text, other.words): None for other in others}
    return tuple(synonyms)


def with_synonyms(terms: Iterable[QueryTerm], synonyms: Sequence[Synonym]) -> Iterator[QueryTerm]:
    """Yields the words of a query with their synonyms. A one-word synonym becomes an additional form of each
    word that it replaces. The words of a longer synonym follow the query's words and share its weight."""
    instead: dict[str, list[QueryTerm]] = {}
    for synonym in synonyms:
        for word in synonym.written_words if len(synonym.searched_words) == 1 else ():
            instead.setdefault(word.word, []).append(synonym.searched_words[0])
    for term in terms:
        classes = (form for other in instead.get(term.word, ()) for form in other.classes)
        quieter = tuple(form._replace(weight=form.weight * SYNONYM_WEIGHT) for form in classes)
        yield replace(term, classes=(*term.classes, *quieter)) if quieter else term
    for synonym in synonyms:
        size = len(synonym.searched_words)
        if size > 1:
            yield from (replace(word, weight=SYNONYM_WEIGHT / size) for word in synonym.searched_words)


@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    words: Words
    group: int


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Phrases by number, the phrase numbers of each group, and the numbers of phrases by the forms of their
    first word."""

    phrases: tuple[_Phrase, ...]
    groups: tuple[tuple[int, ...], ...]
    by_form: Mapping[str, tuple[int, ...]]


@lru_cache(maxsize=8)
def _phrases(groups: Groups, languages: tuple[str, ...]) -> _Phrases:
    phrases: list[_Phrase] = []
    numbers: list[tuple[int, ...]] = []
    by_form: dict[str, tuple[int, ...]] = {}
    for group, texts in enumerate(groups):
        first = len(phrases)
        analyzed = ((text, _whole_words(analyze_query(text, languages))) for text in dict.fromkeys(texts))
        phrases += [_Phrase(text, words, group) for text, words in analyzed if words]
        numbers.append(tuple(range(first, len(phrases))))
    for number, phrase in enumerate(phrases):
        for form in phrase.words[0].forms:
            by_form[form] = (*by_form.get(form, ()), number)
    return _Phrases(tuple(phrases), tuple(numbers), MappingProxyType(by_form))


def _whole_words(terms: Iterable[QueryTerm]) -> Words:
    """Returns the words without the additional parts of words with a hyphen, a dot or a slash."""
    kept: list[QueryTerm] = []
    for term in terms:
        last = kept[-1] if kept else None
        inside = last is not None and last.start <= term.start and term.end <= last.end
        if not inside or (last is not None and (last.start, last.end) == (term.start, term.end)):
            kept.append(term)
    return tuple(kept)


def _are_same(written: Words, phrase: Words) -> bool:
    pairs = zip(written, phrase, strict=False)
    return len(written) == len(phrase) and all(not one.forms.isdisjoint(other.forms) for one, other in pairs)
