"""Conditions that contradict themselves are refused without reading, and the others keep their meaning."""

from pathlib import Path

import pytest
from golden_cases import check_golden
from hypothesis import example, given, settings
from hypothesis import strategies as st
from indexed_vault import NOW, Indexed
from query_trees import outline, trees

from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.filters.candidates import pattern_of
from vault_indexer.search.filters.chunk_filter import NOTHING, ChunkFilter, simplify
from vault_indexer.search.filters.evaluation import Evaluation
from vault_indexer.search.query import All, Node, Not, Phrase, Scope, Text, Within, Word, holds, parse_query


def condition(query: str) -> Node:
    return All(tuple(one.node for one in parse_query(query).conditions))


@pytest.mark.parametrize(
    "query",
    [
        *("line:(the -the)", 'block:(the -"the")', 'section:("of the" -the)', "line:(match-case:The -the)"),
        *("line:(a -(a OR b))", "line:(-(a b) a b)", "line:((a OR -a) b -b)", "task:(/x$/ -/x$/)"),
        *('"the" -"the"', "tag:a -tag:a", "-(lang:en OR -lang:en)"),
    ],
)
def test_a_contradiction_is_found_without_reading(indexed: Indexed, query: str) -> None:
    with indexed[1].holder.lease() as snapshot:
        chosen = ChunkFilter(
            snapshot, parse_query(query).conditions, NOW, QueryDeadline(600), ReadingBudget(-1)
        )
    assert (chosen.candidates, len(chosen.keys), chosen.is_open) == (0, 0, False)


def test_what_is_left_of_a_condition_is_that_of_the_golden() -> None:
    golden = Path(__file__).parent / "fixtures" / "simplified.md"
    check_golden(golden, {"": lambda query: outline(simplify(condition(query)))})


LEAVES: st.SearchStrategy[Node] = st.sampled_from(
    [Word("the", 0), Phrase("the", 0), Word("heap", 0), Phrase("the heap", 0)]
)
TREES = trees(LEAVES | LEAVES.map(lambda leaf: Not(leaf, 0)))
PIECES = ["", "the", "heap", "the heap", "heap, the"]


@given(TREES)
def test_a_place_holds_as_before(inside: Node) -> None:
    found = simplify(Within(Scope.LINE, inside, 0))
    for piece in PIECES:

        def has(leaf: Node, piece: str = piece) -> bool:
            assert isinstance(leaf, Text)
            return pattern_of(leaf).is_in(piece)

        before = holds(inside, has)
        match found:
            case Within(_, None, _):
                after = True
            case Within(_, kept, _) if kept:
                after = holds(kept, has)
            case _:
                assert found == All((NOTHING, NOTHING))
                after = False
        assert before == after


SCOPES = st.sampled_from([Scope.LINE, Scope.SECTION, Scope.CONTENT, Scope.HEADING, Scope.BLOCK])
PLACES = st.builds(Within, SCOPES, TREES, st.just(0))
CONDITIONS = trees(PLACES | LEAVES, parts=(1, 2), max_leaves=4)


@settings(deadline=None, max_examples=80)
@given(CONDITIONS)
@example(condition('"the" -line:(heap -heap)'))
@example(condition('"heap" OR line:(the OR -the)'))
def test_a_condition_finds_the_same_notes_and_places(indexed: Indexed, node: Node) -> None:
    with indexed[1].holder.lease() as snapshot:
        evaluation = Evaluation(snapshot, NOW, QueryDeadline(600), ReadingBudget())
        notes = frozenset(evaluation.notes.tolist())
        before, after = (evaluation.check(one, notes)[0] for one in (node, simplify(node)))
    assert after.notes == before.notes
    assert {id_: set(spans) for id_, spans in after.places.items()} == {
        id_: set(spans) for id_, spans in before.places.items()
    }
