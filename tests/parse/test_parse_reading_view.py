"""A note as a tree of what a reader sees: texts and known kinds of nodes, and never markup."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import JsonValue
from vault_indexer.parse.reading_syntax import Tag, html_parts
from vault_indexer.parse.reading_view import (
    MAX_PROPERTY_DEPTH,
    SCHEMES,
    ReadingView,
    property_view,
    reading_view,
    source_view,
)

KINDS = {
    *("p", "h", "ul", "ol", "li", "quote", "pre", "formula", "table", "thead", "tbody", "tr", "th", "td"),
    *("hr", "div", "details", "summary", "footnotes", "footnote", "footnote_ref", "em", "strong", "del"),
    *("mark", "u", "kbd", "sub", "sup", "small", "q", "code", "html", "math", "tag", "a", "address"),
    *("note", "embed", "img", "span", "br"),
}


def tree(text: str, files: tuple[str, ...] = ()) -> list[JsonValue]:
    known = {"": "This note.md"} | {path.removesuffix(".md"): path for path in files}
    return list(reading_view(text, 0, known.get).blocks)


def node(kind: str, *children: JsonValue, **more: JsonValue) -> dict[str, JsonValue]:
    return {"t": kind, **more, "c": list(children)}


def block(kind: str, *children: JsonValue, line: int = 1, **more: JsonValue) -> dict[str, JsonValue]:
    return node(kind, *children, l=line, **more)


def paragraph(*children: JsonValue) -> list[JsonValue]:
    return [block("p", *children)]


def leaf(kind: str, **more: JsonValue) -> JsonValue:
    return {"t": kind, **more}


def formula(line: int, text: str) -> JsonValue:
    return leaf("formula", l=line, text=text)


def code(text: str, language: str = "") -> list[JsonValue]:
    return [{"t": "pre", "l": 1, "lang": language, "text": text}]


def address_node(address: str) -> JsonValue:
    return {"t": "a", "href": address, "c": [address]}


def nodes(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(part, dict | list):
            yield from nodes(part)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a *b* `c`", paragraph("a ", node("em", "b"), " ", {"t": "code", "text": "c"})),
        ("# Top ^id", [block("h", "Top", level=1, id="id")]),
        ("x^2", paragraph("x^2")),
        ("==a *b*==", paragraph(node("mark", "a ", node("em", "b")))),
        ("a #b/c d%%e%%", paragraph("a ", {"t": "tag", "text": "b/c"}, " d")),
        ("a %%b%% c", paragraph("a  c")),
        (
            "> [!tip] Do *it*\n> now",
            [block("quote", block("p", "now"), callout="tip", title=["Do ", node("em", "it")])],
        ),
        ("- [x] done", [block("ul", block("li", block("p", "done"), task="x"))]),
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
        ("[[#Here]]", {"t": "note", "path": "This note.md", "subpath": "Here", "c": ["Here"]}),
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


def items(*found: tuple[str | None, str]) -> list[JsonValue]:
    """List items of a line each, with their tasks."""
    return [
        block("li", block("p", text, line=at), line=at, **({"task": task} if task else {}))
        for at, (task, text) in enumerate(found, 1)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text\n^blk", [block("p", "text", id="blk")]),
        ("- [ ] a\n- [x] b\n- c", [block("ul", *items((" ", "a"), ("x", "b"), (None, "c")))]),
        ("1. a\n2. b", [block("ol", *items((None, "a"), (None, "b")), start=1)]),
        ("3. a", [block("ol", *items((None, "a")), start=3)]),
        ("> a", [block("quote", block("p", "a"))]),
        ("> [!tip]", [block("quote", callout="tip", title=[])]),
        ("> [!tip] a", [block("quote", callout="tip", title=["a"])]),
        ("a\n\n***", [*paragraph("a"), leaf("hr", l=3)]),
        ("### a", [block("h", "a", level=3)]),
        ("```py title=x\na\n```", code("a\n", "py")),
        (f"```{'p' * 50}\n```", code("", "p" * 40)),
        ("    a", code("a\n")),
        ("a\nb", paragraph("a\nb")),
        ("a  \nb", paragraph("a", {"t": "br"}, "b")),
    ],
)
def test_every_kind_of_block_is_a_node(text: str, expected: list[JsonValue]) -> None:
    assert tree(text) == expected


def image(path: str | None, name: str, alt: str) -> JsonValue:
    return {"t": "img", "path": path, "subpath": "", "name": name, "alt": alt}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('![alt](a%20b "t")', paragraph(image("a b.md", "a b", "alt"))),
        (f"![{'x' * 201}](d/{'y' * 201})", paragraph(image(None, "y" * 200, "x" * 200))),
        ('<img src="x" width="30" alt="a">', [image(None, "x", "a|30")]),
        ('<img src="x" width="30%">', [image(None, "x", "")]),
        (f'<img src="x" alt="{"a" * 201}">', [image(None, "x", "a" * 200)]),
        ('<iframe src="https://a.b/c"></iframe>', [address_node("https://a.b/c")]),
        ('<iframe src="javascript:c"></iframe>', [node("span", "javascript:c")]),
        *(
            (f"[x]({address})", paragraph(node("a", "x", href=address)))
            for address in (
                "zotero://select/1",
                "Things:///show?id=1",
                "tel:+1",
                "obsidian://open?vault=a&file=b",
            )
        ),
        *(
            (f"[x]({address})", paragraph(node("address", "x", address=address)))
            for address in (
                "file:///a/b.pdf",
                "odd:thing",
                "obsidian://open?vault=a&path=/b",
                "obsidian://daily",
            )
        ),
        ("[x](mailto:a@b)", paragraph(node("a", "x", href="mailto:a@b"))),
        ("[x](N#a%20b)", paragraph(node("note", "x", path=None, subpath="a b"))),
        ("[x](<>)", paragraph(node("span", "x"))),
        ('<a href="https://a.b">a</a>', paragraph(node("a", "a", href="https://a.b"))),
    ],
)
def test_what_a_picture_or_a_frame_shows(text: str, expected: list[JsonValue]) -> None:
    assert tree(text, ("a b.md",)) == expected


def test_lines_are_those_of_the_file() -> None:
    text = "---\na: 1\n---\n\none\n\ntwo\n"
    shown = reading_view(text, text.index("\none"), lambda _: None)
    assert [(block["l"], block["c"]) for block in shown.blocks] == [(5, ["one"]), (7, ["two"])]


SVG: JsonValue = {"t": "html", "text": "<svg>"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("H<sub>2</sub>O", paragraph("H", node("sub", "2"), "O")),
        ("<kbd>*a*</kbd><br>", paragraph(node("kbd", node("em", "a")), {"t": "br"})),
        ('<u onclick="x()" style="color:red">a</u>', paragraph(node("u", "a"))),
        ("a<!-- b -->c", paragraph("ac")),
        ("*a <u>b* c", paragraph(node("em", "a ", node("u", "b")), " c")),
        ("a</u> <blink>", paragraph("a ", {"t": "html", "text": "<blink>"})),
        ('a <svg width="1"><path d="M0"/></svg> b', paragraph("a ", SVG, " b")),
        ('<a href="javascript:x">a</a>', paragraph(node("span", "a"))),
        ("<!-- a\n\nb -->", []),
        ("a<wbr>b", paragraph("a\u200bb")),
        ("<hr>", [{"t": "hr"}]),
        ("a <p>b", paragraph("a ", {"t": "br"}, "b")),
        ("a <div>b</div>", paragraph("a b")),
        ("<u/>a", paragraph(node("u"), "a")),
        ("a</b>b *c <b>d* e</b>", paragraph("ab ", node("em", "c ", node("strong", "d")), " e")),
        ("<b>*a</b> b* c</b> d", paragraph(node("strong", node("em", "a b"), " c"), " d")),
        ("<b>a <i>b</b> c", paragraph(node("strong", "a ", node("em", "b")), " c")),
        ("a <svg/> b", paragraph("a ", SVG, " b")),
        ("a <svg><b>*x*</b> <!-- y --> z</svg> *b*", paragraph("a ", SVG, " ", node("em", "b"))),
        ("a <script>b", paragraph("a ", {"t": "html", "text": "<script>"}, "b")),
        ("<h3>a</h3>\nb", [block("h", "a", level=3), node("p", "b")]),
        ("<center>a</center>", [block("div", "a")]),
        ('<div align="right">a</div>', [block("div", "a")]),
        (
            '<table><tr><th align="up">a</th><td align="RIGHT">b</td></tr></table>',
            [block("table", block("tr", block("th", "a"), block("td", "b", align="right")))],
        ),
        ("<div>\n\na\n\n</div>", [block("div", block("p", "a", line=3))]),
        ("<div>\na &amp; b\n</div>", [block("div", "a & b")]),
        ("<div><script>x</script></div>", code("<div><script>x</script></div>", "html")),
        (
            "<details><summary>a</summary>\n\n*b*\n\n</details>",
            [block("details", block("summary", "a"), block("p", node("em", "b"), line=3))],
        ),
    ],
)
def test_harmless_html_is_what_it_means(text: str, expected: list[JsonValue]) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://a.b/c_(d).", paragraph("see ", address_node("https://a.b/c_(d)"), ".")),
        ("(http://a.b)", paragraph("(", address_node("http://a.b"), ")")),
        ("*https://a.b*", paragraph({"t": "em", "c": [address_node("https://a.b")]})),
        ("[https://a.b](http://c.d)", paragraph({"t": "a", "href": "http://c.d", "c": ["https://a.b"]})),
        ("`https://a.b`", paragraph({"t": "code", "text": "https://a.b"})),
        ("xhttps://a.b javascript://a", paragraph("xhttps://a.b javascript://a")),
        ("svn+http://a.b http://", paragraph("svn+http://a.b http://")),
        ("HTTPS://a.b?!", paragraph(address_node("HTTPS://a.b"), "?!")),
        ("http://a.b/[c]] d", paragraph(address_node("http://a.b/[c]"), "] d")),
        ("http://a.b/c): d", paragraph(address_node("http://a.b/c"), "): d")),
        ("x\nhttp://a.b", paragraph("x\n", address_node("http://a.b"))),
    ],
)
def test_an_address_in_the_text_is_a_link(text: str, expected: list[JsonValue]) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$a_1$ and $5 or $6", paragraph({"t": "math", "text": "a_1"}, " and $5 or $6")),
        ("$$\na\n\n- b\n$$", [{"t": "formula", "l": 1, "text": "a\n\n- b"}]),
        ("> $$\n> a\n> $$", [{"t": "quote", "l": 1, "c": [{"t": "formula", "l": 1, "text": "a"}]}]),
        ("%%\na\n\nb\n%%\nc", [{"t": "p", "l": 6, "c": ["c"]}]),
        ("$$ a", paragraph("$$ a")),
        ("$$ a $$\n$$ b $$", [formula(1, "a"), formula(2, "b")]),
        ("$$ a $$ b", paragraph({"t": "formula", "text": " a "}, " b")),
        ("$$ a $$ b $$", paragraph({"t": "formula", "text": " a "}, " b $$")),
        ("a\n$$\nb\n$$", [*paragraph("a"), formula(2, "b")]),
        ("    $$\n    a\n    $$", [{"t": "pre", "l": 1, "lang": "", "text": "$$\na\n$$\n"}]),
        (
            "> $$\n> a\n\n$$",
            [{"t": "quote", "l": 1, "c": paragraph("$$\na")}, {"t": "p", "l": 4, "c": ["$$"]}],
        ),
        ("$$\na\n$$\n\n$$\nb $$", [formula(1, "a"), formula(5, "b")]),
        ("%% a %%\n\nb %%c", [{"t": "p", "l": 3, "c": ["b %%c"]}]),
        (
            "$a $b$ $c$1 $d$",
            paragraph("$a ", {"t": "math", "text": "b"}, " $c$1 ", {"t": "math", "text": "d"}),
        ),
    ],
)
def test_math_and_comments(text: str, expected: list[JsonValue]) -> None:
    assert tree(text) == expected


def test_footnotes_stand_at_the_end_in_the_order_of_their_references() -> None:
    one, two, three = (leaf("footnote_ref", number=number) for number in (1, 2, 3))
    assert tree("[^1]: one\n\na[^b] c[^1] d^[three]\n\n[^b]: two") == [
        block("p", "a", one, " c", two, " d", three, line=3),
        node(
            "footnotes",
            node("footnote", block("p", "two", line=5), number=1),
            node("footnote", block("p", "one"), number=2),
            node("footnote", node("p", "three"), number=3),
        ),
    ]


def test_cells_of_a_table_have_their_alignment() -> None:
    cells = nodes(tree("| a | b | c |\n| --- | ---: | :-: |\n| 1 | 2 | 3 |"))
    assert [one.get("align") for one in cells if one["t"] == "td"] == [None, "right", "center"]


@pytest.mark.parametrize(("mark", "fold"), [("-", "-"), ("+", "+"), ("", None)])
def test_a_callout_says_whether_it_is_folded(mark: str, fold: str | None) -> None:
    [quote] = tree(f"> [!tip]{mark} a\n> b")
    assert isinstance(quote, dict)
    assert (quote["callout"], quote.get("fold"), quote["title"]) == ("tip", fold, ["a"])


def test_properties_are_a_table_with_links() -> None:
    found = property_view(
        {"up": "[[Note|a]]", "done": True, "n": [1, "x"], "deep": {"k": ""}}, {"Note": "Note.md"}.get
    )
    assert found == node(
        "properties",
        node("property", node("note", "a", path="Note.md", subpath=""), name="up"),
        node("property", {"t": "check", "done": True}, name="done"),
        node("property", node("ul", node("li", "1"), node("li", "x")), name="n"),
        node("property", node("properties", node("property", name="k")), name="deep"),
    )


def test_a_property_is_shown_as_what_it_is_and_not_without_end() -> None:
    values: dict[str, JsonValue] = {"none": None, "empty": "", "no": False, "n": 0.5, "many": []}
    found = property_view(values, lambda _: None)
    assert [(one["name"], one["c"]) for one in nodes(found) if one["t"] == "property"] == [
        ("none", []),
        ("empty", []),
        ("no", [{"t": "check", "done": False}]),
        ("n", ["0.5"]),
        ("many", [{"t": "ul", "c": []}]),
    ]
    deep: JsonValue = "end"
    for _ in range(2 * MAX_PROPERTY_DEPTH):
        deep = [deep]
    shown = property_view({"deep": deep}, lambda _: None)
    assert MAX_PROPERTY_DEPTH == 6, "the table itself and five lists"
    assert sum(one["t"] == "ul" for one in nodes(shown)) == 5
    assert "…" in json.dumps(shown, ensure_ascii=False)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("aaaa\n\nbb\n# b\ncccc", "aaaa\n\nbb\n"),
        ("aaaa\nb\n\nb\nbbbccc", "aaaa\nb\n\n"),
        ("aaaaaaa\nbbbbcccc", "aaaaaaa\n"),
        ("aaaaaaaaaaaaaaaaa", "aaaaaaaaaaaa"),
        ("aa\n# b\nbbbbbbbbbbb", "aa\n# b\n"),
        ("aa\n\n# bbbbbbbbbbb", "aa\n\n# bbbbbb"),
    ],
)
def test_a_part_ends_at_a_heading_else_at_a_blank_line_else_at_any(text: str, first: str) -> None:
    """Of twelve characters, in its second half."""
    shown = reading_view(text, 0, lambda _: None, 0, 12)
    assert (shown.last_line, shown.is_cut_before, shown.is_cut_after) == (
        reading_view(first, 0, lambda _: None).last_line,
        False,
        True,
    )
    assert shown.blocks == reading_view(first, 0, lambda _: None).blocks


@pytest.mark.parametrize(
    ("text", "start", "line", "shown"),
    [
        ("x = 1\ny = 2", 0, 0, ("x = 1\ny = 2", 1, 2, False, False)),
        ("\nx = 1\n", 1, 0, ("x = 1\n", 2, 2, False, False)),
        ("a\n\nx = 1\ny = 2\n", 3, 4, ("x = 1\ny = 2\n", 3, 4, False, False)),
        ("aaaa\nbbbb\ncccc\ndddd\n", 0, 0, ("aaaa\nbbbb\n", 1, 2, False, True)),
        ("aaaa\nbbbb\ncccc\ndddd\n", 0, 2, ("aaaa\nbbbb\n", 1, 2, False, True)),
        ("aaaa\nbbbb\ncccc\ndddd\n", 0, 3, ("cccc\ndddd\n", 3, 4, True, False)),
        ("\n", 1, 0, ("", 2, 2, False, False)),
    ],
)
def test_a_source_file_is_one_block_of_code(
    text: str, start: int, line: int, shown: tuple[str, int, int, bool, bool]
) -> None:
    """Of twelve characters at most, in the part with the line."""
    code, first, last, before, after = shown
    block: dict[str, JsonValue] = {"t": "pre", "l": first, "lang": "python", "text": code}
    assert source_view(text, start, "python", line, 12) == ReadingView((block,), first, last, before, after)


def test_html_is_its_tags_and_the_texts_between_them() -> None:
    html = "a<b>c &amp; d</B><!-- x --><IMG SRC='u&amp;v' alt=\"w\" id=x Width=3>e<u/>f<!-- <b>"
    assert list(html_parts(html)) == [
        "a",
        Tag("b", "<b>", is_end=False, is_alone=False, attributes={}),
        "c & d",
        Tag("b", "</B>", is_end=True, is_alone=False, attributes={}),
        Tag(
            "img",
            "<IMG SRC='u&amp;v' alt=\"w\" id=x Width=3>",
            is_end=False,
            is_alone=True,
            attributes={"src": "u&v", "alt": "w", "width": "3"},
        ),
        "e",
        Tag("u", "<u/>", is_end=False, is_alone=True, attributes={}),
        "f",
    ]


@pytest.mark.parametrize(("size", "is_id"), [(118, True), (119, False)])
def test_an_id_of_more_than_118_characters_names_no_block(size: int, is_id: bool) -> None:
    (block,) = tree(f"text ^{'b' * size}")
    assert isinstance(block, dict)
    assert block.get("id") == ("b" * size if is_id else None)
    assert block["c"] == ["text" if is_id else f"text ^{'b' * size}"]


def test_a_long_note_is_shown_around_the_line() -> None:
    text = "---\n---\n" + "".join(f"# Part {n}\n\nText.\n\n" for n in range(100))
    start = text.index("# Part 0")
    shown = [reading_view(text, start, lambda _: None, line, 300) for line in range(1, text.count("\n") + 1)]
    assert [shown[0].is_cut_before, shown[-1].is_cut_after] == [False, False]
    assert all(view.is_cut_before or view.is_cut_after for view in shown)
    for line, view in enumerate(shown[2:], 3):
        assert view.first_line <= line <= view.last_line
        assert view.blocks[0]["t"] == "h"
    parts = sorted({(view.first_line, view.last_line) for view in shown})
    assert parts[0][0] == 3
    assert all(last + 1 == first for (_, last), (first, _) in itertools.pairwise(parts))


@given(st.text(alphabet="a#\n", max_size=60), st.integers(0, 70), st.integers(2, 20))
def test_every_line_is_in_the_part_that_is_asked_for(text: str, line: int, max_chars: int) -> None:
    shown = reading_view(text, 0, lambda _: None, line, max_chars)
    assert (
        shown.first_line
        <= max(1, min(line, text.count("\n") + bool(text) * (text[-1:] != "\n")))
        <= shown.last_line
    )
    assert (shown.is_cut_before or shown.is_cut_after) == (len(text) > max_chars)


@given(st.text(alphabet="<>[]()!#*_=%$`~|:-/ \\\n\tajsvcrip\x00\u202e", max_size=200))
def test_any_text_gives_known_kinds_and_known_schemes(text: str) -> None:
    blocks = tree(text)
    json.dumps(blocks)
    for node in nodes(blocks):
        assert node["t"] in KINDS
        if "href" in node:
            assert str(node["href"]).lower().startswith(SCHEMES)


@pytest.mark.parametrize(
    "unit",
    ["[", "![[", "> ", "*a ", "==a", "$a ", "%%", "<a ", "`", "[a](", "- " * 3, "<b>", "<p>", "^[", "[^1]: "],
)
def test_nesting_without_end_is_bounded(unit: str) -> None:
    blocks = tree(unit * 3000)
    assert len(json.dumps(blocks)) < 400_000


def test_deep_quotes_are_left_out() -> None:
    assert depth(tree("> " * 500 + "x")) < 60


def depth(value: JsonValue) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max((depth(part) for part in parts), default=0)
