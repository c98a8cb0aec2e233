"""The query language: what is an operator, what is text, and which mistakes are named with their column."""

import re
from pathlib import Path

import pytest
from golden_cases import check_golden
from hypothesis import assume, example, given
from hypothesis import strategies as st
from query_trees import outline

from vault_indexer.errors import QueryError
from vault_indexer.search.query.ast import Direction, Scope
from vault_indexer.search.query.parser import MAX_DEPTH, parse_query


def told(query: str) -> str:
    """What the parser makes of a query, as the golden writes it."""
    try:
        parsed = parse_query(query)
    except QueryError as error:
        return f"error: {error}"
    lines = [f"words: {parsed.text}"] if parsed.text else []
    lines += [f"filter: {outline(condition.node)}" for condition in parsed.conditions]
    lines += [f"notice: {notice}" for notice in parsed.notices]
    return "\n".join(lines)


def test_queries_are_read_as_the_golden_says() -> None:
    check_golden(Path(__file__).parent / "fixtures" / "queries.md", {"": told})


SIGNS = "tag: path: section: task-todo: before: lang: links-to: [ ] ( ) \" \\ - : > <= #a OR null '"
SIGNS += " match-case: ignore-case: / /a/ \\d {2} | * (?= ^ $ [^] . + \\u0041"
PIECES = st.sampled_from(
    [*SIGNS.split(), " ", " OR ", "a", "née", "全文", "2024-01-01", "3", "\n", "\u0301", "\0"]
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=24).map("".join)))
@example("(" * 500)
@example("-" * 500)
@example("-(" * 40)
@example("[a" * 500)
@example('"' * 501)
def test_every_text_is_a_query_or_a_clear_mistake(text: str) -> None:
    try:
        query = parse_query(text)
    except QueryError as error:
        assert 1 <= error.column <= len(text) + 1
        assert str(error).startswith(f"column {error.column}: ")
        return
    for condition in query.conditions:
        assert condition.source
        assert condition.source in text
    assert query.text or query.conditions or not any(char.isalnum() for char in text.strip('"'))


WORDS = st.from_regex(r"[a-z]{1,8}", fullmatch=True)


@given(st.lists(WORDS, min_size=1, max_size=8), st.sampled_from(["'s", ":", "?", ",", '"', ")", "."]))
def test_a_sentence_is_text_whatever_its_punctuation(words: list[str], mark: str) -> None:
    assume(not (mark == ":" and parse_query(f"{words[0]}: x").notices))  # an operator
    sentence = " ".join([words[0] + mark, *words[1:]])
    query = parse_query(sentence)
    assert query.text == sentence
    assert not query.conditions


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_parentheses_around_words_change_nothing(words: list[str]) -> None:
    assert not parse_query(f"({' '.join(words)})").conditions


def test_nesting_has_a_bound() -> None:
    deep = MAX_DEPTH + 1
    with pytest.raises(QueryError, match="nested"):
        parse_query("tag:#a " + "(" * deep + "a" + ")" * deep)
    assert parse_query("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH).text


PAGE = Path(__file__).parents[2] / "docs" / "query-language.md"
EXAMPLES = re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", PAGE.read_text("utf-8"), re.M)


@pytest.mark.parametrize("query", [one for cell in EXAMPLES for one in re.findall(r"`([^`]+)`", cell)])
def test_every_operator_of_the_page_filters(query: str) -> None:
    assert parse_query(query.replace(r"\|", "|")).conditions


def test_the_page_shows_every_operator() -> None:
    shown = " ".join(EXAMPLES)
    operators = [
        "before",
        "after",
        "lang",
        *(scope.value for scope in Scope),
        *(one.value for one in Direction),
    ]
    assert [name for name in operators if f"{name}:" not in shown] == []
