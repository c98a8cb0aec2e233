"""An answer that a language model writes: asked for twice at most, and checked sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vault_indexer.answer.prompt import (
    VERSION,
    Offer,
    Reading,
    judge_prompt,
    prompt_for,
    read_claims,
    read_judgement,
)
from vault_indexer.answer.verify import Claim, Evidence, objection
from vault_indexer.chunk import Asker, Question, UnusableAnswerError
from vault_indexer.config.ask import AskSettings
from vault_indexer.errors import ProviderError
from vault_indexer.model import AnswerSentence
from vault_indexer.ports import Llm

Read = TypeVar("Read")

_TRIES = 2


@dataclass(frozen=True, slots=True)
class Writer:
    """Has one model write answers. `cache` is the folder where its answers are kept, by prompt and model."""

    llm: Llm
    asker: Asker
    settings: AskSettings

    @classmethod
    def of(cls, llm: Llm, cache: Path, settings: AskSettings) -> Writer:
        """A writer with a cache of its own."""
        return cls(llm, Asker(llm, cache), settings)

    def write(
        self, question: str, readings: Sequence[Reading], check_cancelled: Callable[[], None]
    ) -> Iterator[AnswerSentence]:
        """The sentences of the model in order, each confirmed or dropped.

        Raises ProviderError where the model does not answer, UnusableAnswerError where it twice gave no
        answer of the form required.
        """
        offers = {one.id: one for reading in readings for one in reading.offers}
        evidence = {name: _evidence(one) for name, one in offers.items()}
        claims = self._ask("ask", prompt_for(question, readings), read_claims, check_cancelled)
        for claim in claims:
            check_cancelled()
            yield self._checked(claim, offers, evidence, check_cancelled)

    def _checked(
        self,
        claim: Claim,
        offers: dict[str, Offer],
        evidence: dict[str, Evidence],
        check_cancelled: Callable[[], None],
    ) -> AnswerSentence:
        citations = tuple(offers[one].citation for one in claim.ids if one in offers)
        reason = objection(claim, evidence)
        if not reason and self.settings.judge:
            reason = self._judged(claim, [evidence[one].quote for one in claim.ids], check_cancelled)
        return AnswerSentence(claim.text, citations, "dropped" if reason else "confirmed", reason)

    def _judged(self, claim: Claim, quotes: list[str], check_cancelled: Callable[[], None]) -> str:
        try:
            agreed = self._ask("judge", judge_prompt(claim.text, quotes), read_judgement, check_cancelled)
        except UnusableAnswerError:
            return "the judge gave no verdict"
        return "" if agreed else "the judge does not find it in what it cites"

    def _ask(
        self, task: str, prompt: str, read: Callable[[str], Read], check_cancelled: Callable[[], None]
    ) -> Read:
        """What `read` makes of the answer, asked for twice at most."""
        question = Question(task, VERSION, prompt, self.settings.timeout_s)
        for _ in range(_TRIES - 1):
            check_cancelled()
            try:
                return self.asker.ask(question, read)
            except (ProviderError, UnusableAnswerError):
                continue
        check_cancelled()
        return self.asker.ask(question, read)


def _evidence(offer: Offer) -> Evidence:
    citation = offer.citation
    heading = f"{citation.title} {citation.header_path}"
    return Evidence(citation.quote, offer.sentence.readable, heading, offer.sentence.note.row.language)
