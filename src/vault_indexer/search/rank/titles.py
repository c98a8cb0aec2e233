"""Notes whose title, alias or file name is the query."""

from __future__ import annotations

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, doc_id_of
from vault_indexer.search.filters import plain, text_pattern
from vault_indexer.store import Snapshot
from vault_indexer.text.fold import normalize
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import WORD

_NAME_FIELDS = ("title", "aliases", "path")


def match_titles(snapshot: Snapshot, name: str) -> frozenset[int]:
    """Ids of the notes whose title, an alias, or file name is `name`, case and accents aside.

    Where `name` has accents, a note with just these goes before others, and one with different ones does not
    match: `mạ` and `mả` are different words.
    """
    wanted, written = plain(name), _spelling(name)
    same, similar = set(), set()
    for note_id, note in snapshot.catalog.notes(_candidates(snapshot, name)).items():
        names = (note.title, *note.aliases, doc_id_of(note.path.rpartition("/")[2]))
        spellings = {_spelling(str(one)) for one in names if plain(str(one)) == wanted}
        if written in spellings:
            same.add(note_id)
        elif spellings and (written == wanted or wanted in spellings):
            similar.add(note_id)
    return frozenset(same | similar if written == wanted else same or similar)


def _spelling(name: str) -> str:
    """The name without case, but with accents, and with single spaces."""
    return " ".join(normalize(name).split())


def _candidates(snapshot: Snapshot, name: str) -> list[int]:
    """Notes with all the name's words in title, aliases or path: the index knows, nothing is read."""
    pattern = text_pattern(name)
    needs: list[tuple[str, ...]] = [(word, VARIANT_MARK + word) for word in pattern.words]
    needs += [(pair,) for pair in pattern.pairs]
    needs = needs or [(normalize(word),) for word in WORD.findall(name)]
    if not needs:
        return []
    # The rarest first: after a word or two nothing is left of most queries.
    rarity = {terms: snapshot.keywords.largest_document_frequency(terms) for terms in needs}
    ordered = sorted(rarity, key=lambda terms: rarity[terms])
    keys = snapshot.keywords.holding(ordered[0], _NAME_FIELDS)
    for terms in ordered[1:]:
        if not len(keys):
            return []
        keys = snapshot.keywords.among(keys, terms, _NAME_FIELDS)
    found: list[int] = np.unique(keys >> CHUNK_KEY_BITS).tolist()
    return found
