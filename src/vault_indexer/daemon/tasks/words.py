"""Reads the words of new segments, so that no search of a misspelt word has to wait for them."""

from __future__ import annotations

import threading

from vault_indexer.daemon.sync import VaultSync
from vault_indexer.search import load_words_in_background


class WordsTask:
    """Implements BackgroundTask: one thread at a time reads the words that a commit or a merge has added.

    A search for a word that no note holds looks for its likely spelling among all words. The first one after
    3,500 notes were written, in ten segments, would read 600,000 terms first: that took 1.5 seconds. Where no
    words at all have been read, as after a start, nothing is begun: `warm_in_background` reads them.
    """

    faults = ()
    """A search reads what is missing."""

    def __init__(self, vault_sync: VaultSync) -> None:
        self._vault_sync = vault_sync
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def step(self, *, is_idle: bool) -> None:
        """Begin, if the loop is `is_idle` and there are new segments."""
        current = self._vault_sync.current
        if not is_idle or current is None or self.busy:
            return
        with current.writer.holder.lease() as snapshot:
            lexicon = snapshot.keywords.lexicon
        if lexicon.is_partly_read:
            self._thread = load_words_in_background(current.writer.holder)

    def end(self) -> None:
        """Nothing to undo: the thread ends by itself, at the latest with the index."""
