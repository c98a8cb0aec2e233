"""The words of a query in a vault of several languages, without the stems of languages that it hardly has."""

from __future__ import annotations

import mmap
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.util import find_spec
from math import log
from pathlib import Path

from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import languages_of
from vault_indexer.search.word_statistics import WordStatistics
from vault_indexer.text.language import detect_query
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

# How far to trust a model's vectors: by what it knows of the query's language, and by what words find.


FOREIGN = 0.45
"""What the vectors of an English model count in other languages. On XQuAD in Spanish, Chinese and Russian
they put the right paragraph first for 57 to 67 of 100 questions, words for 92 to 95; counted in full they
drag the fusion below the words, at about 0.45 it is level or ahead."""

LACKING = 8.0
"""How much more the vectors count where no chunk holds a word of the query. This and the third power were the
best of 60 choices on the tuning halves of ten sets (two models): nDCG@10 there .867 to .872, on the halves
kept aside .880 to .886, most of it where notes and question use other words."""

AMONG_LANGUAGES = 0.5
"""By how much LACKING is less for a model of many languages where hardly a note is in the query's language,
but some are: its vectors bring notes of other languages on the same matter forward. Of questions to a vault
with notes in twelve languages, nDCG@10 is .802 without it on the tuning half; with 2, 3, 4, 5 and 6 for
LACKING it was .831, .828, .824, .819 and .817."""


def language_of(text: str, languages: Sequence[str]) -> str:
    """The query's language: one of the vault's (most frequent first), unless it is clearly another one; where
    the query does not tell, the vault's main one; "" in a vault of unknown language."""
    return detect_query(text, languages) or (languages[0] if languages else "")


def language_weight(model: EmbeddingModel, language: str) -> float:
    """A factor for the vector ranking's weight: less than 1 where the model does not know the language. A
    model whose languages are unknown counts in full."""
    known = languages_of(model)
    return 1.0 if known is None or not language or language in known else FOREIGN


def lacking_weight(model: EmbeddingModel, share: float) -> float:
    """How much more the vectors count where no chunk holds a word of the query, if so large a share of the
    notes is in its language. Where none is, words find nothing, and the vectors of such a model all."""
    known = languages_of(model)
    if known is None or len(known) < 2 or not share:
        return LACKING
    return LACKING * (1.0 - AMONG_LANGUAGES * (1.0 - share))


def vector_weight(held: float, lacking: float = LACKING) -> float:
    """The factor for the vector ranking's weight, if the best chunk by words holds this share of the query,
    each word at its weight: 1 where it holds all, 1 + `lacking` where it holds none."""
    return 1.0 + lacking * (1.0 - held) ** 3


def query_words(statistics: WordStatistics, text: str, *, typing: bool = False) -> list[QueryTerm]:
    """The words as `analyze_query` gives them. The stems of a rare language count where the query is in it,
    and for words that no note holds otherwise: Czech would find `not` for `note` in a vault of English notes
    of which one was taken for Czech."""
    languages = statistics.languages
    words = analyze_query(text, languages, typing=typing)
    rare = statistics.rare_languages - {language_of(text, languages)}
    if not rare:
        return words
    by_place = {(one.start, one.end, one.word): one for one in words}
    common = analyze_query(text, [one for one in languages if one not in rare], typing=typing)
    return [
        one if statistics.knows(one) else by_place.get((one.start, one.end, one.word), one) for one in common
    ]


# What each word of a query is worth: the rarer in the vault, the more.


def weight_by_idf(statistics: WordStatistics, terms: Iterable[QueryTerm]) -> list[QueryTerm]:
    """The terms, each weight multiplied by a rarity in (0, 1]: ln((N + 1) / (df + ½)) over its largest value.

    BM25F has a document frequency of its own for each field, so that "how" or "do" is rare, and worth much,
    in titles. This takes the frequency in the field where a word is most frequent. A word that every chunk
    holds keeps a little, so a query of function words alone still ranks. On questions it raised nDCG@10 of
    BM25F from .671 to .880 (chunking), from .533 to .562 (large vault), from .642 to .685 (Obsidian's help).

    Words that differ by their marks count only where no chunk holds the word as written: `ma` is frequent in
    Vietnamese, `mạ` is rare. That raised Hit@1 on XQuAD vi from .905 to .924 (tuning half).
    """
    documents = statistics.documents + 1
    most = log(documents / 0.5)
    return [
        replace(term, weight=term.weight * log(documents / (_frequency(statistics, term) + 0.5)) / most)
        for term in terms
    ]


def _frequency(statistics: WordStatistics, term: QueryTerm) -> int:
    largest = statistics.largest_document_frequency
    as_written = {form for one in term.classes if not one.folded for form in one.terms}
    held = largest(as_written) or largest(term.forms)
    return min(held, statistics.documents)  # deleted chunks count until a merge drops them


# Whether a word is a common word of some language, whatever the vault holds.
#
# The source is the vocabulary of OpenAI's tokenizer `o200k_base`, a file in the wheel of llama-index-
# core: a word that is one token of it is frequent in text of the web. It is read as a file: neither
# LlamaIndex nor a tokenizer is loaded. Only a query with a word that the vault does not know needs it.


_VOCABULARY = "core/_static/tiktoken_cache/fb374d419588a4632f3f557e76b4b70aebbca790"
"""A token a line, in base64, with its rank. The name is the SHA-1 of the URL of `o200k_base.tiktoken`."""

_COMMON = 150_000
"""Tokens up to this rank are common. It holds 99% of the 10,000 most frequent English words; behind it are
frequent misspellings such as "recieve" (159,041) and "definately" (169,822)."""

_REMEMBERED = 4_096


@lru_cache(maxsize=_REMEMBERED)
def is_common(word: str) -> bool:
    """Whether the word, in lower case, capitalised or as written, is common in some language.

    Of the 5,000 most frequent words of a language, it knows all in English, 82% in Spanish, 76% in French,
    65% in German, 42% in Russian. Without the file no word is common. A word that is not in it takes 4 ms of
    processor time.
    """
    path = vocabulary_file()
    if path is None:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
        spellings = dict.fromkeys((word, word.lower(), word.capitalize()))
        return any(_rank(lines, spelling) <= _COMMON for spelling in spellings)


@lru_cache(maxsize=_REMEMBERED)
def is_common_word(word: str) -> bool:
    """Whether the word is common in lower case, and more so than capitalised: a name is not."""
    path = vocabulary_file()
    if path is None:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
        rank = _rank(lines, word.lower())
        return rank <= _COMMON and rank < _rank(lines, word.capitalize())


@cache
def vocabulary_file() -> Path | None:
    """The file in the installed package, found without importing it; None: this version has none."""
    package = find_spec("llama_index")
    folders = (package and package.submodule_search_locations) or ()
    files = (Path(folder, _VOCABULARY) for folder in folders)
    return next((file for file in files if file.is_file()), None)


def _rank(lines: mmap.mmap, word: str) -> float:
    token = b"\n" + b64encode(f" {word}".encode("utf-8", "surrogatepass")) + b" "
    at = lines.find(token)
    if at < 0:
        return float("inf")
    start = at + len(token)
    return int(lines[start : lines.find(b"\n", start)])
