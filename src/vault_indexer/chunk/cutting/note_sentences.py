"""The sentences of a note by their ids."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from vault_indexer.chunk.cutting.spans import Span, sentence_spans


class NoteSentences:
    """The sentences of one note, in order: the one with the number n has the id `{doc_id}_sentence_{n}`.

    They follow from the text and the spans of its blocks alone, which the catalog keeps: so it maps an id to
    its span, of whatever strategy the chunks are, and nothing else is stored.
    """

    def __init__(self, doc_id: str, text: str, block_spans: Iterable[Span]) -> None:
        self._name = f"{doc_id}_sentence_"
        self._spans = [span for start, end in block_spans for span in sentence_spans(text, start, end)]

    def __len__(self) -> int:
        return len(self._spans)

    def span(self, sentence_id: str) -> Span | None:
        """Where the sentence stands; None where the note has no sentence of this id."""
        number = sentence_id.removeprefix(self._name)
        is_own = sentence_id.startswith(self._name) and number.isascii() and number.isdecimal()
        return self._spans[int(number)] if is_own and int(number) < len(self) else None

    def ids(self, start: int, end: int) -> list[str]:
        """The ids of the sentences of which a part lies in start to end, in order."""
        first = bisect_right(self._spans, start, key=lambda span: span[1])
        last = bisect_left(self._spans, end, key=lambda span: span[0])
        return [f"{self._name}{number}" for number in range(first, last)]
