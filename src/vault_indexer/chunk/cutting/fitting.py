"""Limits in tokens, kept to the letter: each draft is counted as the chunk that it will be.

A ruler knows where the tokens of a whole note begin. A chunk by itself may have a few more at its edges, and
it has its headings and its overlap before it. What is over the limit gives up, in this order, some of its
overlap, the outer of its headings, and its end, which becomes a chunk of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from vault_indexer.chunk.cutting.assemble import Draft
from vault_indexer.chunk.cutting.blocks import BlockSplitter
from vault_indexer.chunk.cutting.packing import pack
from vault_indexer.chunk.cutting.sizes import Ruler, Tokens
from vault_indexer.chunk.cutting.spans import Span, trim, word_start
from vault_indexer.model import HEADER_SEPARATOR, join_context

TOKEN_COUNT = "token_count"
"""In a chunk's `extra`: the tokens of its `content`, by the tokenizer that its strategy counts with."""


def fit(text: str, drafts: Iterable[Draft], ruler: Ruler, limit: int) -> list[Draft]:
    """The drafts with no content over `limit` tokens, each with its `token_count`; as they are where the
    ruler counts in another unit."""
    if not isinstance(ruler, Tokens):
        return list(drafts)
    return [fitted for draft in drafts for fitted in _fit(text, draft, ruler, limit)]


def fit_spans(text: str, spans: Iterable[Span], ruler: Ruler, limit: int) -> list[Span]:
    """The spans, in parts where one is over `limit` tokens."""
    return [(one.start, one.end) for one in fit(text, (Draft(*span) for span in spans), ruler, limit)]


def _fit(text: str, draft: Draft, ruler: Tokens, limit: int) -> Iterator[Draft]:
    count = ruler.count(_content(text, draft))
    if count <= limit:
        yield replace(draft, extra={**draft.extra, TOKEN_COUNT: count})
        return
    if draft.overlap:
        yield from _fit(
            text, replace(draft, overlap=_shorter(text, draft, ruler, count - limit)), ruler, limit
        )
        return
    if draft.context and 2 * ruler.count(draft.context) > limit:
        yield from _fit(text, replace(draft, context=_inner(draft.context)), ruler, limit)
        return
    start, end = trim(text, draft.start, draft.end)
    parts = _halves(text, start, end, ruler)
    if len(parts) < 2:  # one character
        yield replace(draft, extra={**draft.extra, TOKEN_COUNT: count})
        return
    for part in parts:
        yield from _fit(text, replace(draft, start=part[0], end=part[1], overlap=""), ruler, limit)


def _content(text: str, draft: Draft) -> str:
    return join_context(draft.context, draft.overlap + text[draft.start : draft.end])


def _shorter(text: str, draft: Draft, ruler: Tokens, excess: int) -> str:
    """The overlap without its first words, that have at least so many tokens."""
    start = draft.start - len(draft.overlap)
    begin = max(ruler.reach(start, excess), start + 1)
    return text[word_start(text, begin, draft.start) : draft.start] if begin < draft.start else ""


def _inner(context: str) -> str:
    """The context without its outermost heading; half of it where it is a single one."""
    for separator in ("\n", HEADER_SEPARATOR):
        _, found, rest = context.partition(separator)
        if found:
            return rest
    return context[: len(context) // 2]


def _halves(text: str, start: int, end: int, ruler: Tokens) -> list[Span]:
    """Two parts of nearly equal size, between words where there are words."""
    half = max((ruler.size(start, end) + 1) // 2, 1)
    words = list(BlockSplitter(text, ruler, half).words(start, end))
    parts = [trim(text, *part) for part in pack(words, ruler, half + half // 4 + 1)]
    parts = [part for part in parts if part[1] > part[0]]
    if len(parts) > 1 or end - start < 2:
        return parts
    middle = (start + end) // 2
    return [(start, middle), (middle, end)]
