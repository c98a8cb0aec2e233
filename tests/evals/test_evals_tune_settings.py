"""Settings chosen on one half of the questions, shown on the other, and written only where asked."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st
from questions_vault import target_of, write_vault

from vault_evals.questions import ASIDE, TUNE, Question, part_of
from vault_evals.ranking import RankingRun, Scores
from vault_evals.tune import apply, choose, tune, tuning_variants, with_settings
from vault_evals.variants import Variant
from vault_indexer.config.settings import Settings
from vault_indexer.errors import UsageError

BASE = Variant("configured", {})
RRF = Variant("rrf", {"search.rerank": "0", "search.weights.vector": "1"})
GRAPH = Variant("graph", {"search.weights.graph": "2"})
FILE = Path(".indexer.toml")
VALUES = {"search.rerank": "0", "search.weights.graph": "2.0"}


def questions(size: int = 80) -> list[Question]:
    return [Question(f"q{at}", "text", {f"note {at}.md": 1}) for at in range(size)]


def run_of(by_part: dict[str, dict[str, Sequence[float]]]) -> RankingRun:
    """A run whose values alternate through the given ones, by variant and part."""
    asked = questions()
    scores = {
        name: tuple(
            Scores(value, value, value, 1.0)
            for at, one in enumerate(asked)
            for value in [parts[one.part][at % len(parts[one.part])]]
        )
        for name, parts in by_part.items()
    }
    return RankingRun(10, tuple(asked), (), scores)


def test_the_choice_is_made_on_tune_and_shown_on_aside() -> None:
    run = run_of(
        {
            "configured": {TUNE: [0.5], ASIDE: [0.5]},
            "rrf": {TUNE: [0.6], ASIDE: [0.4]},  # better where it is chosen, worse where it is tested
            "graph": {TUNE: [0.5], ASIDE: [0.9]},
        }
    )
    found = choose(run, [BASE, RRF, GRAPH], Settings())
    assert found.chosen is RRF
    assert found.values == {"search.rerank": "0"}
    assert not found.is_better
    (whole,) = [one for one in found.aside.slices if one.name == "all"]
    assert whole.questions == sum(part_of(one.target) == ASIDE for one in questions())
    against = whole.rows[1].against
    assert against is not None
    assert against.difference.high < 0


@pytest.mark.parametrize(
    ("on_tune", "on_aside", "chosen", "is_better"),
    [
        (0.6, [0.6], RRF, True),
        (0.6, [0.5], RRF, False),  # the lower bound is 0, not above
        (0.6, [1.0, 0.02, 0.02, 1.0], RRF, False),  # better by the mean alone
        (0.5, [0.6], BASE, False),  # as good as the active settings
    ],
)
def test_a_choice_is_better_only_if_the_lower_bound_says_so(
    on_tune: float, on_aside: list[float], chosen: Variant, is_better: bool
) -> None:
    base: dict[str, Sequence[float]] = {TUNE: [0.5], ASIDE: [0.5]}
    found = choose(
        run_of({"configured": base, "graph": base, "rrf": {TUNE: [on_tune], ASIDE: on_aside}}),
        [BASE, GRAPH, RRF],
        Settings(),
    )
    assert (found.chosen, found.is_better, found.source) == (chosen, is_better, "judged")
    assert bool(found.values) is (chosen is RRF)
    shown = [one.variant for one in found.aside.slices[0].rows]
    assert shown == list(dict.fromkeys(["configured", chosen.name]))


def test_sources_are_not_pooled(tmp_path: Path) -> None:
    target = target_of(write_vault(tmp_path / "vault"), tmp_path / "index")
    mixed = [Question("a", "x", {"Garden.md": 1}), Question("b", "y", {"Garden.md": 1}, "clicked")]
    for asked, named in ((mixed, "clicked, judged"), ([], "none")):
        with pytest.raises(UsageError) as refused:
            tune(target, asked, [BASE], report=lambda _: None, say=lambda _: None)
        wanted = "use questions of one source, generated or a person's; there are"
        assert str(refused.value) == f"{wanted} {named}"
    assert not (tmp_path / "index").exists()


def test_each_pair_of_weights_is_tried_in_both_orders_for_each_strategy() -> None:
    plain = tuning_variants()
    assert len(plain) == 1 + 2 * 15
    assert plain[1].name == "evidence 1:1:0.5"
    assert dict(plain[1].options) == {
        "search.rerank": "100",
        "search.weights.vector": "1",
        "search.weights.keyword": "1",
        "search.weights.graph": "0.5",
    }
    assert plain[-1].name == "rrf 1:2:1"
    with_word = tuning_variants(["word", "paragraph"])
    assert len({one.name for one in with_word}) == len(with_word) == 1 + 30 + 2 * 31
    assert with_word[:31] == plain
    assert (with_word[31].name, dict(with_word[31].options)) == ("word", {"chunking.strategy": "word"})
    assert with_word[32].name == "word evidence 1:1:0.5"
    assert with_word[32].options["chunking.strategy"] == "word"


def test_comments_and_other_lines_stay() -> None:
    before = (
        "# mine\n[search]\nlimit = 5 # five\nrerank = 50  # why not\n\n"
        "[search.recency]\nenabled = false\n"
        "tiers = [{ days = 7, boost = 1.2 }]\n"
    )
    after = with_settings(before, VALUES, FILE)
    assert after == before.replace("50", "0") + "\n[search.weights]\ngraph = 2.0\n"
    assert with_settings(after, VALUES, FILE) == after
    dotted = "[search]\nweights.graph = {} # g\n"
    assert with_settings(dotted.format(1), {"search.weights.graph": "2.0"}, FILE) == dotted.format("2.0")


LINES = st.lists(
    st.sampled_from(
        [
            *("# a comment", "", "limit = 7", "[chunking]", "strategy = 'markdown' # s", "[search.recency]"),
            "enabled = true",
        ]
    ),
    max_size=7,
    unique=True,
)


@given(LINES)
def test_any_file_keeps_its_lines_and_gets_the_values(lines: list[str]) -> None:
    before = "[search]\nrerank = 50\n" + "\n".join(lines)
    try:
        old = tomli.loads(before)
    except tomli.TOMLDecodeError:
        return
    after = with_settings(before, VALUES, FILE)
    new = tomli.loads(after)
    assert new["search"].pop("rerank") == 0
    assert new["search"].pop("weights") == {"graph": 2.0}
    old["search"].pop("rerank")
    assert new == old
    assert [line for line in before.splitlines() if line.startswith("#")] == [
        line for line in after.splitlines() if line.startswith("#")
    ]


def test_what_a_vaults_file_must_not_set_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"embedding\.provider.*your own configuration"):
        apply(tmp_path, {"embedding.provider": '"openai"'})
    assert list(tmp_path.iterdir()) == []


def test_apply_writes_the_vaults_configuration(tmp_path: Path) -> None:
    file = apply(tmp_path, VALUES)
    assert file == tmp_path / ".indexer.toml"
    assert tomli.loads(file.read_text()) == {"search": {"rerank": 0, "weights": {"graph": 2.0}}}
    assert [one.name for one in tmp_path.iterdir()] == [".indexer.toml"]


@pytest.mark.parametrize("text", ["search = { rerank = 50 }\n", "[search\n", "search = 3\n"])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(text: str, tmp_path: Path) -> None:
    file = tmp_path / ".indexer.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"\.indexer\.toml"):
        apply(tmp_path, VALUES)
    assert file.read_text() == text


@pytest.mark.posix("symbolic links")
def test_a_link_in_the_vault_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    other, file = tmp_path / "other.toml", tmp_path / ".indexer.toml"
    other.write_text("[search]\nlimit = 5\n")
    file.symlink_to(other)
    with pytest.raises(UsageError, match="is not a regular file"):
        apply(tmp_path, VALUES)
    assert file.is_symlink()
    assert other.read_text() == "[search]\nlimit = 5\n"
