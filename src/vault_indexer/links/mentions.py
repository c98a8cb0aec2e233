"""Places that name a note without linking it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.links.excerpt import excerpt
from vault_indexer.links.name_finder import Name, find, names
from vault_indexer.links.prose import Prose
from vault_indexer.model import Mention, MentionsAnswer, NoteRow, note_id_of
from vault_indexer.parse.lines import Lines
from vault_indexer.parse.notes import stem
from vault_indexer.store import Snapshot
from vault_indexer.system import batches

if TYPE_CHECKING:
    from vault_indexer.arrays import Keys

_FIELDS = ("content",)
_BATCH = 500


def mentions(snapshot: Snapshot, path: str, limit: int) -> MentionsAnswer:
    """Where other notes name this one, by file name, title or alias, in prose; ordered by path and place.

    The keyword index says which notes can hold a name, their texts say whether and where. Only
    sections with a name in them are parsed, to leave out what stands in links, code and the like.
    """
    note = snapshot.catalog.note(path)
    if note is None:
        return MentionsAnswer(path, (), (), more=False)
    wanted = names((stem(path), note.title, *note.aliases))
    found = list(islice(_mentions(snapshot, note, wanted), limit + 1))
    shown = tuple(found[:limit])
    return MentionsAnswer(path, tuple(name.text for name in wanted), shown, more=len(found) > limit)


def _mentions(snapshot: Snapshot, note: NoteRow, wanted: Sequence[Name]) -> Iterator[Mention]:
    for path, title, note_id, keys in _candidates(snapshot, note, wanted):
        text = snapshot.catalog.text(note_id)
        places = [place for span in _spans(snapshot, keys) for place in find(text, wanted, *span)]
        if not places:
            continue
        prose, lines = _prose(snapshot, note_id, text), Lines(text)
        for place in places:
            if prose.holds(place.start, place.end):
                shown = excerpt(text, place.start, place.end)
                line = lines.at(place.start)
                yield Mention(
                    path, title, line, place.start, place.end, place.name, shown.text, (shown.mark,)
                )


def _spans(snapshot: Snapshot, keys: Sequence[int]) -> list[tuple[int, int]]:
    """The stretches of a note that the chunks cover, in order, each once."""
    sql = (
        f"SELECT start_pos, end_pos FROM chunks WHERE key IN ({','.join('?' * len(keys))}) ORDER BY start_pos"
    )
    merged: list[tuple[int, int]] = []
    for start, end in snapshot.catalog.rows(sql, keys):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _prose(snapshot: Snapshot, note_id: int, text: str) -> Prose:
    sql = "SELECT start_pos FROM headings WHERE note_id = ? AND NOT nested"
    headings = [row[0] for row in snapshot.catalog.rows(sql, (note_id,))]
    links = snapshot.catalog.rows("SELECT start_pos, end_pos FROM links WHERE note_id = ?", (note_id,))
    return Prose(text, headings, [(row[0], row[1]) for row in links])


def _candidates(
    snapshot: Snapshot, note: NoteRow, wanted: Sequence[Name]
) -> list[tuple[str, str, int, list[int]]]:
    """Path, title and id of the other notes, and their chunks that hold all words of a name, by path."""
    keys: dict[int, list[int]] = {}
    for key in sorted({key for name in wanted for key in _holding(snapshot, name).tolist()}):
        keys.setdefault(note_id_of(key), []).append(key)
    keys.pop(note.note_id, None)
    found: list[tuple[str, str, int, list[int]]] = []
    for batch in batches(list(keys), _BATCH):
        sql = f"SELECT path, title, note_id FROM notes WHERE note_id IN ({','.join('?' * len(batch))})"
        found += [(path, title, one, keys[one]) for path, title, one in snapshot.catalog.rows(sql, batch)]
    return sorted(found)


def _holding(snapshot: Snapshot, name: Name) -> Keys:
    """The chunks that hold every word of the name."""
    first, *others = name.required
    keys = snapshot.keywords.keys_containing(first, _FIELDS)
    for terms in others:
        if not len(keys):
            break
        keys = np.intersect1d(keys, snapshot.keywords.keys_containing(terms, _FIELDS), assume_unique=True)
    return keys
