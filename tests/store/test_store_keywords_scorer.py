"""Scores: Whoosh's own, whatever documents, changes and queries."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.store.keywords import held_weight
from vault_indexer.store.keywords.index import KeywordIndex
from vault_indexer.store.keywords.schema import FIELDS, FieldWeight, FieldWeights, KeywordDocument
from vault_indexer.text.terms import QueryTerm, TermClass

WORDS = st.sampled_from(["ant", "bee", "cat", "dög", "elk", "检索", "f" * 40])
Terms = st.builds(
    lambda words, times: words * times, st.lists(WORDS, max_size=8), st.sampled_from([1, 1, 9, 70])
)
WEIGHTS = FieldWeights(
    title=FieldWeight(2.5, 0.3), content=FieldWeight(1.0, 0.75), tags=FieldWeight(0.0), k1=1.6
)


@st.composite
def documents(draw: st.DrawFn) -> KeywordDocument:
    fields = {name: draw(Terms) for name in draw(st.sets(st.sampled_from(FIELDS)))}
    return KeywordDocument(draw(st.integers(-5, 30)), **fields)


Commits = st.lists(
    st.tuples(st.lists(documents(), max_size=12), st.sets(st.integers(-5, 30), max_size=4)),
    min_size=1,
    max_size=8,
)


def whoosh_scores(folder: Path, words: list[str], weights: FieldWeights) -> dict[int, float]:
    """What Whoosh's own searcher gives for an Or over all fields, by key."""
    from whoosh import index, query, scoring

    fields = [name for name in FIELDS if weights.of(name).boost]
    model = scoring.BM25F(K1=weights.k1, **{f"{name}_B": weights.of(name).b for name in fields})
    with index.open_dir(str(folder)).searcher(weighting=model) as searcher:
        terms = [query.Term(name, word, weights.of(name).boost) for name in fields for word in words]
        keys = searcher.reader().column_reader("key")
        return {keys[hit.docnum]: hit.score for hit in searcher.search(query.Or(terms), limit=None)}


@pytest.mark.posix("a file that is open is removed")
@pytest.mark.long
@given(Commits, st.lists(WORDS, min_size=1, max_size=4, unique=True), st.booleans())
def test_scores_are_those_of_whoosh(
    commits: list[tuple[list[KeywordDocument], set[int]]], words: list[str], reopen: bool
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "keywords"
        index = KeywordIndex.create(folder)
        for seq, (add, delete) in enumerate(commits, 1):
            index.apply(add, delete, seq)
        snapshot = (KeywordIndex.open(folder) if reopen else index).snapshot()
        expected = whoosh_scores(folder, words, WEIGHTS) if index.keys() else {}
        ranking = snapshot.search([QueryTerm.plain(word) for word in words], WEIGHTS, 1000)
        got = dict(zip(ranking.keys.tolist(), ranking.scores.tolist(), strict=True))
        assert got == pytest.approx(expected, abs=1e-3)
        order = sorted(got, key=lambda key: (-got[key], key))
        assert ranking.keys.tolist() == order
        top = snapshot.search([QueryTerm.plain(word) for word in words], WEIGHTS, 3)
        assert top.keys.tolist() == order[:3]


@pytest.mark.posix("a file that is open is removed")
@pytest.mark.long
@given(Commits, st.lists(WORDS, min_size=2, max_size=4, unique=True), st.sets(st.integers(-5, 30)))
def test_scores_of_single_documents_and_their_shares_are_those_of_the_search(
    commits: list[tuple[list[KeywordDocument], set[int]]], words: list[str], asked: set[int]
) -> None:
    one, other, *rest = words
    terms = [
        QueryTerm(one, (TermClass(one, ((other, 0.8),)), TermClass(other, weight=0.7)), 0.6),
        *map(QueryTerm.plain, rest),
    ]
    with tempfile.TemporaryDirectory() as place:
        index = KeywordIndex.create(Path(place) / "keywords")
        for seq, (add, delete) in enumerate(commits, 1):
            index.apply(add, delete, seq)
        snapshot = index.snapshot()
        ranking = snapshot.search(terms, WEIGHTS, 1000)
        found = dict(zip(ranking.keys.tolist(), ranking.scores.tolist(), strict=True))
        keys = np.array(sorted(asked), np.int64)
        scores = snapshot.scores(keys, terms, WEIGHTS).tolist()
        assert scores == pytest.approx([found.get(key, 0.0) for key in keys.tolist()], abs=1e-4)
        shares = [
            sum(match.score for match in one) for one in snapshot.explain(keys.tolist(), terms, WEIGHTS)
        ]
        assert shares == pytest.approx(scores, abs=1e-4)
        explained = snapshot.explain(keys.tolist(), terms, WEIGHTS)
        for shares_of_words, matches in zip(
            snapshot.word_scores(keys.tolist(), terms, WEIGHTS), explained, strict=True
        ):
            assert [share for _, share in shares_of_words] == pytest.approx([one.score for one in matches])
            assert {word for word, _ in shares_of_words} == {one.word for one in matches}
        for key, matches in zip(keys.tolist(), explained, strict=True):
            held = sum(term.weight for term in terms if term.word in {match.word for match in matches})
            whole = sum(term.weight for term in terms)
            own = np.array([key], np.int64)
            share = held_weight(snapshot.term_presence(own, own + 1, terms, WEIGHTS).ranges, terms)
            assert share.tolist() == pytest.approx([held / whole])


@given(
    st.lists(st.tuples(st.floats(0.125, 8, width=32), st.floats(0, 1, width=32)), min_size=1, max_size=12),
    st.integers(2, 130),
)
def test_rows_that_hold_the_same_have_the_same_share(terms: list[tuple[float, float]], rows: int) -> None:
    held = np.tile(np.array([share for _, share in terms], np.float32), (rows, 1))
    found = held_weight(held, [QueryTerm.plain(f"w{n}", weight) for n, (weight, _) in enumerate(terms)])
    assert len(set(found.tolist())) == 1
    total = sum(weight for weight, _ in terms)
    assert found[0] == pytest.approx(sum(weight * share for weight, share in terms) / total, abs=1e-5)


def term_of(exact: str, variants: list[str], other: str, weight: float) -> QueryTerm:
    classes = TermClass(exact, tuple((word, 0.7) for word in variants)), TermClass(other, weight=0.7)
    return QueryTerm(exact, classes, weight)


VARIANTS = st.lists(WORDS, max_size=4, unique=True)
Words = st.lists(st.builds(term_of, WORDS, VARIANTS, WORDS, st.floats(0.05, 1.0)), min_size=1, max_size=4)


@pytest.mark.posix("a file that is open is removed")
@pytest.mark.long
@given(Commits, Words, st.integers(1, 12), st.sets(st.integers(-5, 30)))
def test_rounded_scores_find_what_exact_ones_find_to_the_last_bit(
    commits: list[tuple[list[KeywordDocument], set[int]]], terms: list[QueryTerm], k: int, asked: set[int]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "keywords"
        index = KeywordIndex.create(folder)
        for seq, (add, delete) in enumerate(commits, 1):
            index.apply(add, delete, seq)
        exact = index.snapshot()
        rounded = KeywordIndex.open(folder, rounded_from=0).snapshot()
    keys = np.array(sorted(asked), np.int64)
    for allowed in (None, keys):
        wanted, found = exact.search(terms, WEIGHTS, k, allowed), rounded.search(terms, WEIGHTS, k, allowed)
        assert found.keys.tolist() == wanted.keys.tolist()
        assert found.scores.tobytes() == wanted.scores.tobytes()
    assert rounded.scores(keys, terms, WEIGHTS).tobytes() == exact.scores(keys, terms, WEIGHTS).tobytes()
    held = exact.term_presence(keys, keys + 1, terms, WEIGHTS).ranges
    assert rounded.term_presence(keys, keys + 1, terms, WEIGHTS).ranges.tolist() == held.tolist()
    for term in terms:
        assert rounded.knows(term, WEIGHTS) == exact.knows(term, WEIGHTS)


@pytest.mark.posix("a file that is open is removed")
@pytest.mark.long
@given(Commits, st.lists(WORDS, min_size=1, max_size=3, unique=True), st.data())
def test_postings_that_are_kept_from_other_commits_are_those_that_are_read(
    commits: list[tuple[list[KeywordDocument], set[int]]], words: list[str], data: st.DataObject
) -> None:
    terms = [QueryTerm.plain(word) for word in words]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "keywords"
        index = KeywordIndex.create(folder)
        snapshots, expected = [], []
        for seq, (add, delete) in enumerate(commits, 1):
            index.apply(add, delete, seq)
            snapshots.append(index.snapshot())
            fresh = KeywordIndex.open(folder).snapshot().search(terms, WEIGHTS, 50)
            expected.append((fresh.keys.tolist(), fresh.scores.tolist()))
            asked = data.draw(st.lists(st.integers(0, seq - 1), max_size=3))
            for number in (*asked, seq - 1):
                found = snapshots[number].search(terms, WEIGHTS, 50)
                assert (found.keys.tolist(), found.scores.tolist()) == expected[number]


def index_of(folder: Path, *contents: str) -> KeywordIndex:
    index = KeywordIndex.create(folder / "keywords")
    index.apply([KeywordDocument(key, content=text.split()) for key, text in enumerate(contents, 1)], [], 1)
    return index


def test_an_exact_form_outranks_a_variant_of_the_same_class(tmp_path: Path) -> None:
    index = index_of(tmp_path, "other words here", "~run words here", "run words here")
    term = QueryTerm("run", (TermClass("run", (("~run", 0.8),)),))
    ranking = index.snapshot().search([term], FieldWeights(), 10)
    assert ranking.keys.tolist() == [3, 2]


def test_a_class_counts_as_one_word_with_the_frequency_of_its_most_frequent_term(tmp_path: Path) -> None:
    """By hand: df 2 of 3 documents, tf 0.5, all lengths equal."""
    index = index_of(tmp_path, "rare x", "common x", "common y")
    term = QueryTerm("common", (TermClass("common", (("rare", 0.5),)),))
    ranking = index.snapshot().search([term], FieldWeights(), 10)
    idf = 1.0  # ln(3 / (2 + 1)) + 1
    by_key = dict(zip(ranking.keys.tolist(), ranking.scores.tolist(), strict=True))
    assert by_key[1] == pytest.approx(idf * 0.5 * 2.2 / (0.5 + 1.2), abs=1e-5)
    assert by_key[2] == by_key[3] == pytest.approx(idf * 1.0 * 2.2 / (1.0 + 1.2), abs=1e-5)


def test_of_several_classes_the_best_counts(tmp_path: Path) -> None:
    index = index_of(tmp_path, "ein x", "one x", "ein one")
    both = QueryTerm("one", (TermClass("one"), TermClass("ein", weight=0.7)))
    snapshot = index.snapshot()
    scores = snapshot.search([both], FieldWeights(), 10)
    alone = snapshot.search([QueryTerm.plain("one")], FieldWeights(), 10)
    assert scores.keys.tolist() == [2, 3, 1]
    assert scores.scores[0] == pytest.approx(alone.scores[0])
    assert scores.scores[2] == pytest.approx(0.7 * scores.scores[0])


def test_a_word_that_no_live_document_holds_is_not_known(tmp_path: Path) -> None:
    index = index_of(tmp_path, "oak", "elm oak")
    index.apply([], [2], 2)
    snapshot = index.snapshot()
    known = {word: snapshot.knows(QueryTerm.plain(word), FieldWeights()) for word in ("oak", "elm", "ash")}
    assert known == {"oak": True, "elm": False, "ash": False}
    assert snapshot.document_frequency("elm") == 1
    assert len(snapshot.search([QueryTerm.plain("elm")], FieldWeights(), 9)) == 0
    ignored = FieldWeights(content=FieldWeight(0.0))
    assert not snapshot.knows(QueryTerm.plain("oak"), ignored)
    assert snapshot.knows(QueryTerm.plain("oak"), FieldWeights()), "of the weights that are asked for"


def test_shares_are_ordered_by_what_they_give(tmp_path: Path) -> None:
    index = KeywordIndex.create(tmp_path / "keywords")
    documents = [
        KeywordDocument(1, title=["bee"], content=["bee", "ant", "ant"], tags=["ant"], path=["bee"]),
        KeywordDocument(2, content=["cat", "bee"]),
        KeywordDocument(3, content=["cat", "ein"]),
    ]
    index.apply(documents, [], 1)
    terms = [
        QueryTerm.plain("ant", 0.1),
        QueryTerm.plain("bee", 2.0),
        QueryTerm("cats", (TermClass("cats", (("cat", 0.8),)), TermClass("ein", weight=0.9))),
    ]
    snapshot = index.snapshot()
    first, gone, second, third = snapshot.explain([1, 99, 2, 3], terms, FieldWeights())
    assert [match.word for match in first] == ["bee", "ant"]
    assert [name for name, _ in first[0].fields] == ["title", "content", "path"]
    assert gone == ()
    assert [match.word for match in second] == ["bee", "cats"]
    assert [match.word for match in third] == ["cats"]
    for matches in (first, second, third):
        scores = [match.score for match in matches]
        assert scores == sorted(scores, reverse=True)
    best_class = snapshot.explain([3], [QueryTerm("ein", (TermClass("ein", weight=0.9),))], FieldWeights())
    assert third[0].score == pytest.approx(best_class[0][0].score)
    by_word = snapshot.word_scores([3, 99, 1], terms, FieldWeights())
    assert [[word for word, _ in one] for one in by_word] == [["cats"], [], ["bee", "ant"]]
    shares = [share for _, share in by_word[2]]
    assert shares == pytest.approx([match.score for match in first])


def test_a_word_that_is_typed_holds_64_longer_ones(tmp_path: Path) -> None:
    words = [f"oak{number:03}" for number in range(70)]
    index = KeywordIndex.create(tmp_path / "keywords")
    index.apply(
        [KeywordDocument(key, content=[word]) for key, word in enumerate([*words, "oak", "elm"])], [], 1
    )
    snapshot = index.snapshot()
    typed = QueryTerm(
        "oak", (TermClass("oak", (("oak001", 0.3),)), TermClass("elm", weight=0.5)), prefix=True
    )
    first, second = snapshot.classes_of(typed)
    assert second == TermClass("elm", weight=0.5)
    assert first.exact == "oak"
    assert first.variants[0] == ("oak001", 0.3)
    assert first.variants[1:] == tuple((word, 0.8) for word in words[:63] if word != "oak001")
    found = snapshot.search([typed], FieldWeights(), 100)
    assert found.keys.tolist()[0] == 70
    assert len(found) == 1 + 63 + 1
    plain = replace(typed, prefix=False)
    assert snapshot.classes_of(plain) == typed.classes
    assert snapshot.search([plain], FieldWeights(), 100).keys.tolist() == [70, 71, 1]
