"""The words of a query in a vault, without the stems of languages that are rare in it."""

from __future__ import annotations

import mmap
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from math import inf, log
from pathlib import Path

from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import languages_of
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import CountedLanguages
from vault_indexer.store.keywords import FIELD_WEIGHTS, KeywordSnapshot
from vault_indexer.text.language import detect_query
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm, TermClass

# The rarity of words. The notes of all vaults of a search form one collection.


class WordStatistics:
    """The number of chunks, the document frequencies, the vocabulary and the languages of several snapshots.

    The figures are sums over all snapshots, so that scores of different vaults are comparable. A search
    creates one instance for each group of vaults that share a model, and uses it in its own thread while the
    snapshots are open. Two figures remain per snapshot: the mean length of fields, and the frequency of a
    word in fields other than the one where it is most frequent. With Obsidian's help split into two vaults,
    this moved few hits, and none by much.
    """

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._snapshots = tuple(snapshots)
        self._keywords = tuple(snapshot.keywords for snapshot in snapshots)
        self._frequencies: dict[str, int] = {}
        self._is_whole = len(self._snapshots) == 1 and self._snapshots[0].statistics is None

    @cached_property
    def documents(self) -> int:
        return sum(map(_documents, self._snapshots))

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of the notes, most frequent first."""
        if len(self._snapshots) == 1:
            return self._snapshots[0].languages
        notes: Counter[str] = Counter()
        for snapshot in self._snapshots:
            notes.update(_languages(snapshot).counts)
        return tuple(sorted(notes, key=lambda name: (-notes[name], name)))

    def language_share(self, language: str) -> float:
        """The share, in [0, 1], of notes in this language among the notes of a known language. The share of
        each vault is weighted by its number of chunks."""
        shares = [_languages(snapshot).shares.get(language, 0.0) for snapshot in self._snapshots]
        weighed = zip(shares, map(_documents, self._snapshots), strict=True)
        return sum(share * documents for share, documents in weighed) / max(1, self.documents)

    @cached_property
    def rare_languages(self) -> frozenset[str]:
        """The languages of only a tiny share of the notes, in every vault that contains them."""
        rare, common = set[str](), set[str]()
        for snapshot in self._snapshots:
            languages = _languages(snapshot)
            rare |= languages.rare
            common |= set(languages.in_order) - languages.rare
        return frozenset(rare - common)

    def document_frequency(self, term: str) -> int:
        """The number of chunks that contain the term in the field where it is most frequent. Deleted chunks
        count until a merge."""
        if term not in self._frequencies:
            self._frequencies[term] = sum(_frequency(snapshot, term) for snapshot in self._snapshots)
        return self._frequencies[term]

    def largest_document_frequency(self, terms: Iterable[str]) -> int:
        """The document frequency of the most frequent term; 0 if there are no terms."""
        return max(map(self.document_frequency, terms), default=0)

    def knows(self, term: QueryTerm) -> bool:
        return any(
            snapshot.keywords.knows(term, FIELD_WEIGHTS)
            or (snapshot.statistics and any(map(snapshot.statistics.vocabulary.frequency, term.forms)))
            for snapshot in self._snapshots
        )

    def scaled(self, keywords: KeywordSnapshot, terms: Iterable[QueryTerm]) -> list[QueryTerm]:
        """Returns the terms for a search of one snapshot. That search scores terms by their rarity in the
        snapshot, so each class is weighted to count by its rarity in all snapshots."""
        if self._is_whole:
            return list(terms)
        return [replace(term, classes=self._scaled_classes(keywords, term)) for term in terms]

    def _scaled_classes(self, keywords: KeywordSnapshot, term: QueryTerm) -> tuple[TermClass, ...]:
        """Scales each class of the term. A word that is still being typed has the rarity of the most frequent
        word that begins with it."""
        return tuple(
            written._replace(weight=written.weight * self._rarer(keywords, completed.terms))
            for written, completed in zip(term.classes, keywords.classes_of(term), strict=True)
        )

    def _rarer(self, keywords: KeywordSnapshot, terms: Sequence[str]) -> float:
        own = keywords.largest_document_frequency(terms)
        every = self.largest_document_frequency(terms)
        return _rarity(self.documents, every) / _rarity(len(keywords), own) if own else 1.0


def _documents(snapshot: Snapshot) -> int:
    return snapshot.statistics.documents if snapshot.statistics else len(snapshot.keywords)


def _frequency(snapshot: Snapshot, term: str) -> int:
    """The number of chunks of the snapshot's vault that contain the term, never less than in the snapshot."""
    # The statistics may be older than the snapshot, so the larger number counts.
    own = snapshot.keywords.document_frequency(term)
    return max(own, snapshot.statistics.vocabulary.frequency(term)) if snapshot.statistics else own


def _languages(snapshot: Snapshot) -> CountedLanguages:
    return snapshot.statistics.languages if snapshot.statistics else snapshot.catalog.languages()


def _rarity(documents: int, frequency: int) -> float:
    """The inverse document frequency of BM25F: ln(N / (df + 1)) + 1."""
    return log(max(documents, frequency) / (frequency + 1)) + 1


# The trust in a model's vectors, by its support of the query's language and by the results of the words.


FOREIGN = 0.45
"""The weight of an English model's vectors in other languages. On XQuAD in Spanish, Chinese and Russian,
vectors put the right paragraph first for 57 to 67 of 100 questions, words for 92 to 95. With full weight the
vectors drag the fusion below the words; at about 0.45 it is level or ahead."""

LACKING = 8.0
"""The additional weight of the vectors if no chunk contains a word of the query. This value and the third
power were the best of 60 choices on the tuning halves of ten sets (two models). nDCG@10 rose from .867 to
.872 there, and from .880 to .886 on the held-out halves, mostly for questions that use other words than the
notes."""

AMONG_LANGUAGES = 0.5
"""The reduction of `LACKING`, as a share, for a multilingual model if few notes are in the query's language.
Its vectors would bring forward notes on the same topic in other languages. For questions to a vault with
notes in twelve languages, nDCG@10 is .802 without the reduction on the tuning half; with 2, 3, 4, 5 and 6 for
`LACKING` it was .831, .828, .824, .819 and .817."""


def language_of(text: str, languages: Sequence[str]) -> str:
    """Returns the query's language. It is one of the vault's `languages` (most frequent first), unless it is
    clearly another one. If the query gives no evidence, it is the vault's main language, or "" if that is
    unknown."""
    return detect_query(text, languages) or (languages[0] if languages else "")


def language_weight(model: EmbeddingModel, language: str) -> float:
    """Returns a factor for the weight of the vector ranking: below 1 if the model does not support the
    language. A model whose languages are unknown has full weight."""
    known = languages_of(model)
    return 1.0 if known is None or not language or language in known else FOREIGN


def lacking_weight(model: EmbeddingModel, share: float) -> float:
    """Returns the additional weight of the vectors if no chunk contains a word of the query. `share` is the
    share of notes in the query's language. If it is 0, words find nothing and only a multilingual model's
    vectors can, so the weight is not reduced."""
    known = languages_of(model)
    if known is None or len(known) < 2 or not share:
        return LACKING
    return LACKING * (1.0 - AMONG_LANGUAGES * (1.0 - share))


def vector_weight(held: float, lacking: float = LACKING) -> float:
    """Returns the factor for the weight of the vector ranking. `held` is the weighted share of the query that
    the best chunk by words contains. The factor is 1 if that is the whole query, and 1 + `lacking` if it is
    nothing."""
    return 1.0 + lacking * (1.0 - held) ** 3


def query_words(statistics: WordStatistics, text: str, *, typing: bool = False) -> list[QueryTerm]:
    """Returns the words as `analyze_query` does, but uses the stems of a rare language only if the query is
    in it, and for words that no note contains otherwise, and not if the stem is in more chunks than these
    languages have. In a vault of English notes of which one was detected as Czech, the Czech stemmer would
    find `not` for `note`."""
    languages = statistics.languages
    words = analyze_query(text, languages, typing=typing)
    rare = statistics.rare_languages - {language_of(text, languages)}
    if not rare:
        return words
    most = statistics.documents * sum(map(statistics.language_share, rare))
    frequency = statistics.largest_document_frequency
    by_place = {
        (word.start, word.end, word.word): word for word in words if frequency(word.forms) <= max(1, most)
    }
    common = analyze_query(text, [language for language in languages if language not in rare], typing=typing)
    return [
        word if statistics.knows(word) else by_place.get((word.start, word.end, word.word), word)
        for word in common
    ]


# The weight of each query word: the rarer it is in the vault, the larger.


def weight_by_idf(statistics: WordStatistics, terms: Iterable[QueryTerm]) -> list[QueryTerm]:
    """Returns the terms with each weight multiplied by a rarity in (0, 1]: ln((N + 1) / (df + ½)) divided by
    its largest value.

    BM25F has a document frequency for each field, so "how" or "do" would be rare, and have a large weight, in
    titles. This function uses the frequency in the field where a word is most frequent. A word in every chunk
    keeps a small weight, so that a query of function words only can still be ranked. On questions this raised
    nDCG@10 of BM25F from .671 to .880 (chunking), from .533 to .562 (large vault), from .642 to .685
    (Obsidian's help).

    Words that differ by their marks count only if no chunk contains the word as written: `ma` is frequent in
    Vietnamese, `mạ` is rare. That raised Hit@1 on XQuAD vi from .905 to .924 (tuning half).
    """
    documents = statistics.documents + 1
    # The rarity of a word in no document, which becomes 1.
    most = log(documents / 0.5)
    return [
        replace(term, weight=term.weight * log(documents / (_term_frequency(statistics, term) + 0.5)) / most)
        for term in terms
    ]


def _term_frequency(statistics: WordStatistics, term: QueryTerm) -> int:
    largest = statistics.largest_document_frequency
    frequency = largest(term.written_forms) or largest(term.forms)
    return min(frequency, statistics.documents)  # deleted chunks count until a merge drops them


# Whether a word is a common word of some language, independently of the vault.
#
# The source is the vocabulary of OpenAI's tokenizer `o200k_base`, a file in the wheel of llama-index-
# core: a word that is a single token of it is frequent in web text. It is read as a file, so neither
# LlamaIndex nor a tokenizer is loaded. Only queries with a word that is not in the vault need it.


_VOCABULARY = "core/_static/tiktoken_cache/fb374d419588a4632f3f557e76b4b70aebbca790"
"""Each line is a token in base64 and its rank. The name is the SHA-1 of the URL of `o200k_base.tiktoken`."""

_COMMON = 150_000
"""Tokens up to this rank are common. They include 99% of the 10,000 most frequent English words. Higher ranks
include frequent misspellings such as "recieve" (159,041) and "definately" (169,822)."""

_REMEMBERED = 4_096


@lru_cache(maxsize=_REMEMBERED)
def is_common(word: str) -> bool:
    """Whether the word, in lower case, capitalised or as written, is common in some language.

    Of the 5,000 most frequent words of a language, it recognizes all in English, 82% in Spanish, 76% in
    French, 65% in German, 42% in Russian. Without the file no word is common. A word that is not in the file
    takes 4 ms of processor time.
    """
    spellings = dict.fromkeys((word, word.lower(), word.capitalize()))
    return any(rank <= _COMMON for rank in _ranks(spellings))


@lru_cache(maxsize=_REMEMBERED)
def is_common_word(word: str) -> bool:
    """Whether the word is common in lower case, and more common than capitalised, which excludes names."""
    ranks = _ranks((word.lower(), word.capitalize()))
    rank = next(ranks, inf)
    return rank <= _COMMON and rank < next(ranks)


@cache
def vocabulary_file() -> Path | None:
    """Returns the file in the installed package, without importing it, or None if this version has none."""
    package = find_spec("llama_index")
    folders = (package and package.submodule_search_locations) or ()
    files = (Path(folder, _VOCABULARY) for folder in folders)
    return next((file for file in files if file.is_file()), None)


def _ranks(spellings: Iterable[str]) -> Iterator[float]:
    """Yields the rank of each spelling, infinity for one without a token; nothing without the file."""
    path = vocabulary_file()
    if path is None:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
        for word in spellings:
            # With a space: in this vocabulary, the token of a word in a text includes the space before it.
            token = b"\n" + b64encode(f" {word}".encode("utf-8", "surrogatepass")) + b" "
            at = lines.find(token)
            start = at + len(token)
            yield inf if at < 0 else int(lines[start : lines.find(b"\n", start)])
