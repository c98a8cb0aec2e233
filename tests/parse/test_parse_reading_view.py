"""A note as a tree of what a reader sees: texts and known kinds of nodes, and never markup."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import JsonValue
from vault_indexer.parse.reading_view import MAX_CHARS, SCHEMES, reading_view

KINDS = {"p", "h", "ul", "ol", "li", "quote", "pre", "table", "thead", "tbody", "tr", "th", "td", "hr"} | {
    "em",
    "strong",
    "del",
    "mark",
    "code",
    "html",
    "math",
    "tag",
    "a",
    "note",
    "embed",
    "img",
    "span",
    "br",
}


def tree(text: str, files: tuple[str, ...] = ()) -> list[JsonValue]:
    known = {path.removesuffix(".md"): path for path in files}
    return list(reading_view(text, 0, known.get).blocks)


def nodes(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(part, dict | list):
            yield from nodes(part)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a *b* `c`",
            [{"t": "p", "l": 1, "c": ["a ", {"t": "em", "c": ["b"]}, " ", {"t": "code", "text": "c"}]}],
        ),
        ("# Top ^id", [{"t": "h", "l": 1, "level": 1, "c": ["Top"]}]),
        ("==a *b*==", [{"t": "p", "l": 1, "c": [{"t": "mark", "c": ["a ", {"t": "em", "c": ["b"]}]}]}]),
        ("a #b/c d%%e%%", [{"t": "p", "l": 1, "c": ["a ", {"t": "tag", "text": "b/c"}, " d"]}]),
        (
            "<b>x</b>",
            [{"t": "p", "l": 1, "c": [{"t": "html", "text": "<b>"}, "x", {"t": "html", "text": "</b>"}]}],
        ),
        ("<div>\nx\n</div>", [{"t": "pre", "l": 1, "lang": "html", "text": "<div>\nx\n</div>"}]),
        (
            "> [!tip] Do *it*\n> now",
            [
                {
                    "t": "quote",
                    "l": 1,
                    "callout": "tip",
                    "title": ["Do ", {"t": "em", "c": ["it"]}],
                    "c": [{"t": "p", "l": 1, "c": ["now"]}],
                }
            ],
        ),
        (
            "- [x] done",
            [
                {
                    "t": "ul",
                    "l": 1,
                    "c": [{"t": "li", "l": 1, "task": "x", "c": [{"t": "p", "l": 1, "c": ["done"]}]}],
                }
            ],
        ),
    ],
)
def test_what_a_reader_sees(text: str, expected: list[JsonValue]) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Note#Part|shown]]", {"t": "note", "path": "Note.md", "subpath": "Part", "c": ["shown"]}),
        ("![[Note]]", {"t": "embed", "path": "Note.md", "subpath": "", "c": ["Note"]}),
        ("[x](Note#Part)", {"t": "note", "path": "Note.md", "subpath": "Part", "c": ["x"]}),
        ("[[Nowhere]]", {"t": "note", "path": None, "subpath": "", "c": ["Nowhere"]}),
        ("[[#Here]]", {"t": "note", "path": "", "subpath": "Here", "c": ["Here"]}),
        ("[x](HTTPS://a.b)", {"t": "a", "href": "HTTPS://a.b", "c": ["x"]}),
        ("![x](http://a.b/c.png)", {"t": "img", "href": "http://a.b/c.png", "name": "c.png", "alt": "x"}),
        ("[x](javascript:alert(1))", {"t": "span", "c": ["x"]}),
        ("[x](JAVA&#x0A;script:alert(1))", {"t": "note", "path": None, "subpath": "", "c": ["x"]}),
        ("[x](data:text/html,x)", {"t": "span", "c": ["x"]}),
        ("[x](//evil.example/)", {"t": "span", "c": ["x"]}),
    ],
)
def test_where_a_link_leads(text: str, expected: JsonValue) -> None:
    assert tree(text, ("Note.md",)) == [{"t": "p", "l": 1, "c": [expected]}]


def test_lines_are_those_of_the_file() -> None:
    text = "---\na: 1\n---\n\none\n\ntwo\n"
    shown = reading_view(text, text.index("\none"), lambda _: None)
    assert [(block["l"], block["c"]) for block in shown.blocks] == [(5, ["one"]), (7, ["two"])]


def test_a_long_note_is_cut() -> None:
    assert reading_view("a " * MAX_CHARS, 0, lambda _: None).is_cut
    assert not reading_view("a", 0, lambda _: None).is_cut


@given(st.text(alphabet="<>[]()!#*_=%$`~|:-/ \\\n\tajsvcrip\x00\u202e", max_size=200))
def test_any_text_gives_known_kinds_and_known_schemes(text: str) -> None:
    blocks = tree(text)
    json.dumps(blocks)
    for node in nodes(blocks):
        assert node["t"] in KINDS
        if "href" in node:
            assert str(node["href"]).lower().startswith(SCHEMES)


@pytest.mark.parametrize("unit", ["[", "![[", "> ", "*a ", "==a", "$a ", "%%", "<a ", "`", "[a](", "- " * 3])
def test_nesting_without_end_is_bounded(unit: str) -> None:
    blocks = tree(unit * 3000)
    assert len(json.dumps(blocks)) < 400_000


def test_deep_quotes_are_left_out() -> None:
    assert depth(tree("> " * 500 + "x")) < 60


def depth(value: JsonValue) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max((depth(part) for part in parts), default=0)
