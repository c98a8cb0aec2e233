"""`indexer eval` on a vault with an index: as a user runs it with and without a daemon, and all its ways in
this process."""

import json
import shutil
from pathlib import Path
from typing import Literal

import pytest
from cli_sandbox import Ran, Sandbox, make
from command_here import CommandHere
from eval_lab import write_case
from waiting import PROCESS_S

from vault_evals.ranking_commands import ReportOutput, write_report
from vault_indexer.cli.output.progress import CaseProgress
from vault_indexer.cli.parameters import Output
from vault_indexer.errors import UsageError

CASES = Path(__file__).parent / "fixtures" / "commands"
SEARCH, CITATION, LINKS = (
    (CASES / name).read_text("utf-8") for name in ("l1/rings.yaml", "l2/knead.yaml", "l1/links.yaml")
)


def test_a_long_run_shows_its_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with CaseProgress(every_s=0) as progress:
        progress.show(0, 2, "one")
        progress.show(1, 2, "two")
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["0/2 cases", "1/2 cases"]
    with CaseProgress(every_s=3600) as progress:
        progress.show(0, 2, "one")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("report", "json", "as_json"),
    [(None, False, False), (None, True, True), ("md", True, False), ("json", False, True)],
)
def test_the_form_of_a_report_is_the_one_named_else_that_of_the_output(
    report: Literal["md", "json"] | None, json: bool, as_json: bool
) -> None:
    assert ReportOutput(report).as_json(Output(json)) == as_json


@pytest.mark.posix("modes of files")
def test_a_report_goes_to_its_file_which_others_can_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report("a", None)
    assert capsys.readouterr().out == "a"
    file = tmp_path / "deep" / "report.md"
    write_report("é", file)
    assert (file.read_text("utf-8"), file.stat().st_mode & 0o777) == ("é", 0o644)
    assert capsys.readouterr().out == ""
    with pytest.raises(UsageError) as refused:
        write_report("b", file / "below", "--out ")
    assert str(refused.value).startswith(f"--out {file}/below: cannot be written: ")


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A vault with an index, and cases about it."""
    made = make(tmp_path_factory.mktemp("eval"))
    shutil.copytree(CASES, made.root / "evals")
    return made


@pytest.fixture
def here(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandHere:
    return CommandHere(sandbox, capsys, monkeypatch)


def evaluate(here: CommandHere, *arguments: str) -> Ran:
    return here.indexer("eval", *arguments)


@pytest.mark.long
def test_a_run_that_passes_prints_a_report(here: CommandHere) -> None:
    ran = evaluate(here, "run")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("# Evaluation\n\n## Summary\n\n4 cases: 4 passed, 0 failed.\n")
    assert "4 cases: 4 passed, 0 failed" in ran.err


@pytest.mark.long
def test_the_exit_status_of_failures_is_1(here: CommandHere, tmp_path: Path) -> None:
    for number in range(3):
        text = SEARCH.replace("id: rings", f"id: bad-{number}").replace(
            "Sky/Night sky.md", "Kitchen/Bread.md"
        )
        write_case(tmp_path, f"l1/bad-{number}", text)
    write_case(tmp_path, "l1/broken", LINKS.replace("note: Sky/Night sky.md", "note: Nowhere.md"))
    out = tmp_path / "reports" / "report.json"
    ran = evaluate(here, "run", "--cases", str(tmp_path), "--report", "json", "--out", str(out))
    assert ran.code == 1
    assert ran.out == ""
    data = json.loads(out.read_text())
    assert data["summary"]["counts"] == {"passed": 0, "failed": 3, "skipped": 0, "errors": 1}
    again = evaluate(here, "run", "--cases", str(tmp_path), "--json", "--baseline", str(out))
    assert again.code == 1
    assert again.data["diff_vs_baseline"] == {
        "baseline": str(out),
        "newly_failing": [],
        "fixed": [],
        "now_skipped": [],
        "removed": [],
        "added": [],
    }


@pytest.mark.long
def test_a_daemon_answers_and_the_index_is_read_beside_it(here: CommandHere, sandbox: Sandbox) -> None:
    assert sandbox.indexer("rebuild").code == 0
    started = sandbox.indexer("start", "--wait", str(PROCESS_S))
    assert started.code == 0, started.err
    try:
        ran = evaluate(here, "run")
        assert ran.code == 0, ran.out + ran.err
        assert "4 cases: 4 passed" in ran.err
    finally:
        assert sandbox.indexer("stop").code == 0


def test_drift_is_listed_accepted_and_gone(here: CommandHere, tmp_path: Path) -> None:
    file = write_case(tmp_path, "l2/knead", CITATION)
    place = ("--cases", str(tmp_path))
    listed = evaluate(here, "drift", *place)
    assert listed.code == 1
    assert "## `knead`: moved" in listed.out
    issue = evaluate(here, "drift", *place, "--report", "issue")
    assert "labels: [link-drift]" in issue.out
    accepted = evaluate(here, "drift", *place, "--accept", "--json")
    assert accepted.code == 0, accepted.err
    assert accepted.data["states"] == {"moved": 1}
    assert "# by heart" in file.read_text()
    assert "sha256: " in file.read_text()
    assert evaluate(here, "drift", *place).code == 0


def test_a_judge_that_cannot_be_asked_is_an_error_before_the_run(here: CommandHere) -> None:
    ran = evaluate(here, "run", "--judge", "openai", "--judge-key-env", "NO_SUCH_KEY")
    assert ran.code == 3
    assert ran.complains("NO_SUCH_KEY") or ran.complains("is not installed")
