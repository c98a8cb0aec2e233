"""From spans to chunks: ids, lines, header paths and overlap are made in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from vault_indexer.chunk.cutting.outline import Outline
from vault_indexer.chunk.cutting.packing import Window
from vault_indexer.chunk.cutting.spans import trim
from vault_indexer.model import Chunk, JsonValue, Note


@dataclass(frozen=True, slots=True)
class Draft:
    """A span that is to be a chunk.

    Neighbouring drafts of one `family` (not None) are the pieces of one split section and are
    numbered `_sub_0`, `_sub_1`, … `overlap` is text repeated from the draft before.
    """

    start: int
    end: int
    family: int | None = None
    overlap: str = ""
    context: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    embed: bool = True


def windows(text: str, spans: Iterable[Window], family: int | None = None) -> list[Draft]:
    """Drafts of windows: without blank lines around them, what they repeat is of the one before."""
    drafts: list[Draft] = []
    for span in spans:
        start, end = trim(text, span.start, span.end)
        if end > start:
            repeated = max(span.overlap_start, drafts[-1].start) if drafts else span.start
            overlap = text[repeated:start] if repeated < span.start else ""
            drafts.append(Draft(start, end, family=family, overlap=overlap))
    return drafts


def trim_drafts(text: str, drafts: Iterable[Draft]) -> list[Draft]:
    """The drafts without blank lines around them; those that are all blank are dropped."""
    kept: list[Draft] = []
    for draft in drafts:
        start, end = trim(text, draft.start, draft.end)
        if end > start:
            kept.append(replace(draft, start=start, end=end))
    return kept


def assemble(note: Note, strategy: str, drafts: list[Draft], outline: Outline) -> list[Chunk]:
    """The chunks of trimmed drafts, in their order.

    `chunk_index` is the position in the list. The index in an id is the same, but for the pieces of
    a split section: they share that of the first of them and add `_sub_{n}`, n from 0.
    """
    chunks: list[Chunk] = []
    first = 0
    for index, draft in enumerate(drafts):
        if index and not _siblings(drafts, index - 1):
            first = index
        split = index > first or _siblings(drafts, index)
        name = f"{note.doc_id}_chunk_{first}" + (f"_sub_{index - first}" if split else "")
        chunks.append(_chunk(note, strategy, draft, outline, (name, index)))
    return chunks


def _siblings(drafts: list[Draft], index: int) -> bool:
    """Whether the draft and the next one are pieces of the same section."""
    family = drafts[index].family
    return family is not None and index + 1 < len(drafts) and drafts[index + 1].family == family


def _chunk(note: Note, strategy: str, draft: Draft, outline: Outline, name: tuple[str, int]) -> Chunk:
    start, end = draft.start, draft.end
    body = note.text[start:end]
    return Chunk(
        chunk_id=name[0],
        chunk_index=name[1],
        header_path=outline.header_path(start),
        start_pos=start,
        end_pos=end,
        start_line=outline.line(start),
        end_line=outline.line(start + len(body.rstrip()) - 1),
        body=body,
        strategy=strategy,
        overlap=draft.overlap,
        context=draft.context,
        extra=draft.extra,
        embed=draft.embed,
    )
