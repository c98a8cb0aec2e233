"""What a query may cost: a deadline, a budget for its filters, and bounds on what it may hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexed_vault import NOW, Indexed
from small_vault import Ask

from vault_indexer.errors import QueryCancelledError, QueryError, QueryTimeoutError
from vault_indexer.model import SearchRequest
from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.filters.chunk_filter import ChunkFilter
from vault_indexer.search.query.parser import MAX_EXPRESSIONS, MAX_OPERATORS, MAX_TERMS, parse_query
from vault_indexer.search.rank.retrieve import by_word
from vault_indexer.store.keywords.schema import FieldWeights
from vault_indexer.text.query import analyze_query

QUERIES = [
    *("heap", "the heap", '"the heap"', "tag:area", "line:(the -x)", 'task:""', "-(heap OR telescope)"),
    "/[ae]/",
]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_ends_at_its_deadline(indexed: Indexed, query: str) -> None:
    opened = indexed[1]
    with opened.holder.lease() as snapshot, pytest.raises(QueryTimeoutError, match=r"longer than 0 seconds"):
        opened.searcher.search(snapshot, SearchRequest(query), QueryDeadline(0))


@pytest.mark.parametrize("query", QUERIES)
def test_a_cancelled_query_ends_at_its_next_look(indexed: Indexed, query: str) -> None:
    service = indexed[0]
    looks = itertools.count()
    service.search(SearchRequest(query), is_cancelled=lambda: next(looks) < 0)
    total = next(looks)
    assert total >= 2
    for last in range(total):
        asked = itertools.count()
        with pytest.raises(QueryCancelledError):
            service.search(SearchRequest(query), is_cancelled=lambda: next(asked) >= last)  # noqa: B023
        assert next(asked) == last + 1


def chosen(indexed: Indexed, query: str, budget: ReadingBudget | None = None) -> ChunkFilter:
    with indexed[1].holder.lease() as snapshot:
        return ChunkFilter(snapshot, parse_query(query).conditions, NOW, QueryDeadline(600), budget)


def test_a_spent_budget_leaves_what_needs_no_reading(indexed: Indexed) -> None:
    every = chosen(indexed, 'lang:ru OR "the heap"')
    every.settle()
    short = chosen(indexed, 'lang:ru OR "the heap"', ReadingBudget(-1))
    short.settle()
    known = chosen(indexed, "lang:ru")
    assert every.unchecked == 0
    assert short.unchecked > 0
    assert set(short.keys.tolist()) == set(known.keys.tolist()) < set(every.keys.tolist())


def test_a_budget_that_ends_on_the_way_gives_no_wrong_hit(indexed: Indexed) -> None:
    for query in (
        *("-(line:(the heap))", '-"the heap"', 'line:the -"horse manure"', 'section:(the OR "a") -x'),
        *("/the h/", "line:/e$/", "-/x/"),
    ):
        every = chosen(indexed, query)
        every.settle()
        for budget in range(0, 60_000, 1_500):
            short = chosen(indexed, query, ReadingBudget(budget))
            short.settle()
            assert set(short.keys.tolist()) <= set(every.keys.tolist())
            assert short.unchecked or set(short.keys.tolist()) == set(every.keys.tolist())


@pytest.mark.parametrize("query", ['"the heap"', "-line:(the heap)", "path:(a OR b OR -c) block:the", '-"é"'])
def test_the_estimate_is_the_same_each_time(indexed: Indexed, query: str) -> None:
    spent = []
    for _ in range(2):
        budget = ReadingBudget()
        chosen(indexed, query, budget).settle()
        spent.append(budget.spent)
    assert spent[0] == spent[1] > 0


COSTS = [
    ("tag:area heap OR telescope [rating:>3] links-to:Tomatoes lang:ru", 0),
    ('"the heap"', 19_661),
    ('-"é"', 39_384),
    ("line:(the heap)", 26_853),
    ("block:(moon monday)", 8_683),
    ("-/h[ae]/", 35_015),
    ("/[一-龥]{400}/", 75_374),
    ("path:(garden -compost)", 0),
    ("path:(a OR b OR -c)", 0),
    ("-/rating: 4/", 17_112),
    ('"the heap" path:(a OR b OR -c)', 19_661),
]


@pytest.mark.posix("files with line feeds")
@pytest.mark.parametrize(("query", "characters"), COSTS)
def test_the_budget_counts_what_is_read_and_looked_through(
    indexed: Indexed, query: str, characters: int
) -> None:
    budget = ReadingBudget()
    chosen(indexed, query, budget).settle()
    assert budget.spent == characters


FILTERS = [
    *("tag:area", "-tag:area", "/h[ae]/", "-line:/the$/", '"the heap"', '-"the heap"', "line:(the -heap)"),
    *("block:the", '"."'),
]
PLACES = [
    *("-section:heap", 'content:"the"', "heading:compost", 'task:""', '("heap" OR lang:ru)'),
    "(heap OR moon)",
]
CONDITIONS = st.lists(st.sampled_from([*FILTERS, *PLACES]), min_size=1, max_size=3).map(" ".join)


@settings(deadline=None, max_examples=60)
@given(CONDITIONS, st.integers(1, 6))
def test_checking_as_few_as_needed_finds_the_same_as_checking_all(
    indexed: Indexed, query: str, k: int
) -> None:
    fields = FieldWeights()
    with indexed[1].holder.lease() as snapshot:
        terms = analyze_query("the heap of leaves", snapshot.languages)
        settled = chosen(indexed, query)
        settled.settle()
        wanted = snapshot.keywords.search(terms, fields, k, settled.keys)
        found, _ = by_word(snapshot, terms, fields, k, chosen(indexed, query))
    assert found.tolist() == wanted.keys.tolist()
    assert chosen(indexed, query).leaves_any() == bool(len(settled.keys))


def test_no_more_notes_are_checked_than_a_ranking_needs(indexed: Indexed) -> None:
    lazy = chosen(indexed, '"the"')
    best = np.flip(lazy.keys)
    assert lazy.passing(best[:1]).tolist() == [True]
    assert lazy.is_open


@pytest.mark.parametrize(
    ("opening", "term", "joint", "closing", "most", "kind"),
    [
        ("", '"w{}"', " OR ", "", MAX_TERMS, "terms"),
        ("line:(", "w{}", " OR ", ")", MAX_TERMS, "terms"),
        ("", "tag:t{}", " ", "", MAX_OPERATORS, "operators"),
        ("path:(", "/{}/", " OR ", ")", MAX_EXPRESSIONS, "regular expressions"),
    ],
)
def test_terms_operators_and_expressions_are_bounded_and_named(
    opening: str, term: str, joint: str, closing: str, most: int, kind: str
) -> None:
    allowed = opening + joint.join(map(term.format, range(most)))
    assert parse_query(allowed + closing).conditions
    with pytest.raises(QueryError, match=f"{most + 1} {kind}: at most {most} are allowed") as caught:
        parse_query(allowed + joint + term.format("more") + closing)
    assert caught.value.column == len(allowed) + len(joint) + 1


def test_words_that_only_rank_are_not_bounded() -> None:
    words = " ".join(f"w{number}" for number in range(500))
    assert parse_query(words).text == words


@pytest.mark.parametrize(
    ("many", "few"),
    [
        ("a OR " * 780 + "a", "a OR a"),
        ('"a" ' * 900, '"a"'),
        ("tag:x " * 300, "tag:x"),
        ("line:(" + "a OR " * 500 + "a)", "line:(a OR a)"),
    ],
)
def test_the_same_term_again_changes_nothing(many: str, few: str) -> None:
    assert [one.node for one in parse_query(many).conditions] == [
        one.node for one in parse_query(few).conditions
    ]


@pytest.mark.parametrize("query", ['"', '""', "", " ", "-", "("])
def test_a_query_that_says_nothing_yet_is_silent_while_typing(ask: Ask, query: str) -> None:
    assert ask(query, as_you_type=True).notices == ask("heap", as_you_type=True).notices


@pytest.mark.parametrize("query", ["tag:#", "[rating:>", "after:2", "links-to:Nowhe"])
def test_what_is_wrong_in_an_unfinished_query_is_a_notice_while_typing(ask: Ask, query: str) -> None:
    with pytest.raises(QueryError) as caught:
        ask(query)
    answer = ask(query, as_you_type=True)
    assert answer.results == ()
    assert str(caught.value) in answer.notices
