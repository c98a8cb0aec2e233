"""Stems by the Snowball algorithms, as PyStemmer runs them in C."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from vault_indexer.text.fold import fold

_TABLE = """
ar arabic, ca catalan, cs czech, da danish, de german, el greek, en english, eo esperanto,
es spanish, et estonian, eu basque, fa persian, fi finnish, fr french, ga irish, hi hindi,
hu hungarian, hy armenian, id indonesian, it italian, lt lithuanian, nb norwegian, ne nepali,
nl dutch, nn norwegian, no norwegian, pl polish, pt portuguese, ro romanian, ru russian, sr serbian,
sv swedish, ta tamil, tr turkish, yi yiddish
"""
SNOWBALL: dict[str, str] = dict(one.split() for one in _TABLE.split(",") if one.strip())
"""ISO 639-1 code to the algorithm's name."""

_SHORTEST = 3


def stem(word: str, language: str) -> str:
    """The folded stem of a normalized word; without an algorithm for the language, the folded word."""
    if len(word) < _SHORTEST or language not in SNOWBALL:
        return fold(word)
    return fold(_stemmer(SNOWBALL[language])(word))


@lru_cache(maxsize=64)
def _stemmer(algorithm: str) -> Callable[[str], str]:
    import Stemmer

    if algorithm not in Stemmer.algorithms():
        return str
    stemmer, lock = Stemmer.Stemmer(algorithm), Lock()

    def stem_word(word: str) -> str:
        with lock:  # a stemmer keeps the word it works on
            return str(stemmer.stemWord(word))

    return stem_word
