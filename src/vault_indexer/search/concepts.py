"""Query expansion by a concept vocabulary: other words for what the query asks, each more quietly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import tomli

from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm
from vault_indexer.text.tokens import analyze

EXPANSION_WEIGHT = 0.4
"""What a word of the vocabulary counts beside one that the user wrote."""

_LONGEST = 4
_LANGUAGE = "en"


def expansions(query: str) -> tuple[str, ...]:
    """Phrases that mean the same as words or phrases of the query, in the order of the vocabulary."""
    groups = _groups()
    words = [_key(word) for word in query.split()]
    spans = {tuple(words[at : at + size]) for size in range(1, _LONGEST + 1) for at in range(len(words))}
    found: dict[str, None] = {}
    for span in sorted(spans):
        for phrase in groups.get(span, ()):
            found[phrase] = None
    return tuple(found)


def expanded(query: str, languages: Sequence[str]) -> list[QueryTerm]:
    """Query terms of the expansions, a phrase's weight shared among its words."""
    terms: list[QueryTerm] = []
    for phrase in expansions(query):
        own = analyze_query(phrase, languages)
        terms.extend(replace(term, weight=term.weight * EXPANSION_WEIGHT / len(own)) for term in own)
    return terms


@cache
def _groups() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """From a phrase, as stems, to the other phrases of its groups."""
    told = tomli.loads((files(__package__) / "concepts.toml").read_text("utf-8"))
    table: dict[tuple[str, ...], tuple[str, ...]] = {}
    for group in told["groups"]:
        for phrase in group:
            key = tuple(_key(word) for word in phrase.split())
            others = tuple(other for other in group if other != phrase)
            table[key] = (*table.get(key, ()), *others)
    return MappingProxyType(table)


def _key(word: str) -> str:
    """A word by its last index term: the stem where there is one."""
    terms = analyze(word, _LANGUAGE)
    return terms[-1].removeprefix(VARIANT_MARK) if terms else word
