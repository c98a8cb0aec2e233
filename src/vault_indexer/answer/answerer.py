"""One question from beginning to end: search, read the passages, quote or write, check."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from vault_indexer.answer.extract import choose_quotes
from vault_indexer.answer.sentences import SentenceReader
from vault_indexer.config import Settings
from vault_indexer.model import (
    AnswerKind,
    AnswerSentence,
    AskAnswer,
    AskRequest,
    Hit,
    IndexState,
    SearchRequest,
    Verdict,
)
from vault_indexer.search import IndexReader, QueryDeadline, QuestionWord, question_words
from vault_indexer.store import Snapshot

AskEvent = AskAnswer | AnswerSentence
"""What arises on the way: an answer without sentences yet, then each checked sentence, at last the whole
answer."""


@dataclass(frozen=True, slots=True)
class Passages:
    """What was found and read for a question. `quotes` is the answer that needs no model."""

    verdict: Verdict
    hits: tuple[Hit, ...]
    words: tuple[QuestionWord, ...]
    quotes: tuple[AnswerSentence, ...]
    state: IndexState
    notices: tuple[str, ...]


class Answerer:
    """Answers questions with one configuration.

    `VaultService` makes it and replaces it when the settings change. `cache` is the folder where answers of
    the language model are kept. Any thread may call any method; the snapshot is leased while passages are
    read, not while a model is asked.
    """

    def __init__(self, settings: Settings, cache: Path) -> None:
        self.settings = settings
        self._cache = cache

    def answer(
        self,
        reader: IndexReader,
        request: AskRequest,
        *,
        vault: Path,
        pending: int,
        is_cancelled: Callable[[], bool],
    ) -> Iterator[AskEvent]:
        """The events of one question; the last one is the whole answer.

        Raises QueryError for a wrong question, QueryTimeoutError or QueryCancelledError where the search is
        ended, ProviderError where a language model is configured and does not answer.
        """
        started = time.perf_counter()
        found = self._read(
            reader, request, vault, pending, QueryDeadline(reader.searcher.deadline_s, is_cancelled)
        )
        first = self._first(request, found)
        yield first
        sentences = found.quotes if first.kind == "quotes" else ()
        yield from sentences
        took_ms = round((time.perf_counter() - started) * 1000, 3)
        yield replace(first, sentences=sentences, took_ms=took_ms)

    def _first(self, request: AskRequest, found: Passages) -> AskAnswer:
        """The answer as far as the search tells: its kind, the passages, the words that no note holds."""
        return AskAnswer(
            question=request.question,
            kind=_kind(found),
            verdict=found.verdict,
            sentences=(),
            dropped=(),
            passages=() if found.verdict == "none" else found.hits,
            missing_words=tuple(
                dict.fromkeys(word.word for word in found.words if word.weight and not word.is_known)
            ),
            model="",
            took_ms=0.0,
            index=found.state,
            notices=found.notices,
        )

    def _read(
        self, reader: IndexReader, request: AskRequest, vault: Path, pending: int, deadline: QueryDeadline
    ) -> Passages:
        limit = request.limit or self.settings.ask.limit
        with reader.holder.lease() as snapshot:
            result = reader.searcher.search(
                snapshot, SearchRequest(request.question, limit), deadline, vault=vault
            )
            words = question_words(snapshot, request.question, reader.searcher.fields)
            quotes: tuple[AnswerSentence, ...] = ()
            if result.verdict in ("strong", "likely"):
                quotes = self._quotes(snapshot, result.hits, words)
            state = IndexState(snapshot.generation, snapshot.seq, pending)
        return Passages(result.verdict, result.hits, words, quotes, state, result.notices)

    def _quotes(
        self, snapshot: Snapshot, hits: tuple[Hit, ...], words: tuple[QuestionWord, ...]
    ) -> tuple[AnswerSentence, ...]:
        reading = SentenceReader(snapshot.catalog)
        chosen = choose_quotes(reading.of_hits(hits), hits, words, self.settings.ask.sentences)
        return tuple(AnswerSentence(one.quote, (reading.cite(one),), "quoted") for one in chosen)


def _kind(found: Passages) -> AnswerKind:
    if found.verdict == "none":
        return "declined"
    return "quotes" if found.quotes else "passages"
