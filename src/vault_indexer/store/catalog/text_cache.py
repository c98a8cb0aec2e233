"""Recently read note texts, kept decompressed up to a number of characters."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping

from vault_indexer.store.catalog.attachments import AttachmentNames

_STALE_AFTER = 100
"""One note in so many may have been written since the languages were counted: so few change no order that
matters."""


class CountedLanguages:
    """How many notes there were in each language when `last_id` was the highest id of a note."""

    def __init__(self, counts: Mapping[str, int], last_id: int) -> None:
        self.in_order = tuple(sorted(counts, key=lambda language: (-counts[language], language)))
        self._last_id = last_id
        self._spare = sum(counts.values()) // _STALE_AFTER

    def is_stale(self, present: Collection[str], last_id: int) -> bool:
        """Whether to count again where these languages are there and `last_id` is the highest id now. Each
        note that is written gets a new id."""
        return set(present) != set(self.in_order) or not 0 <= last_id - self._last_id < max(1, self._spare)


class TextCache:
    """Least recently used note texts by note id. Ids are never reused, so nothing ever expires.

    The readers of a catalog share one, and in `attachments` and `languages` what one of them has read last.
    """

    def __init__(self, max_chars: int = 16_000_000) -> None:
        self.attachments: AttachmentNames | None = None
        self.languages: CountedLanguages | None = None
        self._max = max_chars
        self._held = 0
        self._texts: OrderedDict[int, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, note_id: int) -> str | None:
        """The text, if it is still here."""
        with self._lock:
            text = self._texts.get(note_id)
            if text is not None:
                self._texts.move_to_end(note_id)
            return text

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._texts.clear()
            self.attachments = self.languages = None
            self._held = 0

    def put(self, note_id: int, text: str) -> None:
        """Keep a text; the oldest go when the bound is passed."""
        with self._lock:
            if note_id in self._texts:
                return
            self._texts[note_id] = text
            self._held += len(text)
            while self._held > self._max and len(self._texts) > 1:
                _, dropped = self._texts.popitem(last=False)
                self._held -= len(dropped)
