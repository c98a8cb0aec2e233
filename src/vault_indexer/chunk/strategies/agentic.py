"""`agentic`: a model proposes the boundaries, writes a summary of each chunk, or does both.

The prompt contains numbered paragraphs, and the model names those that begin a chunk. A summary is stored
separately from the body, as the chunk's preamble. After the first question without a usable answer,
`boundary` splits the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from vault_indexer.chunk.cutting.assemble import Draft, NoteLayout, assemble, trim_drafts
from vault_indexer.chunk.cutting.blocks import Paragraph, paragraphs_of, sentence_pieces
from vault_indexer.chunk.cutting.spans import Ruler
from vault_indexer.chunk.llm_client import (
    PROMPT_CHARS,
    Asker,
    Question,
    UnusableAnswerError,
    batches,
    excerpt,
    is_index,
    json_list,
    json_table,
    one_line,
    reason_of,
    unreached_by,
)
from vault_indexer.chunk.strategies.windows import BoundaryChunker
from vault_indexer.config.tables.chunking_options import AgenticOptions, BoundaryOptions
from vault_indexer.errors import ProviderError
from vault_indexer.model import Chunk, JsonValue, Note

STRATEGY = "agentic"
PROMPT_VERSION = 2
FALLBACK = "boundary"

_PARAGRAPH_CHARS = 400
_CHUNK_CHARS = 2_000
_SUMMARY_CHARS = 400
_REASONING_CHARS = 400

_SPLIT = """\
Cut this part of a note into chunks for a search index: each about one thing, understandable alone, and about
{target} characters long."""
_SPLIT_FORM = """\
Every paragraph has a number and its length; long ones are abbreviated.

{listing}

Answer with JSON alone, of this form: {{"reasoning": "…", "starts": [NUMBER, NUMBER]}}: in one sentence why
you cut there, and the numbers of the paragraphs that begin a chunk."""

_SUMMARIZE = """\
Sum up each of these chunks of the note "{title}" in one sentence, in the language of the chunk, with the
names and terms that someone would search for."""
_SUMMARIZE_FORM = """\
{listing}

Answer with JSON alone, of this form: {{"summaries": ["…", "…"]}}, one sentence a chunk, in their order."""


@dataclass(slots=True)
class _Budget:
    """The remaining questions for one note. Stored answers count as well, so that a second run splits
    alike."""

    left: int
    limit: int

    def spend(self) -> None:
        """Counts one question. Raises UnusableAnswerError if none is left."""
        if not self.left:
            raise UnusableAnswerError(f"max_api_calls = {self.limit} is reached")
        self.left -= 1


@dataclass(slots=True)
class _Plan:
    """The starts of chunks, and their `extra`: `fallen` from that position on."""

    starts: set[int]
    skipped: dict[int, list[JsonValue]] = field(default_factory=dict)
    reasoning: dict[int, str] = field(default_factory=dict)
    fallen: int | None = None
    why: dict[str, JsonValue] = field(default_factory=dict)


class AgenticChunker:
    """Chunks proposed by a model.

    `extra`: `reasoning` is the model's explanation of its cuts, on the first chunk of the part in the prompt;
    `fallback` and `reason` if `boundary` split instead; `skipped` lists items that the model named but that
    do not exist; `no_summary` is the reason for a missing summary; `unreached`: the model gave no answer at
    all.
    """

    strategy = STRATEGY

    def __init__(self, options: AgenticOptions, asker: Asker) -> None:
        self._options = options
        self._asker = asker
        target = options.target_chunk_size
        self._boundary = BoundaryChunker(
            BoundaryOptions(max_chunk_size=target, min_chunk_size=target // 2), None
        )

    def chunk(self, note: Note) -> list[Chunk]:
        budget = _Budget(self._options.max_api_calls, self._options.max_api_calls)
        if self._options.mode == "summarize":
            spans = [(chunk.start_pos, chunk.end_pos) for chunk in self._boundary.chunk(note)]
            drafts = [Draft(start, end) for start, end in spans]
        else:
            drafts = self._drafts(note, self._plan(note, budget))
        chunks = assemble(note, STRATEGY, trim_drafts(note.text, drafts))
        return chunks if self._options.mode == "split" else self._summed_up(note, chunks, budget)

    def _plan(self, note: Note, budget: _Budget) -> _Plan:
        paragraphs = paragraphs_of(note)
        plan = _Plan({note.body_start})
        if len(paragraphs) < 2:
            return plan
        listings = [_listing(note, number, paragraph) for number, paragraph in enumerate(paragraphs)]
        for shown in batches([len(line) for line in listings], PROMPT_CHARS):
            begin = paragraphs[shown.start].start
            plan.starts.add(begin)
            try:
                budget.spend()
                question = self._split_question([listings[n] for n in shown])
                named, reasoning = self._asker.ask(question, _read_starts)
                self._take(plan, paragraphs, shown, named)
                if reasoning:
                    plan.reasoning[begin] = reasoning
            except (ProviderError, UnusableAnswerError) as error:
                plan.fallen, plan.why = begin, {"reason": reason_of(error), **unreached_by(error)}
                by_boundary = [chunk.start_pos for chunk in self._boundary.chunk(note)]
                plan.starts.update(start for start in by_boundary if start > begin)
                break
        return plan

    def _split_question(self, listing: Sequence[str]) -> Question:
        form = _SPLIT_FORM.format(listing="\n".join(listing))
        instructions = self._options.prompt or _SPLIT.format(target=self._options.target_chunk_size)
        return Question(STRATEGY, PROMPT_VERSION, f"{instructions}\n{form}", self._options.timeout_s)

    def _take(
        self, plan: _Plan, paragraphs: Sequence[Paragraph], shown: range, named: list[JsonValue]
    ) -> None:
        valid = [number for number in named if is_index(number, shown)]
        if named and not valid:
            raise UnusableAnswerError("the answer names no paragraph that was shown")
        plan.starts.update(paragraphs[number].start for number in valid)
        unknown = [number for number in named if not is_index(number, shown)]
        if unknown:
            plan.skipped[paragraphs[shown.start].start] = [
                excerpt(str(number), 40) for number in unknown[:20]
            ]

    def _drafts(self, note: Note, plan: _Plan) -> list[Draft]:
        layout = NoteLayout(note, Ruler(note.text))
        splitter = layout.splitter(2 * self._options.target_chunk_size)
        drafts: list[Draft] = []
        for start, end in pairwise([*sorted(plan.starts), len(note.text)]):
            parts = sentence_pieces(splitter, layout.blocks, (start, end))
            drafts.extend(Draft(*part, extra=_extra(plan, start)) for part in parts)
        return drafts

    def _summed_up(self, note: Note, chunks: Sequence[Chunk], budget: _Budget) -> list[Chunk]:
        summarized: list[Chunk] = []
        down: ProviderError | UnusableAnswerError | None = None
        listings = [f"Chunk {n}: {excerpt(chunk.body, _CHUNK_CHARS)}" for n, chunk in enumerate(chunks)]
        for shown in batches([len(text) for text in listings], PROMPT_CHARS):
            some = [chunks[number] for number in shown]
            try:
                if not down:
                    budget.spend()
                    summarized += self._with_summaries(note, some, [listings[number] for number in shown])
                    continue
            except (ProviderError, UnusableAnswerError) as error:
                down = error
            assert down is not None
            summarized += [self._without_summary(chunk, down) for chunk in some]
        return summarized

    def _with_summaries(self, note: Note, chunks: Sequence[Chunk], listing: Sequence[str]) -> list[Chunk]:
        form = _SUMMARIZE_FORM.format(listing="\n\n".join(listing))
        instructions = self._options.prompt or _SUMMARIZE.format(title=excerpt(note.title, 200))
        prompt = f"{instructions}\n\n{form}"
        question = Question(f"{STRATEGY}-summary", PROMPT_VERSION, prompt, self._options.timeout_s)
        summaries = self._asker.ask(question, lambda answer: _read_summaries(answer, len(chunks)))
        return [replace(chunk, preamble=text) for chunk, text in zip(chunks, summaries, strict=True)]

    def _without_summary(self, chunk: Chunk, error: ProviderError | UnusableAnswerError) -> Chunk:
        reason = reason_of(error)
        extra: dict[str, JsonValue] = {**chunk.extra, "no_summary": reason, **unreached_by(error)}
        if self._options.mode == "summarize":
            extra |= {"fallback": FALLBACK, "reason": reason}
        return replace(chunk, extra=extra)


def _listing(note: Note, number: int, paragraph: Paragraph) -> str:
    text = note.text[paragraph.start : paragraph.end]
    return f"[{number}] ({len(text)}) {excerpt(text, _PARAGRAPH_CHARS)}"


def _read_starts(answer: str) -> tuple[list[JsonValue], str]:
    """The numbers, and the model's explanation ("": none)."""
    starts, said = json_list(answer, "starts"), json_table(answer).get("reasoning")
    has_words = isinstance(said, str) and any(char.isalnum() for char in said)
    return starts, one_line(str(said), _REASONING_CHARS) if has_words else ""


def _read_summaries(answer: str, count: int) -> list[str]:
    summaries = json_list(answer, "summaries")
    if len(summaries) != count:
        raise UnusableAnswerError(f"the answer has {len(summaries)} summaries for {count} chunks")
    return [one_line(text if isinstance(text, str) else "", _SUMMARY_CHARS) for text in summaries]


def _extra(plan: _Plan, start: int) -> dict[str, JsonValue]:
    extra: dict[str, JsonValue] = {}
    if start in plan.reasoning:
        extra["reasoning"] = plan.reasoning[start]
    if start in plan.skipped:
        extra["skipped"] = plan.skipped[start]
    if plan.fallen is not None and start >= plan.fallen:
        extra |= {"fallback": FALLBACK, **plan.why}
    return extra
