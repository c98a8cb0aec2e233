"""The data that the index stores for a file: the rows passed between the pipeline and the stores."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from vault_indexer.contract import JsonValue
from vault_indexer.model.chunk import Chunk

T = TypeVar("T")

CHUNK_KEY_BITS = 20


def chunk_key(note_id: int, ordinal: int) -> int:
    """The int64 that names a chunk in every store. Never reused: a note indexed again has a new id."""
    return note_id << CHUNK_KEY_BITS | ordinal


def note_id_of(key: int) -> int:
    """The note id within a chunk key."""
    return key >> CHUNK_KEY_BITS


def count_in_notes(notes: Iterable[Hashable], limit: int) -> int:
    """Returns the number of items before the first that belongs to more than `limit` notes. `notes` are the
    notes of the items, in order."""
    distinct: set[Hashable] = set()
    count = 0
    for note in notes:
        distinct.add(note)
        if len(distinct) > limit:
            break
        count += 1
    return count


SPLIT_WITHOUT_MODEL = "split without its language model"
"""Begins what is said of a note whose language model has not answered; see `FileRow.reason`."""

QUARANTINED = "set aside: "
"""So begins the reason of a note that ended the process that read it, or took more than it may."""

UNREADABLE = "unreadable: "
"""So begins the reason of `read_note` for a note that is there and cannot be read now: another program has it
locked or is writing it, or the program has no permission."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of the vault as last seen. `state` is "note", "linked" (only a link target) or "skipped".

    `reason` states why a file is not an indexed note, or which part of a note could not be read as meant.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    digest: str
    state: str
    reason: str = ""
    seen_ns: int = 0

    @property
    def is_quarantined(self) -> bool:
        """Whether the note cannot be read safely: it is read again when it changes, and now and then."""
        return self.state == "skipped" and self.reason.startswith(QUARANTINED)

    @property
    def is_unreadable(self) -> bool:
        """Whether the file could not be read. It is tried again now and then, and a note of the index stays
        as it was until then."""
        return self.reason.startswith(UNREADABLE)


def names_of_json(encoded: str) -> tuple[str, ...]:
    """Aliases or tags as the catalog stores them. Most notes have none, which requires no parsing."""
    return tuple(json.loads(encoded)) if encoded != "[]" else ()


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note as the catalog returns it, without its text. The lists and the frontmatter are decoded when
    they are asked for: a search looks at a hundred notes and shows ten."""

    note_id: int
    path: str
    title: str
    language: str
    frontmatter_json: str
    aliases_json: str
    tags_json: str
    mtime_ns: int

    @property
    def frontmatter(self) -> Mapping[str, JsonValue]:
        loaded = json.loads(self.frontmatter_json) if self.frontmatter_json != "{}" else {}
        return loaded if isinstance(loaded, dict) else {}

    @property
    def aliases(self) -> tuple[str, ...]:
        return names_of_json(self.aliases_json)

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags without `#`, as first spelt."""
        return names_of_json(self.tags_json)


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as the catalog returns it, with its body, a span of the note's stored text."""

    key: int
    note_id: int
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A stored link with its place: `(note_id, ord)` names it; `source` is its note's path."""

    note_id: int
    ord: int
    source: str
    kind: str
    target: str
    subpath: str
    display: str | None
    line: int
    key: str
    resolved: str | None
    ambiguous: bool
