"""Questions asked of real indices: shadows, variants, stale questions, reports, and the commands."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from questions_vault import target_of, write_vault

from vault_evals.comparison import as_markdown, compare
from vault_evals.generate import choose_questions, survey_vault
from vault_evals.questions import Question, generated_file, write_questions
from vault_evals.ranking import RankingRun, run_ranking
from vault_evals.variants import own_index, parse_variants
from vault_indexer.daemon.assembly import Assembly, Target

pytestmark = pytest.mark.long

PERSONS = [
    Question("a", "kitchen scraps become dark earth", {"Notes/Compost.md": 2}),
    Question("b", "starlight in a mirror", {"Notes/Telescope.md": 2, "Notes/Violin.md": 0}),
]
DEADLINE_S = 300


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = tmp_path_factory.mktemp("ranking")
    return target_of(write_vault(folder / "vault"), folder / "index")


@pytest.fixture(scope="module")
def generated(target: Target) -> list[Question]:
    return choose_questions(survey_vault(target, lambda _done, _total: None))


@pytest.fixture(scope="module")
def run(target: Target, generated: list[Question]) -> RankingRun:
    variants = parse_variants(["configured", "keyword", "whole_note+rrf"])
    return run_ranking(target, [*PERSONS, *generated], variants)


def test_every_variant_answers_every_question(run: RankingRun, generated: list[Question]) -> None:
    assert list(run.scores) == ["configured", "keyword", "whole_note+rrf"]
    assert {len(scores) for scores in run.scores.values()} == {len(PERSONS) + len(generated)}
    assert run.stale == ()
    at = [one.id for one in run.questions].index("a")
    assert run.scores["configured"][at].ndcg == 1.0


def test_the_hidden_text_is_not_found_and_the_source_does_not_count(
    target: Target, generated: list[Question]
) -> None:
    """The hidden text of a link finds its note in the open vault alone; excluded, it is found nowhere."""
    link = next(one for one in generated if one.kind == "link")
    garden, words = {"Garden.md": 1}, link.text
    asked = [
        Question("open", words, garden),
        Question("hidden", words, garden, "link", edits=link.edits, sha256=link.sha256),
        Question("seen", "paint the shed", garden, "link", edits=link.edits, sha256=link.sha256),
        Question("excluded", "paint the shed", garden, "link", excluded=("Garden.md",), sha256=link.sha256),
    ]
    run = run_ranking(target, asked, parse_variants(["keyword"]))
    found = {one.id: scores.mrr for one, scores in zip(run.questions, run.scores["keyword"], strict=True)}
    assert found == {"open": 1.0, "hidden": 0.0, "seen": 1.0, "excluded": 0.0}


def test_questions_of_a_person_and_generated_ones_are_never_pooled(run: RankingRun) -> None:
    report = compare(run, "configured")
    whole = {one.source: one.questions for one in report.slices if one.name == "all"}
    assert set(whole) == {"judged", "generated"}
    assert whole["judged"] == len(PERSONS)
    assert sum(whole.values()) == len(run.questions)
    assert {one.name for one in report.slices if one.source == "generated"} >= {"link", "heading"}


def test_a_changed_note_makes_a_question_stale_not_failed(tmp_path: Path, generated: list[Question]) -> None:
    target = target_of(write_vault(tmp_path / "vault"), tmp_path / "index")
    changed = next(one for one in generated if one.kind == "link")
    other = next(one for one in generated if one.kind == "heading" and one.target != changed.target)
    file = target.vault / changed.target
    file.write_text(file.read_text() + "\nOne line more.\n")
    run = run_ranking(target, [changed, other], parse_variants(["keyword"]))
    assert [one.id for one in run.stale] == [changed.id]
    assert [one.id for one in run.questions] == [other.id]
    report = compare(run, min_lift_pct=0)
    assert report.stale == (changed.id,)
    assert report.failures == ()
    assert "1 question is stale" in as_markdown(report)


def test_it_says_how_far_it_is(target: Target) -> None:
    said: list[str] = []
    run_ranking(target, PERSONS, parse_variants(["configured", "keyword", "whole_note"]), say=said.append)
    assert said[0] == "0 of 2 questions asked of 2 variants (index 1 of 2)"
    assert said[1] == "building an index for whole_note"
    assert said[2].startswith("0 of 2 questions asked of 1 variant (index 2 of 2, about ")
    assert said[2].endswith(" s left)")


def test_known_vectors_of_the_vaults_own_index_are_used_again(target: Target, tmp_path: Path) -> None:
    with own_index(target, lambda _: None):
        pass
    other = replace(Assembly.of(target_of(target.vault, tmp_path / "index")), shared_root=target.index_dir)
    other.index_dir.prepare()
    _, report = other.build_next(lambda _: None, recompute_weights=False)
    assert (report.embedded, report.reused > 0) == (0, True)


@pytest.fixture
def place(tmp_path: Path, target: Target) -> Iterator[tuple[list[str], dict[str, str], Path]]:
    """What a command needs: options, environment, and its folder of cases."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    options = [
        "--vault",
        str(target.vault),
        "--index-dir",
        str(tmp_path / "index"),
        "--cases",
        str(tmp_path / "evals"),
    ]
    environ = {
        **os.environ,
        "XDG_CONFIG_HOME": str(tmp_path),
        "TMPDIR": str(scratch),
        "INDEXER_INDEX_WORKERS": "1",
    }
    yield options, environ, tmp_path / "evals"
    shutil.rmtree(scratch)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_nothing_stays_when_a_run_is_interrupted(
    place: tuple[list[str], dict[str, str], Path], generated: list[Question], ending: signal.Signals
) -> None:
    options, environ, cases = place
    write_questions(generated_file(cases), generated)
    with subprocess.Popen(
        [sys.executable, "-m", "vault_indexer.cli", "eval", "rank", *options],
        env=environ,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("building an index"):
                break
        assert len(list(Path(environ["TMPDIR"]).glob("vault-indexer-eval-*"))) == 1
        process.send_signal(ending)
        rest = process.stderr.read()
        assert process.wait(DEADLINE_S) == 128 + ending, rest
    assert list(Path(environ["TMPDIR"]).glob("vault-indexer-eval-*")) == []
    assert "Traceback" not in rest
