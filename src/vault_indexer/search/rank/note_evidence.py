"""Weigh notes: what whole notes say of a query, in addition to their chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.rank.candidates import Candidates, HeldWords, RankRequest
from vault_indexer.store.keywords import FIELD_WEIGHTS, held_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

NOTE_MEANING = 2.0
"""The weight of the whole note's meaning, relative to that of the chunk."""

NOTE_WORDS = 0.6
"""The weight of the whole note's words, relative to those of the chunk. The first, and .5 here, are the best
of 160 choices on the tuning halves of six sets. With less than .6 beside words that are alike, two words in
two sections of a note no longer count together."""


def weigh_notes(table: Candidates, request: RankRequest) -> None:
    """For each row the cosine of the mean of its note's vectors, how much of the query the whole text of the
    note holds, and which words of the query the chunk holds. Nothing is stored for it: all comes from the
    chunks."""
    for number, query in enumerate(request.queries):
        rows = table.rows_of_vault(number)
        chunks = table.local_key[rows]
        notes, note_of = np.unique(chunks >> CHUNK_KEY_BITS, return_inverse=True)
        firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
        held = query.snapshot.keywords.term_presence(firsts, ends, query.terms, FIELD_WEIGHTS)
        table.note_coverage[rows] = held_weight(held.ranges, query.terms)[note_of]
        if query.vector.any():
            table.note_cosine[rows] = query.snapshot.vectors.note_scores(query.vector, notes)[note_of]
        table.held[number] = HeldWords(rows, held.documents_of(chunks))
        query.deadline.check()
