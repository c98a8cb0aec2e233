"""Recently read note texts, kept decompressed up to a number of characters."""

from __future__ import annotations

import threading
from collections import OrderedDict

from vault_indexer.store.catalog.attachments import AttachmentNames


class TextCache:
    """Least recently used note texts by note id. Ids are never reused, so nothing ever expires.

    The readers of a catalog share one, and in `attachments` the names that one of them has read last.
    """

    def __init__(self, max_chars: int = 16_000_000) -> None:
        self.attachments: AttachmentNames | None = None
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
            self.attachments = None
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
