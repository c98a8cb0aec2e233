"""Where a note is prose: of each word in braces, whether a mention of it could become a link."""

import re

import pytest

from vault_indexer.links.mentions import Prose
from vault_indexer.parse import parse_note


def held(marked: str, *, known: str = "") -> list[bool]:
    """Whether each `{word}` of the text is prose. A `known` link is one that the caller knows."""
    text, places = "", []
    for part in re.split(r"(\{[^}]*\})", marked):
        if part.startswith("{"):
            places.append((len(text), len(text) + len(part) - 2))
            part = part[1:-1]
        text += part
    note = parse_note("n.md", text.encode())
    at = text.find(known) if known else -1
    links = [(at, at + len(known))] if known else []
    prose = Prose(note.text, [heading.start for heading in note.headings], links)
    return [prose.holds(*place) for place in places]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A {word} here.\n", [True]),
        ("{First} and {last}", [True, True]),
        ("A `{word}` and a {word}.\n", [False, True]),
        ("[{word}](to.md) and [[{word}]] and {word}\n", [False, False, True]),
        ("#{tag} and {tag}\n", [False, True]),
        ("${x}$ and {x}\n", [False, True]),
        ("<b title='{word}'>{word}</b>\n", [False, True]),
        ("\\*{word}\\* and \\# {word}\n", [True, True]),
        ("```\n{code}\n```\n\n{text}\n", [False, True]),
        ("<div>\n{word}\n</div>\n\n{text}\n", [False, True]),
        ("---\nkey: {value}\n---\n{text}\n", [False, True]),
        ("# {Heading}\n\n{text}\n\n## {Other}\n\n{more}\n", [True, True, True, True]),
        ("- {item}\n  - {below}\n\n> {quote}\n\n| {cell} |\n| --- |\n| {cell} |\n", [True] * 5),
        ("https://example.org/{word} and https://example.org {word}\n", [False, True]),
        ("{https}://example.org\n", [True]),
        (f"https://{'x' * 280}/{{near}} https://{'x' * 400}/{{far}}\n", [False, True]),
        ("One paragraph {ends\n\nand} another begins.\n", [False]),
        ("[{label}] and [{other}]\n\n[label]: to.md\n", [False, True]),
        ("> [{label}]\n\n# Later\n\n> [label]: to.md\n", [False]),
        ("[{label}]\n\n[label]:\nto.md\n", [False]),
        ("[label]: {to}.md\n\n{text}\n", [False, True]),
    ],
)
def test_only_running_text_is_prose(text: str, found: list[bool]) -> None:
    assert held(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a{b}KNOWNc", [True]),
        ("a{bK}NOWNc", [False]),
        ("aK{NOW}Nc", [False]),
        ("aKNOW{Nc}", [False]),
        ("aKNOWN{c}", [True]),
        ("a{KNOWN}c", [False]),
    ],
)
def test_what_overlaps_a_known_link_is_none(text: str, found: list[bool]) -> None:
    assert held(text, known="KNOWN") == found


def test_the_sections_of_a_note_are_told_apart() -> None:
    text = "{Intro}\n\n# One\n\n```\n{code}\n\n# No heading {code}\n```\n\n{one}\n\n# Two\n\n{two} `{code}`\n"
    assert held(text) == [True, False, False, True, True, False]
