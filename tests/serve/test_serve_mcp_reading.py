"""Which part of a text an agent gets where it does not get all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.errors import UsageError
from vault_indexer.model import Heading, NoteHeading, NoteOutline, NoteText
from vault_indexer.serve.mcp.budget import tokens_of
from vault_indexer.serve.mcp.reading import (
    TEXT_TOKENS,
    beginning_of,
    excerpt,
    page_length,
    part_of,
    section_of,
)

FIXTURES = Path(__file__).parent / "fixtures"
NOTE = (FIXTURES / "excerpts_note.md").read_text("utf-8")


def headings_of(text: str) -> tuple[Heading, ...]:
    """A heading for each line that begins with a number sign; in a quote where another sign follows."""
    found, start = [], 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if line.startswith("#"):
            marks, _, title = line.strip().partition(" ")
            is_nested = title.startswith(">")
            found.append(Heading(len(marks), title, start, start + len(line), number, nested=is_nested))
        start += len(line)
    return tuple(found)


def outline_of(text: str) -> NoteOutline:
    return NoteOutline("a.md", "a", "", text, headings_of(text))


def test_parts_are_those_of_the_golden() -> None:
    line = "red pea bun cat " * 10 + "red pea bun owl red pea bun fox " + "red pea bun cat " * 10

    def around(focus: str, words: str, tokens: str) -> str:
        shown = excerpt(NOTE, int(focus), set(words.split()), (4, 20), int(tokens))
        assert tokens_of(shown) <= int(tokens) + 2
        return shown

    def section(heading: str) -> str:
        text = "# A\n## B\n### C\nc\n## D\nd\n# E\ne\n"
        return text[slice(*section_of(outline_of(text), json.loads(heading)))]

    def refusal(count: str, heading: str) -> str:
        outline = outline_of("".join(f"# N {number}\n" for number in range(int(count))))
        with pytest.raises(UsageError) as refused:
            section_of(outline, heading)
        return str(refused.value)

    check_golden(
        FIXTURES / "excerpts.md",
        {
            "An excerpt has the matching line and what explains it": of_parts(around),
            "A page ends at a heading or at a line break if it can": of_parts(
                lambda text, tokens: page_length(text, int(tokens))
            ),
            "A long line is cut to where most words are": lambda words: excerpt(
                line, 1, set(words.split()), (1, 1), 9
            ),
            "A section ends at the next heading of its level or above": section,
            "A refusal names twenty headings at most": of_parts(refusal),
        },
    )


def test_a_text_of_few_tokens_and_many_characters_is_one_page() -> None:
    """Spaces make one token, however many they are."""
    assert page_length(f"pea{' ' * 100}bun", 4) == 3 + 29
    assert page_length(f"pea{' ' * 26}bun", 4) == 3 + 26 + 3


def test_the_headings_of_the_first_page_have_a_part_of_its_room() -> None:
    """Here each takes nineteen tokens in the answer, and a line of the text behind them two."""
    headings = "# > quoted\n" + "".join(f"# Step {number:02} of bun pea\n" for number in range(70))
    text = headings + "pea\n" * 2_500
    note, outline = NoteText("a.md", text, "now"), outline_of(text)
    assert {tokens_of(one.text) for one in outline.headings if not one.nested} == {19 - 14}
    first = beginning_of(note, outline, (0, len(text)))
    assert first.headings == tuple(NoteHeading(f"Step {n:02} of bun pea", 2 + n) for n in range(61))
    assert TEXT_TOKENS - 1_200 - 2 <= tokens_of(first.text) <= TEXT_TOKENS - 1_200 + 40
    assert text.startswith(first.text)
    assert first.next_offset == len(first.text)


def test_headings_of_the_part_alone_are_named_and_what_they_do_not_need_is_text() -> None:
    text = "# Before\n# Inside\n## " + "x" * 70 + "\n" + "pea bun\n" * 1500 + "# After\n"
    note, outline = NoteText("a.md", text, "now"), outline_of(text)
    before, inside, _, after = outline.headings
    first = beginning_of(note, outline, (inside.start, after.start))
    assert first.headings == (NoteHeading("Inside", 2), NoteHeading("x" * 60, 3))
    cost = sum(tokens_of(one.heading) + 14 for one in first.headings)
    assert first.text == text[inside.start :][: page_length(text[inside.start :], TEXT_TOKENS - cost)]
    assert (first.start_line, first.path, first.modified_time) == (2, "a.md", "now")
    assert before.start == 0


def test_a_part_that_fits_names_no_headings() -> None:
    text = "# A\n# B\nb\n"
    found = beginning_of(NoteText("a.md", text, ""), outline_of(text), (0, len(text)))
    assert (found.text, found.headings, found.next_offset) == (text, (), 0)


def test_the_pages_of_a_part_say_their_lines() -> None:
    text = "one\ntwo\nthree\nfour\nfive"
    note = NoteText("a.md", text, "")
    first = part_of(note, (4, 19), 0, tokens=5)
    assert (first.text, first.start_line, first.end_line, first.next_offset) == ("two\nthree\n", 2, 3, 10)
    second = part_of(note, (4, 19), 10, tokens=5)
    assert (second.text, second.start_line, second.end_line, second.next_offset) == ("four\n", 4, 4, 0)
    assert first.total_lines == second.total_lines == 5
    with pytest.raises(UsageError, match="offset = 15: the part has 15 characters"):
        part_of(note, (4, 19), 15)
    empty = part_of(NoteText("a.md", "", ""), (0, 0), 0)
    assert (empty.text, empty.start_line, empty.end_line) == ("", 1, 1)
