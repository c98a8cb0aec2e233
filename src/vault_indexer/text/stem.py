"""Stems by the Snowball algorithms, as PyStemmer runs them in C."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from vault_indexer.text.fold import fold, normalize

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

_PERSIAN = str.maketrans("يك", "یک")
"""From the letters of `fold.normalize` to those that the Persian algorithm knows."""

_AND = re.compile("^[وف](?=ال\\w{3})")
"""Arabic "and" in front of the article: the algorithm takes the article alone."""

_POINTS = "[\u0591-\u05c7]*"
_HEBREW_PREFIX = re.compile(rf"^(?:[ושכ]{_POINTS}[הבלמכ]|[הובלמשכ]){_POINTS}(?=(?:\w{_POINTS}){{3}})")
"""One-letter words that Hebrew writes together with the next one (the, and, in, to, from, that, as): one or
two of them.

Snowball has no Hebrew. At least three letters must remain, as in nearly every root.
"""


def stem(word: str, language: str) -> str:
    """The folded stem of a normalized word; without an algorithm for the language, the folded word."""
    return fold(stem_with_marks(word, language))


def stem_with_marks(word: str, language: str) -> str:
    """The stem of a normalized word as the algorithm gives it: most keep the marks of the language."""
    if language == "he":
        return _HEBREW_PREFIX.sub("", word)
    if len(word) < _SHORTEST or language not in SNOWBALL:
        return word
    stem_word = _stemmer(SNOWBALL[language])
    if language == "fa":
        return normalize(stem_word(word.translate(_PERSIAN)))
    return stem_word(_AND.sub("", word) if language == "ar" else word)


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
