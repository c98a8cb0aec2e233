"""Headings as CommonMark sees them: against the specification, and against another implementation."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from parse_goldens import FIXTURES

from vault_indexer.model import LinkKind
from vault_indexer.parse import parse_note
from vault_indexer.parse.link_syntax import markdown_target

SPEC = json.loads((FIXTURES / "commonmark-0.31.2.json").read_text(encoding="utf-8"))
LINK_EXCEPTIONS = {559: "`[[…]]` is a wikilink"}
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
    assert headings(case["markdown"]) == case["headings"]


def markdown_links(text: str) -> list[tuple[str, str]]:
    links = parse_note("n.md", text.encode()).links
    return sorted((link.target, link.subpath) for link in links if link.kind is LinkKind.MARKDOWN)


def links_of_oracle(text: str) -> list[tuple[str, str]]:
    """Targets and subpaths of the links that another implementation finds, but for those out of the vault."""
    destinations: list[str] = []

    def collect(tokens: Sequence[Token]) -> None:
        for token in tokens:
            destination = token.attrGet("src" if token.type == "image" else "href")
            if token.type in ("link_open", "image") and token.markup != "autolink":
                destinations.append(str(destination).replace("\\", "\\\\").replace("&", "&amp;"))
            collect(token.children or [])

    collect(MarkdownIt("commonmark").parse(text))
    return sorted(place for place in map(markdown_target, destinations) if place and any(place))


@pytest.mark.parametrize("case", SPEC["examples"], ids=lambda case: f"example-{case['example']}")
def test_links_agree_with_another_implementation(case: dict[str, Any]) -> None:
    if case["example"] in LINK_EXCEPTIONS:
        assert markdown_links(case["markdown"]) == []
    else:
        assert markdown_links(case["markdown"]) == links_of_oracle(case["markdown"])


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
