"""Loads in advance what the first searches would have to wait for."""

from __future__ import annotations

import threading
from contextlib import suppress

from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import SearchRequest
from vault_indexer.search.reader import IndexReader
from vault_indexer.text.query import analyze_query

COMMON_WORDS = 400
"""So many of the vault's most frequent words: their postings are the long ones, and most queries hold one."""


def load_caches(opened: IndexReader) -> None:
    """Read the lexicon, the model and the vectors, and the postings of the most frequent words.

    The caches are bounded, so this cannot fill the memory; after each word others get their turn, and an
    edit that comes meanwhile is seen.
    """
    with opened.holder.lease() as snapshot:
        words = [found.term for found in snapshot.keywords.lexicon.frequent(COMMON_WORDS)]
        if words:
            opened.searcher.search(snapshot, SearchRequest(words[0], limit=1))
    for word in words:
        with opened.holder.lease() as snapshot:
            snapshot.keywords.warm(analyze_query(word, snapshot.languages), opened.searcher.fields)
    with opened.holder.lease() as snapshot:
        snapshot.keywords.lexicon.load()


def warm_in_background(opened: IndexReader) -> None:
    """Run `load_caches` in a thread, which ends early if the index is closed meanwhile."""
    threading.Thread(target=_load_quietly, args=(opened,), name="indexer-warm", daemon=True).start()


def _load_quietly(opened: IndexReader) -> None:
    with suppress(VaultIndexerError):  # the index was closed, or another one is active
        load_caches(opened)
