"""A run: its verdicts, its summary, its exit status, and what changed since a baseline."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from eval_lab import (
    BREAD,
    NOTES,
    FakeService,
    ScriptedAgents,
    found,
    simple_case,
    span_of,
    write_case,
    write_vault,
)
from golden_cases import check_golden

from vault_evals.agents import AgentAnswer
from vault_evals.meaning import Judge, Judgement
from vault_evals.pages import Page, PageSnapshots
from vault_evals.results import Baseline, JudgeUse, SuiteReport, summary_line
from vault_evals.runner import DEFAULT_OPTIONS, SuiteOptions, run_suite
from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.model import StatusReport

LIVE = SuiteOptions(live=True)
URL = "https://example.org/bread"
PINNED = """\
id: pinned
agent: search
layer: 2
expected:
  expected_citations:
    - {path: Kitchen/Bread.md, heading: Kneading, quote: "Knead the dough until it is smooth."}
"""
CITED_PAGE = f"""\
id: page
agent: ask
layer: 2
expected:
  expected_citations:
    - {{url: "{URL}", quote: "A bread needs time."}}
"""


@pytest.fixture
def service(tmp_path: Path) -> FakeService:
    return FakeService(write_vault(tmp_path / "vault"))


def run(
    service: FakeService,
    tmp_path: Path,
    answers: dict[str, AgentAnswer | Exception] | None = None,
    options: SuiteOptions = DEFAULT_OPTIONS,
) -> SuiteReport:
    return run_suite(service, tmp_path / "cases", options=options, agents=ScriptedAgents(answers or {}))


def test_a_report_has_one_result_a_case(service: FakeService, tmp_path: Path) -> None:
    simple_case(tmp_path / "cases", "good")
    simple_case(tmp_path / "cases", "bad")
    simple_case(tmp_path / "cases", "broken")
    write_case(tmp_path / "cases", "l2/pinned", PINNED)
    report = run(service, tmp_path, {"good": found("Sky.md"), "broken": UnavailableError("no index")})
    verdicts = {result.case_id: result.verdict for result in report.results}
    assert verdicts == {"bad": "fail", "broken": "error", "good": "pass", "pinned": "pass"}
    assert report.exit_status == 1
    assert report.layers_run == (1, 2, 3)
    assert report.started_at <= report.finished_at
    assert summary_line(report.summary) == "4 cases: 2 passed, 1 failed, 1 could not be decided"
    assert next(one for one in report.results if one.case_id == "broken").reasons == ("no index",)


def test_a_note_or_a_part_that_does_not_exist_is_a_mistake_of_its_case(
    service: FakeService, tmp_path: Path
) -> None:
    service.notes["Paper.pdf"] = "one\n\f\ntwo\n"

    def problem(place: str) -> str:
        simple_case(tmp_path / "cases", "wrong", path=f'"{place}"', vault="another")
        assert run(service, tmp_path).summary.counts.skipped == 1
        case = simple_case(tmp_path / "cases", "wrong", path=f'"{place}"')
        agents = ScriptedAgents()
        try:
            report = run_suite(service, tmp_path / "cases", agents=agents)
        except UsageError as error:
            assert agents.asked == []
            return str(error).removeprefix(f"{case}: ")
        assert report.summary.counts.failed == 1
        return "exists"

    check_golden(Path(__file__).parent / "fixtures" / "places.md", {"": problem})


def test_a_result_has_a_rounded_score_and_its_time(service: FakeService, tmp_path: Path) -> None:
    for name in ("One.md", "Two.md"):
        (tmp_path / "vault" / name).write_text("")
    case = simple_case(tmp_path / "cases", "third", path="Sky.md, One.md, Two.md")
    assert "[Sky.md, One.md, Two.md]" in case.read_text()
    report = run(service, tmp_path, {"third": found("Sky.md")})
    (result,) = report.results
    assert (result.case_id, result.layer, result.verdict, result.score) == ("third", 1, "fail", 0.3333)
    assert 0 <= result.duration_ms < 60_000
    assert result.duration_ms == round(result.duration_ms, 3)
    for moment in (report.started_at, report.finished_at):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", moment)
    elsewhere = simple_case(tmp_path / "cases", "third", vault="other")
    assert elsewhere == case
    (skipped,) = run(service, tmp_path).results
    assert (skipped.verdict, skipped.score) == ("skip", None)


@dataclass
class Modelled(FakeService):
    """A service whose index was made with a model of this provider."""

    provider: object = None

    def status(self) -> StatusReport:
        model = {"embedding_model": self.provider}
        return replace(super().status(), manifest=model)  # type: ignore[arg-type] # damaged ones, too


@pytest.mark.parametrize(
    ("model", "verdict"),
    [
        ({"provider": "e5"}, "fail"),
        ({"provider": "wordllama"}, "pass"),
        ({}, "pass"),
        ("e5", "pass"),
        (None, "pass"),
    ],
)
def test_the_bounds_are_those_of_the_model_of_the_index(tmp_path: Path, model: object, verdict: str) -> None:
    text = "id: l3\nagent: search\nlayer: 3\ninput: {query: q}\nexpected: {golden_answer: golden}\n"
    write_case(tmp_path / "cases", "l3/l3", text)
    service = Modelled(write_vault(tmp_path / "vault"), provider=model)
    service.vectors = {"golden": [1.0, 0.0], "golden words": [0.8, 0.6]}
    report = run(service, tmp_path, {"q": AgentAnswer(text="golden words")})
    assert report.results[0].verdict == verdict


def test_layers_and_agents_are_chosen_and_those_that_no_case_has_are_named(
    service: FakeService, tmp_path: Path
) -> None:
    cases = tmp_path / "cases"
    simple_case(cases, "one")
    write_case(cases, "l2/pinned", PINNED)
    write_case(cases, "l2/page", CITED_PAGE)
    before = Baseline("before", {"one": "pass", "pinned": "pass"})
    options = SuiteOptions(agents=["search"], baseline=before)
    report = run_suite(service, cases, layers=[2], options=options)
    assert [result.case_id for result in report.results] == ["pinned"]
    assert report.layers_run == (2,)
    assert report.diff_vs_baseline is not None
    assert report.diff_vs_baseline.removed == (), "a case that is not chosen is not removed"
    with pytest.raises(UsageError, match="no case of layer 3, agent ask, links: there are 3 others"):
        run_suite(service, cases, layers=[3], options=SuiteOptions(agents=["ask", "links"]))


def test_skipped_cases_are_counted_and_progress_names_each(service: FakeService, tmp_path: Path) -> None:
    simple_case(tmp_path / "cases", "here", vault="vault")
    simple_case(tmp_path / "cases", "elsewhere", vault="other")
    shown: list[tuple[int, int, str]] = []
    agents = ScriptedAgents({"here": found("Sky.md")})
    report = run_suite(
        service, tmp_path / "cases", agents=agents, report=lambda *progress: shown.append(progress)
    )
    assert shown == [(0, 2, "elsewhere"), (1, 2, "here")]
    assert [result.verdict for result in report.results] == ["skip", "pass"]
    assert report.summary.skip_reasons == {"is about the vault other; this one is vault": 1}
    assert report.exit_status == 0


def test_a_case_without_a_snapshot_is_skipped_on_request(service: FakeService, tmp_path: Path) -> None:
    simple_case(tmp_path / "cases", "here")
    write_case(tmp_path / "cases", "l2/page", CITED_PAGE)
    answers: dict[str, AgentAnswer | Exception] = {"here": found("Sky.md")}
    assert {one.verdict for one in run(service, tmp_path, answers).results} == {"pass", "error"}
    report = run(service, tmp_path, answers, SuiteOptions(skip_missing_snapshots=True))
    assert {one.case_id: one.verdict for one in report.results} == {"here": "pass", "page": "skip"}
    assert report.exit_status == 0
    (why,) = report.summary.skip_reasons
    assert why.startswith(f"{URL}: no snapshot of this page")


def test_a_live_run_reads_the_files_and_a_run_without_it_the_index(
    service: FakeService, tmp_path: Path
) -> None:
    write_case(tmp_path / "cases", "l2/pinned", PINNED)
    write_vault(service.vault, {"Kitchen/Bread.md": BREAD.replace("smooth", "very smooth")})
    assert run(service, tmp_path).results[0].verdict == "pass"
    live = run(service, tmp_path, options=LIVE)
    assert live.results[0].verdict == "fail"
    assert "+ Knead the dough until it is very smooth." in live.results[0].reasons[0]
    # And the other way round: the index is stale, the file is as the case says.
    write_vault(service.vault, NOTES)
    service.notes["Kitchen/Bread.md"] = "# Bread\n"
    assert run(service, tmp_path).results[0].verdict == "fail"
    assert run(service, tmp_path, options=LIVE).results[0].verdict == "pass"


def test_a_live_run_finds_a_moved_note_and_no_excluded_one(service: FakeService, tmp_path: Path) -> None:
    write_case(tmp_path / "cases", "l2/pinned", PINNED)
    bread = service.vault / "Kitchen/Bread.md"
    (service.vault / ".trash").mkdir()
    bread.rename(service.vault / ".trash/Bread.md")
    (result,) = run(service, tmp_path, options=LIVE).results
    assert "gone" in result.reasons[0]
    (service.vault / ".trash/Bread.md").rename(service.vault / "Bread.md")
    (result,) = run(service, tmp_path, options=LIVE).results
    assert "note moved: now in Bread.md" in result.reasons[0]
    files = FilesSettings(exclude=("Bread.md",))
    (result,) = run(service, tmp_path, options=SuiteOptions(live=True, files=files)).results
    assert "the note is gone" in result.reasons[0]


def test_a_live_run_reads_no_snapshot_of_a_page_and_another_fetches_none(
    service: FakeService, tmp_path: Path
) -> None:
    write_case(tmp_path / "cases", "l2/page", CITED_PAGE)
    kept = PageSnapshots(tmp_path / "cases" / "snapshots")
    kept.write(Page(URL, 200, URL, "A bread needs time.", "2026-01-01T00:00:00+00:00"))
    asked: list[str] = []

    def fetch(url: str) -> Page:
        asked.append(url)
        return Page(url, 200, url, "A bread needs nothing at all.", "2026-02-01T00:00:00+00:00")

    assert run(service, tmp_path, options=SuiteOptions(fetch=fetch)).results[0].verdict == "pass"
    assert asked == []
    assert run(service, tmp_path, options=SuiteOptions(fetch=fetch, live=True)).results[0].verdict == "fail"
    assert asked == [URL]
    # Nothing may fetch: that is an error, not the snapshot's answer.
    assert run(service, tmp_path, options=LIVE).results[0].verdict == "error"
    elsewhere = run(service, tmp_path, options=SuiteOptions(snapshots=tmp_path / "none"))
    assert elsewhere.results[0].verdict == "error"


def test_a_stale_citation_of_an_answer_fails_live(service: FakeService, tmp_path: Path) -> None:
    case = PINNED.replace("layer: 2\n", "layer: 2\ninput: {query: dough}\n")
    write_case(tmp_path / "cases", "l2/pinned", case)
    answers: dict[str, AgentAnswer | Exception] = {
        "dough": AgentAnswer(citations=(span_of(BREAD, "Knead the dough until it is smooth."),))
    }
    write_vault(service.vault, {"Kitchen/Bread.md": BREAD.replace("Flour", "More flour")})
    assert run(service, tmp_path, answers).results[0].verdict == "pass"
    (result,) = run(service, tmp_path, answers, LIVE).results
    assert result.verdict == "fail"
    assert any("the text there is different" in reason for reason in result.reasons)


def test_the_judge_of_a_run_is_called_for_each_answer_between_the_bounds(
    service: FakeService, tmp_path: Path
) -> None:
    for name in ("near", "between", "far"):
        text = f"id: {name}\nagent: search\nlayer: 3\ninput: {{query: {name}}}\n"
        write_case(tmp_path / "cases", f"l3/{name}", f"{text}expected: {{golden_answer: golden}}\n")
    service.vectors = {"golden": [1.0, 0.0], "so so": [0.6, 0.8], "other": [0.1, 0.9]}
    answers: dict[str, AgentAnswer | Exception] = {
        "near": AgentAnswer(text="golden"),
        "between": AgentAnswer(text="so so"),
        "far": AgentAnswer(text="other"),
    }
    asked: list[tuple[str, ...]] = []

    def decide(*texts: str) -> Judgement:
        asked.append(texts)
        return Judgement(True, "the same")

    judge = cast("Judge", SimpleNamespace(name="counting", decide=decide))
    report = run(service, tmp_path, answers, SuiteOptions(judge=judge))
    verdicts = {result.case_id: result.verdict for result in report.results}
    assert verdicts == {"near": "pass", "between": "pass", "far": "fail"}
    assert asked == [("between", "golden", "so so")]
    assert report.summary.judge == JudgeUse("counting", 1, 1)


def test_a_path_out_of_the_vault_is_no_note(service: FakeService, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("Knead the dough until it is smooth.")
    case = PINNED.replace("Kitchen/Bread.md", "../secret.md")
    write_case(tmp_path / "cases", "l2/pinned", case.replace("heading: Kneading, ", ""))
    for options in (DEFAULT_OPTIONS, LIVE):
        (result,) = run(service, tmp_path, options=options).results
        assert "note moved: now in Kitchen/Bread.md" in result.reasons[0]
