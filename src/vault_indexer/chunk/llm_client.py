"""Queries a language model for strategies: bounded prompts, few failures, answers cached on disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard, TypeVar

from vault_indexer.errors import ProviderError
from vault_indexer.model import JsonValue
from vault_indexer.ports import Llm
from vault_indexer.system import record, replace_file

if TYPE_CHECKING:
    from filelock import BaseFileLock

# A language model with one limit for the concurrent calls of several processes.


_LOOK_S = 0.05
"""The interval between checks for a free place; an answer takes ten times as long."""


class LimitedLlm:
    """An Llm that limits concurrent calls: all processes with the same `folder` make at most `most` at a
    time.

    Each call locks one file in the folder, so the system frees the place of a process that dies. The wait for
    a place is not part of a call's `timeout_s`. Threads may share it. Limits of different sizes may share a
    folder: a larger one first takes the places that a smaller one lacks.
    """

    def __init__(self, llm: Llm, folder: Path, most: int) -> None:
        self._llm = llm
        self._folder = folder
        self._most = most
        self._looking = threading.Lock()

    @property
    def name(self) -> str:
        return self._llm.name

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        """Passes on the prompt when there is a place. Raises ProviderError as the model does, and if no file
        can be locked."""
        with self._place():
            return self._llm.complete(prompt, timeout_s=timeout_s, max_tokens=max_tokens)

    @contextmanager
    def _place(self) -> Iterator[None]:
        with self._looking:  # only one thread of a process polls at a time
            while (lock := self._free_lock()) is None:
                # A lock can be waited for, but not the first of several that becomes free.
                time.sleep(_LOOK_S)
        try:
            yield
        finally:
            lock.release()

    def _free_lock(self) -> BaseFileLock | None:
        """Acquires one of the locks and returns it; None if all are taken."""
        from filelock import FileLock, Timeout

        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for number in reversed(range(self._most)):
                lock = FileLock(self._folder / f"{number}.lock", timeout=0, thread_local=False)
                try:
                    lock.acquire()
                except Timeout:
                    continue
                return lock
        except (OSError, RuntimeError) as error:  # RuntimeError: no locks on this file system
            raise ProviderError(
                f"calls to the language model cannot be limited by {self._folder}: {error}"
            ) from error
        return None


# Answers of a language model on disk, so that the same question is never paid for twice.
#
# The folder is bounded: above `MAX_BYTES` the least recently used answers are removed, until a quarter of the
# space is free. The size is checked with the first new answer of a process and with every `LOOK_EVERY`th
# after it, never if nothing is added. A removed answer costs a new question if it is needed again; the index
# itself loses nothing.


MAX_BYTES = 1 << 30
"""The size on disk: about 250,000 answers, as each takes at least one block of 4 KiB. Preambles for each of
the 80,000 chunks of the largest measured vault fit three times."""

LOOK_EVERY = 10_000

_BLOCK = 4096


class _Answer(NamedTuple):
    used: int
    path: str
    size: int


class KeptAnswers:
    """A folder of answers; a name is a path of one folder and one file. Several processes may share it: a
    file appears whole or not at all.

    Best effort: an answer that cannot be read or written costs a new question.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._added = 0

    def read(self, name: str) -> str | None:
        """The answer with that name, which becomes the most recently used; None if there is none."""
        file = self._folder / name
        with suppress(OSError, UnicodeDecodeError):
            answer = file.read_text("utf-8")
            os.utime(file)
            return answer
        return None

    def add(self, name: str, answer: str) -> None:
        """Stores an answer, and removes old ones if there is no space for it."""
        file = self._folder / name
        with suppress(OSError, UnicodeEncodeError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".part")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    stream.write(answer)
                replace_file(Path(temporary), file)
            except OSError:
                Path(temporary).unlink(missing_ok=True)
                raise
            # After the first answer as well: the folder may be full of answers of earlier processes.
            if self._added % LOOK_EVERY == 0:
                self._make_room()
            self._added += 1

    def _make_room(self) -> None:
        answers = sorted(self._answers())
        size = sum(answer.size for answer in answers)
        if size <= self._max_bytes:
            return
        for answer in answers:
            # Down to three quarters, so that the next check finds room.
            if size <= self._max_bytes * 3 // 4:
                break
            with suppress(OSError):  # another process is removing it as well
                Path(answer.path).unlink()
            size -= answer.size

    def _answers(self) -> Iterator[_Answer]:
        for folder in filter(Path.is_dir, self._folder.iterdir()):
            with suppress(FileNotFoundError), os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        found = entry.stat(follow_symlinks=False)
                        size = -(-found.st_size // _BLOCK) * _BLOCK
                        yield _Answer(found.st_mtime_ns, entry.path, max(size, _BLOCK))


# Queries to a language model: usable answers are stored on disk, and a model that is down is not called.
#
# No answer ever becomes text of a chunk's body: `read` extracts numbers or a sentence, or rejects it.


Read = TypeVar("Read")

PROMPT_CHARS = 6_000
"""The maximum number of characters of a note in one question: at most 8,192 tokens in any script, including
the answer."""

MAX_FAILURES = 3
"""After this many consecutive failures the model gets no prompt for `PAUSE_S`. Otherwise a vault would wait
for one timeout per note."""

PAUSE_S = 60.0

RETRY_PAUSE_S = 0.5

MODEL_UNREACHED = "unreached"

_REASON_CHARS = 200

_THOUGHTS = re.compile(
    r"\A(?!\s*(?:\{|```)).*?</think(?:ing)?>|\A\s*<think(?:ing)?>.*", re.DOTALL | re.IGNORECASE
)
"""Some servers omit the opening mark. An answer that begins with its JSON has no thoughts before it."""


class UnusableAnswerError(ValueError):
    """The model answered, but not in the form that the prompt requires."""


@record
class Question:
    """`version` is increased whenever the prompt or the parsing of its answer changes, which invalidates
    stored answers. `max_tokens` limits the answer (None: the model's setting); after a transient error the
    question is repeated, at most `retries` times."""

    task: str
    version: int
    prompt: str
    timeout_s: float
    max_tokens: int | None = None
    retries: int = 0


class Asker:
    """Queries one model; threads may share it. `folder` stores the answers, by model, task, version and
    digest of the prompt (`KeptAnswers`); None stores none. After some failures the model is not called for
    `pause_s` seconds."""

    def __init__(self, llm: Llm, folder: Path | None = None, pause_s: float = PAUSE_S) -> None:
        self._llm = llm
        self._pause_s = pause_s
        self._kept = None if folder is None else KeptAnswers(folder)
        self._failures = 0
        self._not_before = 0.0

    def ask(self, question: Question, read: Callable[[str], Read]) -> Read:
        """The result of `read` for the answer, stored or new.

        Raises UnusableAnswerError if `read` does, ProviderError if there is no answer.
        """
        return return_value(self.listen(question, read, lambda: [self._complete(question)]))

    def listen(
        self, question: Question, read: Callable[[str], Read], pieces: Callable[[], Iterable[str]]
    ) -> Generator[str, None, Read]:
        """Yields the answer as it arrives and returns the result of `read` for it. A stored answer comes in
        one piece; otherwise `pieces` gets it from the model. Raises the errors of `ask` and `pieces`."""
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
            # Each part with its length: otherwise different parts could join to the same bytes.
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        name = digest.hexdigest()
        return f"{name[:2]}/{question.task}-{name}.txt"

    def _complete(self, question: Question) -> str:
        """The answer. Transient errors are retried, with a pause that doubles each time."""
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
        """The pieces; none if the model has failed too often recently."""
        if time.monotonic() < self._not_before:
            raise ProviderError(
                f"model {self._llm.name} failed {MAX_FAILURES} times in a row: it is not called again"
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
    """Runs the generator to its end, ignores its values, and returns its return value."""
    while True:
        try:
            next(generator)
        except StopIteration as ended:
            found: Read = ended.value
            return found


def reason_of(error: Exception) -> str:
    """The reason for the lack of a usable answer, short enough for a chunk's `extra`."""
    return " ".join(str(error).split())[:_REASON_CHARS]


def unreached_by(error: Exception) -> dict[str, JsonValue]:
    """Marks in a chunk's `extra`, in addition to the reason, that the model gave no answer at all. A later
    attempt may succeed, whereas an unusable answer would be repeated."""
    return {MODEL_UNREACHED: True} if isinstance(error, ProviderError) else {}


def without_thoughts(answer: str) -> str:
    """An answer without its `<think>` block, even if the block has not ended."""
    return _THOUGHTS.sub("", answer)


def json_table(answer: str) -> dict[str, JsonValue]:
    """The JSON object in an answer; models often add words or a fence around it.

    Raises UnusableAnswerError if there is none.
    """
    answer = without_thoughts(answer)
    start, end = answer.find("{"), answer.rfind("}")
    if start < 0 or end < start:
        raise UnusableAnswerError("the answer contains no JSON object")
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
    """A sentence for display, on one line of at most `limit` characters. Raises UnusableAnswerError."""
    line = " ".join(answer.split()).strip("\"'`*# ")
    if not any(char.isalnum() for char in line):
        raise UnusableAnswerError("the answer contains no words")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def excerpt(text: str, size: int) -> str:
    """The text on one line of at most `size` characters: its beginning and, if it is longer, its end."""
    if len(text) > 4 * size:
        # Only the ends are collapsed: what lies between is hardly ever shown.
        text = f"{text[: 2 * size]} {text[-2 * size :]}"
    line = " ".join(text.split())
    if len(line) <= size:
        return line
    tail = size // 3
    return f"{line[: size - tail - 3]} … {line[-tail:]}"


def batches(sizes: Sequence[int], limit: int) -> list[range]:
    """Groups neighbours whose sizes add up to at most `limit`; a single one may be larger."""
    found: list[range] = []
    first, total = 0, 0
    for index, size in enumerate(sizes):
        if index > first and total + size > limit:
            found.append(range(first, index))
            first, total = index, 0
        total += size
    return [*found, range(first, len(sizes))] if sizes else []


def is_index(value: JsonValue, among: range) -> TypeGuard[int]:
    """Whether the value is a valid index of an item in the prompt. True is an int in Python, but rejected
    here."""
    return isinstance(value, int) and not isinstance(value, bool) and value in among


# A language model that is called only when there is time for it.


class LlmSwitch:
    """An Llm that passes prompts on, except within `off`. Stored answers remain available."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm
        self._is_off = False

    @property
    def name(self) -> str:
        return self._llm.name

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        """Passes on the prompt. Raises ProviderError as the model does, and immediately while it is off."""
        if self._is_off:
            raise ProviderError("the model has not been called yet")
        return self._llm.complete(prompt, timeout_s=timeout_s, max_tokens=max_tokens)

    @contextmanager
    def off(self) -> Iterator[None]:
        self._is_off = True
        try:
            yield
        finally:
            self._is_off = False
