"""Answers one question: searches, reads the passages, quotes or writes, and checks."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from vault_indexer.answer.asked_kind import AskedKind
from vault_indexer.answer.events import AskEvent
from vault_indexer.answer.evidence import Question
from vault_indexer.answer.extract import choose_quotes, is_supported
from vault_indexer.answer.prompt import (
    INSTRUCTIONS_TOKENS,
    CitableSentence,
    PromptPassage,
    prompt_for,
    within_budget,
)
from vault_indexer.answer.quotable import below_heading, quotable, shown_text
from vault_indexer.answer.sentences import SentenceReader
from vault_indexer.answer.written import StreamOptions, Writer
from vault_indexer.chunk import UnusableAnswerError
from vault_indexer.config import Settings
from vault_indexer.config.settings import LlmSettings
from vault_indexer.errors import ProviderError
from vault_indexer.model import (
    AnswerKind,
    AnswerSentence,
    AskAnswer,
    AskRequest,
    Hit,
    IndexState,
    JsonValue,
    SearchRequest,
    Verdict,
)
from vault_indexer.parse import fold_name, join_properties
from vault_indexer.patterns import GitignorePatterns
from vault_indexer.ports import StreamingLlm
from vault_indexer.providers import llm_for
from vault_indexer.search import FoundPassages, QuestionWord, question_as_query, unknown_words
from vault_indexer.system import record

_PROPERTY = re.compile(r"\[([^\]:]+)(?::([^\]]*))?\]")


@record
class NeverSend:
    """The notes of `ask.never_send`, given by path or by property. Any thread may call its methods."""

    paths: GitignorePatterns
    properties: tuple[tuple[str, str | None], ...]

    @classmethod
    def from_entries(cls, entries: Iterable[str]) -> NeverSend:
        """Creates an instance from patterns as in .gitignore, `[property]` and `[property:value]`."""
        entries = tuple(entries)
        properties = [match for entry in entries if (match := _PROPERTY.fullmatch(entry))]
        paths = [entry for entry in entries if not _PROPERTY.fullmatch(entry)]
        return cls(
            GitignorePatterns(paths),
            tuple((match[1].strip().casefold(), _plain(match[2])) for match in properties),
        )

    def covers(self, hit: Hit) -> bool:
        """Whether the note of the hit must not be sent to models. `[property]` covers every value except
        false."""
        if self.paths.selects(hit.path):
            return True
        properties = join_properties(hit.frontmatter, hit.fields)
        values = {name.casefold(): value for name, value in properties.items()}
        return any(
            key in values and _agrees(values[key], wanted)
            for name, wanted in self.properties
            for key in (name, fold_name(name))
        )


def _agrees(value: JsonValue, wanted: str | None) -> bool:
    if wanted is None:
        return value is not False
    elements = value if isinstance(value, list) else [value]
    return any(_plain(str(element)) == wanted for element in elements)


def _plain(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split()).casefold()


class PassageSource(Protocol):
    """The source of the passages."""

    def passages(self, request: SearchRequest) -> AbstractContextManager[FoundPassages]:
        """Returns the hits for a question, which can be read during the block."""
        ...


@record
class Passages:
    """The results for a question. `quotes` is the answer without a model, and `passages` are the input of a
    model. `is_declined` is true if nothing answers the question, although there may be hits on a similar
    topic."""

    verdict: Verdict
    hits: tuple[Hit, ...]
    words: tuple[QuestionWord, ...]
    quotes: tuple[AnswerSentence, ...]
    passages: tuple[PromptPassage, ...]
    is_declined: bool
    state: IndexState
    notices: tuple[str, ...]


class Answerer:
    """Answers questions with one configuration.

    `VaultService` creates it and replaces it when the settings change. `cache` is the folder for the answers
    of the language model, or None for no cache. Any thread may call any method. The snapshot is leased while
    passages are read, but not while the model answers. `make_llm` creates the client of the model for the
    first question that needs it.
    """

    def __init__(
        self,
        settings: Settings,
        cache: Path | None,
        make_llm: Callable[[LlmSettings], StreamingLlm] = llm_for,
    ) -> None:
        self.settings = settings
        self._cache = cache
        self._make_llm = make_llm
        self._writer: Writer | None = None
        self._never_send = NeverSend.from_entries(settings.ask.never_send)

    def answer_from(
        self, source: PassageSource, request: AskRequest, is_cancelled: Callable[[], bool]
    ) -> Iterator[AskEvent]:
        """Yields the events of one question. The last one is the whole answer.

        Raises QueryError for an invalid question, QueryTimeoutError or QueryCancelledError if the search is
        stopped, and ProviderError if the configured language model cannot be used at all.
        """
        started = time.perf_counter()
        is_written = request.use_model and self.settings.llm.provider != "none"
        writer = self._writer_for() if is_written and not request.show_prompt else None
        found = self._read(source, request, is_written=is_written)
        answer = _first_answer(request, found)
        yield answer
        if request.show_prompt and found.passages:
            answer = replace(answer, prompt=prompt_for(request.question, found.passages))
        if writer is not None and found.passages:
            for event in _written(writer, request, found, answer, is_cancelled):
                if isinstance(event, AskAnswer):
                    answer = event
                else:
                    yield event
        if answer.kind == "quotes":
            yield from found.quotes
            answer = replace(answer, sentences=found.quotes)
        yield replace(answer, took_ms=round((time.perf_counter() - started) * 1000, 3))

    def _writer_for(self) -> Writer:
        """Returns the writer for the configured model. Raises ProviderError."""
        if self._writer is None:
            self._writer = Writer.of(self._make_llm(self.settings.llm), self._cache, self.settings.ask)
        return self._writer

    def _read(self, source: PassageSource, request: AskRequest, *, is_written: bool) -> Passages:
        limit = request.limit or self.settings.ask.limit
        question = question_as_query(request.question)
        search = SearchRequest(question, limit, expand="section_or_window" if is_written else "")
        with source.passages(search) as found:
            result, words = found.result, found.words
            hits = result.hits[:limit]  # a search may find several passages in a note
            verdict = found.state.restrict(result.verdict)
            passages: tuple[PromptPassage, ...] = ()
            reader = SentenceReader(found.catalogs)
            sentences = quotable(reader.of_hits(_narrow(hits)))
            below = filter(None, map(below_heading, reader.headings_of(hits)))
            offered = [*reader.properties_of(hits), *below, *sentences]
            kind = AskedKind.read(question)
            asked = Question(kind, words, {hit.title for hit in hits})
            chosen = choose_quotes(offered, hits, asked, self.settings.ask.sentences)
            quotes = tuple(
                AnswerSentence(shown_text(sentence), reader.citations(sentence), "quoted")
                for sentence in chosen
            )
            is_declined = not quotes and (
                result.verdict == "none"
                or (result.verdict == "weak" and not is_supported(sentences, hits, words))
            )
            if is_written and result.verdict in ("strong", "likely"):
                passages = self._passages(reader, hits)
        is_declined = is_declined and not found.state.missing  # a vault that is not ready may have the answer
        # No note needs the words of "how much does it cost", and a notice names the corrected ones.
        corrected = {correction.written for correction in result.corrections}
        words = tuple(
            word for word in words if word.terms.isdisjoint(kind.implied) and word.word not in corrected
        )
        return Passages(verdict, hits, words, quotes, passages, is_declined, found.state, result.notices)

    def _passages(self, reader: SentenceReader, hits: Sequence[Hit]) -> tuple[PromptPassage, ...]:
        """Returns the passages that fit into the prompt, with numbered sentences. Hits with a low relevance
        and notes that must not be sent are left out."""
        least = self.settings.ask.min_relevance
        hits = [hit for hit in hits if hit.relevance >= least and not self._never_send.covers(hit)]
        llm = self.settings.llm
        room = llm.context_window - llm.max_tokens - INSTRUCTIONS_TOKENS
        chosen = within_budget(hits, reader.of_hits(hits), min(self.settings.ask.max_tokens, room))
        number = itertools.count(1)
        return tuple(
            PromptPassage(
                hit,
                reader.preamble(hit),
                tuple(
                    CitableSentence(f"s{next(number)}", sentence, reader.cite(sentence))
                    for sentence in sentences
                ),
            )
            for hit, sentences in chosen
        )


def _narrow(hits: Sequence[Hit]) -> list[Hit]:
    return [replace(hit, passage=None) for hit in hits]


def _first_answer(request: AskRequest, found: Passages) -> AskAnswer:
    """Returns the answer as far as the search determines it: its kind, the passages, and the missing
    words."""
    return AskAnswer(
        question=request.question,
        kind=_kind(found),
        verdict=found.verdict,
        sentences=(),
        dropped=(),
        passages=found.hits,
        missing_words=unknown_words(found.words),
        model="",
        took_ms=0.0,
        index=found.state,
        notices=found.notices,
    )


def _kind(found: Passages) -> AnswerKind:
    if found.is_declined:
        return "declined"
    return "quotes" if found.quotes else "passages"


def _written(
    writer: Writer, request: AskRequest, found: Passages, answer: AskAnswer, is_cancelled: Callable[[], bool]
) -> Iterator[AskEvent]:
    """Yields each sentence of the model that passes the check as it arrives, then the answer. That is the
    written one, or `answer` if the model fails or fewer than half of the sentences pass. Raises
    QueryCancelledError."""
    stream = StreamOptions(is_cancelled, request.as_written)
    try:
        sentences = yield from writer.write(request.question, found.passages, stream)
    except UnusableAnswerError as error:
        yield _not_written(answer, found, f"the language model gave no usable answer ({error})")
        return
    except ProviderError as error:
        yield _not_written(answer, found, str(error))
        return
    passed = tuple(sentence for sentence in sentences if sentence.verdict != "dropped")
    dropped = tuple(sentence for sentence in sentences if sentence.verdict == "dropped")
    answer = replace(answer, dropped=dropped)
    if not sentences:
        yield _not_written(answer, found, "the language model finds no answer in the passages")
    elif 2 * len(passed) < len(sentences):
        support = f"the notes support {len(passed)} of {len(sentences)} sentences of the language model"
        yield _not_written(answer, found, support)
    else:
        yield replace(answer, kind="written", sentences=passed, model=writer.llm.name)


def _not_written(answer: AskAnswer, found: Passages, why: str) -> AskAnswer:
    instead = "notes are quoted" if found.quotes else "the passages are shown"
    return replace(answer, notices=(*answer.notices, f"{why}: {instead}"))
