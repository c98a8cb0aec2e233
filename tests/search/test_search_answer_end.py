"""How many of the first hits are likely, and how many notes an answer has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_vault import Ask

from vault_indexer.model import Verdict
from vault_indexer.search.confidence import count_likely, verdict_of


@pytest.mark.parametrize(
    ("relevance", "verdict", "likely"),
    [
        ([], "none", 0),
        ([0.02, 0.01], "none", 0),
        ([0.28, 0.28, 0.28], "weak", 0),
        ([0.99, 0.3, 0.29, 0.01], "strong", 1),
        ([0.99, 0.98, 0.97, 0.02, 0.01], "strong", 3),
        ([1.0, 0.99, 0.97], "strong", 3),
        ([0.99, 0.4, 0.98, 0.1], "strong", 3),
        ([0.99, 0.3, 0.3, 0.3, 0.3, 0.97], "strong", 1),
        ([0.99, 0.58, 0.57, 0.56], "strong", 1),
        ([0.2, 0.1, 0.9, 0.1], "strong", 3),
        ([0.55, 0.54, 0.54, 0.53, 0.53, 0.52, 0.52], "likely", 3),
        ([0.6, 0.55, 0.28], "likely", 2),
        ([0.3, 0.7, 0.68, 0.67, 0.66, 0.65], "likely", 4),
    ],
)
def test_an_answer_ends_where_relevance_falls(relevance: list[float], verdict: Verdict, likely: int) -> None:
    assert count_likely(relevance, verdict) == likely


@given(st.lists(st.floats(0, 1), max_size=12))
def test_some_hit_is_likely_exactly_where_the_verdict_says_so(relevance: list[float]) -> None:
    verdict = verdict_of(relevance)
    likely = count_likely(relevance, verdict)
    assert (likely > 0) == (verdict in ("strong", "likely"))
    assert likely <= len(relevance)


@pytest.mark.parametrize(
    "query", ["heap leaves worms", "tag:area/garden", "section:(heap)", "tomatoes OR heap"]
)
@pytest.mark.parametrize("by_note", [False, True])
def test_the_limit_counts_notes(ask: Ask, query: str, by_note: bool) -> None:
    whole = ask(query, limit=50, by_note=by_note)
    notes = list(dict.fromkeys(hit.path for hit in whole.results))
    assert len(notes) > 1
    for limit in range(1, len(notes) + 1):
        hits = ask(query, limit=limit, by_note=by_note).results
        assert list(dict.fromkeys(hit.path for hit in hits)) == notes[:limit]
        assert whole.results[len(hits) - 1].path == hits[-1].path


def test_what_meets_filters_alone_is_likely(ask: Ask) -> None:
    for query in ("tag:area/garden", "section:(heap)", "path:Sky/"):
        answer = ask(query)
        assert (answer.verdict, answer.likely) == ("strong", len(answer.results))
    assert ask("tag:nowhere").likely == 0
