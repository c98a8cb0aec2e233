"""The words of a query that say nothing by themselves."""

from __future__ import annotations

from functools import cache

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language_signs import FUNCTION_WORDS

_ENGLISH_IN_QUERIES = (
    "a an i do did done my me am its than then them these those into about should could would let"
)
"""Not among the signs of English, as other languages or texts without questions have them too."""


@cache
def function_words(language: str) -> frozenset[str]:
    """The folded function words of a language (ISO 639-1); none for one that is not known."""
    lines = (line.split() for line in FUNCTION_WORDS.splitlines() if line)
    words = [word for code, *words in lines if code == language for word in words]
    if language == "en":
        words += _ENGLISH_IN_QUERIES.split()
    return frozenset(fold(normalize(word)) for word in words)


def is_function_word(word: str, language: str) -> bool:
    """Whether a word, as written, says nothing by itself in a language (ISO 639-1)."""
    return fold(normalize(word)) in function_words(language)
