"""Headings as CommonMark sees them: against the specification, and against another implementation."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from parse_goldens import FIXTURES

from vault_indexer.parse import parse_note

SPEC = json.loads((FIXTURES / "commonmark-0.31.2.json").read_text(encoding="utf-8"))
EXCEPTIONS = {
    96: "begins with `---`, text and `---`: the frontmatter of a note",
}
PIECES = [
    *("# ", "## a", "- ", "* ", "1. ", "> ", "a", "b c", "\n", "\n", "\n\n", "    ", "  ", "\t", "```"),
    *("~~~", "---", "===", "***", "<div>", "</div>", "`", "[a]", "[a]: /u", "\\", "*", "_", "#", "é", "10) "),
]


def headings(text: str) -> list[list[Any]]:
    return [
        [heading.level, " ".join(heading.text.split())]
        for heading in parse_note("n.md", text.encode()).headings
    ]


@pytest.mark.parametrize("case", SPEC["examples"], ids=lambda case: f"example-{case['example']}")
def test_headings_agree_with_the_specification(case: dict[str, Any]) -> None:
    if case["example"] in EXCEPTIONS:
        assert headings(case["markdown"]) != case["headings"], "no exception any more: take it off the list"
    else:
        assert headings(case["markdown"]) == case["headings"]


def test_the_fixture_is_whole() -> None:
    assert len(SPEC["examples"]) == 652
    assert sum(bool(case["headings"]) for case in SPEC["examples"]) == 40


def shown(token: Token) -> str:
    parts = []
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(shown(child))
        elif child.type != "html_inline":
            parts.append(child.content)
    return "".join(parts)


def oracle(text: str) -> list[tuple[int, str, int]]:
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (int(token.tag[1]), " ".join(shown(tokens[at + 1]).split()), token.map[0] + 1 if token.map else 0)
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
@settings(derandomize=True)
@example("- # a\n\n  b\n  ---\n> # c\n")
@example("# *a **b** c*_d_ `e*` \\# &amp; #")
def test_headings_agree_with_markdown_it(text: str) -> None:
    note = parse_note("n.md", text.encode())
    if note.body_start == 0:
        found = [(heading.level, " ".join(heading.text.split()), heading.line) for heading in note.headings]
        assert found == oracle(text)


@pytest.mark.parametrize("text", ["a|\n-\n# b", "a\n|\n|||\n# b", "- <v>\n\n# b", "* [\\[a\\]](c.md)\n\n# b"])
def test_what_throws_the_grammar_off_does_not_cost_the_rest_of_the_note(text: str) -> None:
    assert headings(text)[-1] == [1, "b"]
