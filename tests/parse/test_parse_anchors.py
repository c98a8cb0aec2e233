"""What the end of a link points at, what a task is, and how properties are searched."""

from __future__ import annotations

import json
from functools import partial

from golden_cases import check_golden
from parse_goldens import FIXTURES

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


def anchor(subpath: str, *, slugs: bool = False, text: str = TEXT) -> str:
    note = parse_note("n.md", text.encode())
    found = Anchors(note.headings, note.blocks).find(subpath, slugs=slugs)
    if found.line is None:
        return found.problem or "the note"
    assert found.start is not None
    assert note.text.count("\n", 0, found.start) + 1 == found.line
    return f"line {found.line}"


def tasks(text: str) -> str:
    found = find_tasks(text, 0)
    return "; ".join(f"{text[one.start : one.end]!r}{' done' * one.is_done}" for one in found)


def test_subpaths_tasks_and_lines_of_properties_are_those_of_the_golden() -> None:
    check_golden(
        FIXTURES / "anchors.md",
        {
            "Subpaths": anchor,
            "Slugs": partial(anchor, slugs=True),
            "Slugs of headings that are like slugs": partial(anchor, slugs=True, text="# a\n# a-1\n# a\n"),
            "Slugs of headings that are like slugs, of `a`, `a` and `a-1`": partial(
                anchor, slugs=True, text="# a\n# a\n# a-1\n"
            ),
            "Tasks": tasks,
            "Lines of properties": lambda text: str(list(property_lines(json.loads(text)))),
        },
    )


def test_tasks_are_those_of_the_body() -> None:
    text = "- [ ] front\n- [ ] body\n"
    assert [one.start for one in find_tasks(text, 12)] == [12]
