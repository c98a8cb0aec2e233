"""What a run asks of an index, what of the answers counts, and what a person is shown to grade."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from eval_lab import write_vault
from questions_vault import target_of
from reliability_lab import in_one_process

from vault_evals.feedback import FolderFeedbackStore
from vault_evals.questions import Edit, Question, hidden_order, question_id
from vault_evals.ranking import Scores, pool_of, ranked_paths, run_ranking
from vault_evals.variants import own_index, parse_variants
from vault_indexer.daemon.assembly import Target
from vault_indexer.model import IndexCounts, StatusReport
from vault_indexer.search import IndexReader
from vault_indexer.service import VaultService

SKY = "# Telescope\n\nA mirror, a mirror and a mirror gather starlight.\n\nRust eats the tube.\n"
NOTES = {
    "Compost.md": "# Compost\n\nKitchen scraps become dark earth.\n",
    "Telescope.md": SKY,
    "Hall.md": "# Hall\n\nCoats, boots, umbrellas and a mirror hang or stand beside the old door.\n",
    "Violin.md": "# Violin\n\nFour strings over a spruce body.\n",
}
BEST = Scores(1.0, 1.0, 1.0, 1.0)
NOTHING = Scores(0.0, 0.0, 0.0, 0.0)
EMPTY = Scores(0.0, 0.0, 0.0, 1.0)
"""No note was found, so that none lacks a grade."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    """A vault with its index."""
    folder = tmp_path_factory.mktemp("asked")
    made = target_of(write_vault(folder / "vault", NOTES), folder / "index")
    assembly = in_one_process(made)
    assembly.index_dir.prepare()
    generation, _ = assembly.build_next(lambda _: None, recompute_weights=True)
    assembly.index_dir.publish(generation)
    return made


@pytest.fixture(scope="module")
def reader(target: Target) -> Iterator[IndexReader]:
    with own_index(target, lambda _: None) as reader:
        yield reader


def scores_of(target: Target, *questions: Question, k: int = 10) -> dict[str, Scores]:
    """What the ranking by word gives for each question."""
    run = run_ranking(target, questions, parse_variants(["keyword"]), k=k)
    return {one.id: scores for one, scores in zip(run.questions, run.scores["keyword"], strict=True)}


def test_the_first_notes_that_are_not_excluded_count(target: Target) -> None:
    both = {"Telescope.md": 1, "Hall.md": 1}
    found = scores_of(
        target,
        Question("best", "mirror", {"Telescope.md": 1}),
        Question("second", "mirror", {"Hall.md": 1}),
        Question("excluded", "mirror", {"Hall.md": 1}, excluded=("Telescope.md",)),
        Question("half", "mirror", both),
        Question("other", "mirror", {"Violin.md": 2}),
        Question("no words", "()", {"Violin.md": 2}),
        k=1,
    )
    assert found == {
        "best": BEST,
        "second": NOTHING,
        "excluded": BEST,
        "half": Scores(1.0, 1.0, 0.5, 1.0),
        "other": NOTHING,
        "no words": EMPTY,
    }
    two = scores_of(target, Question("second", "mirror", {"Hall.md": 1}), Question("half", "mirror", both))
    assert (two["second"].mrr, two["second"].recall, two["second"].judged) == (0.5, 1.0, 0.5)
    assert two["half"] == BEST


def test_each_variant_answers_each_question_over_one_index(target: Target) -> None:
    said: list[str] = []
    gone = Question("gone", "mirror", {"Gone.md": 1})
    asked = [
        Question("a", "kitchen scraps", {"Compost.md": 2}),
        gone,
        Question("b", "mirror", {"Hall.md": 1}),
    ]
    run = run_ranking(target, asked, parse_variants(["configured", "keyword"]), say=said.append)
    assert said == ["0 of 2 questions asked of 2 variants (one index)"]
    assert ([one.id for one in run.questions], run.stale, run.k) == (["a", "b"], (gone,), 10)
    assert [(name, len(scores)) for name, scores in run.scores.items()] == [("configured", 2), ("keyword", 2)]
    assert run.scores["configured"][0].mrr == run.scores["keyword"][0].mrr == 1.0
    assert 0 < run.seconds < 600


@pytest.mark.long
def test_a_variant_of_another_strategy_has_an_index_of_its_own(target: Target) -> None:
    said: list[str] = []
    before = {file: file.stat().st_mtime_ns for file in target.index_dir.glob("CURRENT")}
    asked = [Question("a", "kitchen scraps", {"Compost.md": 2})]
    run = run_ranking(target, asked, parse_variants(["keyword", "keyword+none"]), say=said.append)
    assert [said[0], said[1]] == [
        "0 of 1 questions asked of 1 variant (index 1 of 2)",
        "building an index for keyword+none",
    ]
    assert said[2].startswith("0 of 1 questions asked of 1 variant (index 2 of 2, about ")
    assert run.scores == {"keyword": (BEST,), "keyword+none": (BEST,)}
    assert {file: file.stat().st_mtime_ns for file in target.index_dir.glob("CURRENT")} == before


@pytest.mark.long
def test_of_generated_questions_the_text_is_hidden(target: Target) -> None:
    said: list[str] = []
    start = SKY.index("A mirror")
    edits = (Edit("Telescope.md", start, SKY.index("\n\nRust")),)
    expected = {"Telescope.md": 1}
    asked = [
        Question("hidden", "starlight", expected, "sentence", edits=edits),
        Question("seen", "rust", expected, "sentence", edits=edits),
        Question("open", "starlight", expected),
    ]
    run = run_ranking(target, asked, parse_variants(["keyword"]), say=said.append)
    assert said == [
        "0 of 1 questions asked of 1 variant (one index)",
        "hiding the text of 2 questions in a shadow of the vault",
        "building an index for keyword",
        "0 of 2 questions asked of 1 variant (one index)",
    ]
    assert [one.id for one in run.questions] == ["open", "hidden", "seen"], "a person's come first"
    assert run.scores["keyword"] == (BEST, EMPTY, BEST)
    assert (target.vault / "Telescope.md").read_text("utf-8") == SKY


@pytest.mark.parametrize(
    ("text", "k", "found"),
    [("starlight", 1, ["Telescope.md"]), ("mirror", 2, ["Telescope.md", "Hall.md"]), ("()", 5, [])],
)
def test_the_notes_of_an_answer_are_ranked_each_once(
    reader: IndexReader, text: str, k: int, found: list[str]
) -> None:
    with reader.holder.lease() as snapshot:
        assert ranked_paths(reader.searcher, snapshot, text, k) == found


def test_a_pool_has_what_any_of_the_rankings_finds_first(target: Target, reader: IndexReader) -> None:
    with reader.holder.lease() as snapshot:
        of_one = pool_of(reader.searcher, snapshot, target.config.settings, "kitchen scraps", depth=1)
        of_all = pool_of(reader.searcher, snapshot, target.config.settings, "kitchen scraps")
    assert of_one == ["Compost.md"]
    assert of_all == sorted(NOTES)


def test_a_person_is_shown_what_is_not_graded_yet(
    target: Target, reader: IndexReader, tmp_path: Path
) -> None:
    settings = target.config.settings.model_copy(
        update={"evals": target.config.settings.table("evals").model_copy(update={"folder": tmp_path})}
    )
    status = StatusReport("/vault", str(tmp_path), "ready", 1, 1, 0, IndexCounts(0, 0, 0, 0))
    service = SimpleNamespace(settings=settings, reader=lambda: reader, status=lambda: status)
    store = FolderFeedbackStore(cast(VaultService, service))
    pool = store.next_pool(" kitchen   scraps ")
    name = question_id("judged", "kitchen scraps")
    assert (pool.question, pool.judged, pool.questions) == ("kitchen scraps", 0, ())
    assert [one.path for one in pool.notes] == hidden_order(name, sorted(NOTES))
    compost = next(one for one in pool.notes if one.path == "Compost.md")
    assert compost.title == "Compost"
    assert "dark earth" in compost.excerpt
    assert list(tmp_path.iterdir()) == [], "to look keeps nothing"
    store.keep_grade("kitchen scraps", "Compost.md", 2)
    again = store.next_pool("kitchen scraps")
    assert (again.judged, again.questions) == (1, ("kitchen scraps",))
    assert [one.path for one in again.notes] == [one.path for one in pool.notes if one.path != "Compost.md"]
