"""`token`: a window of a fixed number of tokens slides over the note."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    Outline,
    Span,
    Tokens,
    assemble,
    fit,
    sentence_spans,
    slide,
    tile,
    token_ruler,
    windows,
)
from vault_indexer.config.tables.chunking_options import TokenOptions
from vault_indexer.model import Chunk, JsonValue, Note
from vault_indexer.ports import Tokenizer

STRATEGY = "token"


class TokenChunker:
    """Windows that never exceed what a model reads; their edges are at sentences, or at words."""

    strategy = STRATEGY

    def __init__(self, options: TokenOptions, tokenizer: Tokenizer | None) -> None:
        self._options = options
        self._tokenizer = tokenizer

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note; with `truncate` the first alone, which says what was dropped."""
        options = self._options
        ruler = token_ruler(note.text, self._tokenizer)
        room = ruler.room(options.max_tokens)
        found = slide(note.text, list(self._spans(note, ruler, room)), ruler, room, options.overlap_tokens)
        drafts = fit(note.text, windows(note.text, found), ruler, options.max_tokens)
        if options.overflow == "truncate" and len(drafts) > 1:
            drafts = [replace(drafts[0], extra={**drafts[0].extra, **_dropped_part(note, drafts, ruler)})]
        named = {"tokenizer": options.tokenizer or "embedding model"}
        drafts = [replace(draft, extra={**draft.extra, **named}) for draft in drafts]
        return assemble(note, STRATEGY, drafts, Outline(note))

    def _spans(self, note: Note, ruler: Tokens, room: int) -> Iterator[Span]:
        start, end = note.body_start, len(note.text)
        block_splitter = BlockSplitter(note.text, ruler, room)
        if not self._options.preserve_sentences:
            yield from block_splitter.words(start, end)
            return
        for sentence in tile(sentence_spans(note.text, start, end), start, end):
            yield from block_splitter.sentence(*sentence)


def _dropped_part(note: Note, found: list[Draft], ruler: Tokens) -> dict[str, JsonValue]:
    """What `truncate` says on the chunk that it keeps: where the rest stands and how long it is."""
    start, end = found[0].end, len(note.text)
    return {"dropped_start": start, "dropped_end": end, "dropped_tokens": ruler.size(start, end)}
