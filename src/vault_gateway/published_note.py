"""The published form of a note: everything that a remote search needs, as one value of bytes.

The bytes are JSON, compressed, followed by the vectors. They come from a server that others write to, so
nothing in them is ever executed, and invalid data raises ValueError.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vault_indexer.model import CHUNK_KEY_BITS, chunk_key
from vault_indexer.store.catalog import NoteTableRows, StoredNote
from vault_indexer.store.keywords import FIELDS, KeywordDocument, TermCounts, count_terms
from vault_indexer.system import record

FORMAT = 1
_COMPRESSION = 6
_HEADER = struct.Struct("<BI")
_MOST_BYTES = 64 << 20
"""The maximum size of a note's JSON."""

_VISIBLE = re.compile(r"[^\n]")
_OVERLAP, _CONTEXT, _PREAMBLE, _DIGEST = 8, 9, 10, 12  # columns of a chunk's row
_FRONTMATTER = 2  # of a note's row


@record
class PublishedNote:
    """A note with the terms of its chunks in the keyword index and their vectors (float16 bytes), each by the
    chunk's key. Chunks that are only context have neither; a vector may still be missing."""

    stored: StoredNote
    terms: Mapping[int, Mapping[str, Sequence[str]]]
    vectors: Mapping[int, bytes]

    @property
    def note_id(self) -> int:
        return self.stored.note_id

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys of the searchable chunks, ascending."""
        return tuple(sorted(self.terms))


@record
class ReceivedNote:
    """A published note, ready for searching: the terms of its chunks are counted."""

    stored: StoredNote
    documents: tuple[tuple[int, TermCounts], ...]
    vectors: tuple[tuple[int, bytes], ...]
    has_text: bool


def terms_of(document: KeywordDocument) -> Mapping[str, Sequence[str]]:
    return {name: terms for name in FIELDS if (terms := getattr(document, name))}


def pack_note(note: PublishedNote, *, with_text: bool) -> bytes:
    """The note as bytes. Without text, the order of its words cannot be reconstructed: positions of lines
    remain, and so do headings, tags, aliases, and the words of each chunk with their frequencies."""
    stored, rows = note.stored, note.stored.rows
    text = zlib.decompress(rows.text).decode("utf-8")
    content = {
        "path": rows.path,
        "modified_ns": stored.modified_ns,
        "note": _note_row(rows.note, with_text=with_text),
        "text": text if with_text else _VISIBLE.sub(" ", text),
        "headings": rows.headings,
        "blocks": rows.blocks,
        "spans": _encoded(rows.block_spans),
        "tasks": rows.tasks,
        "tags": rows.tags,
        "fields": rows.fields if with_text else [],
        "links": rows.links if with_text else [],
        "resolved": stored.resolved if with_text else [],
        "chunks": [_chunk_row(row, with_text=with_text) for row in rows.chunks],
        "words": list(map(_encoded, rows.words)),
        "terms": [
            [_ordinal(key), {f: "\n".join(t) for f, t in own.items()}] for key, own in note.terms.items()
        ],
        "vectors": [_ordinal(key) for key in note.vectors],
        "has_text": with_text,
    }
    packed = zlib.compress(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"), _COMPRESSION)
    return _HEADER.pack(FORMAT, len(packed)) + packed + b"".join(note.vectors.values())


def unpack_note(note_id: int, data: bytes, dimension: int) -> ReceivedNote:
    """Reads the note from bytes. Raises ValueError for bytes that `pack_note` did not produce."""
    try:
        return _unpacked(note_id, data, dimension)
    except (ValueError, struct.error, zlib.error, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"a published note cannot be read: {error}") from error


def _unpacked(note_id: int, data: bytes, dimension: int) -> ReceivedNote:
    version, size = _HEADER.unpack_from(data)
    if version != FORMAT:
        raise ValueError(f"a published note of format {version}")
    start = _HEADER.size
    inflate = zlib.decompressobj()
    content: Any = json.loads(inflate.decompress(data[start : start + size], _MOST_BYTES))
    rows = NoteTableRows(
        path=str(content["path"]),
        note=tuple(content["note"]),
        text=zlib.compress(str(content["text"]).encode("utf-8", "replace"), 1),
        headings=_rows(content["headings"]),
        blocks=_rows(content["blocks"]),
        block_spans=base64.b64decode(content["spans"]),
        tasks=_rows(content["tasks"]),
        tags=tuple(map(str, content["tags"])),
        links=_rows(content["links"]),
        chunks=[(*row, b"\1" if has_digest else None) for *row, has_digest in content["chunks"]],
        words=tuple(map(base64.b64decode, content["words"])),
        fields=[(str(name), str(value)) for name, value in content.get("fields", ())],
    )
    stored = StoredNote(note_id, int(content["modified_ns"]), rows, tuple(content["resolved"]))
    documents = tuple(
        (chunk_key(note_id, int(number)), count_terms({name: text.split("\n") for name, text in own.items()}))
        for number, own in content["terms"]
    )
    width, vectors = 2 * dimension, data[start + size :]
    numbers = list(map(int, content["vectors"]))
    if len(vectors) != width * len(numbers):
        raise ValueError("the vectors of a published note have another length")
    placed = tuple(
        (chunk_key(note_id, number), vectors[at * width : (at + 1) * width])
        for at, number in enumerate(numbers)
    )
    return ReceivedNote(stored, documents, placed, bool(content["has_text"]))


def _note_row(row: Sequence[object], *, with_text: bool) -> list[object]:
    kept = list(row)
    if not with_text:
        kept[_FRONTMATTER] = "{}"
    return kept


def _chunk_row(row: Sequence[object], *, with_text: bool) -> list[object]:
    kept = list(row)
    kept[_DIGEST] = kept[_DIGEST] is not None
    if not with_text:
        kept[_OVERLAP] = kept[_CONTEXT] = kept[_PREAMBLE] = ""
    return kept


def _rows(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in rows]


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _ordinal(key: int) -> int:
    return key & ((1 << CHUNK_KEY_BITS) - 1)
