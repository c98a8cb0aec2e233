"""What arises on the way to an answer, and what those do with it that pass it on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from vault_indexer.model import AnswerSentence, AskAnswer

AskEvent = AskAnswer | AnswerSentence
"""What arises on the way: an answer without sentences yet, then sentences, at last the whole answer. A
sentence of a model may come before the model has ended; the whole answer says which ones it consists of."""


def whole_answer(events: Iterable[AskEvent]) -> AskAnswer:
    """The last of the events."""
    *_, last = events
    assert isinstance(last, AskAnswer)
    return last


def with_notices(
    events: Iterable[AskEvent], before: Sequence[str], after: Callable[[], Sequence[str]]
) -> Iterator[AskEvent]:
    """The events, where each answer has these notices around its own; `after` says what holds then."""
    for event in events:
        if isinstance(event, AskAnswer):
            yield replace(event, notices=(*before, *event.notices, *after()))
        else:
            yield event
