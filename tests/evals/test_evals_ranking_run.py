"""Questions asked of real indices: shadows, variants, stale questions, reports, and the commands."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from questions_vault import target_of, write_vault

from vault_indexer.daemon.assembly import Assembly, Target
from vault_indexer.errors import ConfigError, UsageError
from vault_indexer.evals.generate import choose_questions, survey_vault
from vault_indexer.evals.question_folder import generated_file, load_questions
from vault_indexer.evals.questions import Question, write_questions
from vault_indexer.evals.ranking import (
    RankingRun,
    Scores,
    as_json,
    as_markdown,
    compare,
    own_index,
    parse_variants,
    plain_query,
    run_ranking,
    settings_with,
)
from vault_indexer.evals.ranking.run import RemainingTime

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


def test_every_measure_is_at_most_1(run: RankingRun) -> None:
    for scores in run.scores.values():
        for one in scores:
            assert 0 <= min(one.ndcg, one.mrr, one.recall) <= max(one.ndcg, one.mrr, one.recall) <= 1


def test_the_hidden_text_is_not_found_and_the_source_does_not_count(
    target: Target, generated: list[Question]
) -> None:
    """Words of the hidden sentence find its note in the open vault alone; excluded, it is found nowhere."""
    link = next(one for one in generated if one.kind == "link")
    garden, words = {"Garden.md": 1}, "hungry pumpkin beds"
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
    assert {one.name for one in report.slices if one.source == "generated"} >= {"link", "sentence", "heading"}


def test_a_changed_note_makes_a_question_stale_not_failed(tmp_path: Path, generated: list[Question]) -> None:
    target = target_of(write_vault(tmp_path / "vault"), tmp_path / "index")
    changed = next(one for one in generated if one.kind == "sentence")
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


def test_the_time_that_remains_counts_indices_and_questions() -> None:
    now = 0.0
    left = RemainingTime(indices=2, questions=300, clock=lambda: now)
    assert left.text() == ""
    now += 40
    left.is_built()
    now += 10
    left.is_asked(100)
    assert left.is_due()
    assert left.text() == ", about 1 min left"  # 20 s for 200 questions, 40 s for an index
    assert not left.is_due()
    now += 40
    left.is_built()
    now += 10
    left.is_asked(100)
    assert left.text() == ", about 10 s left"


def test_temporary_folders_are_gone_after_a_run(
    target: Target, generated: list[Question], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen: list[int] = []
    run_ranking(
        target,
        generated[:1],
        parse_variants(["keyword"]),
        say=lambda _: seen.append(len(list(tmp_path.iterdir()))),
    )
    assert max(seen) == 1
    assert list(tmp_path.iterdir()) == []


def test_known_vectors_of_the_vaults_own_index_are_used_again(target: Target, tmp_path: Path) -> None:
    with own_index(target, lambda _: None):
        pass
    other = replace(Assembly.of(target_of(target.vault, tmp_path / "index")), shared_root=target.index_dir)
    other.index_dir.prepare()
    _, report = other.build_next(lambda _: None, recompute_weights=False)
    assert (report.embedded, report.reused > 0) == (0, True)


def invented(values: dict[str, Sequence[float]]) -> RankingRun:
    """A run of judged questions with these values of nDCG."""
    size = len(next(iter(values.values())))
    questions = tuple(
        Question(f"q{at}", f"q{at}", {f"{at}.md": 1}, language="en" if at % 2 else "es") for at in range(size)
    )
    scores = {name: tuple(Scores(one, one, one, 1.0) for one in own) for name, own in values.items()}
    return RankingRun(10, questions, (), scores)


def test_languages_are_reported_each_with_an_interval() -> None:
    report = compare(invented({"one": [0.2, 0.8] * 10, "two": [0.4, 0.8] * 10}))
    by_name = {one.name: one for one in report.slices}
    assert set(by_name) == {"all", "language en", "language es"}
    assert by_name["language es"].rows[0].ndcg.mean == pytest.approx(0.2)
    against = by_name["all"].rows[1].against
    assert against is not None
    assert against.difference.low <= 0.1 <= against.difference.high
    assert by_name["all"].rows[0].against is None


def test_a_slice_of_few_questions_has_means_without_intervals() -> None:
    report = compare(invented({"one": [0.2, 0.8] * 6, "two": [0.4, 0.7] * 6}))
    assert [(one.name, one.questions) for one in report.slices] == [
        ("all", 12),
        ("language en", 6),
        ("language es", 6),
    ]
    whole, english, _ = as_markdown(report).split("## judged, ")[1:]
    assert "| one | 0.500 [" in whole
    assert "| one | 0.800 | 0.800 | 0.800 | 1.00 |  |  |" in english
    assert "| two | 0.700 | 0.700 | 0.700 | 1.00 | -0.100 |  |" in english
    assert "[" not in english
    assert "Too few questions for intervals" in english and "Too few" not in whole
    data = json.loads(as_json(report))["slices"]
    assert data[0]["rows"][1]["ndcg"]["low"] is not None
    assert data[1]["rows"][1]["ndcg"] == {"mean": pytest.approx(0.7), "low": None, "high": None}
    assert (data[1]["rows"][1]["against"]["p"], data[1]["rows"][1]["against"]["smallest"]) == (None, None)


def test_a_language_that_few_generated_questions_have_makes_no_slice() -> None:
    languages = ["en"] * 585 + ["da"] * 11 + ["es"] * 40 + ["fr"] * 9 + [""] * 3
    kinds = {"generated": "sentence", "judged": "judged"}
    for source, kind in kinds.items():
        questions = tuple(
            Question(f"q{at}", f"q{at}", {f"{at}.md": 1}, kind, language)
            for at, language in enumerate(languages)
        )
        scores = tuple(Scores(at % 2, at % 2, at % 2, 1.0) for at in range(len(languages)))
        report = compare(RankingRun(10, questions, (), {"one": scores}))
        found = {one.name for one in report.slices if one.source == source}
        few = {"language da", "language fr", "language unknown"}
        wanted = {"all", "language en", "language es"} | (few if source == "judged" else set())
        assert found == wanted


def test_the_smallest_difference_that_so_many_questions_can_show_is_printed() -> None:
    few, many = (compare(invented({"one": [0.2, 0.8] * n, "two": [0.4, 0.7] * n})) for n in (5, 50))
    smallest = [
        one.slices[0].rows[1].against.smallest for one in (few, many) if one.slices[0].rows[1].against
    ]
    assert smallest[0] > smallest[1] > 0  # type: ignore[operator] # neither is None here
    assert (
        f"10 questions can show (four times in five, at p .05 after Holm): {smallest[0]:.3f} (two)"
        in as_markdown(few)
    )


def test_the_gate_fails_a_variant_whose_mean_alone_is_better() -> None:
    run = invented({"base": [0.5] * 24, "noisy": [1.0, 0.0] * 11 + [1.0, 1.0], "steady": [0.6] * 24})
    report = compare(run, "base", min_lift_pct=5)
    assert len(report.failures) == 1
    assert "noisy" in report.failures[0]
    text = as_markdown(report)
    assert "judged, noisy: fail: +8.3%" in text
    assert "judged, steady: pass: +20.0%" in text


def test_a_zero_baseline_fails_the_gate() -> None:
    report = compare(invented({"base": [0.0] * 8, "good": [1.0] * 8}), "base", min_lift_pct=1)
    assert report.failures == ("judged: good: the baseline is 0: there is no percentage of it",)
    assert json.loads(as_json(report))["failures"]


def test_an_unknown_baseline_names_the_variants() -> None:
    with pytest.raises(UsageError, match="one, two"):
        compare(invented({"one": [1.0], "two": [1.0]}), "three")


def test_a_variant_is_named_after_what_it_changes(target: Target) -> None:
    one, two = parse_variants(["recursive+keyword", "search.rrf_k=10+rrf"])
    assert one.index_options == {"chunking.strategy": "recursive"}
    settings = settings_with(target.config.settings, two.options, "variant")
    assert (settings.search.rrf_k, settings.search.rerank) == (10, 0)
    assert two.index_options == {}


@pytest.mark.parametrize(("name", "said"), [("recursiv", "did you mean recursive"), ("a=1", "no 'a=1'")])
def test_an_unknown_variant_is_an_error(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_variants([name])


def test_a_value_that_is_not_allowed_is_an_error_of_the_configuration(target: Target) -> None:
    with pytest.raises(ConfigError, match=r"search\.rrf_k"):
        settings_with(target.config.settings, {"search.rrf_k": "none"}, "variant")


def test_a_question_is_asked_as_words() -> None:
    assert plain_query("water the tomatoes") == "water the tomatoes"
    assert plain_query('tag: "unfinished (and) -more') == "tag unfinished and more"
    assert plain_query("   ") == ""


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


def indexer(
    options: list[str], environ: dict[str, str], *words: str, given: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vault_indexer.cli", "eval", *words, *options],
        env=environ,
        input=given,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def test_generate_rank_and_run_are_commands(place: tuple[list[str], dict[str, str], Path]) -> None:
    options, environ, cases = place
    made = indexer(options, environ, "generate", "--per-kind", "4", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["questions"] == len(load_questions(cases))
    assert "as they stand" not in made.stderr
    ranked = indexer(options, environ, "rank", "--variants", "configured,keyword", "--report", "json")
    assert ranked.returncode == 0, ranked.stderr
    assert {row["variant"] for row in json.loads(ranked.stdout)["slices"][0]["rows"]} == {
        "configured",
        "keyword",
    }
    ran = indexer(options, environ, "run", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["ranking"]["slices"][0]["source"] == "generated"
    gated = indexer(options, environ, "rank", "--variants", "configured,keyword,rrf", "--min-lift-pct", "900")
    assert gated.returncode == 2, gated.stderr
    assert list(Path(environ["TMPDIR"]).iterdir()) == []


def test_generate_says_how_many_questions_are_sentences_as_they_stand(
    place: tuple[list[str], dict[str, str], Path], tmp_path: Path
) -> None:
    options, environ, _ = place
    vault = tmp_path / "french"
    vault.mkdir()
    (vault / "Jardin.md").write_text(
        "# Jardin\n\nLe compost transforme lentement les épluchures de cuisine en terre pour le potager. "
        "Les voisins en parlent souvent le dimanche. Ils en rient aussi.\n"
    )
    options[options.index("--vault") + 1] = str(vault)
    made = indexer(options, environ, "generate")
    assert made.returncode == 0, made.stderr
    told = "1 of them are sentences and headings as they stand: only de, en, es have forms of questions"
    assert told in made.stderr


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


def test_a_run_in_which_all_questions_are_stale_is_no_success(
    place: tuple[list[str], dict[str, str], Path], generated: list[Question]
) -> None:
    options, environ, cases = place
    old = [replace(one, sha256=dict.fromkeys(one.sha256, "0" * 64)) for one in generated]
    write_questions(generated_file(cases), old)
    ran = indexer(options, environ, "rank", "--min-lift-pct", "1")
    assert ran.returncode == 1
    assert "all are stale" in ran.stderr


def test_rank_without_questions_says_how_to_get_some(place: tuple[list[str], dict[str, str], Path]) -> None:
    options, environ, _ = place
    ran = indexer(options, environ, "rank")
    assert ran.returncode == 2
    assert "indexer eval generate" in ran.stderr


def test_the_gate_fails_a_variant_that_is_worse_in_one_language() -> None:
    """Spanish questions (the even ones) lose what English ones win several times over."""
    run = invented({"base": [0.5, 0.2] * 12, "english": [0.44, 0.98] * 12, "both": [0.6, 0.3] * 12})
    report = compare(run, "base", min_lift_pct=5)
    assert [one.partition(": language")[0] for one in report.failures] == ["judged: english"]
    assert "language es: " in report.failures[0] and "language en" not in report.failures[0]
    text = as_markdown(report)
    assert "judged, english: pass: " in text
    assert "judged, english (language es): fail: -12.0%" in text
    assert "judged, english (language en): pass: +390.0%" in text


def test_the_report_has_the_scores_of_each_question() -> None:
    found = json.loads(as_json(compare(invented({"one": [0.2, 0.8], "two": [0.4, 0.7]}))))
    assert [one["id"] for one in found["questions"]] == ["q0", "q1"]
    assert found["questions"][1]["language"] == "en"
    assert found["questions"][1]["scores"]["two"]["ndcg"] == 0.7
