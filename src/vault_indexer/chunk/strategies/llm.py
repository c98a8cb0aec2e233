"""`llm`: a model chooses which chunks of `discourse` to split after which paragraph, and which to merge.

It returns only numbers, so no answer can lose or change text. Actions are applied in order, and an invalid
one is skipped and reported on the chunk that it names.
"""

from __future__ import annotations

import json
from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from itertools import pairwise

from vault_indexer.chunk.cutting.assemble import Draft, assemble, trim_drafts
from vault_indexer.chunk.cutting.blocks import blocks_of, paragraphs_of_blocks, within
from vault_indexer.chunk.cutting.spans import trim
from vault_indexer.chunk.llm_client import (
    PROMPT_CHARS,
    Asker,
    Question,
    UnusableAnswerError,
    batches,
    excerpt,
    is_index,
    json_list,
    reason_of,
    unreached_by,
)
from vault_indexer.chunk.strategies.paragraphs import DiscourseChunker
from vault_indexer.config.tables.chunking_options import LlmChunkingOptions
from vault_indexer.errors import NoteError, ProviderError
from vault_indexer.model import Chunk, JsonValue, Note
from vault_indexer.system import record

STRATEGY = "llm"
PROMPT_VERSION = 1

_PARAGRAPH_CHARS = 200
_MAX_ACTIONS = 200
"""The maximum number of actions in one answer; a longer answer is not a sensible list of actions."""

_PROMPT = """\
A note was cut into chunks for a search index. Each chunk should be about one thing. Below, every chunk has a
number and every paragraph in it has a number; long paragraphs are abbreviated.

{listing}

Say which chunks to split (two subjects in one chunk) and which neighbours to merge (one thought in two
chunks). Most chunks are good as they are. Answer with JSON alone, of this form:
{{"actions": [{{"split": CHUNK, "after": PARAGRAPH}}, {{"merge": [CHUNK, NEXT_CHUNK]}}]}}
An empty list means that nothing is to be changed."""


@record
class _Piece:
    """A chunk of `discourse`: its start, the starts of its paragraphs, and its excerpt in the prompt."""

    start: int
    paragraphs: tuple[int, ...]
    listing: str
    extra: dict[str, JsonValue]


class LlmChunker:
    """The chunks of `discourse`, corrected by a model.

    `extra` of the affected chunks: `applied` and `skipped` list actions. Without a usable answer, `fallback`
    is "discourse", `reason` contains the reason, and `unreached` means that the model gave no answer at all.
    With `strict`, both cases raise NoteError.
    """

    strategy = STRATEGY

    def __init__(self, options: LlmChunkingOptions, discourse: DiscourseChunker, asker: Asker) -> None:
        self._options = options
        self._base = discourse
        self._longest = discourse.longest
        self._asker = asker

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note. Raises NoteError only with `strict`."""
        pieces = _pieces(note, self._base.chunk(note))
        borders = _Borders(note.text, pieces, self._longest)
        if len(pieces) > 1 or any(len(piece.paragraphs) > 1 for piece in pieces):
            self._correct(note, pieces, borders)
        return assemble(note, STRATEGY, trim_drafts(note.text, borders.drafts()))

    def _correct(self, note: Note, pieces: Sequence[_Piece], borders: _Borders) -> None:
        down: dict[str, JsonValue] = {}
        for number, shown in enumerate(batches([len(piece.listing) for piece in pieces], PROMPT_CHARS)):
            if number >= self._options.max_api_calls:
                down = down or {"reason": f"max_api_calls = {self._options.max_api_calls} is reached"}
            if not down:
                try:
                    self._apply(note, shown, self._actions(pieces, shown), borders)
                    continue
                except ProviderError as error:
                    down = {"reason": reason_of(error), **unreached_by(error)}
                except UnusableAnswerError as error:
                    borders.fall_back(shown, {"reason": self._record_refusal(note, reason_of(error))})
                    continue
                self._record_refusal(note, str(down["reason"]))
            borders.fall_back(shown, down)

    def _actions(self, pieces: Sequence[_Piece], shown: range) -> list[JsonValue]:
        listing = "\n\n".join(pieces[index].listing for index in shown)
        prompt = _PROMPT.format(listing=listing)
        return self._asker.ask(Question(STRATEGY, PROMPT_VERSION, prompt, self._options.timeout_s), _read)

    def _apply(self, note: Note, shown: range, actions: list[JsonValue], borders: _Borders) -> None:
        for action in actions:
            if skipped := borders.apply(action, shown):
                self._record_refusal(note, skipped)

    def _record_refusal(self, note: Note, reason: str) -> str:
        if self._options.strict:
            raise NoteError(f"{note.path}: chunking.llm.strict: {reason}")
        return reason


def _read(answer: str) -> list[JsonValue]:
    actions = json_list(answer, "actions")
    if len(actions) > _MAX_ACTIONS:
        raise UnusableAnswerError(f"the answer has {len(actions)} actions: the maximum is {_MAX_ACTIONS}")
    return actions


def _pieces(note: Note, chunks: Sequence[Chunk]) -> list[_Piece]:
    blocks = blocks_of(note)
    found: list[_Piece] = []
    for number, chunk in enumerate(chunks):
        inner = within(blocks, chunk.start_pos, chunk.end_pos)
        paragraphs = paragraphs_of_blocks(inner, chunk.end_pos)
        lines = [f"Chunk {number}:"]
        room = PROMPT_CHARS
        for index, paragraph in enumerate(paragraphs):
            line = f"  [{index}] {excerpt(note.text[paragraph.start : paragraph.end], _PARAGRAPH_CHARS)}"
            room -= len(line)
            if room < 0:
                break
            lines.append(line)
        starts = tuple(paragraph.start for paragraph in paragraphs)
        why = {key: chunk.extra[key] for key in ("fallback", "reason") if key in chunk.extra}
        found.append(_Piece(chunk.start_pos, starts, "\n".join(lines), why))
    return found


class _Borders:
    """The starts of chunks, which actions move. No text between two starts is lost."""

    def __init__(self, text: str, pieces: Sequence[_Piece], longest: int) -> None:
        self._text = text
        self._pieces = pieces
        self._longest = longest
        self._starts = [piece.start for piece in pieces]
        self._told: list[tuple[int, str, str]] = []
        self._fallen: dict[int, dict[str, JsonValue]] = {}

    def apply(self, action: JsonValue, shown: range) -> str:
        """Applies the action. Returns "", or the action and why it is skipped; `shown` are the chunks in the
        prompt."""
        move: Callable[[int, JsonValue], str]
        match action:
            case {"split": chunk, "after": other, **rest} if not rest:
                move, name = self._split, f"split {_excerpt_of(chunk)} after {_excerpt_of(other)}"
            case {"merge": [chunk, other], **rest} if not rest:
                move, name = self._merge, f"merge {_excerpt_of(chunk)}, {_excerpt_of(other)}"
            case _:
                return self._skip(shown.start, excerpt(json.dumps(action), 80), "is no action")
        if not is_index(chunk, shown):
            return self._skip(shown.start, name, "names no chunk that was shown")
        if reason := move(chunk, other):
            return self._skip(chunk, name, reason)
        self._tell(chunk, "applied", name)
        return ""

    def _split(self, chunk: int, after: JsonValue) -> str:
        """Begins a chunk after a paragraph. Returns the reason if that is impossible, else ""."""
        paragraphs = self._pieces[chunk].paragraphs
        if not is_index(after, range(len(paragraphs) - 1)):
            return "names no paragraph that another follows"
        start = paragraphs[after + 1]
        if self._starts[self._place(start)] == start:
            return "is cut there already"
        insort(self._starts, start)
        return ""

    def _merge(self, first: int, second: JsonValue) -> str:
        """Removes the border between two neighbours. Returns the reason if that is impossible, else ""."""
        if not is_index(second, range(first + 1, min(first + 2, len(self._pieces)))):
            return "names no two neighbours"
        start = self._pieces[second].start
        place = self._place(start)
        if self._starts[place] != start:
            return "are one already"
        end = self._starts[place + 1] if place + 1 < len(self._starts) else len(self._text)
        begin, end = trim(self._text, self._starts[place - 1], end)
        if end - begin > self._longest:
            return f"would make {end - begin} characters: at most {self._longest} are allowed"
        del self._starts[place]
        return ""

    def fall_back(self, shown: range, why: dict[str, JsonValue]) -> None:
        """Records that these chunks stay as `discourse` made them; `why` has a `reason`."""
        self._fallen.update((self._pieces[index].start, why) for index in shown)

    def drafts(self) -> list[Draft]:
        spans = pairwise([*self._starts, len(self._text)])
        extras: list[dict[str, JsonValue]] = [{} for _ in self._starts]
        for piece in reversed(self._pieces):  # for merged chunks, the first one wins
            extras[self._place(piece.start)].update(piece.extra)
        for extra, start in zip(extras, self._starts, strict=True):
            if why := self._fallen.get(start):  # in addition to the report of `discourse` itself
                own = f"{extra['reason']}; " if "reason" in extra else ""
                extra.update({**why, "reason": f"{own}{why['reason']}"})
                extra.setdefault("fallback", "discourse")
        for start, key, text in self._told:
            notes = extras[self._place(start)].setdefault(key, [])
            assert isinstance(notes, list)
            notes.append(text)
        return [Draft(*span, extra=extra) for span, extra in zip(spans, extras, strict=True)]

    def _place(self, start: int) -> int:
        return bisect_right(self._starts, start) - 1

    def _skip(self, chunk: int, action: str, reason: str) -> str:
        skipped = f"{action}: {reason}"
        self._tell(chunk, "skipped", skipped)
        return skipped

    def _tell(self, chunk: int, key: str, text: str) -> None:
        self._told.append((self._pieces[chunk].start, key, text))


def _excerpt_of(value: JsonValue) -> str:
    return excerpt(json.dumps(value), 20)
