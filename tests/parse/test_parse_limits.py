"""What is too much of one note to be read as Markdown is text: it is said, and no character is lost."""

from __future__ import annotations

import json

import pytest

from vault_indexer.chunk import chunker_for
from vault_indexer.config import Settings
from vault_indexer.model import Diagnostic, Element, ElementKind, Note
from vault_indexer.parse import parse_canvas, parse_note
from vault_indexer.parse.blocks import MAX_BLOCKS, Blocks, scan_blocks
from vault_indexer.parse.inline import MAX_BRACKETS
from vault_indexer.parse.link_syntax import MAX_FINDS, MAX_LINK, MAX_TAG
from vault_indexer.parse.notes import MAX_TAGS

PIECES = (
    *("# Part {n}\n\n", "Some [[words]] of prose,\non two lines ^id{n}\n\n"),
    "- an item\n- another\n  - below it\n\n  and on\n- the last {n}\n\n\n",
    *("> a quote\n> > in a quote\n\n", "```py\n# no heading\n\n- no item\n```\n"),
    *("| a | b |\n|---|---|\n| {n} | d |\n\n", "<div>\n<b>x</b>\n</div>\n\n", "Under\n=====\n"),
    *("    code\n\n    more code\n\n", "1. one\n2. two\n***\n", "[label {n}]: https://e.org\n\n"),
    "$$\nx + y\n$$\n\n",
)


def long_text(count: int) -> str:
    return "".join(PIECES[(n * 7) % len(PIECES)].replace("{n}", str(n)) for n in range(count))


def everything(blocks: Blocks) -> tuple[object, ...]:
    return blocks.elements, blocks.headings, blocks.leaves, blocks.definitions, blocks.count


def limits(note: Note) -> list[str]:
    return [diagnostic.detail for diagnostic in note.diagnostics if diagnostic.kind == "limit"]


def assert_nothing_is_lost(note: Note) -> None:
    """Every character that is not blank stands in a chunk, as a law of chunks says of any note."""
    chunks = chunker_for(Settings().chunking).chunk(note)
    held = bytearray(len(note.text))
    for chunk in chunks:
        held[chunk.start_pos : chunk.end_pos] = b"\1" * (chunk.end_pos - chunk.start_pos)
    lost = [at for at, is_held in enumerate(held[note.body_start :], note.body_start) if not is_held]
    assert not "".join(note.text[at] for at in lost).strip()


@pytest.mark.parametrize("front", ["", "---\ntitle: A note of many blocks\n---\n"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("window", [150, 400, 1000])
def test_windows_give_the_blocks_of_one_tree(window: int, ends: str, front: str) -> None:
    text = (front + long_text(120)).replace("\n", ends)
    start = len(front.replace("\n", ends))
    whole = scan_blocks(text, start, len(text))
    assert everything(scan_blocks(text, start, len(text), window=window)) == everything(whole)


@pytest.mark.parametrize("front", ["", "---\ntitle: A note of long blocks\n---\n"])
def test_a_block_longer_than_a_window_is_divided_and_its_text_read(front: str) -> None:
    items = "".join(f"- item {n} [[link {n}]]\n" for n in range(60))
    code = "```\n" + "# no heading\n\n" * 60 + "```\n"
    paragraph = "words that go on\n" * 60
    text = f"{front}{items}\n{code}\n{paragraph}\n# End\n"
    blocks = scan_blocks(text, len(front), len(text), window=200)
    assert [text[heading.start : heading.end] for heading in blocks.headings] == ["# End"]
    lists = [element for element in blocks.elements if element.kind is ElementKind.LIST]
    assert sum(len(element.parts) for element in lists) == 60
    codes = [element for element in blocks.elements if element.kind is ElementKind.CODE]
    assert [text[element.start : element.end] for element in codes] == [code.strip()]
    assert sum(leaf.end - leaf.start for leaf in blocks.leaves) >= len(paragraph)


@pytest.mark.parametrize("window", [40, 44, *range(200, 216)])
def test_a_long_list_is_divided_between_items_and_a_long_paragraph_between_lines(window: int) -> None:
    items = [f"- item {n}\n  on two lines" for n in range(60)]
    lines = [f"line {n} that goes on" for n in range(60)]
    text = "\n".join([*items, "", *lines, ""])
    blocks = scan_blocks(text, 0, len(text), window=window)
    parts = [part for element in blocks.elements for part in element.parts]
    assert [text[part.start : part.end] for part in parts] == items
    rest = [element for element in blocks.elements if not element.parts]
    assert len(rest) > 5
    assert {element.kind for element in rest} == {ElementKind.PARAGRAPH}
    assert [line for one in rest for line in text[one.start : one.end].split("\n")] == lines


@pytest.mark.parametrize(("rows", "is_whole"), [(60, True), (250, False)])
def test_a_table_of_up_to_eight_windows_is_one(rows: int, is_whole: bool) -> None:
    text = "| a | b |\n|---|---|\n" + "| c | d |\n" * rows + "\nEnd.\n"
    blocks = scan_blocks(text, 0, len(text), window=200)
    tables = [element for element in blocks.elements if element.kind is ElementKind.TABLE]
    assert ([text[one.start : one.end].count("\n") for one in tables] == [rows + 1]) is is_whole
    assert text[blocks.elements[-1].start : blocks.elements[-1].end] == "End."


def test_what_follows_a_window_of_blank_lines_is_read() -> None:
    text = "a\n" + "\n" * 500 + "# b\n\nc\n"
    blocks = scan_blocks(text, 0, len(text), window=100)
    assert [text[one.start : one.end] for one in blocks.elements] == ["a", "# b", "c"]


def test_a_fence_that_nothing_closes_reaches_to_the_end() -> None:
    text = "```\n" + "# no heading\n\n" * 60
    blocks = scan_blocks(text, 0, len(text), window=200)
    assert blocks.elements == [Element(ElementKind.CODE, 0, len(text))]


@pytest.mark.long
def test_what_stands_after_too_many_blocks_is_text() -> None:
    text = "***\n" * MAX_BLOCKS + "# [[far]] #away\n\n- kestrel\n"
    note = parse_note("n.md", text.encode())
    assert len(note.elements) == MAX_BLOCKS + 1
    assert note.headings == ()
    assert [link.target for link in note.links] == ["far"]
    assert note.tags == ("away",)
    (diagnostic,) = note.diagnostics  # that the grammar could not read the rest is not said
    assert diagnostic.detail == f"more than {MAX_BLOCKS:,} blocks: the rest is read as text"
    assert note.elements[-1].kind is ElementKind.OTHER
    assert_nothing_is_lost(note)


@pytest.mark.parametrize("room", range(1, 45, 3))
def test_a_list_or_quote_may_end_in_the_middle(room: int) -> None:
    text = "- a\n  - b\n    > c\n    > - d\n" * 4 + "\n| a |\n|---|\n| b |\n| c |\n"
    blocks = scan_blocks(text, 0, len(text), room=room)
    (cut,) = blocks.too_many or [len(text)]
    assert all(leaf.start < cut for leaf in blocks.leaves)
    pending = [*blocks.elements]
    while pending:
        element = pending.pop()
        assert element.end <= cut
        pending += element.parts


def test_a_note_holds_so_many_links_and_tags() -> None:
    text = "[[link]] `code` <b> \\* " + "#tag [[link]]\n" * (MAX_FINDS // 2 + 5) + "kestrel\n"
    note = parse_note("n.md", text.encode())
    assert len(note.links) == MAX_FINDS // 2
    assert limits(note) == [f"more than {MAX_FINDS:,} links and tags: the rest is text"]
    (diagnostic,) = note.diagnostics
    assert diagnostic.line == MAX_FINDS // 2


@pytest.mark.parametrize(
    "source",
    [
        f"[[{'a' * (MAX_LINK + 1)}]]",
        f"[[a|{'b ' * MAX_LINK}c]]",
        f"[x]({'a/' * MAX_LINK}b)",
        f"<b a='[[{'a' * (MAX_LINK + 1)}]]'>",
        f"#{'a' * (MAX_TAG + 1)}",
    ],
    ids=["target", "display", "destination", "html", "tag"],
)
def test_a_link_or_tag_that_is_too_long_is_text(source: str) -> None:
    note = parse_note("n.md", f"a {source} [[b]] #c\n".encode())
    assert [link.target for link in note.links] == ["b"]
    assert note.tags == ("c",)
    assert len(limits(note)) == 1


def test_a_link_or_tag_may_be_as_long_as_the_limit() -> None:
    note = parse_note(
        "n.md", f"[[{'a' * MAX_LINK}#{'b' * MAX_LINK}|{'c' * MAX_LINK}]] #{'d' * MAX_TAG}\n".encode()
    )
    (link,) = note.links
    assert [len(link.target), len(link.subpath), len(link.display or "")] == [MAX_LINK] * 3
    assert note.tags == ("d" * MAX_TAG,)
    assert note.diagnostics == ()


@pytest.mark.parametrize(
    ("length", "shown", "lines"), [(1000, "x" * 1000, []), (1001, "x" * 1000 + "…", [3])]
)
def test_a_heading_has_a_thousand_characters_at_most(length: int, shown: str, lines: list[int]) -> None:
    note = parse_note("n.md", f"# One\n\n## {'x' * length}\n\n# {'x' * length}\n".encode())
    assert [heading.text for heading in note.headings] == ["One", shown, shown]
    assert [one.line for one in note.diagnostics] == lines


@pytest.mark.parametrize(("length", "below"), [(500, "b" * 500), (501, "b" * 500 + "…")])
def test_the_headings_above_a_text_have_a_thousand_characters_together(length: int, below: str) -> None:
    note = parse_note("n.md", f"# {'a' * 500}\n\n## {'b' * length}\n\n# {'c' * 900}\n".encode())
    assert [section.header_path for section in note.sections] == [
        ("a" * 500,),
        ("a" * 500, below),
        ("c" * 900,),
    ]


def test_of_brackets_that_nest_too_deep_the_outermost_are_text() -> None:
    note = parse_note("n.md", ("![" * 500 + "](x)" * 500).encode())
    assert len(note.links) == MAX_BRACKETS
    assert limits(note) == [f"brackets nested more than {MAX_BRACKETS} deep are text"]
    unclosed = parse_note("n.md", ("[" * 500 + "a](x)").encode())
    assert [link.target for link in unclosed.links] == ["x"]
    assert limits(unclosed) == []


@pytest.mark.parametrize(
    ("text", "links", "is_said"),
    [
        ("[ " * MAX_BRACKETS + "a" + " ]" * MAX_BRACKETS + "(x)", 1, False),
        ("[ " * (MAX_BRACKETS + 1) + "a" + " ]" * (MAX_BRACKETS + 1) + "(x)", 0, True),
        ("[ " * (MAX_BRACKETS + 1) + "a" + " ]" * (MAX_BRACKETS + 1), 0, False),
        ("[ " * (MAX_BRACKETS + 1) + "a" + " ]" * (MAX_BRACKETS + 2) + "(x)", 0, False),
        ("a](x) [b](y)", 1, False),
    ],
    ids=["as deep as allowed", "too deep", "no destination", "one bracket more", "never opened"],
)
def test_brackets_that_nest_too_deep_are_told_where_one_could_have_been_a_link(
    text: str, links: int, is_said: bool
) -> None:
    note = parse_note("n.md", f"One.\n\n{text}\n".encode())
    assert len(note.links) == links
    assert [(one.detail, one.line) for one in note.diagnostics] == (
        [(f"brackets nested more than {MAX_BRACKETS} deep are text", 3)] if is_said else []
    )


def test_edges_repeat_no_more_than_a_canvas_holds() -> None:
    name = "folder/" * 400 + "a.md"
    nodes = [{"id": "a", "file": name}, {"id": "b", "text": "kestrel " * 5000}]
    edges = [{"fromNode": "a", "toNode": "b", "label": f"to {n}"} for n in range(2000)]
    data = json.dumps({"nodes": nodes, "edges": edges}).encode()
    note = parse_canvas("c.canvas", data)
    assert len(note.text) < 3 * len(data)
    assert {link.target for link in note.links} == {name}
    assert note.text.count("kestrel " * 5000 + "\n") == 1
    assert all(f"to {n}" in note.text for n in (0, 1999))
    assert len(limits(note)) == 1


@pytest.mark.parametrize(
    "text", ["word", "One: two (three) `four` *five*", "a  ", "Zürich\u2028x $y$", "é. f"]
)
def test_a_plain_card_is_read_like_any_other(text: str) -> None:
    """What a look takes for one paragraph is one for the parser."""
    canvas = parse_canvas("c.canvas", json.dumps({"nodes": [{"text": text}]}).encode())
    note = parse_note("c.md", (text + "\n\n").encode())
    assert (canvas.text, canvas.elements) == (note.text, note.elements)
    assert (canvas.links, canvas.tags, canvas.blocks) == (note.links, note.tags, note.blocks)


@pytest.mark.long
def test_a_canvas_of_very_many_cards_is_read_to_its_end() -> None:
    nodes = [{"text": "a"}] * (MAX_BLOCKS + 50) + [{"text": "[[far]] kestrel"}]
    note = parse_canvas("c.canvas", json.dumps({"nodes": nodes}).encode())
    assert [link.target for link in note.links] == ["far"]
    assert len(limits(note)) == 1
    assert len(note.elements) == MAX_BLOCKS + 1, "the last one is the rest"
    assert len(note.sections) == MAX_BLOCKS + 1, "one for each card, and one for the rest"
    assert_nothing_is_lost(note)


@pytest.mark.long
def test_a_canvas_holds_so_many_links_to_files() -> None:
    nodes = [{"id": "a", "file": "f"}]
    edges = [{"fromNode": "a", "toNode": "a"}] * (MAX_FINDS // 2)
    note = parse_canvas("c.canvas", json.dumps({"nodes": nodes, "edges": edges}).encode())
    assert len(note.links) == MAX_FINDS
    assert note.text.count("f → f\n\n") == MAX_FINDS // 2
    assert limits(note) == [f"more than {MAX_FINDS:,} links and tags: the rest is text"]


def test_a_note_holds_so_many_different_tags() -> None:
    note = parse_note("n.md", " ".join(f"#t{n}" for n in range(MAX_TAGS + 10)).encode())
    assert (len(note.tags), note.tags[-1]) == (MAX_TAGS, f"t{MAX_TAGS - 1}")
    detail = f"more than {MAX_TAGS:,} different tags: the rest is text"
    assert note.diagnostics == (Diagnostic("limit", detail, 1),)


# A carriage return alone ends a line, also where blocks are nested deeper than they are read.


@pytest.mark.parametrize("text", ["# A\n\ntext\n\n- b\n", f"first\n\n{'> ' * 200}deep\n\nlast\n"])
def test_blocks_are_those_of_the_same_lines_with_line_feeds(text: str) -> None:
    assert scan_blocks(text.replace("\n", "\r"), 0, len(text)) == scan_blocks(text, 0, len(text))
