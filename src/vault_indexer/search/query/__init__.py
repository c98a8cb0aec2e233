"""The query language: from the text of a query to its syntax tree."""

from __future__ import annotations

from vault_indexer.search.query.ast import (
    NAMES,
    All,
    Compare,
    Condition,
    Direction,
    Either,
    Language,
    Linked,
    Modified,
    Node,
    Not,
    Null,
    Phrase,
    Property,
    Query,
    Regex,
    Scope,
    Text,
    Within,
    Word,
    ranking_words,
)
from vault_indexer.search.query.parser import parse_query
from vault_indexer.search.query.regex import RegexMatcher, compile_regex, encode
from vault_indexer.search.query.values import iso_date, moment_ns, number

__all__ = [
    "NAMES",
    "All",
    "Compare",
    "Condition",
    "Direction",
    "Either",
    "Language",
    "Linked",
    "Modified",
    "Node",
    "Not",
    "Null",
    "Phrase",
    "Property",
    "Query",
    "Regex",
    "RegexMatcher",
    "Scope",
    "Text",
    "Within",
    "Word",
    "compile_regex",
    "encode",
    "iso_date",
    "moment_ns",
    "number",
    "parse_query",
    "ranking_words",
]
