"""What of a canvas becomes text, in which order, and what is said of it."""

from __future__ import annotations

import json

import pytest
from golden_cases import check_golden
from parse_goldens import FIXTURES, described

from vault_indexer.model import JsonValue, Note
from vault_indexer.parse import parse_canvas
from vault_indexer.parse.link_syntax import MAX_LINK, TOO_LONG

Objects = list[dict[str, JsonValue]]


def canvas(nodes: Objects, edges: Objects | None = None) -> Note:
    return parse_canvas("a/b.canvas", json.dumps({"nodes": nodes, "edges": edges or []}).encode())


def card(text: str, x: float | str = 0, y: float | str = 0) -> dict[str, JsonValue]:
    return {"id": text, "text": text, "x": x, "y": y}


NODES: Objects = [
    {"id": "file", "file": "a.md", "subpath": "#Part#Deep", "y": 0},
    {"id": "text", "text": " \nfirst line \nsecond", "y": 1},
    {"id": "group", "label": "Group", "y": 2},
    {"id": "none", "y": 3},
]
CARDS = "a.md\n\n \nfirst line \nsecond\n\nGroup\n\n"


def test_a_canvas_becomes_the_text_that_the_golden_says() -> None:
    def cards(text: str) -> str:
        words = [one.split() for one in text.split(", ")]
        return repr(canvas([card(name, json.loads(x), json.loads(y)) for name, x, y in words]).text)

    def found(text: str) -> str:
        note = parse_canvas("note.canvas", text.encode())
        note.text.encode()
        assert all(link.target in note.text[link.start : link.end] for link in note.links)
        fields = [f"field {name} = {value}" for name, value in note.fields.items()]
        return "; ".join([*described(note).splitlines(), *fields]).partition(": Expecting")[0]

    check_golden(
        FIXTURES / "canvas.md",
        {
            "What is found in a canvas": found,
            "Cards stand from top to bottom and from left to right": cards,
            "A card is its file, its text or its label": lambda text: repr(canvas([json.loads(text)]).text),
            "An edge with a label or a file is a line": lambda text: repr(
                canvas(NODES, [json.loads(text)]).text.removeprefix(CARDS)
            ),
        },
    )


def test_headings_of_a_card_do_not_reach_into_the_next() -> None:
    note = canvas([card("# A\n\n## B\n\nb"), card("plain", 0, 1), card("## C\n\n# D", 0, 2)])
    assert [section.header_path for section in note.sections] == [("A",), ("A", "B"), (), ("C",), ("D",)]
    assert [heading.text for heading in note.headings] == ["A", "B", "C", "D"]
    spans = [(section.start, section.end) for section in note.sections]
    assert "".join(note.text[start:end] for start, end in spans[1:]) == note.text[spans[1][0] :]


@pytest.mark.parametrize(("size", "links"), [(MAX_LINK, 1), (MAX_LINK + 1, 0)])
@pytest.mark.parametrize("key", ["file", "subpath"])
def test_a_file_with_too_long_a_path_is_text(key: str, size: int, links: int) -> None:
    note = canvas([{"file": "a", key: "b" * size}])
    assert note.text == ("b" * size if key == "file" else "a") + "\n\n"
    assert len(note.links) == links
    assert [(one.kind, one.detail, one.line) for one in note.diagnostics] == (
        [] if links else [("limit", TOO_LONG, 1)]
    )


def test_a_file_with_too_long_a_label_at_an_edge_is_text() -> None:
    edge: dict[str, JsonValue] = {"fromNode": "file", "toNode": "group", "label": "b" * (MAX_LINK + 1)}
    note = canvas(NODES, [edge])
    assert len(note.links) == 1
    assert [one.detail for one in note.diagnostics] == [TOO_LONG]


def test_a_limit_is_said_once_and_all_else_as_often_as_it_is_met() -> None:
    too_long, too_deep = "[[" + "a" * (MAX_LINK + 1) + "]]", "> " * 400 + "deep"
    note = canvas([card(text, 0, y) for y, text in enumerate([too_long, too_deep, too_long, too_deep])])
    assert [(one.kind, one.line) for one in note.diagnostics] == [
        ("limit", 1),
        ("nesting", 3),
        ("nesting", 7),
    ]


@pytest.mark.parametrize(("spare", "is_whole"), [(0, True), (1, False)])
def test_ends_of_edges_take_as_much_as_the_file_has_or_a_hundred_thousand(spare: int, is_whole: bool) -> None:
    """An end that is a file takes its subpath, too, at each edge."""
    nodes: Objects = [{"id": "a", "file": "f" * 895, "subpath": "#" + "s" * 103}, {"id": "b", "text": "t"}]
    ends: Objects = [{"fromNode": "a", "toNode": "b", "label": "x"}] * 100
    last: dict[str, JsonValue] = {"fromNode": "c", "toNode": "c", "label": "y"}
    nodes.append({"id": "c", "label": "", "subpath": "z" * spare})
    note = canvas(nodes, [*ends, last])
    assert note.text.endswith(" →  (y)\n\n" if is_whole else "\n\ny\n\n")
    assert len(note.diagnostics) == (0 if is_whole else 1)
