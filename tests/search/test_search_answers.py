"""Answers over a small vault: languages, titles, spelling, typing, notes, snippets, reasons."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import Indexed
from small_vault import Ask

from vault_indexer.errors import UsageError
from vault_indexer.model import Hit, SearchRequest, Why


def test_each_language_finds_its_notes_by_its_own_words(ask: Ask) -> None:
    def first(query: str) -> str:
        hit = ask(query).results[0]
        assert hit.score == 1.0
        assert hit.why.keyword is not None, "found by word, not by luck"
        return hit.path

    check_golden(Path(__file__).parent / "fixtures" / "languages.md", {"": first})


@pytest.mark.parametrize("query", ["humus", "HUMUS", "jardin", "The Roof", "検索", "2024-03-05", "книги"])
def test_what_is_called_so_comes_first(ask: Ask, query: str) -> None:
    first, *others = ask(query).results
    assert query.lower() in (first.title.lower(), "humus", "jardin")
    assert first.why.title > 0
    assert not any(hit.why.title for hit in others)


@pytest.mark.parametrize(
    "query", ["rotting leaves", "cafe jamon", "heap leaves worms", "日本語の文章", "a the"]
)
@pytest.mark.parametrize("typing", [True, False])
def test_without_fields_all_else_is_the_same(indexed: Indexed, query: str, typing: bool) -> None:
    service = indexed[0]
    whole = service.search(SearchRequest(query, as_you_type=typing))
    short = service.search(SearchRequest(query, as_you_type=typing, by_field=False))
    words = [hit.why.keyword for hit in short.results if hit.why.keyword]
    assert words
    assert all(not keyword.fields for keyword in words)
    assert [without_shares(hit) for hit in short.results] == [without_shares(hit) for hit in whole.results]
    for own, other in zip(short.results, whole.results, strict=True):
        if own.why.keyword and other.why.keyword:
            assert own.why.keyword.terms == pytest.approx(other.why.keyword.terms)


def without_shares(hit: Hit) -> Hit:
    """The hit without what each word and field gave it, whose last bits may differ."""
    keyword = hit.why.keyword
    return replace(hit, why=replace(hit.why, keyword=keyword and replace(keyword, terms={}, fields={})))


@pytest.mark.parametrize("query", ["rotting leaves", "path:Garden"])
@pytest.mark.parametrize("stale", [True, False])
def test_a_file_is_looked_at_only_if_its_hit_says_whether_it_changed(
    indexed: Indexed, tmp_path: Path, query: str, stale: bool
) -> None:
    _, opened = indexed
    with opened.holder.lease() as snapshot:
        request = SearchRequest(query, stale=stale)
        hits = opened.searcher.search(snapshot, request, vault=tmp_path).hits
    assert {hit.stale for hit in hits} == {stale}, "no file of the vault is in this folder"


def test_a_title_is_no_way_around_a_filter(ask: Ask) -> None:
    assert all(hit.path.startswith("Sky/") for hit in ask("humus path:Sky/").results)


@pytest.mark.parametrize(
    "unfinished",
    [
        *("tag:", "-tag:", "OR tag:", "[status:", "-(leaves or heap", 'tag:"gard', "before:202"),
        "heading:(heap -tag:",
    ],
)
def test_an_unfinished_term_leaves_the_hits_of_those_before_it(ask: Ask, unfinished: str) -> None:
    typed = ask(f"compost {unfinished}", as_you_type=True)
    assert typed.results == ask("compost ", as_you_type=True).results
    assert [notice for notice in typed.notices if notice.startswith("column")]


@pytest.mark.parametrize("query", ["tag:", "before:202 compost", "-tag: compost", "tag:x:( heap) ("])
def test_a_mistake_before_the_end_finds_nothing(ask: Ask, query: str) -> None:
    assert not ask(query, as_you_type=True).results


@pytest.mark.parametrize("query", ['""', "()", "  "])
def test_a_query_that_says_nothing_is_refused(ask: Ask, query: str) -> None:
    with pytest.raises(UsageError):
        ask(query)


@given(st.text(st.sampled_from("ab\"()[]:->< \\#OR茶é*?'tag:[rating:>"), min_size=1, max_size=30))
def test_any_text_gives_hits_or_a_clear_error(indexed: Indexed, query: str) -> None:
    try:
        answer = indexed[0].search(SearchRequest(query))
    except UsageError as error:
        assert str(error)
        return
    scores = [hit.score for hit in answer.results]
    assert all(0 <= later <= earlier <= 1 for earlier, later in pairwise(scores))
    assert not scores or scores[0] == 1


def test_every_part_of_the_score_is_told(ask: Ask) -> None:
    hits = ask("humus heap").results
    top = hits[0].why
    for hit in hits:
        why = hit.why
        told = _score(why) / _score(top)
        assert hit.score == pytest.approx(told)
        if why.keyword:
            assert sum(why.keyword.terms.values()) == pytest.approx(why.keyword.score, rel=1e-3)
            assert sum(why.keyword.fields.values()) == pytest.approx(why.keyword.score, rel=1e-3)
        if why.graph:
            assert why.graph.via


def _score(why: Why) -> float:
    assert why.evidence is not None
    return why.evidence * why.recency + why.title


def test_a_hit_can_be_opened_where_it_matches(ask: Ask, indexed: Indexed) -> None:
    hit = ask("worms cardboard").results[0]
    vault = indexed[0].status().vault
    assert unquote(hit.uri) == unquote(Path(vault, "Garden/Compost.md").as_uri())
    assert " " not in ask("horse manure called").results[0].uri
    assert hit.start_line <= hit.line <= hit.end_line


def test_explain_a_note_that_the_limit_cuts_off(indexed: Indexed) -> None:
    told = indexed[0].explain("Sky/Roof.md", SearchRequest("heap leaves worms", limit=1))
    assert not told.shown
    (reason,) = (one for one in told.reasons if one.startswith("the list ends after 1 note: ask for "))
    needed = int(reason.rpartition(" ")[2].removesuffix(")"))
    for limit, is_shown in ((needed - 1, False), (needed, True)):
        shown = indexed[0].explain("Sky/Roof.md", SearchRequest("heap leaves worms", limit=limit))
        assert shown.shown is is_shown
    assert "it is not among the likely hits: --nearest shows all" in shown.reasons
