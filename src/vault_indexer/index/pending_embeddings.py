"""The chunks that are in the index by word and by link, and still wait for their vector."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import islice

from vault_indexer.store.catalog import CatalogReader, Changes


class PendingEmbeddings:
    """Chunk keys by the digest of their text, in the order in which they get their vectors.

    Implements Follower. The catalog is the authority: this is what it says at opening, kept true by every
    commit. One thread changes it; any may ask for its length.
    """

    def __init__(self, model: str, chunks: Mapping[int, bytes]) -> None:
        self._model = model
        self._use(chunks)

    def _use(self, chunks: Mapping[int, bytes]) -> None:
        self._digests: dict[int, bytes] = {}
        self._keys: OrderedDict[bytes, tuple[int, ...]] = OrderedDict()
        for key, digest in chunks.items():
            self._add(key, digest)

    def __len__(self) -> int:
        """How many chunks wait."""
        return len(self._digests)

    def __contains__(self, key: int) -> bool:
        """Whether this chunk waits."""
        return key in self._digests

    def follow(self, catalog: CatalogReader, changes: Changes) -> None:
        """The chunks that came without a vector are the first."""
        self.drop(changes.removed | changes.embedded)
        self.put_first(catalog.missing_vectors(self._model, changes.added))

    def rebuild(self, catalog: CatalogReader) -> None:
        """In the order of the keys."""
        self._use(catalog.missing_vectors(self._model))

    def put_first(self, chunks: Mapping[int, bytes]) -> None:
        """Chunks that were edited just now: they are what the user works on."""
        for key, digest in chunks.items():
            self._add(key, digest)
        for digest in reversed(list(chunks.values())):
            self._keys.move_to_end(digest, last=False)

    def drop(self, keys: Iterable[int]) -> None:
        """Chunks that are gone, or have their vector; others are left alone."""
        for key in keys:
            digest = self._digests.pop(key, None)
            if digest is None:
                continue
            left = tuple(other for other in self._keys[digest] if other != key)
            if left:
                self._keys[digest] = left
            else:
                del self._keys[digest]

    def next(self, texts: int) -> tuple[int, ...]:
        """For each of the next distinct texts, one chunk that has it."""
        return tuple(keys[0] for keys in islice(self._keys.values(), texts))

    def put_last(self, keys: Iterable[int]) -> None:
        """Chunks whose texts got no vector: the others are not to wait for them."""
        for key in keys:
            if key in self._digests:
                self._keys.move_to_end(self._digests[key])

    def waiting_for(self, digests: Iterable[bytes]) -> list[int]:
        """All waiting chunks with one of these texts."""
        return [key for digest in digests for key in self._keys.get(digest, ())]

    def _add(self, key: int, digest: bytes) -> None:
        if key not in self._digests:
            self._digests[key] = digest
            self._keys[digest] = (*self._keys.get(digest, ()), key)
