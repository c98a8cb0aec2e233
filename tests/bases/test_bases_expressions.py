"""Expressions of bases: the values that Obsidian's help gives them, and errors that name what is wrong."""

import json
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import OpenNotes

from vault_indexer.bases.expressions import parse_expression
from vault_indexer.bases.functions import FIELDS, GLOBALS, LIST_EXPRESSIONS, METHODS
from vault_indexer.bases.scope import Evaluation, Scope, VaultFiles
from vault_indexer.bases.values import as_json
from vault_indexer.errors import QueryTimeoutError, UsageError

EXPRESSIONS = Path(__file__).parent / "fixtures" / "expressions.md"
NOW = datetime(2026, 3, 14, 15, 9, 26, 500_000)
NOTES = {
    "Books/Dune.md": """\
---
price: 12.5
age: 5
status: reading
author: "[[Frank Herbert]]"
editor: "[[Nobody Known]]"
tags: [book/novel]
due: 2026-03-20
met: 2026-03-13T08:30:00
done: false
parts: [one, two, three]
maker: {name: Ace, since: 1965}
count text: "7"
---
See [[Frank Herbert|him]], ![[Cover]] and #sand.
""",
    "People/Frank Herbert.md": "[[Dune]]\n",
    "Cover.md": "A picture.\n",
    "Own.base": "views: []\n",
}


@pytest.fixture(scope="module")
def scope(open_notes: OpenNotes) -> Iterator[Scope]:
    service, reader = open_notes(NOTES)
    with reader.holder.lease() as snapshot:
        files = VaultFiles(snapshot.catalog, service.vault, "Own.base")
        formulas = {
            "ppu": parse_expression("price / age", "ppu"),
            "text": parse_expression('formula.ppu.toFixed(1) + " each"', "text"),
            "round": parse_expression("formula.again", "round"),
            "again": parse_expression("formula.round + 1", "again"),
        }
        evaluation = Evaluation(files, files.files["Own.base"], NOW, time.monotonic() + 600, formulas)
        yield Scope(evaluation, files.files["Books/Dune.md"])


def test_values_and_errors_are_those_of_the_golden(scope: Scope) -> None:
    def value(text: str) -> str:
        return json.dumps(as_json(parse_expression(text, "f")(scope)), ensure_ascii=False)

    def error(text: str) -> str:
        with pytest.raises(UsageError) as caught:
            parse_expression(text, "f")(scope)
        return str(caught.value)

    check_golden(EXPRESSIONS, {"value": value, "error": error})


def test_each_function_is_in_the_golden() -> None:
    shown = EXPRESSIONS.read_text(encoding="utf-8").partition("## error")[0]
    names = METHODS | GLOBALS.keys() | LIST_EXPRESSIONS | {"length"} | FIELDS["date"].keys()
    untested = {name for name in names if name not in shown}
    assert untested == {"html", "icon", "image"}  # give their argument


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 40 + "1" + ")" * 40, "nested more than 24 deep"),
        ("1" + "+1" * 1900, "nested too deeply"),
        ("1" * 5000, "longer than 4,000 characters"),
    ],
    ids=["brackets", "operators", "length"],
)
def test_what_is_too_large_is_refused(scope: Scope, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_expression(text, "f")(scope)


WORDS = sorted(METHODS | GLOBALS.keys() | LIST_EXPRESSIONS | {"if", "file", "this", "note", "price", "parts"})
SIGNS = "( ) [ ] { } . , : ! + - * / % < > == && || ()"
OPERANDS = "value acc 'a' \"2026-01-31\" 1 0 2.5 1e9 due author maker /a+/g"
PIECES = st.sampled_from([*WORDS, *SIGNS.split(), *OPERANDS.split(), " "])


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=30))
def test_no_expression_fails_otherwise_than_with_its_own_error(scope: Scope, text: str) -> None:
    try:
        as_json(parse_expression(text, "f")(scope))
    except UsageError as error:
        assert "\n" not in str(error).replace(text, "")


def test_an_expression_that_takes_too_long_is_given_up(scope: Scope) -> None:
    late = Evaluation(scope.evaluation.files, scope.file, NOW, time.monotonic() - 1)
    with pytest.raises(QueryTimeoutError, match="given up"):
        parse_expression("[1, 2].map(value)", "f")(Scope(late, scope.file))
