"""Reads a note in the spare process of the active generation, so that no edit waits for it."""

from __future__ import annotations

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.index.job import Died
from vault_indexer.index.jobs import Outcome, PrepareJob
from vault_indexer.index.writer import IndexWriter


class SpareReading:
    """At most one note at a time. What it gives is not stored: whoever began it has the note indexed as an
    edit if the reading shows that this will work. The reading of a generation that is no longer the active
    one has ended with its process.
    """

    def __init__(self) -> None:
        self._begun: tuple[IndexWriter, str] | None = None

    @property
    def busy(self) -> bool:
        """Whether a note is being read."""
        return self._begun is not None

    def begin(self, current: OpenGeneration, path: str) -> None:
        """Read this note. Raises OSError if no process can be started."""
        current.spare.begin(PrepareJob((path,), at_once=0))
        self._begun = (current.writer, path)

    def result(self, current: OpenGeneration | None) -> tuple[str, Outcome | Died] | None:
        """The note that was read, and what the process gave; None while there is nothing."""
        if self._begun is None:
            return None
        writer, path = self._begun
        if current is None or writer is not current.writer:
            self.end()
            return None
        done = current.spare.result()
        if done is None:
            return None
        self.end()
        if not writer.owed:
            current.spare.close()
        return path, done[1]

    def end(self) -> None:
        """Forget the note under way. Its process ends with the generation."""
        self._begun = None
