"""The texts of notes, read in batches while the budget of a query lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from vault_indexer.model import language_of_path
from vault_indexer.search.deadline import QueryDeadline, WorkBudget
from vault_indexer.search.filters import costs
from vault_indexer.search.filters.matches import Ids
from vault_indexer.search.filters.text.note_source import NoteSource
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import batches

MayHold = Callable[[int, NoteSource], bool]
"""Whether a note, given by id and text, may hold something; False is certain."""

_READ_AT_ONCE = 64
_MANY = 512
"""A query that reads more notes than these looks through everything: it leaves the cache to others. A rule of
thumb."""

_HELD_BYTES = 32_000_000
"""At most this number of bytes of texts are kept while a batch of notes is checked. A rule of thumb."""


class NoteTexts:
    """Reads the texts of notes, and counts in the budget what it reads.

    `TextReader` owns one, for one query over one snapshot in one thread. Between two calls of `forget` a text
    is read once, unless more than `_HELD_BYTES` are read. No text is read once the budget is spent: the
    notes that are left out for that reason are in `unread`.
    """

    def __init__(self, catalog: CatalogReader, deadline: QueryDeadline, budget: WorkBudget) -> None:
        self._catalog = catalog
        self._deadline = deadline
        self._budget = budget
        self._texts: dict[int, NoteSource] = {}
        self._held_bytes = 0
        self._read_texts = 0
        self._decoded: set[int] = set()
        self.unread: set[int] = set()

    def forget(self) -> None:
        """Forget the texts of the notes before; `unread` stays."""
        self._texts = {}
        self._held_bytes = 0
        self._decoded = set()

    def read(self, notes: Ids, may_hold: MayHold | None = None) -> Iterator[tuple[int, NoteSource]]:
        """The notes, ascending, each with its text, save those that cannot hold what is looked for."""
        for several in batches(sorted(notes), _READ_AT_ONCE):
            texts = {} if self._budget.is_spent else self._load(several)
            for note_id in several:
                self._deadline.check()
                searched = texts.get(note_id)
                if self._budget.is_spent or searched is None:
                    self.unread.add(note_id)
                elif may_hold is None or may_hold(note_id, searched):
                    yield note_id, searched

    def until_spent(self, read: Sequence[tuple[int, NoteSource]]) -> Iterator[tuple[int, NoteSource]]:
        """Those of the notes, which have been read, that come before the budget is spent."""
        for note_id, searched in read:
            self._deadline.check()
            if self._budget.is_spent:
                self.unread.add(note_id)
            else:
                yield note_id, searched

    def count_decoding(self, note_id: int, searched: NoteSource) -> None:
        """Count that a text is decoded; a second time costs nothing."""
        if note_id not in self._decoded:
            self._decoded.add(note_id)
            self._budget.spend(costs.DECODED_BYTE * len(searched.encoded))

    def _load(self, notes: Sequence[int]) -> Mapping[int, NoteSource]:
        if self._held_bytes > _HELD_BYTES:
            self._texts = {}
            self._held_bytes = 0
        missing = [note_id for note_id in notes if note_id not in self._texts]
        if missing:
            self._read_texts += len(missing)
            read = self._catalog.encoded_texts(missing, evict=self._read_texts <= _MANY)
            size = sum(map(len, read.values()))
            self._held_bytes += size
            self._budget.spend(costs.NOTE * len(missing))
            self._budget.spend(costs.BYTE * size)
            sql = "SELECT note_id, path FROM notes WHERE note_id IN (%s)"
            code = {
                note_id for note_id, path in self._catalog.rows_in(sql, missing) if language_of_path(path)
            }
            for note_id in missing:
                self._texts[note_id] = NoteSource(read.get(note_id, b""), is_code=note_id in code)
        return {note_id: self._texts[note_id] for note_id in notes}
