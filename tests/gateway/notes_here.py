"""Notes for a server, prepared in this process: to start another one would take a second for each test."""

from collections.abc import Iterable, Iterator

from vault_gateway.publication import NotesJob, StatisticsJob
from vault_gateway.published_note import PublishedNote
from vault_indexer.store import Generation


class NotesHere:
    """Implements NoteSource in this process."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation

    def notes(self, model: str, note_ids: Iterable[int]) -> Iterator[PublishedNote]:
        """The notes of these ids, ascending."""
        yield from NotesJob(self._generation, model, tuple(note_ids)).run(None)

    def statistics(self, vault: str, model: str, dimension: int) -> bytes:
        """The statistics of the vault."""
        return StatisticsJob(self._generation, vault, model, dimension).run(None)

    def rest(self) -> None:
        """There is nothing to end."""

    def stop(self) -> None:
        """There is nothing to end."""
