"""What the end of a link points at, what a task is, and how properties are searched."""

from __future__ import annotations

import pytest

from vault_indexer.model import JsonValue
from vault_indexer.parse import parse_note
from vault_indexer.parse.frontmatter import property_lines
from vault_indexer.parse.readable import find_tasks
from vault_indexer.parse.resolve import Anchors

TEXT = """# Plan

## Tools: saw & axe

### Use

Text ^Block-1

## Time

### Use

more ^block-1

# Time

## Use

#### Deep use
"""


@pytest.mark.parametrize(
    ("subpath", "line", "problem"),
    [
        ("", None, None),
        ("##", None, None),
        ("Plan", 1, None),
        (" plan ", 1, None),
        ("Use", 5, None),
        ("Time", 9, None),
        ("Time#Use", 11, None),
        ("Plan#Use", 5, None),
        ("Plan#Time#Use", 11, None),
        ("Tools saw axe", 3, None),
        ("tools:  saw & axe#use", 5, None),
        ("Time#Deep use", 19, None),
        ("Time#Plan", None, "no heading Time > Plan"),
        ("Use#Time", None, "no heading Use > Time"),
        ("Use#Use", None, "no heading Use > Use"),
        ("time-1", None, "no heading time-1"),
        ("^block-1", 7, None),
        ("Anything#^BLOCK-1", 7, None),
        ("^block", None, "no block ^block"),
    ],
)
def test_a_subpath_names_a_heading_or_a_block(subpath: str, line: int | None, problem: str | None) -> None:
    note = parse_note("n.md", TEXT.encode())
    found = Anchors(note.headings, note.blocks).find(subpath)
    assert (found.line, found.problem) == (line, problem)
    if line is not None:
        assert found.start is not None
        assert note.text.count("\n", 0, found.start) + 1 == line


@pytest.mark.parametrize(
    ("subpath", "line"),
    [
        ("time", 9),
        ("time-1", 15),
        ("use", 5),
        ("use-1", 11),
        ("use-2", 17),
        ("use-3", None),
        ("tools-saw--axe", 3),
        ("plan#deep-use", None),
        ("time#deep-use", 19),
        ("Deep use", 19),
    ],
)
def test_a_slug_names_headings_of_one_text_in_order(subpath: str, line: int | None) -> None:
    note = parse_note("n.md", TEXT.encode())
    assert Anchors(note.headings, note.blocks).find(subpath, slugs=True).line == line


@pytest.mark.parametrize(
    ("titles", "slug", "line"),
    [
        (["a", "a-1", "a"], "a-1", 2),
        (["a", "a-1", "a"], "a-2", 3),
        (["a", "a", "a-1"], "a-1", 3),
        (["a", "a", "a-1"], "a-1-1", 3),
    ],
)
def test_a_slug_that_a_heading_has_by_itself_is_not_given_twice(
    titles: list[str], slug: str, line: int
) -> None:
    note = parse_note("n.md", "".join(f"# {title}\n" for title in titles).encode())
    by_number = Anchors(note.headings, note.blocks).find(slug, slugs=True)
    assert by_number.line == line


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("- [ ] one\n- [x] two\n", [("- [ ] one", False), ("- [x] two", True)]),
        ("* [-] one\n+ [X] two", [("* [-] one", True), ("+ [X] two", True)]),
        ("1. [ ] one\n999999999) [ ] two", [("1. [ ] one", False), ("999999999) [ ] two", False)]),
        ("1000000000. [ ] one", []),
        ("- [ ]", [("- [ ]", False)]),
        ("- [ ]one", []),
        ("-[ ] one", []),
        ("- [] one", []),
        ("- [xx] one", []),
        ("a - [ ] one", []),
        ("  > - [ ] one", [("  > - [ ] one", False)]),
        ("- [ ] one\n  goes on\n\nnot here", [("- [ ] one\n  goes on", False)]),
        ("- [ ] one\n- item", [("- [ ] one", False)]),
        ("- [ ] one\n# Heading", [("- [ ] one", False)]),
        ("- [ ] one\n#tag", [("- [ ] one\n#tag", False)]),
        ("- [ ] one\n```\n- [ ] code\n```\n- [ ] two", [("- [ ] one", False), ("- [ ] two", False)]),
        ("~~~\n- [ ] code\n```\n- [ ] code\n~~~\n- [ ] two", [("- [ ] two", False)]),
        ("```\n- [ ] code", []),
        ("- [ ] one\n", [("- [ ] one", False)]),
    ],
)
def test_a_task_is_an_item_with_a_box_and_what_goes_on_behind_it(
    text: str, tasks: list[tuple[str, bool]]
) -> None:
    assert [(text[one.start : one.end].rstrip("\n"), one.is_done) for one in find_tasks(text, 0)] == tasks


def test_tasks_are_those_of_the_body() -> None:
    text = "- [ ] front\n- [ ] body\n"
    assert [one.start for one in find_tasks(text, 12)] == [12]


@pytest.mark.parametrize(
    ("properties", "lines"),
    [
        ({"a": "b", "n": 1.5, "yes": True, "no": False}, ["a: b", "n: 1.5", "yes: true", "no: false"]),
        ({"empty": None, "none": ""}, ["empty: ", "none: "]),
        (
            {"tags": "x", "Tag": "x", "ALIASES": ["x"], "alias": "x", "Title": "x", "titles": "y"},
            ["titles: y"],
        ),
        ({"list": ["one", 2, None]}, ["list", "one", "2", ""]),
        ({"table": {"tags": "one", "b": ["c"]}}, ["table", "tags: one", "b", "c"]),
        ({"when": "2024-03-05T12:30"}, ["when: 2024-03-05 12:30"]),
        ({"when": "on 2024-03-05T12:30"}, ["when: on 2024-03-05T12:30"]),
        ({"when": "2024-03-05Tea"}, ["when: 2024-03-05Tea"]),
        ({"link": "[[Note]] and [[Other|shown]]"}, ["link: Note and shown"]),
        ({"link": "[[Note|]]"}, ["link: Note"]),
    ],
)
def test_properties_are_lines_of_names_and_values(properties: dict[str, JsonValue], lines: list[str]) -> None:
    assert list(property_lines(properties)) == lines
