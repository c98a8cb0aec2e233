"""The parent expander: always around the hit, never over the limit, as far as the mode says."""

import re
from pathlib import Path

from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.model import Heading, Passage
from vault_indexer.parse import parse_note
from vault_indexer.search.present.hits import ExpandMode, Expansion, estimated_tokens, expand

MODES: tuple[ExpandMode, ...] = ("section", "section_or_window", "window")

TEXT = """\
---
title: T
---
Before all.

# A

a one

a two

## B

b one

```py
x = 1

y = 2
```

b three

### C

c one

## D

d one

# E

e one
"""


def words(text: str) -> int:
    return len(text.split())


def around(
    found: str, mode: ExpandMode, tokens: int = 2000, paragraphs: int = 3, text: str = TEXT
) -> Passage:
    note = parse_note("n.md", text.encode())
    start = text.index(found)
    passage = expand(
        note.text, note.headings, (start, start + len(found)), Expansion(mode, tokens, paragraphs), words
    )
    assert found in passage.text
    return passage


def part(first: str, last: str) -> str:
    return TEXT[TEXT.index(first) : TEXT.index(last) + len(last)]


def test_the_own_text_of_a_section_holds_a_hit_that_ends_with_it() -> None:
    note = parse_note("n.md", TEXT.encode())
    hit = TEXT.index("b three"), TEXT.index("### C")
    passage = expand(note.text, note.headings, hit, Expansion("section", 14), words)
    assert (passage.text.rstrip(), passage.kind) == (part("## B", "b three"), "section")


NAMED = {
    "TEXT": TEXT,
    "LONG": "# A\n\n" + "\n\n".join(f"p{n} word" for n in range(100)) + "\n\n# B\n\nother\n",
    "OWN": "# A\n\n" + "word " * 20 + "\n\nhit\n\n## B\n\nshort\n",
    "THREE": "before\n\none two three\n\nafter\n",
    "APART": "long " * 50 + "\n\nhit\n\nshort\n\n" + "long " * 50,
    "QUOTED": "# A\n\none\n\n> # Quoted\n\ntwo\n",
    "PLAIN": "---\na: b\n---\n\none\n\ntwo\n",
}


def test_passages_are_those_of_the_golden() -> None:
    def shown(name: str, found: str, mode: ExpandMode, tokens: str, paragraphs: str) -> str:
        hit = "word " * 19 + "word" if found == "word*20" else found
        return around(hit, mode, int(tokens), int(paragraphs), NAMED[name]).text

    def section(found: str, tokens: str) -> str:
        one, other = (around(found, mode, int(tokens)) for mode in MODES[:2])
        assert one == other
        return f"{one.kind}: {one.text}"

    def parent(found: str, tokens: str) -> str:
        passage = around(found, "parent", int(tokens))
        return f"{passage.kind}: {passage.text}"

    check_golden(
        Path(__file__).parent / "fixtures" / "passages.md",
        {
            "Note, hit, mode, tokens, paragraphs": of_parts(shown),
            "A section is the innermost that holds the hit": of_parts(section),
            "A parent is the section in which the hit ends": of_parts(parent),
        },
    )


def test_a_passage_says_what_it_is() -> None:
    kinds = [
        around("p50 word", "section", 11, text=NAMED["LONG"]),
        around("b one", "section_or_window", 9, 1),
    ]
    assert [one.kind for one in kinds] == ["window", "window"]
    assert around("a one", "window", paragraphs=0).kind == "chunk"


def test_lines_are_those_of_the_note() -> None:
    passage = around("b one", "section")
    lines = TEXT.split("\n")
    assert lines[passage.start_line - 1] == "## B"
    assert lines[passage.end_line - 1] == "c one"
    assert TEXT[passage.start_pos : passage.end_pos] == passage.text


def test_tokens_are_estimated_for_every_script() -> None:
    assert [estimated_tokens(text) for text in ("", "abc", "abcde", "漢字", "привет")] == [0, 1, 2, 2, 3]


def test_a_fence_is_closed_by_its_own_mark_alone() -> None:
    text = "hit\n\n````\na\n\n```\n\n```` x\n\n`````\n\n   ~~~ py\nb\n\n~~~\n\n    ~~~\nlast\n\nend\n"
    blocks = text.strip().split("\n\n")
    windows = [around("hit", "window", paragraphs=number, text=text).text for number in range(5)]
    assert windows == ["\n\n".join(blocks[:number]) for number in (1, 5, 7, 8, 9)]


LINES = st.sampled_from(
    ["", "", "word word", "# H", "## H", "### H", "```", "漢字漢字", "- item", "> # Q", "  x"]
)


@given(
    lines=st.lists(LINES, min_size=1, max_size=60),
    place=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    mode=st.sampled_from(MODES),
    limits=st.tuples(st.integers(1, 60), st.integers(0, 5)),
)
def test_laws(
    lines: list[str], place: tuple[float, float], mode: ExpandMode, limits: tuple[int, int]
) -> None:
    note = parse_note("n.md", "\n".join(lines).encode())
    spans = [match.span() for match in re.finditer(r"\S+", note.text)]
    if not spans:
        return
    first, last = sorted(int(share * (len(spans) - 1)) for share in place)
    start, end = spans[first][0], spans[last][1]
    passage = expand(note.text, note.headings, (start, end), Expansion(mode, *limits))
    assert passage.start_pos <= start < end <= passage.end_pos
    assert passage.text == note.text[passage.start_pos : passage.end_pos]
    assert passage.start_line == note.text.count("\n", 0, passage.start_pos) + 1
    fits = estimated_tokens(passage.text) <= limits[0]
    assert fits or (passage.start_pos, passage.end_pos) == (start, end)
    smaller = expand(
        note.text, note.headings, (start, end), Expansion(mode, max(1, limits[0] // 2), limits[1])
    )
    assert len(smaller.text) <= len(passage.text) or smaller.kind != passage.kind


def test_a_large_note_is_read_in_its_near_part_only() -> None:
    text = "# A\n\n" + "word word\n\n" * 500_000
    counted: list[int] = []

    def count(part_of_it: str) -> int:
        counted.append(len(part_of_it))
        return words(part_of_it)

    hit = (2_500_005, 2_500_009)
    headings = [Heading(1, "A", 0, 3, 1)]
    passage = expand(text, headings, hit, Expansion("section_or_window", 200, 3), count)
    assert passage.kind == "window"
    assert sum(counted) < 1_000
