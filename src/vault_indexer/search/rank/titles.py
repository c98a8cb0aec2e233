"""Name: notes whose title, alias or file name is the query, as written or as likely spelt, come first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, doc_id_of, note_id_of
from vault_indexer.search.filters import plain, text_pattern
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, RankRequest, global_keys
from vault_indexer.search.terms import as_spelt
from vault_indexer.store import Snapshot
from vault_indexer.text.fold import normalize
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import WORD

_NAME_FIELDS = ("title", "aliases", "path")


def add_title_scores(table: Candidates, request: RankRequest) -> None:
    """The first chunk of each note whose name is the query gets the best score once more."""
    del request
    named = np.isin(table.key, list(table.named.values()))
    table.title[named] = table.score.max(initial=0.0)
    table.score = table.score + table.title


def first_chunks_by_name(queries: Sequence[PreparedQuery]) -> dict[int, int]:
    """For each note whose name is the query, the first chunk that may be found, under the keys that tell
    vaults apart: who asks for a note by its name wants it from its beginning."""
    found: dict[int, int] = {}
    for number, query in enumerate(queries):
        keys = global_keys(number, np.array(_first_chunks(query), np.int64))
        found |= {note_id_of(key): key for key in keys.tolist()}
    return found


def _first_chunks(query: PreparedQuery) -> list[int]:
    catalog = query.snapshot.catalog
    matches = match_titles(query.snapshot, query.text)
    if query.corrections and not matches:
        matches = match_titles(query.snapshot, as_spelt(query.text, query.corrections))
    named = catalog.notes(sorted(matches))
    chunks = catalog.chunk_keys_at([note.path for note in named.values()])
    found = []
    for _, note in sorted(named.items()):
        own = np.array(chunks.get(note.path, ()), np.int64)
        found += own[query.passing(own)][:1].tolist()
    return found


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
    if not needs:  # signs alone, which the index does not have
        sql = "SELECT note_id FROM notes WHERE instr(title, ?1) OR instr(aliases, ?1) OR instr(path, ?1)"
        return [note_id for (note_id,) in snapshot.catalog.rows(sql, [name])]
    # The rarest first: after a word or two nothing is left of most queries.
    rarity = {terms: snapshot.keywords.largest_document_frequency(terms) for terms in needs}
    ordered = sorted(rarity, key=lambda terms: rarity[terms])
    keys = snapshot.keywords.keys_containing(ordered[0], _NAME_FIELDS)
    for terms in ordered[1:]:
        if not len(keys):
            return []
        keys = snapshot.keywords.filter_keys(keys, terms, _NAME_FIELDS)
    found: list[int] = np.unique(keys >> CHUNK_KEY_BITS).tolist()
    return found
