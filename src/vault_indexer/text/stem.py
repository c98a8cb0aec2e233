"""Stems words by the Snowball algorithms, which PyStemmer runs in C."""

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
SNOWBALL: dict[str, str] = dict(entry.split() for entry in _TABLE.split(",") if entry.strip())
"""The name of the algorithm by ISO 639-1 code."""

_SHORTEST = 3

_PERSIAN = str.maketrans("يك", "یک")
"""Maps the letters of `fold.normalize` to those that the Persian algorithm expects."""

_AND = re.compile("^[وف](?=ال\\w{3})")
"""Arabic "and" before the article. The algorithm removes only the article."""

_POINTS = "[\u0591-\u05c7]*"
_HEBREW_PREFIX = re.compile(rf"^(?:[ושכ]{_POINTS}[הבלמכ]|[הובלמשכ]){_POINTS}(?=(?:\w{_POINTS}){{3}})")
"""One or two of the one-letter words that Hebrew joins to the next word (the, and, in, to, from, that, as).

Snowball does not support Hebrew. At least three letters must remain, because nearly every root has three.
"""


def stem(word: str, language: str) -> str:
    """Returns the folded stem of a normalized word, or without an algorithm the folded word."""
    return fold(stem_with_marks(word, language))


def stem_with_marks(word: str, language: str) -> str:
    """Returns the stem of a normalized word as the algorithm returns it. Most algorithms keep the marks."""
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
        with lock:  # a stemmer stores the word that it processes, so threads must not share it
            return str(stemmer.stemWord(word))

    return stem_word
