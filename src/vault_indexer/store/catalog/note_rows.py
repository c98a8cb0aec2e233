"""Converts a parsed note to rows of the catalog: plain tuples, cheap to send from a worker to the writer."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import accumulate, chain, pairwise

from vault_indexer.model import Chunk, FileRow, JsonValue, Note
from vault_indexer.parse import find_tasks
from vault_indexer.system import record

TEXT_COMPRESSION = 3
"""One of the nine levels of zlib. A rule of thumb."""

_STRATEGY = 7  # the index of the column in a chunk's row

Values = tuple[str | int | float | bytes | None, ...]


@record
class NoteTableRows:
    """All rows of a note, without its id: (title, language, frontmatter, aliases, tags, diagnostics), the
    compressed text, headings, block ids, packed spans of blocks, tasks, folded tags, links, chunks, the
    word numbers of each chunk, and the fields with their values as JSON."""

    path: str
    note: Values
    text: bytes
    headings: Sequence[Values]
    blocks: Sequence[Values]
    block_spans: bytes
    tasks: Sequence[Values]
    tags: Sequence[str]
    links: Sequence[Values]
    chunks: Sequence[Values]
    words: Sequence[bytes] = ()
    fields: Sequence[tuple[str, str]] = ()

    @property
    def strategies(self) -> frozenset[str]:
        return frozenset(str(chunk[_STRATEGY]) for chunk in self.chunks)


@record
class PreparedNote:
    """A note ready to be stored. `vectors` maps digests of embedded texts to float16 bytes; texts without an
    entry are embedded later. `embedded` and `reused` are numbers of texts."""

    file: FileRow
    rows: NoteTableRows
    vectors: Mapping[bytes, bytes]
    embedded: int
    reused: int


def note_rows(
    note: Note, chunks: Sequence[Chunk], hashes: Sequence[bytes | None], words: Sequence[bytes] = ()
) -> NoteTableRows:
    """Returns the rows of a note. `hashes[i]` is the digest of chunk i's embedding text (None: not embedded),
    and `words[i]` contains the numbers of its words."""
    return NoteTableRows(
        path=note.path,
        note=(
            note.title,
            note.language,
            _json(dict(note.frontmatter)),
            _json(list(note.aliases)),
            _json(list(note.tags)),
            _json([[d.kind, d.detail, d.line] for d in note.diagnostics]),
        ),
        text=zlib.compress(note.text.encode("utf-8"), TEXT_COMPRESSION),
        headings=[(h.level, h.text, h.start, h.end, h.line, h.nested) for h in note.headings],
        blocks=[(b.id, b.start, b.end, b.line) for b in note.blocks],
        block_spans=pack_spans(note.block_spans),
        tasks=list(find_tasks(note.text, note.body_start)),
        tags=sorted({tag.casefold() for tag in note.tags}),
        links=[(x.kind.value, x.target, x.subpath, x.display, x.start, x.end, x.line) for x in note.links],
        chunks=[_chunk_row(chunk, digest) for chunk, digest in zip(chunks, hashes, strict=True)],
        words=words,
        fields=[(name, _json(value)) for name, value in sorted(note.fields.items())],
    )


def pack_spans(spans: Sequence[tuple[int, int]]) -> bytes:
    positions = list(chain.from_iterable(spans))
    steps = [after - before for before, after in pairwise([0, *positions])]
    return zlib.compress(struct.pack(f"<{len(steps)}i", *steps), TEXT_COMPRESSION)


def unpack_spans(packed: bytes) -> list[tuple[int, int]]:
    """Unpacks the spans. Raises zlib.error or struct.error if the bytes are damaged."""
    raw = zlib.decompress(packed)
    positions = list(accumulate(struct.unpack(f"<{len(raw) // 4}i", raw)))
    return list(zip(positions[::2], positions[1::2], strict=True))


def _chunk_row(chunk: Chunk, digest: bytes | None) -> Values:
    place = (chunk.start_pos, chunk.end_pos, chunk.start_line, chunk.end_line)
    around = (chunk.strategy, chunk.overlap, chunk.context, chunk.preamble)
    name = (chunk.chunk_id, chunk.chunk_index, chunk.header_path)
    return (*name, *place, *around, _json(dict(chunk.extra)), digest)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


ADDED, REMOVED, EMBEDDED = 1, 0, 2
"""The operations in the table `changes`."""


@record
class Changes:
    """The net changes: chunks that were added, removed, or received a vector after they were stored. A chunk
    that was added and removed again is in none of the sets. Keys are never reused. `embedded` can share keys
    only with `added`."""

    added: set[int] = field(default_factory=set)
    removed: set[int] = field(default_factory=set)
    embedded: set[int] = field(default_factory=set)

    @property
    def touches_text(self) -> bool:
        return bool(self.added or self.removed)

    def note(self, key: int, operation: int) -> None:
        if operation == EMBEDDED:
            self.embedded.add(key)
        elif operation == ADDED:
            self.added.add(key)
        else:
            self.embedded.discard(key)
            if key in self.added:
                self.added.discard(key)
            else:
                self.removed.add(key)
