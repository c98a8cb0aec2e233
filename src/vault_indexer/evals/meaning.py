"""Layer 3: whether an answer means what the golden answer means.

Keywords decide first, since a model's vectors hardly change with a number or a negation. Then the cosine of
answer and golden answer: high passes, low fails, and between the two a judge decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError
from vault_indexer.evals.agents import AgentAnswer
from vault_indexer.evals.cases import MeaningExpected
from vault_indexer.evals.judges import Judge
from vault_indexer.evals.results import JudgeUse, Outcome
from vault_indexer.evals.wording import holds

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors

PASSES_FROM = 0.78
REVIEWED_FROM = 0.55
"""Cosines of the index's model. Both are conventions, not measurements: models differ in what they give to
unrelated texts. A case that must not depend on the model names keywords."""

Embed = Callable[[Sequence[str]], "Vectors"]


class MeaningCheck:
    """Checks answers of one run; counts how often a judge was needed and answered. Used by one thread."""

    def __init__(self, embed: Embed, judge: Judge | None) -> None:
        self._embed = embed
        self._judge = judge
        self._reviews = 0
        self._answers = 0

    @property
    def judge_use(self) -> JudgeUse:
        """What the judge had to do so far."""
        return JudgeUse(self._judge.name if self._judge else "none", self._reviews, self._answers)

    def check(self, question: str, expected: MeaningExpected, answer: AgentAnswer) -> Outcome:
        """The outcome for one answer. The verdict is "error" if the judge fails. Raises ProviderError if the
        model of the index does."""
        faults = tuple(_keyword_faults(expected, answer.text))
        if faults:
            return Outcome("fail", None, faults)
        if not answer.text.strip():
            return Outcome("fail", 0.0, ("the answer has no text",))
        vectors = self._embed([expected.golden_answer, answer.text])
        cosine = round(float(vectors[0] @ vectors[1]), 4)
        if cosine >= PASSES_FROM:
            return Outcome("pass", cosine)
        if not cosine >= REVIEWED_FROM:  # so that a cosine that is no number fails, too
            return Outcome("fail", cosine, (f"cosine {cosine:.2f}, below {REVIEWED_FROM}",))
        return self._review(question, expected, answer.text, cosine)

    def _review(self, question: str, expected: MeaningExpected, text: str, cosine: float) -> Outcome:
        self._reviews += 1
        between = f"cosine {cosine:.2f}, between {REVIEWED_FROM} and {PASSES_FROM}"
        if self._judge is None:
            return Outcome("fail", cosine, (f"{between}, and there is no judge",))
        try:
            judgement = self._judge.decide(question, expected.golden_answer, text)
        except ProviderError as error:
            return Outcome("error", cosine, (f"{between}; {error}",))
        self._answers += 1
        said = f"{between}; {self._judge.name} says: {judgement.reason}"
        return Outcome("pass" if judgement.passed else "fail", cosine, (said,))


def _keyword_faults(expected: MeaningExpected, text: str) -> list[str]:
    faults = [
        f"expected_keywords_none: {keyword!r} stands in the answer"
        for keyword in expected.expected_keywords_none
        if holds(text, keyword)
    ]
    wanted = expected.expected_keywords_any
    if wanted and not any(holds(text, keyword) for keyword in wanted):
        faults.append(f"expected_keywords_any: none of {', '.join(map(repr, wanted))} stands in the answer")
    return faults
