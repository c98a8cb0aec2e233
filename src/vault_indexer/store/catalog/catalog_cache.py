"""Caches for catalog readers: texts, sections, chunks and the names of attachments."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping

from vault_indexer.model import ChunkRow, Heading
from vault_indexer.system import JoinedTexts, LruCache
from vault_indexer.text.fold import fold, normalize


class AttachmentNames:
    """The paths of all attachments, most recently changed first. Immutable, so any thread may use it.

    `stamp` is the seq of the last commit that changed an attachment. The readers of a catalog share the names
    until then. `times` contains the modified times of `paths`, in nanoseconds. 100,000 paths take about 15
    MB.
    """

    def __init__(self, stamp: int, files: Iterable[tuple[str, int]]) -> None:
        known = list(files)
        self.stamp = stamp
        self.paths = tuple(path for path, _ in known)
        self.times = array("q", (mtime_ns for _, mtime_ns in known))
        self._folded = JoinedTexts([fold_path(path).encode("utf-8") for path in self.paths], b"\n")

    def numbers_containing(self, part: str) -> Iterator[int]:
        """Yields the positions of the paths that contain a folded text, in ascending order."""
        return self._folded.numbers_containing(part.encode("utf-8"))


def fold_path(path: str) -> str:
    """Removes case and accents from a path or a part of one."""
    return path.lower() if path.isascii() else fold(normalize(path))


Sections = tuple[tuple[Heading, ...], ...]

_TEXT_BYTES = 64_000_000
"""Enough for all texts of the large vault (16,593 notes). A phrase or expression that no index narrows reads
every text, and decompression is more than half of the cost of such a query. Only such queries fill the
cache."""

_HEADINGS = 20_000
"""With their texts, this many headings take about 5 MB."""

_CHUNK_CHARS = 4_000_000
_CHUNK = 1000
"""The overhead of a chunk, without its body, in characters."""

_WORD_BYTES = 24_000_000
"""The words of 84,462 chunks take 20 MB."""

_ENTRY = 150
"""The overhead of the words of a chunk, without their numbers, in bytes."""

_STALE_AFTER = 100
"""The languages are recounted after one note in this many has been written. Fewer changes cannot change the
order noticeably. A rule of thumb."""

_RARE = 50
"""A language with at most one note in this many, or with a single note, may be a detection mistake. A rule of
thumb."""

_FEW_NOTES = 10
"""A vault with fewer notes has no `rare` languages. A rule of thumb."""


class CountedLanguages:
    """The number of notes in each language when `last_id` was the highest note id.

    `in_order` lists the languages, most frequent first, and `shares` contains each language's share of the
    notes. The `rare` languages have so few notes that they may be detection mistakes.
    """

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
        """Whether a recount is needed, given the languages now present and the current highest id. Each
        written note gets a new id."""
        return set(present) != set(self.in_order) or not 0 <= last_id - self._last_id < max(1, self._spare)


class CatalogCache:
    """Caches data that never changes while a note keeps its id. Ids and keys are never reused, so nothing
    expires.

    The readers of a catalog share one cache. Texts are decompressed UTF-8; `sections` contains the headings
    without those nested in quotes and lists. `attachments` and `languages` are the values that a reader read
    last.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.texts: LruCache[int, bytes] = LruCache(_TEXT_BYTES, len)
        self.sections: LruCache[int, Sections] = LruCache(_HEADINGS, lambda sections: len(sections) + 1)
        self.chunks: LruCache[int, ChunkRow] = LruCache(
            _CHUNK_CHARS, lambda row: len(row.chunk.body) + _CHUNK
        )
        self.words: LruCache[int, bytes] = LruCache(_WORD_BYTES, lambda words: len(words) + _ENTRY)
        self.attachments: AttachmentNames | None = None
        self.languages: CountedLanguages | None = None
