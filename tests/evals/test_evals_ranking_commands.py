"""`indexer eval generate`, `judge` and `rank` in this process: what they ask, print and write."""

import io
import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from cli_sandbox import Sandbox, make
from command_here import CommandHere
from questions_vault import NOTES, write_vault

from vault_evals.comparison import RankingReport, Slice
from vault_evals.questions import (
    ASIDE,
    TUNE,
    Judgements,
    Question,
    generated_file,
    judged_folder,
    part_of,
    read_questions,
    write_questions,
)
from vault_evals.ranking_commands import exit_status_of, has_cases, ranking_text

NOTHING_ASKED = RankingReport(10, "rrf", None, (), (), (), 1.0)
ASKED = replace(NOTHING_ASKED, slices=(Slice("judged", "all", 1, ()),))


@pytest.mark.parametrize(
    ("report", "failures", "status"),
    [
        (NOTHING_ASKED, 0, 1),
        (ASKED, 0, 0),
        (ASKED, 1, 1),
        (ASKED, 2, 2),
        (ASKED, 125, 125),
        (ASKED, 126, 125),
    ],
)
def test_the_exit_status_says_how_many_fail_as_far_as_it_can(
    report: RankingReport, failures: int, status: int
) -> None:
    assert exit_status_of(replace(report, failures=("x",) * failures)) == status


@pytest.mark.parametrize(
    ("paths", "found"),
    [((), False), (("ranking/",), False), (("l1",), False), (("l1/",), True), (("a/l3/",), True)],
)
def test_a_folder_has_cases_where_it_has_a_layer_of_them(
    tmp_path: Path, paths: tuple[str, ...], found: bool
) -> None:
    for path in paths:
        if path.endswith("/"):
            (tmp_path / path).mkdir(parents=True)
        else:
            (tmp_path / path).touch()
    assert has_cases(tmp_path) is found


def test_the_report_of_a_ranking_stands_behind_that_of_the_cases() -> None:
    alone, text = ranking_text(ASKED, as_json=False), ranking_text(ASKED, "# Evaluation\n", as_json=False)
    assert alone.startswith("# Ranking\n")
    assert text == f"# Evaluation\n\n{alone}"
    assert list(json.loads(ranking_text(ASKED, as_json=True))) == ["ranking"]
    both = ranking_text(ASKED, '{"summary": 1, "ä": "é"}', as_json=True)
    assert both.startswith('{\n  "summary": 1,\n  "ä": "é",\n  "ranking": {\n    "k": 10,')
    assert both.endswith("}\n")


SMALL = "[embedding]\nprovider = 'wordllama'\n[index]\nworkers = 1\n"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A vault, whose index the first command builds."""
    return make(tmp_path_factory.mktemp("ranking"))


@pytest.fixture
def here(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandHere:
    made = CommandHere(sandbox, capsys, monkeypatch)
    made.configure(SMALL)
    return made


@pytest.fixture
def asking(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandHere:
    """The command on a vault from which questions can be made."""
    made = CommandHere(Sandbox(tmp_path), capsys, monkeypatch)
    made.configure(SMALL)
    write_vault(made.sandbox.vault)
    return made


def test_questions_are_made_counted_and_written(asking: CommandHere) -> None:
    ran = asking.indexer("eval", "generate")
    assert ran.code == 0
    file = generated_file(Path("evals"))
    made = read_questions(file)
    counts = {(one.kind, one.part): 0 for one in made}
    for one in made:
        counts[one.kind, one.part] += 1
    assert ran.out.splitlines() == [
        f"{kind}, {part}: {size}" for (kind, part), size in sorted(counts.items())
    ]
    notes = sum(path.endswith(".md") for path in NOTES)
    assert ran.err.splitlines() == [
        f"reading: 0/{notes} notes",
        f"reading: {notes}/{notes} notes",
        f"wrote {len(made)} questions to {file}",
    ]
    few = asking.indexer("eval", "generate", "--per-kind", "1", "--cases", "other", "--json")
    assert few.data["questions"] == len(read_questions(generated_file(Path("other")))) == 2
    assert few.data["file"] == f"{generated_file(Path('other'))}"
    parts = few.data["parts"]
    assert isinstance(parts, list)
    assert sum(one["questions"] for one in parts) == 2
    assert {one["kind"] for one in parts} == {"link", "heading"}
    assert not asking.sandbox.index_dir.exists()


def test_of_an_empty_vault_no_questions_are_made(asking: CommandHere) -> None:
    for path in NOTES:
        (asking.sandbox.vault / path).unlink()
    ran = asking.indexer("eval", "generate")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines()[-1] == f"wrote 0 questions to {Path('evals', 'ranking', 'generated.jsonl')}"


def judged(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, typed: str, *arguments: str
) -> tuple[str, str]:
    """What a session of judging prints while a person types this."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    ran = here.indexer("eval", "judge", *arguments)
    assert ran.code == 0, ran.err
    return ran.out, ran.err


ASKS = "  0 does not help, 1 helps, 2 answers; s skip, q quit: "


@pytest.mark.long
def test_a_person_grades_one_note_after_the_other(here: CommandHere, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = ("--cases", "judged-here")
    folder = judged_folder(Path("judged-here"))
    out, err = judged(here, monkeypatch, "9\nx\n-1\nS\nq\n", " rings  of Saturn ", *cases)
    assert out.count(ASKS) == 5, "what is no grade is asked again"
    assert out.splitlines()[1] == "rings of Saturn   (1 of 3)"
    assert "rings of Saturn   (2 of 3)" in out
    rankings = ("keyword", "vector", "fusion", "configured", "score")
    assert not any(name in out for name in rankings), "nothing tells which ranking found a note"
    assert err.splitlines()[-1] == f"0 grades in {folder}; run it again to continue"
    out, err = judged(here, monkeypatch, "2\n0\nquit\n", *cases)
    assert err.splitlines()[-1] == f"2 grades in {folder}; run it again to continue"
    (grades,) = Judgements.load(folder).grades.values()
    assert list(grades.values()) == [2, 0]
    shown = [line.strip() for line in out.splitlines() if line.endswith(".md")]
    assert list(grades) == shown[:2]
    out, err = judged(here, monkeypatch, "1\n", *cases)
    assert out.splitlines()[1:3] == ["rings of Saturn   (1 of 1)", f"  {shown[2]}"]
    assert err.splitlines()[-1] == f"3 grades in {folder}"
    out, err = judged(here, monkeypatch, "", *cases)
    assert (out, err.splitlines()[-1]) == ("", f"3 grades in {folder}")


@pytest.mark.long
def test_questions_to_judge_come_from_arguments_a_file_and_clicks(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("queries.txt").write_text("one\n\n two \n", "utf-8")
    line = json.dumps({"query": "three", "path": "Welcome.md"})
    Path("clicks.jsonl").write_text(f"{line}\n", "utf-8")
    cases = ("--cases", "asked-here", "--queries", "queries.txt", "--clicks", "clicks.jsonl")
    judged(here, monkeypatch, "q\n", "zero", " ", *cases)
    topics = Judgements.load(judged_folder(Path("asked-here"))).topics
    assert list(topics.values()) == ["zero", "one", "two", "three"]
    out, _ = judged(here, monkeypatch, "", *cases)
    assert out.count(ASKS) == 1, "at the end of the input it ends"


def write_judged(here: CommandHere, name: str, grades: dict[str, int]) -> None:
    write_questions(
        Path(name) / "ranking" / "own.jsonl", [Question("q1", "rings of Saturn", grades, language="en")]
    )


def test_rankings_are_compared_over_the_questions(here: CommandHere) -> None:
    write_judged(here, "ranked", {"Sky/Night sky.md": 2})
    before = signal.getsignal(signal.SIGTERM)
    cases = ("--cases", "ranked", "--variants", "keyword,no_graph")
    ran = here.indexer("eval", "rank", *cases)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("# Ranking\n\n## judged, all: 1 question\n")
    assert [line.split(" | ")[0] for line in ran.out.splitlines() if line.startswith("| ")][2:] == [
        "| keyword",
        "| no_graph",
    ]
    assert "against keyword" in ran.out
    assert signal.getsignal(signal.SIGTERM) is before
    data = here.indexer("eval", "rank", *cases, "--json", "-k", "3", "--baseline", "no_graph").data
    assert (data["k"], data["baseline"]) == (3, "no_graph")
    gated = here.indexer("eval", "rank", *cases, "--min-lift-pct", "5", "--out", "report.md")
    assert (gated.code, gated.out) == (1, "")
    assert "## Lift of at least 5% over keyword" in Path("report.md").read_text("utf-8")


def test_where_all_questions_are_stale_nothing_is_shown(here: CommandHere) -> None:
    write_judged(here, "stale", {"Gone.md": 2})
    ran = here.indexer("eval", "rank", "--cases", "stale", "--variants", "keyword")
    assert ran.code == 1
    assert "No questions were asked.\n\n1 question is stale" in ran.out
    assert ran.err.splitlines()[-1] == "all questions are stale: nothing was measured"


def test_a_run_measures_the_ranking_too(here: CommandHere) -> None:
    write_judged(here, "both", {"Sky/Night sky.md": 2})
    alone = here.indexer("eval", "run", "--cases", "both")
    assert (alone.code, alone.out.startswith("# Ranking\n")) == (0, True), alone.err
    as_data = here.indexer("eval", "run", "--cases", "both", "--json", "--out", "both.json")
    assert (as_data.code, as_data.out) == (0, "")
    assert list(json.loads(Path("both.json").read_text("utf-8"))) == ["ranking"]
    Path("both/l1").mkdir()
    case = "id: a\nagent: search\nlayer: 1\ninput: {query: rings}\nexpected: {min_findings: 1}\n"
    Path("both/l1/a.yaml").write_text(case, "utf-8")
    together = here.indexer("eval", "run", "--cases", "both")
    assert together.out.startswith("# Evaluation\n") and "\n# Ranking\n" in together.out
    assert set(here.indexer("eval", "run", "--cases", "both", "--json").data) >= {"summary", "ranking"}
    some = here.indexer("eval", "run", "--cases", "both", "--layer", "1")
    assert "# Ranking" not in some.out, "where only some cases are run"


@pytest.mark.long
def test_settings_are_tuned_on_one_half_and_written_on_request(here: CommandHere) -> None:
    words = ("flour", "water", "salt", "starter", "dough", "telescope", "rings", "Saturn", "night", "thermos")
    targets = ("Kitchen/Bread.md", "Sky/Night sky.md", "Welcome.md")
    assert {part_of(path) for path in targets} == {TUNE, ASIDE}
    questions = [
        Question(f"{word}-{path}-{number}", word, {path: 1})
        for word in words
        for path in targets
        for number in range(2)
    ]
    write_questions(Path("tuned/ranking/own.jsonl"), questions[:30])
    few = here.indexer("eval", "tune", "--cases", "tuned", "--from", "judged")
    assert (few.code, few.out) == (2, "")
    assert "each half needs 20" in few.err
    write_questions(Path("tuned/ranking/own.jsonl"), questions)
    data = here.indexer("eval", "tune", "--cases", "tuned", "--from", "judged", "--json")
    ran = here.indexer("eval", "tune", "--cases", "tuned", "--from", "judged", "--apply")
    assert ran.code == 0, ran.err
    chosen, _, *values = ran.out.partition("\n\nOn aside, judged questions\n\n# Ranking\n")[0].splitlines()
    assert chosen.startswith("Chosen on tune: ")
    assert all(value.startswith("    ") for value in values) and values
    assert data.data["source"] == "judged"
    means = data.data["tune"]
    assert isinstance(means, dict) and data.data["chosen"] in means
    assert all(0.0 <= mean <= 1.0 for mean in means.values())
    assert data.data["chosen"] == chosen.removeprefix("Chosen on tune: ")
    found = data.data["values"]
    assert isinstance(found, dict)
    assert values == (
        [f"    {key} = {value}" for key, value in found.items()] or ["    (the active settings)"]
    )
    written = (here.sandbox.vault / ".indexer.toml").exists()
    assert written == (data.data["is_better"] and bool(found))
    said = ran.err.splitlines()[-1]
    assert said.startswith("wrote " if written else "nothing was written: ")
    unwritten = data.err.splitlines()[-1]
    assert unwritten == (
        "nothing was written: --apply writes the choice" if found else "there is nothing to write"
    )
