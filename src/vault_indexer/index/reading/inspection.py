"""Shows how the indexer processes a note, without an index: parsed, split, and with its links resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vault_indexer.chunk import ChoosingChunker, chunks_of
from vault_indexer.config import Settings
from vault_indexer.errors import NoteError
from vault_indexer.index.reading.note import note_from, reason_of, style_of_files
from vault_indexer.model import Chunk, Diagnostic, InspectedLink, InspectedNote, LinkStyle, Note, SkippedFile
from vault_indexer.parse import StyledPaths, resolve
from vault_indexer.ports import Chunker
from vault_indexer.vault import Decision, NoteVanished, Scan, load_ignore_rules, read_note, scan


@dataclass(frozen=True, slots=True)
class Inspection:
    """A note with its chunks. `resolved` contains the target path of each of its links, in order."""

    note: Note
    chunks: tuple[Chunk, ...]
    resolved: tuple[str | None, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def answer(self) -> InspectedNote:
        note = self.note
        return InspectedNote(
            path=note.path,
            title=note.title,
            language=note.language,
            frontmatter=note.frontmatter,
            aliases=note.aliases,
            tags=note.tags,
            headings=note.headings,
            links=tuple(
                InspectedLink(link.kind, link.target, link.subpath, link.display, link.line, resolved)
                for link, resolved in zip(note.links, self.resolved, strict=True)
            ),
            blocks=note.blocks,
            chunks=self.chunks,
            diagnostics=self.diagnostics,
        )


class Inspector:
    """Parses the notes of one vault and splits them with `chunker`. Raises VaultError if the vault cannot be
    read."""

    def __init__(self, vault: Path, settings: Settings, chunker: Chunker) -> None:
        self._vault = vault
        self._settings = settings
        self._max_file_bytes = settings.files.max_file_bytes
        self._rules = load_ignore_rules(vault, settings.files)
        self._chunker = chunker

    def all_notes(self) -> list[str]:
        """Return the sorted paths of all notes that an index would contain."""
        return [file.path for file in self._scan.files if file.decision is Decision.INDEX]

    def inspect(self, paths: Iterable[str]) -> Iterator[Inspection | SkippedFile]:
        """Yield each note, given by path or name, or the reason why the file cannot be indexed."""
        for named in paths:
            path = self._path_of(named)
            try:
                note = note_from(path, read_note(self._vault, path, self._max_file_bytes).data, self._style)
                yield self._inspect(note)
            except NoteVanished:
                yield SkippedFile(path, "no such note in the vault")
            except NoteError as error:
                yield SkippedFile(path, reason_of(error, path))

    def _inspect(self, note: Note) -> Inspection:
        chunker = self._chunker
        own = chunker.diagnostics(note) if isinstance(chunker, ChoosingChunker) else ()
        resolved = tuple(self._paths.find(link.target, note.path)[0].path for link in note.links)
        chunks = chunks_of(chunker, note)
        return Inspection(note, chunks, resolved, (*note.diagnostics, *own, *_fallbacks(chunks)))

    def _path_of(self, named: str) -> str:
        path = named.removeprefix("./")
        return path if path in self._paths else resolve(path, "", self._paths).path or path

    @cached_property
    def _scan(self) -> Scan:
        return scan(self._vault, self._rules, max_file_bytes=self._max_file_bytes)

    @cached_property
    def _style(self) -> LinkStyle:
        return style_of_files(self._settings, self._scan)

    @cached_property
    def _paths(self) -> StyledPaths:
        return StyledPaths(self._style, (file.path for file in self._scan.files))


def _fallbacks(chunks: Iterable[Chunk]) -> Iterator[Diagnostic]:
    """Yield the reasons why a strategy had to fall back to another method, each once, with the remedy."""
    first: dict[str, int] = {}
    for chunk in chunks:
        if isinstance(reason := chunk.extra.get("reason"), str):
            first.setdefault(reason, chunk.start_line)
    return (Diagnostic("chunking", reason, line) for reason, line in first.items())
