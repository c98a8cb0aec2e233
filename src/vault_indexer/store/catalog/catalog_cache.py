"""What the readers of a catalog have read lately: texts, outlines, chunks, names of attachments."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping

from vault_indexer.model import ChunkRow, Heading
from vault_indexer.system import LruCache
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.joined_texts import JoinedTexts

# The names of a vault's attachments, kept in memory so that a search can look through them.


class AttachmentNames:
    """The paths of all attachments, the one changed last first. It never changes, so any thread may use it.

    `stamp` is the seq of the last commit that changed one of them. The readers of a catalog share the names
    until it changes. `times` are the modified times of `paths`, in nanoseconds. 100,000 paths take about
    15 MB.
    """

    def __init__(self, stamp: int, files: Iterable[tuple[str, int]]) -> None:
        known = list(files)
        self.stamp = stamp
        self.paths = tuple(path for path, _ in known)
        self.times = array("q", (mtime_ns for _, mtime_ns in known))
        self._folded = JoinedTexts([fold_path(path).encode("utf-8") for path in self.paths], b"\n")

    def numbers_containing(self, part: str) -> Iterator[int]:
        """The positions of the paths that contain a folded text, in order."""
        return self._folded.numbers_containing(part.encode("utf-8"))


def fold_path(path: str) -> str:
    """A path or a part of one without case and accents."""
    return path.lower() if path.isascii() else fold(normalize(path))


Outline = tuple[Heading, ...]

_TEXT_BYTES = 64_000_000
"""All texts of the large vault (16,593 notes): a phrase or expression that no index narrows reads them all.
Decompressing them is more than half of what such a query costs. Only such queries fill it."""

_HEADINGS = 20_000
"""With their texts they take some 5 MB."""

_CHUNK_CHARS = 4_000_000
_CHUNK = 1000
"""The overhead of a chunk, without its body, in characters."""

_WORD_BYTES = 24_000_000
"""Those of 84,462 chunks take 20."""

_ENTRY = 150
"""The overhead of the words of a chunk, without their numbers, in bytes."""

_STALE_AFTER = 100
"""One note in so many may have been written since the languages were counted: so few change no order that
matters. A rule of thumb."""


_RARE = 50
"""A language of one note in so many, or of a single note of `_FEW_NOTES`, may be a mistake. A rule of
thumb."""

_FEW_NOTES = 10
"""A rule of thumb."""


class CountedLanguages:
    """How many notes there were in each language when `last_id` was the highest id of a note. `in_order` are
    the languages, most frequent first, and `shares` how much of the notes is in each; so few notes are in
    those that are `rare` that they may have been taken for it by mistake."""

    def __init__(self, counts: Mapping[str, int], last_id: int) -> None:
        self.counts = counts
        self.in_order = tuple(sorted(counts, key=lambda language: (-counts[language], language)))
        notes = sum(counts.values())
        self.shares = {language: count / notes for language, count in counts.items()}
        most = max(notes // _RARE, 1) if notes >= _FEW_NOTES else 0
        self.rare = frozenset(language for language, count in counts.items() if count <= most)
        self._last_id = last_id
        self._spare = notes // _STALE_AFTER

    def is_stale(self, present: Collection[str], last_id: int) -> bool:
        """Whether to count again where these languages are there and `last_id` is the highest id now. Each
        note that is written gets a new id."""
        return set(present) != set(self.in_order) or not 0 <= last_id - self._last_id < max(1, self._spare)


class CatalogCache:
    """What never changes as long as a note has its id. No id or key is used again, so nothing ever expires.

    The readers of a catalog share one. Texts are decompressed, in UTF-8; `outlines` are the headings without
    those nested in quotes and lists. `attachments` and `languages` are what one of the readers has read last.
    """

    def __init__(self) -> None:
        self.texts: LruCache[int, bytes] = LruCache(_TEXT_BYTES, len)
        self.outlines: LruCache[int, Outline] = LruCache(_HEADINGS, lambda outline: len(outline) + 1)
        self.chunks: LruCache[int, ChunkRow] = LruCache(
            _CHUNK_CHARS, lambda row: len(row.chunk.body) + _CHUNK
        )
        self.words: LruCache[int, bytes] = LruCache(_WORD_BYTES, lambda words: len(words) + _ENTRY)
        self.attachments: AttachmentNames | None = None
        self.languages: CountedLanguages | None = None

    def clear(self) -> None:
        self.texts.clear()
        self.outlines.clear()
        self.chunks.clear()
        self.words.clear()
        self.attachments = self.languages = None
