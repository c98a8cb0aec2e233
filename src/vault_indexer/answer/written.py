"""Answers written by a language model. They are requested at most twice, and checked sentence by sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TypeVar

from vault_indexer.answer.check import Claim, Evidence, Finding, check_claim
from vault_indexer.answer.prompt import (
    MOST_CLAIMS,
    VERSION,
    CitableSentence,
    PromptPassage,
    claim_of,
    judge_prompt,
    prompt_for,
    read_claims,
    read_judgement,
)
from vault_indexer.chunk import Asker, Question, UnusableAnswerError, return_value, without_thoughts
from vault_indexer.config.settings import AskSettings
from vault_indexer.errors import ProviderError, QueryCancelledError
from vault_indexer.model import AnswerSentence
from vault_indexer.ports import StreamingLlm
from vault_indexer.system import record

_BEGINNING = re.compile(r'[^{]*\{\s*"sentences"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


class ClaimStream:
    """Reads an answer piece by piece. It returns a sentence as soon as its JSON object is complete. After a
    deviation from the form in `prompt` it returns no more sentences, and the whole answer decides."""

    def __init__(self) -> None:
        self._text = ""
        self._at: int | None = None
        self._found = 0
        self._is_over = False

    def feed(self, piece: str) -> list[Claim]:
        self._text += piece
        if self._at is None and "[" in piece:
            self._begin()
        if self._at is None or self._is_over or "}" not in piece:
            return []
        claims = []
        while (claim := self._next(self._at)) is not None:
            claims.append(claim)
        return claims

    def _begin(self) -> None:
        """Finds the beginning of the list of sentences, after the model's reasoning."""
        text = without_thoughts(self._text)
        if beginning := _BEGINNING.match(text):
            self._text, self._at = text, beginning.end()

    def _next(self, at: int) -> Claim | None:
        """Returns the sentence that begins at `at` if it is complete."""
        between = _BETWEEN.match(self._text, at)
        start = between.end() if between else at
        if start == len(self._text):
            return None
        if self._text[start] != "{" or self._found == MOST_CLAIMS:
            self._is_over = True
            return None
        try:
            value, self._at = _DECODER.raw_decode(self._text, start)
            self._found += 1
            return claim_of(value)
        except json.JSONDecodeError:
            return None  # not complete yet
        except (UnusableAnswerError, RecursionError):
            self._is_over = True
            return None


_TRIES = 2

Item = TypeVar("Item")
Found = TypeVar("Found")


@record
class StreamOptions:
    """The options of the caller. `is_cancelled` returns True if the caller no longer waits for the answer.
    With `as_written` each sentence is returned as soon as the model has written it."""

    is_cancelled: Callable[[], bool]
    as_written: bool

    def check(self) -> None:
        """Raises QueryCancelledError if the caller no longer waits."""
        if self.is_cancelled():
            raise QueryCancelledError("the caller no longer waits for the answer")


@record
class Writer:
    """Requests answers from one model and checks them."""

    llm: StreamingLlm
    asker: Asker
    settings: AskSettings

    @classmethod
    def of(cls, llm: StreamingLlm, cache: Path | None, settings: AskSettings) -> Writer:
        """Creates a writer. `cache` is the folder for its answers, by prompt and model, or None for no
        cache."""
        return cls(llm, Asker(llm, cache, pause_s=0.0), settings)

    def write(
        self, question: str, passages: Sequence[PromptPassage], stream: StreamOptions
    ) -> Generator[AnswerSentence, None, list[AnswerSentence]]:
        """Yields each sentence that passes the check, and returns all in order, including the dropped ones.

        A yielded sentence counts only if it is also returned, because the model may stop, or end in another
        form, after a correct sentence. Raises ProviderError if the model does not answer, and
        UnusableAnswerError if its answer does not have the required form twice.
        """
        prompt = prompt_for(question, passages)
        checked = _CheckedClaims(self, {one.id: one for passage in passages for one in passage.citable})
        return (yield from _retried(lambda: self._written_once(prompt, checked, stream)))

    def _written_once(
        self, prompt: str, checked: _CheckedClaims, stream: StreamOptions
    ) -> Generator[AnswerSentence, None, list[AnswerSentence]]:
        stream.check()
        question = Question("ask", VERSION, prompt, self.settings.timeout_s)
        claim_stream, answer = ClaimStream(), ""
        for piece in self.asker.listen(question, read_claims, partial(self._pieces, prompt, stream)):
            answer += piece
            for claim in claim_stream.feed(piece):
                yield from checked.new(claim, stream)
        claims = read_claims(answer)
        for claim in claims:
            yield from checked.new(claim, stream)
        return [checked.known[claim] for claim in claims]

    def _pieces(self, prompt: str, stream: StreamOptions) -> Iterator[str]:
        return self.llm.pieces(
            prompt,
            timeout_s=self.settings.timeout_s,
            is_cancelled=stream.is_cancelled,
            as_written=stream.as_written,
        )

    def judged(self, claim: Claim, quotes: list[str], stream: StreamOptions) -> str:
        """Returns the reason if the judge rejects the sentence, otherwise "". Raises ProviderError."""
        prompt = judge_prompt(claim.text, quotes)
        whole = StreamOptions(stream.is_cancelled, as_written=False)
        try:
            agreed = return_value(_retried(lambda: self._judged_once(prompt, whole)))
        except UnusableAnswerError:
            return "the judge gave no verdict"
        return "" if agreed else "the judge does not find it in what it cites"

    def _judged_once(self, prompt: str, stream: StreamOptions) -> Generator[str, None, bool]:
        question = Question("judge", VERSION, prompt, self.settings.timeout_s)
        pieces = partial(self._pieces, prompt, stream)
        return (yield from self.asker.listen(question, read_judgement, pieces))


@record
class _CheckedClaims:
    """The checked sentences of one question. Each is checked once, and `known` contains the results."""

    writer: Writer
    citable: Mapping[str, CitableSentence]
    known: dict[Claim, AnswerSentence] = field(default_factory=dict)

    def new(self, claim: Claim, stream: StreamOptions) -> Iterator[AnswerSentence]:
        """Yields the sentence if it passes the check and was not checked before."""
        if claim in self.known:
            return
        stream.check()
        sentence = self.known[claim] = self._checked(claim, stream)
        if sentence.verdict != "dropped":
            yield sentence

    def _checked(self, claim: Claim, stream: StreamOptions) -> AnswerSentence:
        cited = {one: self.citable[one] for one in claim.ids if one in self.citable}
        evidence = {name: _evidence(one) for name, one in cited.items()}
        finding = check_claim(claim, evidence)
        if finding.verdict != "dropped" and self.writer.settings.judge:
            quotes = [evidence[one].quote for one in claim.ids]
            if reason := self.writer.judged(claim, quotes, stream):
                finding = Finding.dropped(reason)
        citations = tuple(one.citation for one in cited.values())
        return AnswerSentence(claim.text, citations, finding.verdict, finding.reason, finding.unchecked)


def _retried(attempt: Callable[[], Generator[Item, None, Found]]) -> Generator[Item, None, Found]:
    """Runs the attempt, and repeats it once if it fails. Raises the exception of the last attempt."""
    for _ in range(_TRIES - 1):
        try:
            return (yield from attempt())
        except (ProviderError, UnusableAnswerError):
            continue
    return (yield from attempt())


def _evidence(citable_sentence: CitableSentence) -> Evidence:
    citation = citable_sentence.citation
    heading = f"{citation.title} {citation.header_path}"
    return Evidence(
        citation.quote,
        citable_sentence.sentence.readable,
        heading,
        citable_sentence.sentence.note.row.language,
    )
