"""`contextual`: for any strategy, a model writes one sentence about the place of a text within its note.

The sentence is the chunks' preamble: it is embedded before the text and is not part of it. (Anthropic,
"Introducing Contextual Retrieval", 2024, reports 35% fewer failed retrievals with a preamble per chunk.)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from functools import partial

from vault_indexer.chunk.cutting.blocks import paragraphs_of
from vault_indexer.chunk.cutting.sections import Outline
from vault_indexer.chunk.cutting.spans import Span
from vault_indexer.chunk.cutting.tokenizer_choice import import_function
from vault_indexer.chunk.llm_client import (
    Asker,
    Question,
    UnusableAnswerError,
    excerpt,
    one_line,
    reason_of,
    unreached_by,
)
from vault_indexer.config.tables.chunking import ContextualOptions
from vault_indexer.errors import NoteError, ProviderError
from vault_indexer.model import Chunk, JsonValue, Note, join_context
from vault_indexer.ports import Chunker
from vault_indexer.system import record

TASK = "contextual"
PROMPT_VERSION = 3
GROUP = "vault_indexer.groupers"
"""Entry points of this group may be named in `chunking.contextual.group_by`."""

_PREAMBLE_CHARS = 400
_OUTLINE_CHARS = 800
_BEFORE_CHARS = 1_000
_TEXT_CHARS = 3_000

# The part that all chunks of a note share comes first: providers cache the beginning of a prompt.
_PROMPT = """\
Say in one sentence of at most 40 words, in the language of the text below, what this text is about within
the note, so that it can be found on its own: name what it refers to but does not name itself. Answer with the
sentence alone.

Note: {title}
Its headings: {headings}
{document}

Where the text stands: {place}
What comes before it: {before}

The text:
{text}"""


@record
class _Preamble:
    """The preamble of a group of chunks. Without a text, `extra` contains the reason."""

    text: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    is_failure: bool = False


@record
class _PreambleGroup:
    """Chunks that share a preamble: the start of the first, and the text that the prompt contains."""

    start: int
    text: str


class ContextualChunker:
    """The chunks of another chunker, with a preamble for those that are embedded.

    Chunks that begin in the same section or paragraph, or have the same key of `group_by`, share their
    preamble. A chunk without an answer has the reason in `extra["no_preamble"]`, and `unreached` if the model
    gave no answer at all; with `keep_on_failure` off it is dropped, and the first remaining chunk reports how
    many were (`dropped_chunks`). Raises NoteError if none remains, or if `group_by` fails.
    """

    def __init__(self, inner: Chunker, options: ContextualOptions, asker: Asker) -> None:
        """Raises UsageError or ProviderError for a `group_by` that cannot be imported."""
        self._inner = inner
        self._options = options
        self._asker = asker
        self._group_by = (
            import_function("chunking.contextual.group_by", options.group_by, GROUP)
            if options.group_by
            else None
        )

    @property
    def strategy(self) -> str:
        return self._inner.strategy

    def chunk(self, note: Note) -> list[Chunk]:
        chunks = self._inner.chunk(note)
        key_of = self._key_of(note)
        keys = [key_of(chunk) if chunk.embed else None for chunk in chunks]
        preambles = self._preambles(note, self._groups(note, chunks, keys))
        found = [
            (chunk, preambles[key] if key is not None else None)
            for chunk, key in zip(chunks, keys, strict=True)
        ]
        if self._options.keep_on_failure:
            return [_with(chunk, preamble) for chunk, preamble in found]
        return self._without_failures(note, found)

    def _without_failures(self, note: Note, found: Sequence[tuple[Chunk, _Preamble | None]]) -> list[Chunk]:
        failures = [preamble for _, preamble in found if preamble and preamble.is_failure]
        kept = [_with(chunk, preamble) for chunk, preamble in found if not (preamble and preamble.is_failure)]
        if not failures:
            return kept
        if not any(chunk.embed for chunk in kept):
            reason = failures[0].extra["no_preamble"]
            raise NoteError(f"{note.path}: chunking.contextual.keep_on_failure is false: {reason}")
        told: dict[str, JsonValue] = {"dropped_chunks": len(failures)}
        for failure in failures:
            told |= {key: value for key, value in failure.extra.items() if key != "no_preamble"}
        return [replace(kept[0], extra={**kept[0].extra, **told}), *kept[1:]]

    def _key_of(self, note: Note) -> Callable[[Chunk], Hashable | None]:
        """Returns the key by which a chunk shares its preamble; None for a chunk without one."""
        if self._group_by is not None:
            return partial(_own_key, note, self._group_by, self._options.group_by)
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

    def _groups(
        self, note: Note, chunks: Sequence[Chunk], keys: Sequence[Hashable | None]
    ) -> dict[Hashable, _PreambleGroup]:
        groups: dict[Hashable, _PreambleGroup] = {}
        for chunk, key in zip(chunks, keys, strict=True):
            if key is None:
                continue
            if self._group_by is None and isinstance(key, tuple):
                groups.setdefault(key, _PreambleGroup(key[0], note.text[slice(*key)]))
            elif key in groups:
                groups[key] = replace(groups[key], text=f"{groups[key].text}\n\n{chunk.body}")
            else:
                groups[key] = _PreambleGroup(chunk.start_pos, chunk.body)
        return groups

    def _preambles(self, note: Note, groups: Mapping[Hashable, _PreambleGroup]) -> dict[Hashable, _Preamble]:
        """The preambles of all groups, `max_workers` of them at a time. When the model gives no answer, the
        groups not yet requested get no preamble either."""
        limit = self._options.max_api_calls
        beyond = _Preamble(extra={"no_preamble": f"max_api_calls = {limit} is reached"}, is_failure=True)
        asked = list(groups.items())[:limit]
        if not asked:
            return {}
        options, prompts = self._options, _Prompts(note, self._options)
        read = partial(one_line, limit=_PREAMBLE_CHARS)
        down: list[_Preamble] = []

        def ask(group: _PreambleGroup) -> _Preamble:
            if down:
                return down[0]
            question = Question(
                TASK,
                PROMPT_VERSION,
                prompts.prompt(group),
                options.timeout_s,
                options.max_tokens,
                options.num_retries,
            )
            try:
                return _Preamble(self._asker.ask(question, read))
            except (ProviderError, UnusableAnswerError) as error:
                reason: dict[str, JsonValue] = {"no_preamble": reason_of(error), **unreached_by(error)}
                failure = _Preamble(extra=reason, is_failure=True)
                if isinstance(error, ProviderError):
                    down.append(failure)
                return failure

        keys, wanted = [key for key, _ in asked], [group for _, group in asked]
        if min(self._options.max_workers, len(wanted)) == 1:
            answers = [ask(group) for group in wanted]
        else:
            with ThreadPoolExecutor(self._options.max_workers, "preamble") as pool:
                answers = list(pool.map(ask, wanted))
        found = dict(zip(keys, answers, strict=True))
        return {key: found.get(key, beyond) for key in groups}


class _Prompts:
    """The prompts of one note; their common part is built once."""

    def __init__(self, note: Note, options: ContextualOptions) -> None:
        self._note = note
        self._options = options
        self._outline = Outline(note)
        self._headings = excerpt("; ".join(heading.text for heading in note.headings), _OUTLINE_CHARS)
        body = note.text[note.body_start :].strip()
        self._is_whole = len(body) <= options.max_document_chars
        self._document = body if self._is_whole else excerpt(body, max(options.max_document_chars, 100))

    def prompt(self, group: _PreambleGroup) -> str:
        own, text = self._options.user_template, excerpt(group.text, _TEXT_CHARS)
        asked = (
            own.format(document_text=self._document, chunk_text=text) if own else self._built_in(group, text)
        )
        return join_context(self._options.system_prompt, asked)

    def _built_in(self, group: _PreambleGroup, text: str) -> str:
        note, start = self._note, group.start
        before = note.text[max(note.body_start, start - _BEFORE_CHARS) : start]
        return _PROMPT.format(
            title=excerpt(note.title, 200),
            headings=self._headings or "none",
            document=f"{'The whole' if self._is_whole else 'Excerpt of the'} note:\n{self._document}",
            place=excerpt(self._outline.header_path(start), 300) or "before the first heading",
            before="see above" if self._is_whole else " ".join(before.split()) or "nothing",
            text=text,
        )


def _own_key(note: Note, group_by: Callable[..., object], name: str, chunk: Chunk) -> Hashable | None:
    """The result of the user's function for a chunk. Raises NoteError if it is not a valid key."""
    try:
        key = group_by(chunk)
        hash(key)
    except Exception as error:  # user code: whatever it raises, the other notes go on
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise NoteError(f"{note.path}: chunking.contextual.group_by: {name} raised {reason}") from error
    return key


def _with(chunk: Chunk, preamble: _Preamble | None) -> Chunk:
    """Adds the preamble; a summary from the strategy follows it."""
    if preamble is None:
        return chunk
    if preamble.text:
        return replace(chunk, preamble="\n".join(filter(None, [preamble.text, chunk.preamble])))
    return replace(chunk, extra={**chunk.extra, **preamble.extra})
