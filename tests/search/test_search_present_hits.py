"""The parent expander: always around the hit, never over the limit, as far as the mode says."""

import re
from pathlib import Path

import pytest
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


@pytest.mark.parametrize(
    ("found", "tokens", "expected"),
    [
        ("b one", 2000, part("## B", "c one")),
        ("b one", 14, part("## B", "b three")),
        ("c one", 2000, part("### C", "c one")),
        ("a one", 2000, part("# A", "d one")),
        ("a one", 8, part("# A", "a two")),
        ("e one", 2000, part("# E", "e one")),
        ("Before all.", 2000, "Before all."),
        (part("b three", "c one"), 2000, part("## B", "c one")),
        (part("c one", "d one"), 2000, part("# A", "d one")),
        (part("d one", "# E"), 2000, part("Before all.", "e one")),
        (part("all.", "a one"), 2000, part("Before all.", "e one")),
    ],
)
def test_a_section_is_the_innermost_that_holds_the_hit(found: str, tokens: int, expected: str) -> None:
    for mode in MODES[:2]:
        passage = around(found, mode, tokens)
        assert (passage.text, passage.kind) == (expected, "section")


def test_the_own_text_of_a_section_holds_a_hit_that_ends_with_it() -> None:
    note = parse_note("n.md", TEXT.encode())
    hit = TEXT.index("b three"), TEXT.index("### C")
    passage = expand(note.text, note.headings, hit, Expansion("section", 14), words)
    assert (passage.text.rstrip(), passage.kind) == (part("## B", "b three"), "section")


LONG = "# A\n\n" + "\n\n".join(f"p{n} word" for n in range(100)) + "\n\n# B\n\nother\n"
OWN = "# A\n\n" + "word " * 20 + "\n\nhit\n\n## B\n\nshort\n"
THREE = "before\n\none two three\n\nafter\n"
APART = "long " * 50 + "\n\nhit\n\nshort\n\n" + "long " * 50
QUOTED = "# A\n\none\n\n> # Quoted\n\ntwo\n"
PLAIN = "---\na: b\n---\n\none\n\ntwo\n"


def paragraphs(first: int, end: int) -> str:
    return "\n\n".join(f"p{n} word" for n in range(first, end))


@pytest.mark.parametrize(
    ("text", "found", "mode", "tokens", "number", "expected"),
    [
        # of a long section as much as fits around the hit, and nothing of the next section
        (LONG, "p50 word", "section", 11, 3, paragraphs(48, 53)),
        (LONG, "p99 word", "section", 11, 3, paragraphs(95, 100)),
        # a number of paragraphs on each side, of which the rest of the own one is none
        (TEXT, "b one", "window", 2000, 1, part("## B", "y = 2\n```")),
        (TEXT, "b one", "window", 2000, 2, part("a two", "b three")),
        (TEXT, "a one", "window", 2000, 0, "a one"),
        (THREE, "two", "window", 2000, 0, "one two three"),
        (THREE, "two", "window", 2000, 1, THREE.strip()),
        # code in a fence is one paragraph
        (TEXT, "b three", "window", 2000, 1, part("```py", "### C")),
        (TEXT, "x = 1", "window", 2000, 0, part("```py", "y = 2\n```")),
        # what does not fit on one side may on the other
        (APART, "hit", "window", 5, 3, "hit\n\nshort"),
        (TEXT, "b one", "section_or_window", 9, 1, part("## B", "b one")),
        # a heading in a quote begins no section
        (QUOTED, "two", "section", 2000, 3, QUOTED.strip()),
        # a note without headings is one parent
        (PLAIN, "two", "parent", 2000, 3, "one\n\ntwo"),
        (PLAIN, "two", "parent", 2, 3, "one\n\ntwo"),
        (PLAIN, "two", "parent", 1, 3, "two"),
        # a long section grows in its own text first
        (OWN, "hit", "section", 8, 3, "hit"),
        (OWN, "word " * 19 + "word", "section", 24, 3, OWN[: OWN.index("##")].strip()),
        (OWN, "hit", "window", 8, 3, "hit\n\n## B\n\nshort"),
    ],
)
def test_what_is_shown_around_a_hit(
    text: str, found: str, mode: ExpandMode, tokens: int, number: int, expected: str
) -> None:
    assert around(found, mode, tokens, number, text).text == expected


def test_a_passage_says_what_it_is() -> None:
    kinds = [around("p50 word", "section", 11, text=LONG), around("b one", "section_or_window", 9, 1)]
    assert [one.kind for one in kinds] == ["window", "window"]
    assert around("a one", "window", paragraphs=0).kind == "chunk"


def test_the_frontmatter_is_no_part_of_a_passage() -> None:
    for mode in MODES:
        assert "title" not in around("Before all.", mode, paragraphs=9).text


def test_a_hit_over_the_limit_stays_as_it_is() -> None:
    for mode in MODES:
        passage = around("a two", mode, tokens=1)
        assert (passage.text, passage.kind) == ("a two", "chunk")


def test_lines_are_those_of_the_note() -> None:
    passage = around("b one", "section")
    lines = TEXT.split("\n")
    assert lines[passage.start_line - 1] == "## B"
    assert lines[passage.end_line - 1] == "c one"
    assert TEXT[passage.start_pos : passage.end_pos] == passage.text


def test_tokens_are_estimated_for_every_script() -> None:
    assert [estimated_tokens(text) for text in ("", "abc", "abcde", "漢字", "привет")] == [0, 1, 2, 2, 3]


@pytest.mark.parametrize(
    ("found", "tokens", "expected", "kind"),
    [
        ("b one", 2000, part("## B", "b three"), "parent"),
        ("Before all.", 2000, "Before all.", "parent"),
        ("e one", 4, part("# E", "e one"), "parent"),
        ("e one", 3, "e one", "chunk"),
        ("a one", 6, part("# A", "a two"), "parent"),
        ("a one", 5, part("# A", "a one"), "window"),
        (part("b three", "c one"), 2000, part("b three", "c one"), "parent"),
        (part("a two", "## B"), 2000, part("a two", "b three"), "parent"),
        (part("c one", "d one"), 2000, part("c one", "d one"), "parent"),
    ],
)
def test_a_parent_is_the_section_in_which_the_hit_ends(
    found: str, tokens: int, expected: str, kind: str
) -> None:
    passage = around(found, "parent", tokens)
    assert (passage.text, passage.kind) == (expected, kind)


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


@pytest.mark.long
@pytest.mark.data
@pytest.mark.skipif(
    not (Path(__file__).parents[3] / "shared/data/vaults/obsidian-help").is_dir(),
    reason="needs ../shared/data",
)
def test_real_notes() -> None:
    for path in sorted((Path(__file__).parents[3] / "shared/data/vaults/obsidian-help").rglob("*.md")):
        note = parse_note(path.name, path.read_bytes())
        for match in re.finditer(r"\S[^\n]*\S", note.text[note.body_start :]):
            hit = note.body_start + match.start(), note.body_start + match.end()
            for mode in MODES:
                passage = expand(note.text, note.headings, hit, Expansion(mode, 300))
                assert passage.start_pos <= hit[0] < hit[1] <= passage.end_pos
