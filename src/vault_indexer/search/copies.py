"""Notes with the same text: an answer shows the best one, and names the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vault_indexer.model import note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank import Candidates
from vault_indexer.store.catalog import CatalogReader


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies among the candidates of one search. Notes have their number in the table; `shown_note` has
    for each copy the note that stands for it, `paths` the paths of the copies of each such note."""

    shown_note: Mapping[int, int] = field(default_factory=dict)
    paths: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def find_copies(queries: Sequence[PreparedQuery], table: Candidates) -> Copies:
    """The copies among ranked candidates: of notes of one vault with the same text, the first stands for all.

    Names may differ; with another frontmatter it is another note. A note with hardly any text is no copy: it
    is found by its name. Texts are read only of notes that have a chunk of the same number and length as
    another candidate has.
    """
    shown_note: dict[int, int] = {}
    paths: dict[int, tuple[str, ...]] = {}
    numbers, keys, notes = table.vault.tolist(), table.local_key.tolist(), table.note.tolist()
    for number, query in enumerate(queries):
        rows = [row for row, vault in enumerate(numbers) if vault == number]
        note_of = {note_id_of(keys[row]): notes[row] for row in rows}
        catalog = query.snapshot.catalog
        for first, *others in _same_texts(catalog, [keys[row] for row in rows]):
            shown_note |= {note_of[other]: note_of[first] for other in others}
            known = catalog.notes(others)
            paths[note_of[first]] = tuple(sorted(known[other].path for other in others))
    return Copies(shown_note, paths)


def _same_texts(catalog: CatalogReader, keys: Sequence[int]) -> Iterator[list[int]]:
    """The notes of the chunks, in order, that have one text, where there are several."""
    same: dict[str, list[int]] = {}
    for note_id, text in catalog.texts(_suspects(catalog, keys)).items():
        same.setdefault(text.strip(), []).append(note_id)
    order = {note_id_of(key): place for place, key in reversed(list(enumerate(keys)))}
    return (sorted(notes, key=order.__getitem__) for notes in same.values() if len(notes) > 1)


def _suspects(catalog: CatalogReader, keys: Iterable[int]) -> set[int]:
    """The notes that have a chunk with text of the same number and length as that of another note."""
    alike: dict[tuple[int, int], set[int]] = {}
    for key, shape in catalog.chunk_shapes(keys).items():
        alike.setdefault(shape, set()).add(note_id_of(key))
    return {note_id for notes in alike.values() if len(notes) > 1 for note_id in notes}
