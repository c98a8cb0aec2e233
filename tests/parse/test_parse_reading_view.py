"""A note as a tree of what a reader sees: texts and known kinds of nodes, and never markup."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import JsonValue
from vault_indexer.parse.reading_syntax import Tag, html_parts
from vault_indexer.parse.reading_view import SCHEMES, ReadingView, property_view, reading_view, source_view

FILES = {"": "This note.md", "Note": "Note.md", "a b": "a b.md"}
KINDS = {
    *("p", "h", "ul", "ol", "li", "quote", "pre", "formula", "table", "thead", "tbody", "tr", "th", "td"),
    *("hr", "div", "details", "summary", "footnotes", "footnote", "footnote_ref", "em", "strong", "del"),
    *("mark", "u", "kbd", "sub", "sup", "small", "q", "code", "html", "math", "tag", "a", "address"),
    *("ruby", "rt", "rp"),
    *("note", "embed", "img", "span", "br"),
}


def tree(text: str) -> list[JsonValue]:
    return list(reading_view(text, 0, FILES.get).blocks)


def outline(value: JsonValue) -> str:
    """A node as its kind, its line, its facts and, in brackets, what is in it."""
    if isinstance(value, list):
        return f"({' '.join(map(outline, value))})"
    if not isinstance(value, dict):
        return json.dumps(value)
    line = f"@{value['l']}" if "l" in value else ""
    facts = [f" {name}={outline(fact)}" for name, fact in value.items() if name not in ("t", "l", "c")]
    return f"{value['t']}{line}{''.join(facts)}{outline(value['c']) if 'c' in value else ''}"


def test_a_reader_sees_what_the_golden_says() -> None:
    def part(text: str) -> str:
        shown = reading_view(text, 0, FILES.get, 0, 12)
        assert (shown.is_cut_before, shown.is_cut_after) == (False, True)
        return f"up to line {shown.last_line}: {outline([*shown.blocks])}"

    check_golden(
        Path(__file__).parent / "fixtures" / "reading.md",
        {
            "": lambda text: " ".join(map(outline, tree(text))),
            "Properties": lambda text: outline(property_view(json.loads(text), FILES.get)),
            "Of twelve characters a part ends at a heading, else at a blank line, else at any": part,
        },
    )


def test_long_names_are_cut() -> None:
    for text, shown in (
        (f"![{'x' * 201}](d/{'y' * 201})", f'name="{"y" * 200}" alt="{"x" * 200}"'),
        (f'<img src="x" alt="{"a" * 201}">', f'alt="{"a" * 200}"'),
        (f"```{'p' * 50}\n```", f'lang="{"p" * 40}"'),
    ):
        assert shown in outline(tree(text))


def nodes(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(part, dict | list):
            yield from nodes(part)


def test_lines_are_those_of_the_file() -> None:
    text = "---\na: 1\n---\n\none\n\ntwo\n"
    shown = reading_view(text, text.index("\none"), lambda _: None)
    assert [(block["l"], block["c"]) for block in shown.blocks] == [(5, ["one"]), (7, ["two"])]


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
