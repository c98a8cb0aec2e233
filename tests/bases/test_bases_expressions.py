"""Expressions of bases: the values that Obsidian's help gives them, and errors that name what is wrong."""

import time
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import OpenNotes

from vault_indexer.bases.expressions import parse_expression
from vault_indexer.bases.functions import FIELDS, GLOBALS, LIST_EXPRESSIONS, METHODS
from vault_indexer.bases.scope import Evaluation, Scope, VaultFiles
from vault_indexer.bases.values import as_json
from vault_indexer.errors import QueryTimeoutError, UsageError

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


VALUES = [
    # operators
    ("1 + 2 * 3", 7),
    ("(1 + 2) * 3", 9),
    ("7 % 4 - 10 / 4", 0.5),
    ("-(2) - -3", 1),
    ("0.1 + 0.2", 0.1 + 0.2),
    ("1 / 0", "Infinity"),
    ("0 / 0", "NaN"),
    ("2 * (2 * 3.14)", 12.56),
    ("1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2", True),
    ("1 == 1 && 1 != 2 && '1' == 1", True),
    ("!done", True),
    ("missing || 'none'", "none"),
    ("missing && missing.lower()", None),
    ("missing == null", True),
    ("missing > 3", False),
    ("'b' > 'a'", True),
    ("'a' + 1", "a1"),
    ("[1, 2] == [1, 2]", True),
    # properties
    ("price * age", 62.5),
    ("note.price", 12.5),
    ('note["count text"]', "7"),
    ('note["count text"] * 2', 14),
    ("PRICE", 12.5),
    ("maker.name", "Ace"),
    ('maker["since"] + 1', 1966),
    ("parts[1]", "two"),
    ("parts[9]", None),
    ("formula.ppu", 2.5),
    ('formula["text"]', "2.5 each"),
    ("file.name", "Dune.md"),
    ("file.basename", "Dune"),
    ("file.ext == 'md'", True),
    ("file.folder", "Books"),
    ("file.path", "Books/Dune.md"),
    ("file.size > 100 && file.size < 1000", True),
    ("file.mtime > date('2020-01-01')", True),
    ("file.ctime > date('2020-01-01') && file.ctime <= file.mtime + '1d'", True),
    ("file.tags", ["#book/novel", "#sand"]),
    ("file.properties.status", "reading"),
    ("this.file.name", "Own.base"),
    ("this.file.folder", ""),
    # any
    ("1.isTruthy()", True),
    ("''.isTruthy()", False),
    ('"example".isType("string") && true.isType("boolean") && 1.isType("number")', True),
    ('[].isType("list") && due.isType("date") && author.isType("link") && file.isType("file")', True),
    ("123.toString()", "123"),
    ("due.toString()", "2026-03-20"),
    ("missing.isEmpty() && ''.isEmpty() && [].isEmpty() && {}.isEmpty()", True),
    ("5.isEmpty() || due.isEmpty()", False),
    # global
    ("if(price, price.toFixed(2) + ' dollars')", "12.50 dollars"),
    ("if(missing, 1)", None),
    ("if(missing, 1, 2)", 2),
    ("max(1, 3, 2) + min(4, 2)", 5),
    ('number("3.4") + number(true)', 4.4),
    ("number(date('1970-01-02')) - number(date('1970-01-01'))", 86400000),
    ("number(date('1950-03-01')) - number(date('1950-02-28'))", 86400000),
    ("date('1600-02-29').format('YYYY-MM-DD')", "1600-02-29"),
    ("date('1950-05-01T12:00:00Z').year + date('3500-05-01T12:00:00Z').year", 5450),
    ('list("value")', ["value"]),
    ("list(parts).length", 3),
    ('escapeHTML("<b>")', "&lt;b&gt;"),
    ("random() < 1", True),
    # dates
    ("now()", "2026-03-14T15:09:26"),
    ("today()", "2026-03-14"),
    ('date("2024-12-01") + "1M" + "4h" + "3m"', "2025-01-01T04:03:00"),
    ('date("2024-01-31") + "1 month"', "2024-02-29"),
    ('due - "2w"', "2026-03-06"),
    ('(now() + "1d") - now()', 86400000),
    ("now() + (duration('1d') * 2)", "2026-03-16T15:09:26"),
    ("due - now() < duration('7d') && due - now() > duration('1d')", True),
    ("due - now() < '7d' && due - now() >= '1d' && '1d' < due - now()", True),
    ("now() - now() < '-1d' || due - now() < 'soon' || due - now() > ''", False),
    ("(due - date('2026-03-18')) == '2d' && duration('2d') == due - date('2026-03-18')", True),
    ("(due - date('2026-03-18')) == 172800000 && duration('2d') != duration('1d')", True),
    ("(due - date('2026-03-18')) / 86400000 < 3 && duration('90m') < 5400001", True),
    ("duration('1d') < duration('1M') && duration('24h') == '1d' && duration('1d') > '1h'", True),
    ("(due - date('2026-03-18')).days + (due - date('2026-03-18')).hours", 50),
    ("duration('90m').hours + duration('90m').minutes", 91.5),
    ("duration('1s').seconds + duration('1s').milliseconds", 1001),
    ("due + (due - date('2026-03-18'))", "2026-03-22"),
    ("(missing - due).days", None),
    ("due < now() + '7d' && due > now()", True),
    ("due == date('2026-03-20')", True),
    ("now().hour * 60 + now().minute", 909),
    ("now().millisecond + now().second", 526),
    ("due.year + due.month + due.day", 2049),
    ('now().date().format("YYYY-MM-DD HH:mm:ss")', "2026-03-14 00:00:00"),
    ('now().format("dddd, MMMM Do YYYY, h:mm A [at] Q")', "Saturday, March 14th 2026, 3:09 PM at 1"),
    ("now().time()", "15:09:26"),
    ("met.relative()", "a day ago"),
    ("due.relative()", "in 5 days"),
    ("(now() - '3 hours').relative()", "3 hours ago"),
    # texts
    ('"hello".contains("ell")', True),
    ('"hello".containsAll("h", "e") && !"hello".containsAll("h", "x")', True),
    ('"hello".containsAny("x", "y", "e")', True),
    ('"hello".startsWith("he") && "hello".endsWith("lo")', True),
    ('"Hello".lower() + "hello world".title() + "  hi  ".trim()', "helloHello Worldhi"),
    ('"a:b:c:d".replace(/:/, "-")', "a-b:c:d"),
    ('"a:b:c:d".replace(/:/g, "-")', "a-b-c-d"),
    ('"a:b:c".replace(":", "-")', "a-b-c"),
    ('"John Smith".replace(/(\\w+) (\\w+)/, "$2, $1")', "Smith, John"),
    ('"123".repeat(2)', "123123"),
    ('"hello".reverse()', "olleh"),
    ('"hello".slice(1, 4) + "hello".slice(-2)', "elllo"),
    ('"a,b,c,d".split(",", 3)', ["a", "b", "c"]),
    ('"a,b,c,d".split(/,/, 3)', ["a", "b", "c"]),
    ('"hello".length', 5),
    ("'it\\'s' + \"\\n\"", "it's\n"),
    # numbers
    ("(-5).abs()", 5),
    ("(2.1).ceil() + (2.9).floor()", 5),
    ("(2.5).round()", 3),
    ("(2.3333).round(2)", 2.33),
    ("(3.14159).toFixed(2)", "3.14"),
    # lists
    ("[1,2,3].contains(2) && [1,2,3].containsAll(2,3) && [1,2,3].containsAny(3,4)", True),
    ("[1,2,3,4].filter(value > 2)", [3, 4]),
    ("[1,2,3,4].map(value + index)", [1, 3, 5, 7]),
    ("[1,2,3].reduce(acc + value, 0)", 6),
    ("[3,9,2].reduce(if(acc == null || value > acc, value, acc), null)", 9),
    ("[[1,2],[3]].map(value.map(value * 2))", [[2, 4], [6]]),
    ("[1,[2,3]].flat()", [1, 2, 3]),
    ('[1,2,3].join(",")', "1,2,3"),
    ("[1,2,3].reverse()", [3, 2, 1]),
    ("[1,2,3,4].slice(1,3)", [2, 3]),
    ('[3, 1, 2].sort() == [1, 2, 3] && ["c", "a", "b"].sort()[0] == "a"', True),
    ("[1,2,2,3].unique()", [1, 2, 3]),
    ("[1,2,4].mean().round(1)", 2.3),
    # links and files
    ("author", {"text": "Frank Herbert", "path": "People/Frank Herbert.md"}),
    ("editor", "Nobody Known"),
    ("author == link('Frank Herbert') && author != editor", True),
    ("author == '[[Frank Herbert]]' && author != 'Frank' && file == 'Books/Dune'", True),
    ("author.asFile().folder", "People"),
    ("author.linksTo(file)", True),
    ("editor.asFile()", None),
    ("file.hasLink('Frank Herbert') && !file.hasLink('Own.base')", True),
    ("file.hasLink(author)", True),
    ("file.links.map(value.toString())", ["Frank Herbert", "Nobody Known", "him"]),
    ("file.embeds", [{"text": "Cover", "path": "Cover.md"}]),
    ("file.backlinks", [{"text": "Frank Herbert", "path": "People/Frank Herbert.md"}]),
    ("file.asLink('it')", {"text": "it", "path": "Books/Dune.md"}),
    ("link('https://obsidian.md', 'Site')", {"text": "Site", "href": "https://obsidian.md"}),
    ('file.hasTag("book", "x") && file.hasTag("#SAND") && !file.hasTag("boo")', True),
    ('file.inFolder("Books") && !file.inFolder("Book")', True),
    ('file.hasProperty("price") && !file.hasProperty("x")', True),
    ("file.tags.contains('sand')", True),
    ('file("Frank Herbert").name', "Frank Herbert.md"),
    ("author.contains('Herbert')", True),
    # objects and regular expressions
    ('{"a": 1, "b": [2]}', {"a": 1, "b": [2]}),
    ("maker.keys()", ["name", "since"]),
    ("maker.values()", ["Ace", 1965]),
    ('/abc/.matches("abcde") && /ABC/i.matches("abc") && !/^b/.matches("ab")', True),
    ("1 / 2 / 2", 0.25),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_an_expression_has_the_value_of_obsidian(scope: Scope, text: str, value: object) -> None:
    assert as_json(parse_expression(text, "f")(scope)) == value


def test_each_function_is_in_the_table_of_values() -> None:
    shown = " ".join(text for text, _ in VALUES)
    names = METHODS | GLOBALS.keys() | LIST_EXPRESSIONS | {"length"} | FIELDS["date"].keys()
    untested = {name for name in names if name not in shown}
    assert untested == {"html", "icon", "image"}  # give their argument


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("frobnicate(1)", r"f: frobnicate\(\) is not supported \(in 'frobnicate\(1\)'\)"),
        ("missing.upper()", r"upper\(\) is not supported"),
        ("file.color", "file.color is not supported"),
        ("this.file.color", "file.color is not supported"),
        ("formula.none", "formula.none is not a formula of this base"),
        ("formula.round", "formula.round uses itself"),
        ("price ** 2", r"a value is missing before '\*'"),
        ("price = 2", "'=' is not supported"),
        ("price ? 1 : 2", r"'\?' is not supported"),
        ("1 2", "unexpected '2' at character 3"),
        ("(1 + 2", r"'\)' is missing at the end"),
        ("[1, 2", "',' is missing at the end"),
        ("{1: 2}", "an object takes `name: value`"),
        ("1 +", "a value is missing at the end"),
        ("", "a value is missing at the end"),
        ("price.", "a name is missing after the point"),
        ("'open", '"\'open" is not supported'),
        ("price.lower()", r"lower\(\) of a number is not supported"),
        ("due.length", r"\.length of a date is not supported"),
        ("parts.map(1, 2)", r"map\(\) takes one expression"),
        ("price.map(value)", r"map\(\) of a number is not supported"),
        ("status.contains(1)", r"contains\(\) takes a text, not a number"),
        ("status.replace('a')", r"replace\(\) takes 2 values, not 1"),
        ("date('soon')", r"date\(\) takes a date, not a string"),
        ("5.days", ".days of a number is not supported"),
        ("due + 'soon'", "'soon' is not a duration such as 1 day, 2w or 3 months"),
        ("due + '9999y'", "outside of the years 1 to 9999"),
        ("status * 2", r"\* takes two numbers, not a string and a number"),
        ("number('x')", r"number\(\) takes a number, not 'x'"),
        ("due.format('YYYY LT')", r"format\(\): 'L' is not supported"),
        ("/(?=a)/.matches('a')", "lookahead"),
        ("/a/y.matches('a')", "the flag 'y' of a regular expression is not supported"),
        ("'a'.repeat(1000000)", "more than 100,000 characters"),
        ("('a'.repeat(90000)).replace('a', 'bb')", "more than 100,000 characters"),
        ("'a'.repeat(20).split('').reduce([acc, acc], 1)", "more than 100,000"),
        ("[1,2,3,4,5,6,7,8,9].reduce(acc + acc + acc + acc + acc, 'a'.repeat(99))", "more than 100,000"),
        ("'a'.repeat(60).split('').reduce([acc], 1)", "nested more than 32 deep"),
        ("(" * 40 + "1" + ")" * 40, "nested more than 24 deep"),
        ("1" + "+1" * 1900, "nested too deeply"),
        ("1" * 5000, "longer than 4,000 characters"),
    ],
)
def test_an_error_names_what_is_wrong(scope: Scope, text: str, message: str) -> None:
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
