"""Puts notes first whose title, alias or file name is the query, as written or as corrected."""

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
    """Adds the best score of all rows to the first chunk of each note whose name is the query."""
    del request
    named = np.isin(table.key, list(table.named.values()))
    table.title[named] = table.score.max(initial=0.0)
    table.score = table.score + table.title


def first_chunks_by_name(queries: Sequence[PreparedQuery]) -> dict[int, int]:
    """Returns the first chunk, among those allowed, of each note whose name is the query, with keys unique
    among the vaults. A user who searches for a note by name wants its beginning."""
    first: dict[int, int] = {}
    for number, query in enumerate(queries):
        keys = global_keys(number, np.array(_first_chunks(query), np.int64))
        first |= {note_id_of(key): key for key in keys.tolist()}
    return first


def _first_chunks(query: PreparedQuery) -> list[int]:
    catalog = query.snapshot.catalog
    matches = match_titles(query.snapshot, query.text)
    if query.corrections and not matches:
        matches = match_titles(query.snapshot, as_spelt(query.text, query.corrections))
    named = catalog.notes(sorted(matches))
    chunks = catalog.chunk_keys_at([note.path for note in named.values()])
    first = []
    for _, note in sorted(named.items()):
        own = np.array(chunks.get(note.path, ()), np.int64)
        first += own[query.passing(own)][:1].tolist()
    return first


def match_titles(snapshot: Snapshot, name: str) -> frozenset[int]:
    """Returns the ids of the notes whose title, alias or file name is `name`, ignoring case and accents.

    If `name` has accents, notes with exactly these accents replace all others, and notes with different
    accents do not match: `mạ` and `mả` are different words.
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
    """Returns the name without case, but with accents, and with single spaces."""
    return " ".join(normalize(name).split())


def _candidates(snapshot: Snapshot, name: str) -> list[int]:
    """Returns the notes with all words of the name in title, aliases or path. It reads only the index."""
    pattern = text_pattern(name)
    needs: list[tuple[str, ...]] = [(word, VARIANT_MARK + word) for word in pattern.words]
    needs += [(pair,) for pair in pattern.pairs]
    needs = needs or [(normalize(word),) for word in WORD.findall(name)]
    if not needs:  # only signs, which are not indexed
        sql = "SELECT note_id FROM notes WHERE instr(title, ?1) OR instr(aliases, ?1) OR instr(path, ?1)"
        return [note_id for (note_id,) in snapshot.catalog.rows(sql, [name])]
    # The rarest word comes first, because most queries have no note left after a word or two.
    rarity = {terms: snapshot.keywords.largest_document_frequency(terms) for terms in needs}
    ordered = sorted(rarity, key=lambda terms: rarity[terms])
    keys = snapshot.keywords.keys_containing(ordered[0], _NAME_FIELDS)
    for terms in ordered[1:]:
        if not len(keys):
            return []
        keys = snapshot.keywords.filter_keys(keys, terms, _NAME_FIELDS)
    note_ids: list[int] = np.unique(keys >> CHUNK_KEY_BITS).tolist()
    return note_ids
