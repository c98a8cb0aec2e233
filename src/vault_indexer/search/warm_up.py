"""Loads in advance what the first searches would have to wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import SearchRequest
from vault_indexer.providers import WORD_LANGUAGES
from vault_indexer.search.index_reader import IndexReader
from vault_indexer.store import Snapshot, SnapshotHolder
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.text.query import analyze_query

COMMON_WORDS = 1500
"""This number of the vault's most frequent words: their postings are the long ones, and most queries hold
some. With 400 a query that was not asked before took a tenth longer."""

_CHUNKS = 100_000
_FEWEST_WORDS = 400
"""Of more chunks fewer words: a word takes as much longer as there are more."""


def load_caches(opened: IndexReader) -> None:
    """Read the model and the vectors, the postings of the most frequent words, the words of the chunks (where
    queries may be compared with them), and all words.

    The caches are bounded, so this cannot fill the memory; after each portion, a word or the words of a
    segment, others get their turn, and an edit that comes meanwhile is seen.
    """
    with opened.holder.lease() as snapshot:
        words = [found.term for found in snapshot.keywords.lexicon.frequent(_words_worth(snapshot))]
        if words:
            opened.searcher.search(snapshot, SearchRequest(words[0], limit=1))
        if WORD_LANGUAGES.intersection(snapshot.languages):
            snapshot.catalog.load_chunk_words()
    for word in reversed(words):  # what was loaded last stays longest
        with opened.holder.lease() as snapshot:
            snapshot.keywords.warm(analyze_query(word, snapshot.languages), FIELD_WEIGHTS)
    load_words(opened.holder)


def _words_worth(snapshot: Snapshot) -> int:
    """How many words are worth the time."""
    chunks = max(1, len(snapshot.keywords))
    return max(_FEWEST_WORDS, min(COMMON_WORDS, COMMON_WORDS * _CHUNKS // chunks))


def load_words(holder: SnapshotHolder) -> None:
    """Read the words of all segments that nobody has read yet, one segment after the other: those that are
    committed meanwhile."""
    left = True
    while left:
        with holder.lease() as snapshot:
            left = snapshot.keywords.lexicon.load_next()


def warm_in_background(opened: IndexReader) -> threading.Thread:
    """Run `load_caches` in a thread, which ends early if the index is closed meanwhile."""
    return _in_background(lambda: load_caches(opened))


def load_words_in_background(holder: SnapshotHolder) -> threading.Thread:
    """Run `load_words` in a thread, which ends early if the index is closed meanwhile."""
    return _in_background(lambda: load_words(holder))


def _in_background(load: Callable[[], None]) -> threading.Thread:
    def run() -> None:
        with suppress(VaultIndexerError):  # the index was closed, or another one is active
            load()

    thread = threading.Thread(target=run, name="indexer-warm", daemon=True)
    thread.start()
    return thread
