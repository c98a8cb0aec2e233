"""Query expansion by a concept vocabulary: other words for a thing that the vault names differently.

Only phrases that the vault hardly holds are widened: expanding every query lowered the ranking of those
whose words the notes use themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from types import MappingProxyType

import tomli

from vault_indexer.search.word_statistics import WordStatistics
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm
from vault_indexer.text.tokens import analyze

EXPANSION_WEIGHT = 0.6
"""What a word of the vocabulary counts beside one that the user wrote."""

_SELDOM = 3
"""A word that no more chunks hold than this is probably not the vault's own name for the thing."""

_LONGEST = 4
_LANGUAGE = "en"


def expansions(query: str, is_known: Callable[[str], bool]) -> tuple[str, ...]:
    """Phrases that mean the same as phrases of the query that hold a word the vault does not know well."""
    groups = _groups()
    words = query.split()
    keys = [_key(word) for word in words]
    found: dict[str, None] = {}
    for at in range(len(words)):
        for size in range(1, _LONGEST + 1):
            others = groups.get(tuple(keys[at : at + size]), ()) if at + size <= len(words) else ()
            if others and not all(is_known(word) for word in words[at : at + size]):
                found.update(dict.fromkeys(others))
    return tuple(found)


def expand_terms(statistics: WordStatistics, query: str) -> tuple[QueryTerm, ...]:
    """The query terms of the expansions, a phrase's weight shared among its words."""
    terms: list[QueryTerm] = []
    for phrase in expansions(query, partial(_is_known, statistics)):
        own = analyze_query(phrase, statistics.languages)
        terms.extend(replace(term, weight=term.weight * EXPANSION_WEIGHT / len(own)) for term in own)
    return tuple(terms)


def _is_known(statistics: WordStatistics, word: str) -> bool:
    """Whether more than a handful of chunks hold the word in some form."""
    terms = dict.fromkeys(analyze(word, _LANGUAGE))
    return any(statistics.document_frequency(term) > _SELDOM for term in terms)


@cache
def _groups() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """From a phrase, as stems, to the other phrases of its groups."""
    table_of_concepts = tomli.loads((files(__package__) / "concepts.toml").read_text("utf-8"))
    table: dict[tuple[str, ...], tuple[str, ...]] = {}
    for group in table_of_concepts["groups"]:
        for phrase in group:
            key = tuple(_key(word) for word in phrase.split())
            others = tuple(other for other in group if other != phrase)
            table[key] = (*table.get(key, ()), *others)
    return MappingProxyType(table)


def _key(word: str) -> str:
    """A word by its last index term: the stem where there is one."""
    terms = analyze(word, _LANGUAGE)
    return terms[-1].removeprefix(VARIANT_MARK) if terms else word
