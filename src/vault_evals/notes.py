"""The notes that citations are checked against: as indexed, or as the files are now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vault_evals.agents import EvalService
from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import NoteError, UnknownNoteError
from vault_indexer.model import Note
from vault_indexer.parse import parse_any, parse_note
from vault_indexer.vault import Decision, NoteVanished, load_ignore_rules, read_note, scan


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note's text with its headings and blocks. `outline` is the parsed note; its positions are those of
    the text."""

    path: str
    text: str
    outline: Note

    @classmethod
    def of(cls, path: str, text: str) -> NoteText:
        """Parses the note with this text. Raises NoteError."""
        return cls(path, text, parse_note(path, text.encode("utf-8", "replace")))

    def heading_at(self, position: int) -> str:
        """The nearest heading above a position, "" before the first."""
        title = ""
        for section in self.outline.sections:
            if section.start > position:
                break
            title = section.title
        return title

    def section_spans(self, heading: str) -> list[tuple[int, int]]:
        """The spans of the sections with this heading, in order."""
        return [(section.start, section.end) for section in self.outline.sections if section.title == heading]

    def block_span(self, block: str) -> tuple[int, int] | None:
        """The span of the block with this identifier."""
        wanted = block.removeprefix("^").casefold()
        spans = ((one.start, one.end) for one in self.outline.blocks if one.id.casefold() == wanted)
        return next(spans, None)

    def line_at(self, position: int) -> int:
        """The line of a position, from 1."""
        return self.text.count("\n", 0, position) + 1


class NoteSource(Protocol):
    """A source of the text of notes."""

    def paths(self) -> Sequence[str]:
        """The paths of all notes, in order."""
        ...

    def text(self, path: str) -> str | None:
        """The text of the note at a path; None if there is none. Raises VaultIndexerError."""
        ...


def vault_file_check(vault: Path, files: FilesSettings) -> Callable[[Path], bool]:
    """A predicate for the files that a run requested by an agent may read: files of the vault, also behind
    symbolic links, that no rule excludes and that do not exceed the size limit of notes. Raises
    ExclusionError."""
    rules = load_ignore_rules(vault, files)
    root = vault.resolve()

    def may_read(file: Path) -> bool:
        try:
            real = file.resolve(strict=True)
            is_small = real.stat().st_size <= files.max_file_bytes
        except OSError:
            return False
        if not is_small or not real.is_relative_to(root):
            return False
        return rules.decide(real.relative_to(root).as_posix(), is_dir=False) is not Decision.IGNORE

    return may_read


class IndexedNotes:
    """The notes as they were indexed."""

    def __init__(self, service: EvalService) -> None:
        self._service = service
        self._paths = service.note_paths()
        self._known = frozenset(self._paths)

    def paths(self) -> Sequence[str]:
        return self._paths

    def text(self, path: str) -> str | None:
        if path not in self._known:  # the service accepts names, but a citation must contain a path
            return None
        try:
            return self._service.indexed_text(path)
        except UnknownNoteError:  # removed since the paths were listed
            return None


class VaultFiles:
    """The current notes, read from the files without the index.

    Notes are the files that remain after the settings, `.indexerignore` and Obsidian's own filters. The files
    are listed when a note is first requested.
    """

    def __init__(self, vault: Path, files: FilesSettings) -> None:
        self._vault = vault
        self._files = files
        self._paths: list[str] | None = None

    def paths(self) -> Sequence[str]:
        """The paths of all notes, in order. Raises VaultError."""
        if self._paths is None:
            rules = load_ignore_rules(self._vault, self._files)
            found = scan(self._vault, rules, max_file_bytes=self._files.max_file_bytes).files
            self._paths = [one.path for one in found if one.decision is Decision.INDEX]
        return self._paths

    def text(self, path: str) -> str | None:
        """The text of the file at a path. Raises VaultError, and NoteError if it cannot be read."""
        if path not in self.paths():
            return None
        try:
            return parse_any(path, read_note(self._vault, path, self._files.max_file_bytes).data).text
        except NoteVanished:
            return None
        except NoteError as error:
            raise NoteError(f"{path}: {error}") from error
