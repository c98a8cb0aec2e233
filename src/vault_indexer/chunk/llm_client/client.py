"""Asking a language model: an answer that can be used is kept on disk, a model that is down is left alone.

No answer is ever text of a chunk's body: `read` takes numbers or a sentence out of it, or refuses it.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard, TypeVar

from vault_indexer.chunk.llm_client.answer_cache import KeptAnswers
from vault_indexer.errors import ProviderError
from vault_indexer.model import JsonValue
from vault_indexer.ports import Llm

Read = TypeVar("Read")

PROMPT_CHARS = 6_000
"""Of a note in one question: with any script within 8,192 tokens, the answer included."""

MAX_FAILURES = 3
"""In a row, after which the model gets no prompt for `PAUSE_S`: else a vault waits for as many timeouts as it
has notes."""

PAUSE_S = 60.0

RETRY_PAUSE_S = 0.5

MODEL_UNREACHED = "unreached"

_REASON_CHARS = 200

_THOUGHTS = re.compile(
    r"\A(?!\s*(?:\{|```)).*?</think(?:ing)?>|\A\s*<think(?:ing)?>.*", re.DOTALL | re.IGNORECASE
)
"""Some servers leave the opening mark out. An answer that begins with its JSON has no thoughts before it."""


class UnusableAnswerError(ValueError):
    """The model answered, but not in the form that the prompt requires."""


@dataclass(frozen=True, slots=True)
class Question:
    """`version` is raised whenever the prompt or the reading of its answer changes, so that what is kept of
    older ones no longer counts. `max_tokens` bounds the answer (None: as the model is set); after a transient
    error the question is put again, `retries` times at most."""

    task: str
    version: int
    prompt: str
    timeout_s: float
    max_tokens: int | None = None
    retries: int = 0


class Asker:
    """Asks one model; threads may share it. `folder` keeps the answers, by model, task, version and digest of
    the prompt (`KeptAnswers`); None keeps none. After some failures the model rests for `pause_s` seconds."""

    def __init__(self, llm: Llm, folder: Path | None = None, pause_s: float = PAUSE_S) -> None:
        self._llm = llm
        self._pause_s = pause_s
        self._kept = None if folder is None else KeptAnswers(folder)
        self._failures = 0
        self._not_before = 0.0

    def ask(self, question: Question, read: Callable[[str], Read]) -> Read:
        """What `read` makes of the answer, kept or new.

        Raises UnusableAnswerError if `read` does, ProviderError if there is no answer.
        """
        return return_value(self.listen(question, read, lambda: [self._complete(question)]))

    def listen(
        self, question: Question, read: Callable[[str], Read], pieces: Callable[[], Iterable[str]]
    ) -> Generator[str, None, Read]:
        """Yields the answer as it comes and returns what `read` makes of it: a kept answer in one piece, else
        what `pieces` gets from the model. Raises as `ask` does, and what `pieces` raises."""
        name = self._name(question)
        known = None if self._kept is None else self._kept.read(name)
        if known is not None:
            with suppress(UnusableAnswerError):
                found = read(known)
                yield known
                return found
        answer = ""
        for piece in self._counted(pieces):
            answer += piece
            yield piece
        found = read(answer)
        if self._kept is not None:
            self._kept.add(name, answer)
        return found

    def _name(self, question: Question) -> str:
        parts = [self._llm.name, question.task, str(question.version), question.prompt]
        if question.max_tokens is not None:
            parts.append(str(question.max_tokens))
        digest = hashlib.blake2b(digest_size=20)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        name = digest.hexdigest()
        return f"{name[:2]}/{question.task}-{name}.txt"

    def _complete(self, question: Question) -> str:
        """The answer; after a transient error it is asked again, with a pause that doubles each time."""
        for attempt in range(question.retries + 1):
            try:
                return self._llm.complete(
                    question.prompt, timeout_s=question.timeout_s, max_tokens=question.max_tokens
                )
            except ProviderError as error:
                if not error.is_transient or attempt == question.retries:
                    raise
                time.sleep(RETRY_PAUSE_S * 2**attempt)
        raise AssertionError("unreachable")

    def _counted(self, pieces: Callable[[], Iterable[str]]) -> Iterator[str]:
        """The pieces; none where the model has failed too often just now."""
        if time.monotonic() < self._not_before:
            raise ProviderError(
                f"model {self._llm.name} failed {MAX_FAILURES} times in a row: it is not asked again"
            )
        try:
            yield from pieces()
        except ProviderError:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                self._not_before = time.monotonic() + self._pause_s
            raise
        self._failures, self._not_before = 0, 0.0


def return_value(generator: Generator[object, None, Read]) -> Read:
    """What the generator returns at its end; what it yields is passed over."""
    while True:
        try:
            next(generator)
        except StopIteration as ended:
            found: Read = ended.value
            return found


def reason_of(error: Exception) -> str:
    """Why there is no usable answer, short enough to stand on a chunk."""
    return " ".join(str(error).split())[:_REASON_CHARS]


def unreached_by(error: Exception) -> dict[str, JsonValue]:
    """What a chunk's `extra` says in addition to its reason: that the model gave no answer at all. Asked
    another time, it may; an answer that could not be used would be the same again."""
    return {MODEL_UNREACHED: True} if isinstance(error, ProviderError) else {}


def without_thoughts(answer: str) -> str:
    """What a model says after it has thought: its `<think>` block goes, also one that has not ended."""
    return _THOUGHTS.sub("", answer)


def json_table(answer: str) -> dict[str, JsonValue]:
    """The JSON object in an answer; models like to put words or a fence around it.

    Raises UnusableAnswerError where there is none.
    """
    answer = without_thoughts(answer)
    start, end = answer.find("{"), answer.rfind("}")
    if start < 0 or end < start:
        raise UnusableAnswerError("the answer holds no JSON object")
    try:
        table: dict[str, JsonValue] = json.loads(answer[start : end + 1])
    except (ValueError, RecursionError) as error:
        raise UnusableAnswerError("the answer is not valid JSON") from error
    return table


def json_list(answer: str, key: str) -> list[JsonValue]:
    """The list under `key` of the JSON object in an answer. Raises UnusableAnswerError."""
    found = json_table(answer).get(key)
    if not isinstance(found, list):
        raise UnusableAnswerError(f'the answer has no list "{key}"')
    return found


def one_line(answer: str, limit: int) -> str:
    """A sentence for a person, on one line of at most `limit` characters. Raises UnusableAnswerError."""
    line = " ".join(answer.split()).strip("\"'`*# ")
    if not any(char.isalnum() for char in line):
        raise UnusableAnswerError("the answer holds no words")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def excerpt(text: str, size: int) -> str:
    """The text on one line of at most `size` characters: its beginning and, where it is longer, its end."""
    if len(text) > 4 * size:
        text = f"{text[: 2 * size]} {text[-2 * size :]}"
    line = " ".join(text.split())
    if len(line) <= size:
        return line
    tail = size // 3
    return f"{line[: size - tail - 3]} … {line[-tail:]}"


def batches(sizes: Sequence[int], limit: int) -> list[range]:
    """Neighbours whose sizes add up to at most `limit`; one alone may be larger."""
    found: list[range] = []
    first, total = 0, 0
    for index, size in enumerate(sizes):
        if index > first and total + size > limit:
            found.append(range(first, index))
            first, total = index, 0
        total += size
    return [*found, range(first, len(sizes))] if sizes else []


def is_index(value: JsonValue, among: range) -> TypeGuard[int]:
    """Whether a model named one of the things it was shown (True is a number in Python, not here)."""
    return isinstance(value, int) and not isinstance(value, bool) and value in among
