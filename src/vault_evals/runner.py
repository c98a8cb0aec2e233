"""One run of a suite, from the folder of cases to the report."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from vault_evals import BUILT_IN_AGENTS
from vault_evals.agents import AgentAnswer, Agents, EvalService, OwnAgents, ServiceAgents
from vault_evals.cases import (
    LAYERS,
    CitationsExpected,
    GoldenCase,
    Layer,
    MeaningExpected,
    StructureExpected,
    load_cases,
)
from vault_evals.citations import IndexedNotes, NoteSource, VaultFiles, check_citations
from vault_evals.meaning import Judge, MeaningCheck, bounds_of
from vault_evals.pages import Fetcher, LivePages, MissingSnapshotError, PageSnapshots, PageSource
from vault_evals.results import Baseline, Check, LayerResult, Outcome, SuiteReport, outcome_of, summarize
from vault_evals.wording import holds
from vault_indexer.config.settings import FilesSettings
from vault_indexer.documents import part_name, part_spans
from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.links import note_hint
from vault_indexer.system import record
from vault_indexer.text.phrases import iso_moment

# Layer 1: whether an answer has the expected shape: findings, their sources, their order.


_SHOWN_PATHS = 5


def check_structure(expected: StructureExpected, answer: AgentAnswer) -> Outcome:
    return outcome_of(list(_checks(expected, answer)))


def _checks(expected: StructureExpected, answer: AgentAnswer) -> Iterator[Check]:
    ranks = _ranks(answer)
    shown = _shown(list(dict.fromkeys(finding.place for finding in answer.findings)))
    found = len(answer.findings)
    if expected.min_findings is not None:
        enough = found >= expected.min_findings
        yield Check(enough, f"min_findings: {found} of at least {expected.min_findings}")
    for source in expected.must_have_source:
        yield Check(_same_form(source) in ranks, f"must_have_source: {source} is not in {shown}")
    if expected.sources_in_order:
        yield _in_order(expected.sources_in_order, ranks, shown)
    if expected.must_have_citation:
        cites = bool(answer.citations or answer.sources)
        yield Check(cites, "must_have_citation: the answer cites nothing")
    for keyword in expected.forbidden_keywords_in_findings:
        yield _forbidden(keyword, answer)
    top = expected.expected_in_top_k or found
    for path in expected.expected_paths:
        rank = ranks.get(_same_form(path), 0)
        where = f"is note {rank}, expected among the first {top}" if rank else f"is not in {shown}"
        yield Check(0 < rank <= top, f"expected_paths: {path} {where}")
    if expected.expected_empty:
        empty = answer.declined or not answer.findings
        yield Check(empty, f"expected_empty: found {shown}")


def _ranks(answer: AgentAnswer) -> dict[str, int]:
    """The rank of each note, and of each part of a document that is found: a note counts once."""
    notes = {_same_form(path): rank for rank, path in enumerate(answer.paths, start=1)}
    parts = {_same_form(one.place): notes[_same_form(one.path)] for one in answer.findings}
    return parts | notes


def _in_order(sources: Sequence[str], ranks: Mapping[str, int], shown: str) -> Check:
    missing = [source for source in sources if _same_form(source) not in ranks]
    if missing:
        return Check(False, f"sources_in_order: {', '.join(missing)} not in {shown}")
    places = [ranks[_same_form(source)] for source in sources]
    at = ", ".join(f"{source} at {place}" for source, place in zip(sources, places, strict=True))
    return Check(places == sorted(set(places)), f"sources_in_order: {at}")


def _forbidden(keyword: str, answer: AgentAnswer) -> Check:
    where = [finding.path for finding in answer.findings if holds(finding.text, keyword)]
    return Check(not where, f"forbidden_keywords_in_findings: {keyword!r} occurs in {_shown(where)}")


def _shown(paths: Sequence[str]) -> str:
    more = len(paths) - _SHOWN_PATHS
    return ", ".join(paths[:_SHOWN_PATHS]) + (f" and {more} more" if more > 0 else "") or "nothing"


def _same_form(path: str) -> str:
    return unicodedata.normalize("NFC", path)


Report = Callable[[int, int, str], None]
"""Called before each case with the number of finished cases, their total, and the case's id."""

SNAPSHOTS = "snapshots"
"""The folder of snapshots within a folder of cases, unless another one is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """The options of a suite.

    Only cases of these `agents` (empty: all) are run. `live`: citations are checked against the current
    files, and pages are fetched by `fetch`; without it, against the index and the pages of `snapshots` (None:
    the folder `snapshots` of the cases), and no network is used. `files` defines which files are notes.
    `judge` decides answers that the cosine does not. `baseline` is an earlier run to compare with.
    `own_agents` maps the names in cases to functions of the user; without `asks_own_agents` their cases
    cannot be decided. `may_read` selects the files of cases and snapshots that may be read. A case that cites
    a page without a snapshot cannot be decided, or is skipped with `skip_missing_snapshots`.
    """

    agents: Collection[str] = ()
    live: bool = False
    fetch: Fetcher | None = None
    files: FilesSettings = field(default_factory=FilesSettings)
    snapshots: Path | None = None
    judge: Judge | None = None
    baseline: Baseline | None = None
    own_agents: Mapping[str, str] = field(default_factory=dict)
    asks_own_agents: bool = True
    may_read: Callable[[Path], bool] = lambda _file: True
    skip_missing_snapshots: bool = False


DEFAULT_OPTIONS = SuiteOptions()


def run_suite(
    service: EvalService,
    cases_folder: Path,
    *,
    layers: Collection[Layer] = LAYERS,
    options: SuiteOptions = DEFAULT_OPTIONS,
    agents: Agents | None = None,
    report: Report = lambda _done, _total, _case: None,
) -> SuiteReport:
    """Runs the cases of these layers of a folder against an index.

    `service` provides the notes and the model of the index. `agents` answers the questions; without it, the
    service does. An error of one case is the verdict of that case and does not end the run. Raises UsageError
    for a folder of cases that is not valid, for a case that expects a note that does not exist, or if no case
    is left to run; VaultIndexerError if the index cannot be read.
    """
    cases = load_cases(cases_folder, options.own_agents, options.may_read)
    chosen = select_cases(cases, layers, options.agents)
    started_at = _now()
    vault = Path(service.status().vault)
    _check_notes([case for case in chosen if case.vault in ("", vault.name)], vault, service)
    notes, pages = sources(service, vault, cases_folder, options)
    model = service.status().manifest.get("embedding_model")
    name = str(model.get("provider", "")) if isinstance(model, dict) else ""
    meaning = MeaningCheck(service.embed, options.judge, bounds_of(name))
    own = {case.agent: options.own_agents[case.agent] for case in chosen if case.agent in options.own_agents}
    others = agents or ServiceAgents(service)
    asked = OwnAgents(own, others) if options.asks_own_agents else others
    runner = _Runner(asked, notes, pages, meaning, vault.name, options.skip_missing_snapshots)
    results = []
    for done, case in enumerate(chosen):
        report(done, len(chosen), case.id)
        results.append(runner.run(case))
    summary = summarize(chosen, results, meaning.judge_use, live=options.live)
    known = {case.id for case in cases}
    diff = options.baseline.diff(results, known) if options.baseline else None
    layers_run = tuple(layer for layer in LAYERS if layer in layers)
    return SuiteReport(started_at, _now(), layers_run, tuple(results), summary, diff)


def _check_notes(cases: Iterable[GoldenCase], vault: Path, service: EvalService) -> None:
    """Raises UsageError, naming every key at fault, if cases of built-in agents expect notes or parts of
    documents that do not exist. An expected citation is not checked here: its note may have moved, which
    `eval drift` finds."""
    notes = service.note_paths()
    known = {_same_form(note): note for note in notes}
    problems = []
    for case in cases:
        expected = case.expected
        if case.agent not in BUILT_IN_AGENTS or not isinstance(expected, StructureExpected):
            continue
        for key in ("must_have_source", "sources_in_order", "expected_paths"):
            for path in getattr(expected, key):
                if _same_form(path) in known or (vault / path).is_file():
                    continue
                note, _, part = path.rpartition("#")
                hint, reason = "", "no such note in the index"
                if document := known.get(_same_form(note)):
                    reason = _part_fault(document, part, service)
                else:
                    hint = note_hint(note or path, notes)
                if reason:
                    problems.append(f"{case.file}: expected.{key}: {reason}: {path!r}{hint}")
    if problems:
        raise UsageError("\n".join(problems))


def _part_fault(document: str, part: str, service: EvalService) -> str:
    """Why a document has no part such as `page=3`; "" if it has it."""
    name = part_name(document)
    if not name:
        return "only pages, slides, sheets and other parts of documents can follow a #"
    most = sum(1 for _ in part_spans(service.indexed_text(document)))
    number = re.fullmatch(rf"{re.escape(name)}=([1-9][0-9]{{0,5}})", part)
    return "" if number and int(number[1]) <= most else f"allowed are #{name}=1 to #{name}={most}"


def select_cases(
    cases: Sequence[GoldenCase], layers: Collection[Layer], agents: Collection[str]
) -> tuple[GoldenCase, ...]:
    """The cases of these layers and agents (empty: all). Raises UsageError if none is left."""
    chosen = tuple(case for case in cases if case.layer in layers and (not agents or case.agent in agents))
    if not chosen:
        wanted = f"layer {', '.join(map(str, layers))}" + (f", agent {', '.join(agents)}" if agents else "")
        raise UsageError(f"no case of {wanted}: there are {len(cases)} others")
    return chosen


def sources(
    service: EvalService, vault: Path, cases_folder: Path, options: SuiteOptions
) -> tuple[NoteSource, PageSource]:
    """The sources of citations: the current files and pages, or the index and the snapshots. Never both: a
    citation missing in one is not looked up in the other."""
    if options.live:
        return VaultFiles(vault, options.files), LivePages(options.fetch)
    return IndexedNotes(service), PageSnapshots(
        options.snapshots or cases_folder / SNAPSHOTS, options.may_read
    )


@record
class _Runner:
    agents: Agents
    notes: NoteSource
    pages: PageSource
    meaning: MeaningCheck
    vault: str
    skips_missing: bool

    def run(self, case: GoldenCase) -> LayerResult:
        started = time.perf_counter()
        try:
            outcome = self._outcome(case)
        except MissingSnapshotError as error:
            outcome = Outcome("skip" if self.skips_missing else "error", None, (str(error),))
        except VaultIndexerError as error:
            outcome = Outcome("error", None, (str(error),))
        duration_ms = round((time.perf_counter() - started) * 1000, 3)
        score = None if outcome.score is None else round(outcome.score, 4)
        return LayerResult(case.id, case.layer, outcome.verdict, score, outcome.reasons, duration_ms)

    def _outcome(self, case: GoldenCase) -> Outcome:
        if case.vault and case.vault != self.vault:
            return Outcome("skip", None, (f"is about the vault {case.vault}; this one is {self.vault}",))
        match case.expected:
            case StructureExpected() as expected:
                return check_structure(expected, self._answer(case))
            case CitationsExpected() as expected:
                answer = self._answer(case) if case.asks else None
                return check_citations(expected, answer, self.notes, self.pages)
            case MeaningExpected() as expected:
                return self.meaning.check(case.question, expected, self._answer(case), case.language)

    def _answer(self, case: GoldenCase) -> AgentAnswer:
        return self.agents.answer(case.agent, case.input)


def _now() -> str:
    return iso_moment(datetime.now(UTC), "milliseconds")
