"""`contextual`: around any strategy, a model writes one sentence on where a text stands within its note.

The sentence is the chunks' preamble: it is embedded in front of the text and is no part of it. (Anthropic,
"Introducing Contextual Retrieval", 2024, reports 35% fewer failed retrievals with a preamble a chunk.)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vault_indexer.chunk.cutting import Outline, Span, paragraphs_of
from vault_indexer.chunk.llm_client import (
    Asker,
    Question,
    UnusableAnswerError,
    excerpt,
    one_line,
    reason_of,
    unreached_by,
)
from vault_indexer.config.chunking import ContextualOptions
from vault_indexer.errors import NoteError, ProviderError
from vault_indexer.model import Chunk, JsonValue, Note
from vault_indexer.ports import Chunker

TASK = "contextual"
PROMPT_VERSION = 1

_PREAMBLE_CHARS = 400
_OUTLINE_CHARS = 800
_BEFORE_CHARS = 1_000
_TEXT_CHARS = 3_000

_PROMPT = """\
Note: {title}
Its headings: {headings}
Where the text stands: {place}
What comes before it: {before}

The text:
{text}

Say in one sentence of at most 40 words, in the language of the text, what this text is about within the note,
so that it can be found on its own: name what it refers to but does not name itself. Answer with the sentence
alone."""


@dataclass(frozen=True, slots=True)
class _Preamble:
    """What a group of chunks gets; without a text, `extra` says why."""

    text: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class ContextualChunker:
    """The chunks of another chunker, those that are embedded with a preamble.

    Chunks of one section or paragraph (the one in which they begin) share theirs. A chunk without an answer
    says why in `extra["no_preamble"]`, and `unreached` where the model gave none at all; with
    `keep_on_failure` off that is a NoteError.
    """

    def __init__(self, inner: Chunker, options: ContextualOptions, asker: Asker) -> None:
        self._inner = inner
        self._options = options
        self._asker = asker

    @property
    def strategy(self) -> str:
        """The strategy that splits."""
        return self._inner.strategy

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note, split as without preambles."""
        chunks = self._inner.chunk(note)
        span_of = self._spans(note)
        preambles = self._preambles(note, [span_of(chunk) for chunk in chunks if chunk.embed])
        return [_with(chunk, preambles[span_of(chunk)]) if chunk.embed else chunk for chunk in chunks]

    def _spans(self, note: Note) -> Callable[[Chunk], Span]:
        """What of the note a chunk shares its preamble with."""
        if self._options.granularity == "section":
            starts = [note.body_start, *(section.start for section in note.sections)]
        elif self._options.granularity == "paragraph":
            starts = [note.body_start, *(paragraph.start for paragraph in paragraphs_of(note))]
        else:
            return lambda chunk: (chunk.start_pos, chunk.end_pos)
        ends = [*starts[1:], len(note.text)]

        def span(chunk: Chunk) -> Span:
            place = bisect_right(starts, chunk.start_pos) - 1
            return starts[place], ends[place]

        return span

    def _preambles(self, note: Note, spans: Sequence[Span]) -> dict[Span, _Preamble]:
        outline = Outline(note)
        headings = excerpt("; ".join(heading.text for heading in note.headings), _OUTLINE_CHARS)
        found: dict[Span, _Preamble] = {}
        down: _Preamble | None = None
        for span in dict.fromkeys(spans):
            if len(found) >= self._options.max_api_calls:
                limit = f"max_api_calls = {self._options.max_api_calls} is reached"
                down = down or _Preamble(extra={"no_preamble": limit})
            if down:
                found[span] = down
                continue
            prompt = _prompt(note, span, headings, outline.header_path(span[0]))
            question = Question(TASK, PROMPT_VERSION, prompt, self._options.timeout_s)
            try:
                found[span] = _Preamble(self._asker.ask(question, _read))
            except ProviderError as error:
                found[span] = down = self._empty_preamble(note, error)
            except UnusableAnswerError as error:
                found[span] = self._empty_preamble(note, error)
        return found

    def _empty_preamble(self, note: Note, error: Exception) -> _Preamble:
        reason = reason_of(error)
        if not self._options.keep_on_failure:
            raise NoteError(f"{note.path}: chunking.contextual.keep_on_failure is false: {reason}") from error
        return _Preamble(extra={"no_preamble": reason, **unreached_by(error)})


def _read(answer: str) -> str:
    return one_line(answer, _PREAMBLE_CHARS)


def _prompt(note: Note, span: Span, headings: str, place: str) -> str:
    start, end = span
    before = note.text[max(note.body_start, start - _BEFORE_CHARS) : start]
    return _PROMPT.format(
        title=excerpt(note.title, 200),
        headings=headings or "none",
        place=excerpt(place, 300) or "before the first heading",
        before=" ".join(before.split()) or "nothing",
        text=excerpt(note.text[start:end], _TEXT_CHARS),
    )


def _with(chunk: Chunk, preamble: _Preamble) -> Chunk:
    """A summary that the strategy wrote stays, after the preamble."""
    if preamble.text:
        return replace(chunk, preamble="\n".join(filter(None, [preamble.text, chunk.preamble])))
    return replace(chunk, extra={**chunk.extra, **preamble.extra})
