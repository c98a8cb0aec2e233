"""What a search has to know of a whole vault, where it holds only a few of its notes."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.store.catalog import CountedLanguages
from vault_indexer.store.keywords import Vocabulary

if TYPE_CHECKING:
    from vault_indexer.arrays import Matrix

_HEADER = struct.Struct("<II")


@dataclass(frozen=True)
class VaultStatistics:
    """The number of chunks, the notes in each language, the words with their document frequencies, and
    vectors of some chunks (shape (n, dimension)), which tell how near to a query others are by chance."""

    documents: int
    notes_by_language: Mapping[str, int]
    vocabulary: Vocabulary
    background: Matrix

    @cached_property
    def languages(self) -> CountedLanguages:
        """The languages of the notes, and their shares."""
        return CountedLanguages({name: count for name, count in self.notes_by_language.items() if name}, 0)

    def to_bytes(self, vault: str) -> bytes:
        """What `from_bytes` reads; other bytes for each vault, so that none removes those of another that has
        the same notes."""
        known = {
            "vault": vault,
            "documents": self.documents,
            "languages": dict(self.notes_by_language),
            "dimension": self.background.shape[1],
        }
        head, words = json.dumps(known).encode(), self.vocabulary.to_bytes()
        vectors = self.background.astype(np.float16).tobytes()
        return _HEADER.pack(len(head), len(words)) + head + words + vectors

    @classmethod
    def from_bytes(cls, data: bytes) -> VaultStatistics:
        """Raises ValueError for anything that `to_bytes` does not give."""
        try:
            head_size, words_size = _HEADER.unpack_from(data)
            at = _HEADER.size + head_size
            known = json.loads(data[_HEADER.size : at])
            vectors = np.frombuffer(data[at + words_size :], np.float16).astype(np.float32)
            return cls(
                int(known["documents"]),
                {str(name): int(count) for name, count in known["languages"].items()},
                Vocabulary.from_bytes(data[at : at + words_size]),
                vectors.reshape(-1, max(1, int(known["dimension"]))),
            )
        except (ValueError, struct.error, zlib.error, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"statistics of a vault cannot be read: {error}") from error
