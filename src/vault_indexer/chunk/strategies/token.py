"""`token`: a window of a fixed number of tokens slides over the note."""

from __future__ import annotations

from collections.abc import Iterator

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    Outline,
    Span,
    Tokens,
    fit,
    sentence_spans,
    slide,
    tile,
    token_ruler,
    windows,
)
from vault_indexer.config.tables.chunking_options import TokenOptions
from vault_indexer.model import JsonValue, Note


class TokenChunker(DraftChunker[TokenOptions]):
    """Windows that never exceed the input size of a model; their edges are at sentences, or at words."""

    strategy = "token"

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:  # noqa: ARG002 - of the frame
        """All chunks of the note. With `truncate`, only the first, which reports the dropped text."""
        options = self._options
        ruler = token_ruler(note.text, self._tokenizer)
        room = ruler.room(options.max_tokens)
        found = slide(note.text, list(self._spans(note, ruler, room)), ruler, room, options.overlap_tokens)
        drafts = fit(note.text, windows(note.text, found), ruler, options.max_tokens)
        if options.overflow == "truncate" and len(drafts) > 1:
            drafts = [drafts[0].with_extra(_dropped_part(note, drafts, ruler))]
        return [draft.with_extra({"tokenizer": options.tokenizer or "embedding model"}) for draft in drafts]

    def _spans(self, note: Note, ruler: Tokens, room: int) -> Iterator[Span]:
        start, end = note.body_start, len(note.text)
        block_splitter = BlockSplitter(note.text, ruler, room)
        if not self._options.preserve_sentences:
            yield from block_splitter.words(start, end)
            return
        for sentence in tile(sentence_spans(note.text, start, end), start, end):
            yield from block_splitter.sentence(*sentence)


def _dropped_part(note: Note, found: list[Draft], ruler: Tokens) -> dict[str, JsonValue]:
    """The report of `truncate` on the remaining chunk: the position and length of the dropped text."""
    start, end = found[0].end, len(note.text)
    return {"dropped_start": start, "dropped_end": end, "dropped_tokens": ruler.size(start, end)}
