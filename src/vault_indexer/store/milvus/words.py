"""Index terms as words that any tokenizer of Milvus leaves as they are.

Milvus' BM25 function takes text and splits it on the server. So that its words are ours (stems, parts of
compounds, pairs of characters), the terms are sent ready-made: each as letters a-z and digits alone, which no
tokenizer splits, changes or drops. Milvus Lite knows no whitespace tokenizer; this needs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from vault_indexer.text.terms import VARIANT_MARK, QueryTerm

MAX_BYTES = 65_535
"""The longest text of Milvus."""

REPEATS: Mapping[str, int] = MappingProxyType(
    {"title": 2, "aliases": 2, "headers": 1, "tags": 2, "properties": 1, "content": 1, "path": 1}
)
"""How often each field's terms stand in the text: the boosts of `keywords.FieldWeights` in whole numbers.
In order of importance: of a longer text the end is cut off."""

_PLAIN = re.compile(r"[a-z0-9]+")


def word_of(term: str) -> str:
    """The term as a word, another one for each term."""
    if _PLAIN.fullmatch(term):
        return "a" + term
    rest = term.removeprefix(VARIANT_MARK)
    if rest != term and _PLAIN.fullmatch(rest):
        return "b" + rest
    return "x" + term.encode("utf-8", "surrogatepass").hex()


def document_text(fields: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The terms of a chunk as one text, those of important fields repeated."""
    held = dict(fields)
    words: list[str] = []
    size = 0
    for name, repeats in REPEATS.items():
        for word in map(word_of, held.get(name, ())):
            size += repeats * (len(word) + 1)
            if size > MAX_BYTES:
                return " ".join(words)
            words += [word] * repeats
    return " ".join(words)


def query_text(terms: Sequence[QueryTerm]) -> str:
    """The words of a query as one text: every term that stands for one of them, once.

    What Milvus cannot express is left out: weights, the best instead of the sum of a word's terms, and
    beginnings of words.
    """
    return " ".join(dict.fromkeys(map(word_of, _terms(terms))))


def _terms(terms: Sequence[QueryTerm]) -> Iterator[str]:
    for word in terms:
        for one in word.classes:
            yield from one.terms
