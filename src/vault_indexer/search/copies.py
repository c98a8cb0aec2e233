"""Detects notes with the same text, so that the results show the best one and name the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank import Candidates
from vault_indexer.store.catalog import CatalogReader


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies among the candidates of one search. Notes are identified by their number in the table.
    `shown_note` maps each copy to the note shown in its place; `paths` maps each shown note to the paths of
    its copies."""

    shown_note: Mapping[int, int] = field(default_factory=dict)
    paths: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def find_copies(queries: Sequence[PreparedQuery], table: Candidates) -> Copies:
    """Finds the copies among ranked candidates. The first of several notes of one vault with the same text
    represents all.

    The names of copies may differ, their frontmatter may not. A note with hardly any text is never a copy,
    because it is found by its name. A note's text is read only if one of its chunks has the same number and
    length as a chunk of another candidate.
    """
    shown_note: dict[int, int] = {}
    paths: dict[int, tuple[str, ...]] = {}
    numbers, keys, notes = table.vault.tolist(), table.local_key.tolist(), table.note.tolist()
    for number, query in enumerate(queries):
        rows = [row for row, vault in enumerate(numbers) if vault == number]
        note_of = {keys[row] >> CHUNK_KEY_BITS: notes[row] for row in rows}
        catalog = query.snapshot.catalog
        for first, *others in _same_texts(catalog, [keys[row] for row in rows]):
            shown_note |= {note_of[other]: note_of[first] for other in others}
            copies = catalog.notes(others)
            paths[note_of[first]] = tuple(sorted(copies[other].path for other in others))
    return Copies(shown_note, paths)


def _same_texts(catalog: CatalogReader, keys: Sequence[int]) -> Iterator[list[int]]:
    """Yields each group of at least two notes with the same text, in the order of the chunks."""
    same: dict[str, list[int]] = {}
    for note_id, text in catalog.texts(_suspects(catalog, keys)).items():
        same.setdefault(text.strip(), []).append(note_id)
    # In reverse, so that the first chunk of each note sets its place.
    order = {key >> CHUNK_KEY_BITS: place for place, key in reversed(list(enumerate(keys)))}
    return (sorted(notes, key=order.__getitem__) for notes in same.values() if len(notes) > 1)


def _suspects(catalog: CatalogReader, keys: Iterable[int]) -> set[int]:
    """Returns the notes that have a chunk of the same number and text length as a chunk of another note."""
    alike: dict[tuple[int, int], set[int]] = {}
    for key, shape in catalog.chunk_shapes(keys).items():
        alike.setdefault(shape, set()).add(key >> CHUNK_KEY_BITS)
    return {note_id for notes in alike.values() if len(notes) > 1 for note_id in notes}
