"""What the readers of a catalog have read lately: texts and outlines of notes, names of attachments."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from vault_indexer.model import Heading
from vault_indexer.store.catalog.attachments import AttachmentNames

Value = TypeVar("Value")

Outline = tuple[Heading, ...]

_TEXT_CHARS = 16_000_000
_HEADINGS = 20_000
"""With their texts they take some 5 MB."""


class CatalogCache:
    """What never changes as long as a note has its id: ids are never reused, so nothing ever expires.

    The readers of a catalog share one. Texts are decompressed; `outlines` are the headings without those
    nested in quotes and lists. `attachments` are the names that one of the readers has read last.
    """

    def __init__(self, text_chars: int = _TEXT_CHARS) -> None:
        self.texts: LruCache[str] = LruCache(text_chars, len)
        self.outlines: LruCache[Outline] = LruCache(_HEADINGS, lambda outline: len(outline) + 1)
        self.attachments: AttachmentNames | None = None

    def clear(self) -> None:
        """Forget everything."""
        self.texts.clear()
        self.outlines.clear()
        self.attachments = None


class LruCache(Generic[Value]):
    """Values by id; the least recently used ones go when the sum of `size_of` exceeds `most`. Thread-safe."""

    def __init__(self, most: int, size_of: Callable[[Value], int]) -> None:
        self._most = most
        self._size_of = size_of
        self._held = 0
        self._values: OrderedDict[int, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: int) -> Value | None:
        """The value, if it is still here."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: int, value: Value) -> None:
        """Keep a value; the oldest go when the bound is passed."""
        with self._lock:
            if key in self._values:
                return
            self._values[key] = value
            self._held += self._size_of(value)
            while self._held > self._most and len(self._values) > 1:
                _, dropped = self._values.popitem(last=False)
                self._held -= self._size_of(dropped)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._held = 0
