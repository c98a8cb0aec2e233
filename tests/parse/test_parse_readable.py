"""The text of a snippet or a quote: what a person reads, without the markup."""

from __future__ import annotations

import pytest

from vault_indexer.parse.readable import code_blocks, open_fence, readable


def test_what_begins_within_code_is_code_up_to_the_fence() -> None:
    source = "*a* = 1\n```\n*b* text\n"
    assert readable(source, "```").text == "*a* = 1\nb text\n"
    assert readable(source).text == "a = 1\n*b* text\n"


def test_the_rows_of_a_table_without_outer_bars_are_rows() -> None:
    shown = readable("before\n\nx | y\n---|---\n1 | *2*\nmore | text\n\nbehind | it\n")
    rows = [shown.text[start:end] for start, end in shown.units]
    assert rows == ["before", "x y", "1 2", "more text", "behind | it"]


SHOWN = [
    ("text ^id-1\nmore^2 x\n^alone\nend ^9  \r\n", "text \nmore^2 x\n\nend \n", ["text \nmore^2 x", "end"]),
    ("a ^b c\n# Head ## \n#### Deep ####\r\nx # y\n", "a ^b c\nHead\nDeep\nx # y\n", None),
    ("> [!note] Title\n> body *b*\n", "Title\nbody b\n", ["Title", "body b"]),
    ("[!note] plain\n", "[!note] plain\n", None),
    ("- [x] done *a*\n- [ ] open\n[x] bare\n", "done a\nopen\n[x] bare\n", None),
    ("1. one\n12) two\n  3. three\n", "1. one\n12) two\n3. three\n", None),
    (
        "[^1]: the note\ntext[^1] more [^ no]\n",
        "the note\ntext more [^ no]\n",
        ["the note\ntext more [^ no]"],
    ),
    (
        "a <!-- hid --> b\n%% gone\nlines %%\nrest `<!-- code -->` x\n",
        "a b\n\nrest <!-- code --> x\n",
        ["a", "b", "rest <!-- code --> x"],
    ),
    ("`<!--` is\n\n```\n*a*\n```\n*b* `%%`\n~~~\n*c*\n~~~\n`%%`\n", "<!-- is\n\n*a*\nb %%\n*c*\n%%\n", None),
    ("%% alone\n```\n*a*\n```\n", "%% alone\n*a*\n", None),
    ("![[map.png|My map|400]]\n", "My map|400\n", None),
    ("a\n%% settings\n```\n{b}\n```\n%%\nc\n", "a\n\nc\n", ["a", "c"]),
    ("```\n%% kept\n```\n*b* %%gone%%\n", "%% kept\nb \n", ["%% kept", "b"]),
    ('<svg a="1">\n<path d="M1 2"/></svg> *up*\n', "up\n", ["up"]),
    ('<button\n\tclass="b"\n  onclick="x()">go</button>\n', "go\n", ["go"]),
    ("a < b\nand c > d\n", "a < b\nand c > d\n", ["a < b\nand c > d"]),
    ("![[map.png|center|400]]![[map.png|left]]![[a.md|center court]]\n", "center court\n", None),
    ("``<!-- x -->`` and <!-- open\nto the end", "<!-- x --> and ", ["<!-- x --> and"]),
    (
        "| a | b |\n|---|---|\n| 1 \\| 2 | 3 |\n\nafter | x\n",
        " a b \n\n 1 | 2 3 \n\nafter | x\n",
        ["a b", "1 | 2 3", "after | x"],
    ),
    ("> quote\n> > deep\n- item\n  more\n", "quote\ndeep\nitem\nmore\n", ["quote\ndeep", "item\nmore"]),
    ("```py\n*a* = 1\n\nb\n```\n*after*\n", "*a* = 1\n\nb\nafter\n", None),
    ("> ~~~ info `x`\n> code\n> ~~~\n> text\n", "code\ntext\n", None),
    ("``` a`b\n*x*\n", "``` a`b\nx\n", ["``` a`b\nx"]),
    ("````\n```\nx\n````\ny\n", "```\nx\ny\n", None),
    ("```\nopen *x*", "open *x*", None),
    ("~~~\n*x*\n```\n~~~ z\n*w*\n~~~\n*v*\n", "*x*\n```\n~~~ z\n*w*\nv\n", None),
    (
        "see ![[pic.png]] , then ![[p.png]]x and <br> end<br/>next\n",
        "see , then x and   end next\n",
        ["see , then x and   end next"],
    ),
    ("***\ntext\n---\nmore\n===\n", "\ntext\n\nmore\n\n", ["text", "more"]),
    ("one. Two!\n\nfour\nfive\n", "one. Two!\n\nfour\nfive\n", ["one.", "Two!", "four\nfive"]),
    ("日本語です。今日は。\n", "日本語です。今日は。\n", ["日本語です。", "今日は。"]),
    ("- \n- a\n", "\na\n", ["a"]),
    ("   \n\n", "\n\n", []),
    ("", "", []),
]


@pytest.mark.parametrize(("source", "text", "units"), SHOWN)
def test_what_a_reader_sees_of_markdown(source: str, text: str, units: list[str] | None) -> None:
    """Where no units are given, each line is one."""
    shown = readable(source)
    assert shown.text == text
    lines = [line for line in text.split("\n") if line]
    assert [text[start:end] for start, end in shown.units] == (lines if units is None else units)


@pytest.mark.parametrize("source", [source for source, _, _ in SHOWN])
def test_each_character_is_one_of_the_source(source: str) -> None:
    shown = readable(source)
    places = [shown.place(offset) for offset in range(len(source) + 1)]
    assert places == sorted(places)
    for offset, char in enumerate(shown.text):
        at = shown.source(offset)
        if source[at] != char:
            assert char == " "
        elif char != " ":
            assert places[at] == offset


def test_a_place_that_is_not_shown_is_where_the_text_goes_on() -> None:
    shown = readable("> [!note] Title\n> *b*\n")
    assert shown.text == "Title\nb\n"
    assert [shown.place(offset) for offset in range(24)] == [*[0] * 11, 1, 2, 3, 4, 5, *[6] * 4, 7, 7, 8, 8]
    assert [shown.source(offset) for offset in range(8)] == [10, 11, 12, 13, 14, 15, 19, 21]
    empty = readable("")
    assert (empty.source(0), empty.place(0), empty.place(5)) == (0, 0, 0)


CODE = "```\na\n```\nb\n> ~~~\n> c\n> ~~~\n``` x`y\n~~~~ x`y\nd\n~~~\n"


def test_code_is_what_stands_between_fences_of_one_mark() -> None:
    blocks = [(CODE[start:end], lead) for start, end, lead in code_blocks(CODE)]
    assert blocks == [("```\na\n```\n", ""), ("> ~~~\n> c\n> ~~~\n", "> "), ("~~~~ x`y\nd\n~~~\n", "")]
    assert list(code_blocks("a\n```\nb", "```")) == [(0, 6, "")]
    assert list(code_blocks("a\n```\nb\n```\nc", "````")) == [(0, 13, "")]


@pytest.mark.parametrize(
    ("source", "fence", "left_open"),
    [
        (CODE, "", "~~~~"),
        (CODE + "~~~~~\n", "", ""),
        (CODE[:10], "", ""),
        ("a", "```", "```"),
        ("%% a\n```\nb\n%%\nc", "", ""),
        ("%% a\n```\nb", "", "```"),
        ("a\n```", "```", ""),
        ("a\n``` b", "```", "```"),
        ("a\n``` b`", "", ""),
        ("a\n~~~ b`", "", "~~~"),
        ("a\n~~~", "```", "```"),
    ],
)
def test_a_fence_is_open_until_its_mark_stands_alone(source: str, fence: str, left_open: str) -> None:
    assert open_fence(source, fence) == left_open
