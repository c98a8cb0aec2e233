"""What whole notes say of a query, beside what their chunks say, and how much of it both hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, NoteReason
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.store.keywords import FIELD_WEIGHTS, held_weight
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]
    Mask = NDArray[np.bool_]

NOTE_MEANING = 2.0
"""What the meaning of the whole note counts beside that of the chunk."""

NOTE_WORDS = 0.6
"""What the words of the whole note count beside those of the chunk. The first, and .5 here, are the best of
160 choices on the tuning halves of six sets. With less than .6 beside words that are alike, two words in two
sections of a note no longer count together."""


class Evidence(NamedTuple):
    """What notes say, by id, and which words of the query each of the chunks holds: `held` has a row for each
    of `chunks` and a column for each term."""

    notes: dict[int, NoteReason]
    chunks: Keys
    held: Mask

    def share(self, chunk: int, terms: Sequence[QueryTerm]) -> float:
        """The part of the terms' weight that one of the chunks holds, in [0, 1]."""
        return float(held_weight(self.held[self.chunks == chunk], terms)[0])


def note_evidence(prepared: PreparedQuery, keys: Iterable[int]) -> Evidence:
    """For each note of the chunks the cosine of the mean of its vectors, and how much of the query all its
    text holds together; for each of the chunks what that one holds. Nothing is stored for it: all comes
    from the chunks."""
    snapshot = prepared.snapshot
    chunks = np.fromiter(keys, np.int64)
    notes = np.unique(chunks >> CHUNK_KEY_BITS)
    firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
    held = snapshot.keywords.held(firsts, ends, prepared.terms, FIELD_WEIGHTS)
    shares = held_weight(held.ranges, prepared.terms)
    cosines = np.full(len(notes), np.nan, np.float32)
    if prepared.vector.any():
        cosines = snapshot.vectors.note_scores(prepared.vector, notes)
    found = zip(notes.tolist(), cosines.tolist(), shares.tolist(), strict=True)
    return Evidence(
        {note_id: NoteReason(None if isnan(cosine) else cosine, share) for note_id, cosine, share in found},
        chunks,
        held.documents_of(chunks),
    )
