"""How many of the first hits are likely, and how many notes an answer has."""

from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st
from small_vault import Ask

from vault_indexer.model import Verdict
from vault_indexer.search.confidence import count_likely, verdict_of


def test_an_answer_ends_where_relevance_falls() -> None:
    def likely(relevance: str, verdict: Verdict) -> int:
        return count_likely(list(map(float, relevance.split())), verdict)

    check_golden(Path(__file__).parent / "fixtures" / "relevance.md", {"": of_parts(likely)})


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
