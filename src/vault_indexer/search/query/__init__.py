"""The query language: from the text of a query to its syntax tree."""

from __future__ import annotations

from vault_indexer.search.query.ast import (
    NAMES,
    All,
    Compare,
    Condition,
    Direction,
    Either,
    Fact,
    InVault,
    Linked,
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
    atoms,
    in_vault,
    ranking_words,
)
from vault_indexer.search.query.parser import OPERATORS, parse_query
from vault_indexer.search.query.regex import RegexMatcher, compile_regex, encode
from vault_indexer.search.query.scan import ByteScanner, byte_scanner
from vault_indexer.search.query.values import iso_date, moment_ns, number

__all__ = [
    "NAMES",
    "OPERATORS",
    "All",
    "ByteScanner",
    "Compare",
    "Condition",
    "Direction",
    "Either",
    "Fact",
    "InVault",
    "Linked",
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
    "atoms",
    "byte_scanner",
    "compile_regex",
    "encode",
    "in_vault",
    "iso_date",
    "moment_ns",
    "number",
    "parse_query",
    "ranking_words",
]
