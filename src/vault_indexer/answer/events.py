"""The events that lead to an answer, and functions for callers that forward them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from vault_indexer.model import AnswerSentence, AskAnswer

AskEvent = AskAnswer | AnswerSentence
"""The events in order: an answer without sentences, then sentences, and finally the whole answer. A sentence
of a model may arrive before the model has finished. The whole answer contains the sentences that count."""


def whole_answer(events: Iterable[AskEvent]) -> AskAnswer:
    """Returns the last event."""
    *_, last = events
    assert isinstance(last, AskAnswer)
    return last


def with_notices(
    events: Iterable[AskEvent], before: Sequence[str], after: Callable[[], Sequence[str]]
) -> Iterator[AskEvent]:
    """Yields the events and adds notices before and after those of each answer. `after` is called for each
    answer, so that its notices are current."""
    for event in events:
        if isinstance(event, AskAnswer):
            yield replace(event, notices=(*before, *event.notices, *after()))
        else:
            yield event
