"""What whole notes say of a query, beside what their chunks say."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, NoteReason, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights

NOTE_MEANING = 2.0
"""What the meaning of the whole note counts beside that of the chunk."""

NOTE_WORDS = 0.5
"""What the words of the whole note count beside those of the chunk. Both are the best of 160 choices on the
tuning halves of six sets; see docs/search.md for what they gave."""


def note_evidence(
    snapshot: Snapshot, keys: Iterable[int], prepared: PreparedQuery, fields: FieldWeights
) -> dict[int, NoteReason]:
    """For each note of the chunks, by id: the cosine of the mean of its vectors, and how much of the query
    all its text holds together. Nothing is stored for it: both come from the chunks."""
    notes = np.unique(np.fromiter((note_id_of(key) for key in keys), np.int64))
    firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
    coverage = snapshot.keywords.coverage(firsts, ends, prepared.terms, fields)
    cosines = np.full(len(notes), np.nan, np.float32)
    if prepared.vector.any():
        cosines = snapshot.vectors.note_scores(prepared.vector, notes)
    return {
        note_id: NoteReason(None if isnan(cosine) else cosine, share)
        for note_id, cosine, share in zip(notes.tolist(), cosines.tolist(), coverage.tolist(), strict=True)
    }
