"""Notes whose title, alias or file name is the query."""

from __future__ import annotations

import json

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, doc_id_of
from vault_indexer.search.filters import plain, text_pattern
from vault_indexer.store import Snapshot
from vault_indexer.text.fold import normalize
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import WORD

_NAME_FIELDS = ("title", "aliases", "path")


def match_titles(snapshot: Snapshot, name: str) -> frozenset[int]:
    """Ids of the notes whose title, an alias, or file name is `name`, case and accents aside."""
    wanted = plain(name)
    rows = snapshot.catalog.rows_in(
        "SELECT note_id, title, aliases, path FROM notes WHERE note_id IN (%s)",
        _candidates(snapshot, name),
    )
    found = []
    for note_id, title, aliases, path in rows:
        names = (title, *json.loads(str(aliases)), doc_id_of(str(path).rpartition("/")[2]))
        if any(plain(str(one)) == wanted for one in names):
            found.append(note_id)
    return frozenset(found)


def _candidates(snapshot: Snapshot, name: str) -> list[int]:
    """Notes with all the name's words in title, aliases or path: the index knows, nothing is read."""
    pattern = text_pattern(name)
    needs: list[tuple[str, ...]] = [(word, VARIANT_MARK + word) for word in pattern.words]
    needs += [(pair,) for pair in pattern.pairs]
    needs = needs or [(normalize(word),) for word in WORD.findall(name)]
    if not needs:
        return []
    # The rarest first: after a word or two nothing is left of most queries.
    rarity = {terms: max(map(snapshot.keywords.document_frequency, terms)) for terms in needs}
    ordered = sorted(rarity, key=lambda terms: rarity[terms])
    keys = snapshot.keywords.holding(ordered[0], _NAME_FIELDS)
    for terms in ordered[1:]:
        if not len(keys):
            return []
        keys = np.intersect1d(keys, snapshot.keywords.holding(terms, _NAME_FIELDS), assume_unique=True)
    found: list[int] = np.unique(keys >> CHUNK_KEY_BITS).tolist()
    return found
