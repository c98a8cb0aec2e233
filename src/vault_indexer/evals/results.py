"""What a run found: the result of each case, the report of the suite, and what changed since another run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, cast

from vault_indexer.errors import UsageError
from vault_indexer.evals.cases import GoldenCase, Layer
from vault_indexer.model import JsonValue

CaseVerdict = Literal["pass", "fail", "skip", "error"]
"""What is expected holds; it does not; the case is about another vault; it could not be decided."""

VERDICTS: tuple[CaseVerdict, ...] = ("pass", "skip", "fail", "error")
"""From the best to the worst."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the check of a layer found; the fields are those of LayerResult."""

    verdict: CaseVerdict
    score: float | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LayerResult:
    """The result of one case. `score`, in [0, 1], is the part of its checks that held, or in layer 3 the
    cosine; None where nothing was computed. `reasons` say what did not hold, and what a reader should know of
    what did."""

    case_id: str
    layer: Layer
    verdict: CaseVerdict
    score: float | None
    reasons: tuple[str, ...]
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases had which verdict."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    errors: int = 0

    @classmethod
    def of(cls, results: Iterable[LayerResult]) -> Counts:
        """The counts of these results."""
        found = Counter(result.verdict for result in results)
        return cls(found["pass"], found["fail"], found["skip"], found["error"])

    @property
    def total(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.skipped + self.errors


@dataclass(frozen=True, slots=True)
class JudgeUse:
    """The judge that a run had, how many answers were to be reviewed, and how often it answered.

    `answers` below `reviews`: it failed, or there is none.
    """

    name: str
    reviews: int
    answers: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The counts of a run, in all and by group. `skip_reasons` counts cases by why they were skipped."""

    counts: Counts
    by_layer: Mapping[str, Counts]
    by_agent: Mapping[str, Counts]
    by_language: Mapping[str, Counts]
    skip_reasons: Mapping[str, int]
    judge: JudgeUse
    live: bool = False

    @property
    def nothing_ran(self) -> bool:
        """Whether every case was skipped: such a run shows nothing, so it must not look like a success."""
        return self.counts.total == self.counts.skipped


@dataclass(frozen=True, slots=True)
class BaselineDiff:
    """What changed since an earlier run, as ids of cases.

    `newly_failing` did not fail then and do now, `fixed` the other way round. `now_skipped` were not skipped
    then and are now. `removed` are no longer among the cases, `added` were not then.
    """

    baseline: str
    newly_failing: tuple[str, ...]
    fixed: tuple[str, ...]
    now_skipped: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """A run. Times are UTC, ISO 8601. `diff_vs_baseline` is None where no baseline was given."""

    started_at: str
    finished_at: str
    layers_run: tuple[Layer, ...]
    results: tuple[LayerResult, ...]
    summary: Summary
    diff_vs_baseline: BaselineDiff | None = None

    @property
    def failures(self) -> tuple[LayerResult, ...]:
        """The results that are no success: failures, then errors."""
        return tuple(result for result in self.results if result.verdict in ("fail", "error"))

    @property
    def exit_status(self) -> int:
        """1 if a case failed or could not be decided, or if none was run at all; else 0."""
        return 1 if self.failures or self.summary.nothing_ran else 0

    def as_json(self) -> Mapping[str, JsonValue]:
        """The report as JSON values; `Baseline.read` reads it."""
        return cast("Mapping[str, JsonValue]", asdict(self))


@dataclass(frozen=True, slots=True)
class Baseline:
    """The verdicts of an earlier run, by id of the case; `name` is its file."""

    name: str
    verdicts: Mapping[str, CaseVerdict]

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """The run that a JSON report tells of. Raises UsageError naming the file."""
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            verdicts = {str(one["case_id"]): one["verdict"] for one in data["results"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"baseline {file}: not a JSON report of `indexer eval run`: {error}") from error
        odd = sorted({str(verdict) for verdict in verdicts.values()} - set(VERDICTS))
        if odd:
            raise UsageError(f"baseline {file}: verdict {odd[0]!r}: allowed are {', '.join(VERDICTS)}")
        return cls(str(file), verdicts)

    def diff(self, results: Sequence[LayerResult], known: Collection[str]) -> BaselineDiff:
        """What changed since. `known` are the ids of all cases that there are now, run or not."""
        newly_failing, fixed, now_skipped, added = [], [], [], []
        for result in results:
            before = self.verdicts.get(result.case_id)
            if before is None:
                added.append(result.case_id)
            elif result.verdict == "skip":
                now_skipped += [result.case_id] if before != "skip" else []
            elif _fails(result.verdict) and not _fails(before):
                newly_failing.append(result.case_id)
            elif _fails(before) and not _fails(result.verdict):
                fixed.append(result.case_id)
        removed = sorted(self.verdicts.keys() - set(known))
        return BaselineDiff(
            self.name, tuple(newly_failing), tuple(fixed), tuple(now_skipped), tuple(removed), tuple(added)
        )


def worst(verdicts: Iterable[CaseVerdict]) -> CaseVerdict:
    """The verdict of a case from those of its checks: a skip hides no failure, and a failure no error."""
    return max(verdicts, key=VERDICTS.index, default="pass")


def summarize(
    cases: Sequence[GoldenCase], results: Sequence[LayerResult], judge: JudgeUse, *, live: bool
) -> Summary:
    """The counts of the results of these cases, which are in the same order."""
    pairs = list(zip(cases, results, strict=True))
    skips = Counter(reason for result in results if result.verdict == "skip" for reason in result.reasons)
    return Summary(
        Counts.of(results),
        _counts_by([(f"L{case.layer}", result) for case, result in pairs]),
        _counts_by([(case.agent, result) for case, result in pairs]),
        _counts_by([(case.language, result) for case, result in pairs if case.language]),
        dict(sorted(skips.items())),
        judge,
        live,
    )


def _counts_by(pairs: Sequence[tuple[str, LayerResult]]) -> Mapping[str, Counts]:
    groups = sorted({group for group, _ in pairs})
    return {group: Counts.of(result for name, result in pairs if name == group) for group in groups}


def _fails(verdict: CaseVerdict) -> bool:
    return verdict in ("fail", "error")
