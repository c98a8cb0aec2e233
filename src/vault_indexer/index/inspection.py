"""What the indexer makes of a note, without an index: parsed, cut, its links resolved against the vault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.chunk import STRATEGIES, ChoosingChunker, chunker_for
from vault_indexer.config import Settings
from vault_indexer.errors import NoteError, UsageError
from vault_indexer.index.reading import note_from
from vault_indexer.model import Chunk, Diagnostic, Note, SkippedFile
from vault_indexer.parse import VaultPaths, resolve
from vault_indexer.ports import Chunker, Embedder, EmbeddingModel
from vault_indexer.providers import embedder_for, llm_for
from vault_indexer.vault import Decision, NoteVanished, Scan, load_ignore_rules, read_note, scan

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors


@dataclass(frozen=True, slots=True)
class Inspection:
    """A note with its chunks; `resolved` has the path of each of its links, in their order."""

    note: Note
    chunks: tuple[Chunk, ...]
    resolved: tuple[str | None, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


class Inspector:
    """Inspects notes of one vault. `strategy` counts for all of them, whatever rules or notes say.

    Raises VaultError for a vault that cannot be read, UsageError for a strategy that there is not.
    """

    def __init__(self, vault: Path, settings: Settings, strategy: str | None = None) -> None:
        self._vault = vault
        self._max_file_bytes = settings.files.max_file_bytes
        self._rules = load_ignore_rules(vault, settings.files)
        self._chunker = _chunker(settings, strategy)

    def all_notes(self) -> list[str]:
        """The paths of all notes that an index would hold, sorted."""
        return [file.path for file in self._scan.files if file.decision is Decision.INDEX]

    def inspect(self, paths: Iterable[str]) -> Iterator[Inspection | SkippedFile]:
        """Each note in turn; `.md` may be left out. What cannot be indexed is given with the reason."""
        for named in paths:
            path = self._known(named)
            try:
                note = note_from(path, read_note(self._vault, path, self._max_file_bytes).data)
                yield self._inspected(note)
            except NoteVanished:
                yield SkippedFile(path, "no such note in the vault")
            except NoteError as error:
                yield SkippedFile(path, str(error))

    def _inspected(self, note: Note) -> Inspection:
        chunker = self._chunker
        own = chunker.diagnostics(note) if isinstance(chunker, ChoosingChunker) else ()
        resolved = tuple(resolve(link.target, note.path, self._paths).path for link in note.links)
        return Inspection(note, tuple(chunker.chunk(note)), resolved, (*note.diagnostics, *own))

    def _known(self, named: str) -> str:
        path = named.removeprefix("./")
        return path if path in self._paths or f"{path}.md" not in self._paths else f"{path}.md"

    @cached_property
    def _scan(self) -> Scan:
        return scan(self._vault, self._rules, max_file_bytes=self._max_file_bytes)

    @cached_property
    def _paths(self) -> VaultPaths:
        return VaultPaths(file.path for file in self._scan.files)


def _chunker(settings: Settings, strategy: str | None) -> Chunker:
    embedder = LateEmbedder(partial(embedder_for, settings.embedding))
    if strategy is not None and strategy not in STRATEGIES:
        raise UsageError(f"no strategy {strategy!r}: there are {', '.join(STRATEGIES)}")
    named = {} if strategy is None else {"strategy": strategy}
    chunking = settings.chunking.model_copy(update=named)
    llm = llm_for(settings.llm) if chunking.asks_model else None
    chunker = ChoosingChunker if strategy is None else chunker_for
    return chunker(chunking, embedder=embedder, llm=llm)


class LateEmbedder:
    """An embedder that loads its model when it is first used: most strategies never do."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._load = load

    @cached_property
    def _embedder(self) -> Embedder:
        return self._load()

    @property
    def model(self) -> EmbeddingModel:
        """The model, loaded for it."""
        return self._embedder.model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the embedder does."""
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """As the embedder does."""
        return self._embedder.embed_query(text)
