"""Analyzes text into index terms.

Each word produces its normalized form. In addition, it produces variants that differ from this form, with the
prefix `VARIANT_MARK`: its folded stem, the parts of camelCase, and the beginnings of a version. A compound
(`snake_case`, `src/main.rs`, `TS-999`) produces the whole and each part. Scripts without spaces produce
overlapping pairs of characters, and the last character of each run alone, so that every single character
begins a term. Frequent words are kept, but data that is not text is dropped. Terms have no positions, so
their order has no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, pairwise, repeat
from unicodedata import normalize as unicode_form

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import CLUSTER_MARKS, MARKS, SPACELESS
from vault_indexer.text.stem import stem
from vault_indexer.text.terms import VARIANT_MARK

ANALYZER = "terms-4"
"""The version of `analyze` in the manifest. A different value requires a new index."""

LONGEST_TERM = 64
LONGEST_WORD = 200
_DATA = re.compile(rf"[^\W_]{{{LONGEST_WORD + 1}}}|[A-Za-z0-9+/]{{{LONGEST_WORD + 1}}}")
"""Longer runs of letters and digits, or of base64 characters, are data instead of words."""

_LETTER = rf"[^\W{SPACELESS}{MARKS}]"
_REST = rf"(?:{_LETTER}++|[{MARKS}]++)"
_SUFFIX = r"(?:\+\+|#(?!\w))?"
WORD = re.compile(rf"{_LETTER}{_REST}*(?:[-./:\\@'’&+#]{{1,2}}{_REST}+)*{_SUFFIX}")
RUN = re.compile(rf"[{SPACELESS}][{SPACELESS}{MARKS}]*+")
_ASCII_WORD = re.compile(rf"\w++(?:[-./:\\@'&+#]{{1,2}}\w++)*{_SUFFIX}", re.ASCII)
_CLUSTER = re.compile(rf".[{CLUSTER_MARKS}]*+", re.DOTALL)
_PARTS = re.compile(r"[^-./:\\@'’&+#_]+")
_NON_JOINER = "\u200c"
_HALF_SPACE = re.compile(f"(?<=[\u0600-\u06ff]){_NON_JOINER}")
"""Persian writes it between a word and its ending. Some writers use a space or nothing instead."""

_HUMPS = re.compile(r"[A-Z]+(?![^\x00-`{-\x7f])|[A-Z]?[^\x00-`{-\x7f]+|\d+")
_DOTLESS = frozenset({"tr", "az"})
"""Languages in which I is the capital letter of ı."""

_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")


def analyze(text: str, language: str) -> list[str]:
    """Returns the index terms of a text, with repetitions. `language` is ISO 639-1, or "" for no stemming."""
    if text.isascii():
        words = _ASCII_WORD.findall(text)
        return list(chain.from_iterable(map(word_terms, _without_data(words), repeat(language))))
    text = unicode_form("NFC", text)
    words = _without_data(WORD.findall(text))
    terms = list(chain.from_iterable(map(word_terms, words, repeat(language))))
    for run in RUN.findall(text):
        terms += run_terms(run)
    return terms


def _without_data(words: list[str]) -> list[str]:
    if max(map(len, words), default=0) <= LONGEST_WORD:
        return words
    return [word for word in words if len(word) <= LONGEST_WORD or not _DATA.search(word)]


def run_terms(run: str) -> list[str]:
    """Returns the overlapping pairs of a run without spaces, and its last character."""
    characters = clusters(run)
    return [*map("".join, pairwise(characters)), characters[-1]]


def clusters(run: str) -> list[str]:
    """Returns the normalized characters of a run without spaces, each with its marks."""
    return _CLUSTER.findall(normalize(run))


@lru_cache(maxsize=1 << 16)
def word_terms(word: str, language: str) -> tuple[str, ...]:
    """Returns the index terms of one match of `WORD`, which may be a compound."""
    whole = word.strip("_")  # underscores at the ends are emphasis
    parts = _parts(whole)
    if len(parts) == 1 and parts[0] == whole:
        return _simple_terms(whole, language)
    if not parts:
        return (word,)
    terms = [normalize(whole)[:LONGEST_TERM], *_version_starts(word)]
    for part in parts:
        if len(part) > 1:
            terms += _simple_terms(part, language)
    return tuple(dict.fromkeys(terms))


def _parts(word: str) -> list[str]:
    return _PARTS.findall(_HALF_SPACE.sub("_", word) if _NON_JOINER in word else word)


def compound_parts(word: str) -> list[str]:
    """Returns the parts, as written, by which a compound or camelCase word is found, if it is one."""
    parts = _parts(word)
    if len(parts) > 1:
        return [part for part in parts if len(part) > 1]
    return _humps(word)


@lru_cache(maxsize=1 << 16)
def _simple_terms(word: str, language: str) -> tuple[str, ...]:
    exact = normalize(word)[:LONGEST_TERM]
    terms = [exact, *(VARIANT_MARK + variant for variant in concepts(exact, language) if variant != exact)]
    if "I" in word and language in _DOTLESS:
        dotless = normalize(word.replace("I", "ı"))
        terms += [VARIANT_MARK + variant for variant in (dotless, *concepts(dotless, language))]
    for hump in _humps(word):
        part = normalize(hump)
        terms.append(VARIANT_MARK + part)
        terms += [VARIANT_MARK + variant for variant in concepts(part, language)]
    return tuple(dict.fromkeys(terms))


def concepts(exact: str, language: str) -> tuple[str, ...]:
    """Returns the variants of a normalized word: its folded stem, and that of its folded form."""
    if not exact.isalpha() and exact.isascii():
        return (exact,)
    folded = fold(exact)
    if folded == exact:
        return (stem(exact, language),)
    return tuple(dict.fromkeys((stem(exact, language), stem(folded, language), folded)))


def _humps(word: str) -> list[str]:
    """Returns the parts, of at least two characters, of a camelCase word or of letters joined to digits."""
    whole = word if word.isascii() else unicode_form("NFKC", word)
    if whole.isdigit() or (whole.isalpha() and (whole.islower() or whole.isupper() or whole[1:].islower())):
        return []
    humps = _HUMPS.findall(whole)
    return [hump for hump in humps if len(hump) > 1] if len(humps) > 1 else []


def _version_starts(word: str) -> Iterator[str]:
    """Yields the beginnings of a version: `1.2.3` and `1.2` for `v1.2.3`."""
    version = _VERSION.fullmatch(word)
    if version:
        numbers = version[1].split(".")
        first = len(numbers) if word[0] == "v" else len(numbers) - 1
        for count in range(first, 1, -1):
            yield VARIANT_MARK + ".".join(numbers[:count])
