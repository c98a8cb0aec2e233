"""Every size limit holds, on every note: any block can be cut at a sentence, a word or within one."""

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest
from chunk_laws import EDGE_NOTES, NOTES, SMALL, Words, build, note_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_indexer.chunk.cutting.blocks import BlockSplitter, blocks_of
from vault_indexer.chunk.cutting.spans import Ruler, hard_splits, safe_split
from vault_indexer.model import Chunk, Note
from vault_indexer.parse import parse_note

# What a chunk of each strategy may hold under the options of SMALL.
Held = Callable[[Note, Chunk], int]


def characters(_note: Note, chunk: Chunk) -> int:
    return len(chunk.body)


def with_overlap(_note: Note, chunk: Chunk) -> int:
    return len(chunk.overlap + chunk.body)


@cache
def starts_of_runs(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"\S+", text)]


@cache
def starts_of_tokens(text: str) -> list[int]:
    return [start for start, _ in Words().offsets(text)]


def begun(starts: list[int], chunk: Chunk) -> int:
    """How many of the starts lie in overlap or body."""
    return bisect_left(starts, chunk.end_pos) - bisect_left(starts, chunk.start_pos - len(chunk.overlap))


def runs(note: Note, chunk: Chunk) -> int:
    return begun(starts_of_runs(note.text), chunk)


def words(_note: Note, chunk: Chunk) -> int:
    """As the unit `words` counts: Han and kana are a word each."""
    wide = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    return len(re.findall(rf"[{wide}]|[^\s{wide}]+", chunk.body))


def tokens(note: Note, chunk: Chunk) -> int:
    return begun(starts_of_tokens(note.text), chunk)


LIMITS: dict[str, tuple[Held, int]] = {
    "header_based": (characters, 120),
    "markdown": (words, 21),  # one more where a cut falls into a word that is too long for any chunk
    "paragraph": (characters, 120),
    "word": (runs, 12),
    "token": (tokens, 24),
    "recursive": (with_overlap, 100),
    "boundary": (characters, 120),
    "discourse": (characters, 156),
    "semantic": (characters, 120),
    "parent_child": (tokens, 24),
    "code": (characters, 120),
}


@pytest.mark.parametrize("strategy", LIMITS)
def test_limits_hold_on_the_edge_notes(strategy: str) -> None:
    held, limit = LIMITS[strategy]
    for name, text in EDGE_NOTES.items():
        note = note_of(text)
        for chunk in build(strategy, **SMALL[strategy]).chunk(note):
            assert held(note, chunk) <= limit, name


def test_a_separator_that_is_kept_is_within_the_size() -> None:
    note = note_of(f"{'alpha ' * 15}[[Links]]\n\nbeta")
    chunks = build("recursive", **SMALL["recursive"]).chunk(note)
    assert chunks[0].body.endswith("]]\n")
    assert max(with_overlap(note, chunk) for chunk in chunks) == 100


@pytest.mark.parametrize("strategy", LIMITS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(text=NOTES)
def test_limits_hold_on_generated_notes(strategy: str, text: str) -> None:
    held, limit = LIMITS[strategy]
    note = note_of(text)
    assert all(held(note, chunk) <= limit for chunk in build(strategy, **SMALL[strategy]).chunk(note))


@given(text=NOTES)
def test_parents_and_children_have_limits_of_their_own(text: str) -> None:
    note = note_of(text)
    for chunk in build("hierarchical", **SMALL["hierarchical"]).chunk(note):
        assert words(note, chunk) <= (40 if chunk.extra["level"] == 0 else 12) + 1


@given(text=NOTES)
def test_nothing_is_repeated_where_no_overlap_is_asked_for(text: str) -> None:
    note = note_of(text)
    none: dict[str, dict[str, object]] = {
        "header_based": {"max_chunk_chars": 100, "overlap_chars": 0},
        "markdown": {"max_chunk_size": 10},
        "word": {"chunk_size": 10, "chunk_overlap": 0},
        "token": {"max_tokens": 10, "overlap_tokens": 0},
        "recursive": {"chunk_size": 100, "chunk_overlap": 0},
        "boundary": {"max_chunk_size": 100},
    }
    for strategy in ("paragraph", "discourse", "semantic", "parent_child", "code"):
        none[strategy] = dict(SMALL[strategy])
    for strategy, options in none.items():
        assert not any(chunk.overlap for chunk in build(strategy, **options).chunk(note)), strategy


def test_the_atoms_of_a_huge_block_are_joined_and_still_tile_it() -> None:
    """The last ones too; each takes at most a sixteenth of the limit, unless it is one atom by itself."""
    text = "".join(f"- item {number}\n" for number in range(203))
    note = parse_note("n.md", text.encode())
    blocks, limit = blocks_of(note), 660
    every = BlockSplitter(note.text, Ruler(note.text), limit).atoms(blocks, len(text))
    joined = BlockSplitter(note.text, Ruler(note.text), limit, huge=1000).atoms(blocks, len(text))
    assert len(every) == 203
    assert 203 / 4 <= len(joined) <= 203 / 2
    assert (joined[0][0], joined[-1][1]) == (0, len(text))
    assert all(one[1] == other[0] for one, other in pairwise(joined))
    assert all(end - start <= limit // 16 for start, end in joined)


@given(st.text("ab", max_size=3), st.integers(1, 200), st.integers(2, 50))
def test_no_flag_is_cut_however_many_follow_each_other(before: str, count: int, limit: int) -> None:
    text = before + "\U0001f1eb\U0001f1f7" * count
    spans = hard_splits(text, 0, len(text), limit)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(end - start <= limit for start, end in spans)
    assert all((start - len(before)) % 2 == 0 for start, _ in spans if start > len(before))


@pytest.mark.parametrize(("marks", "cuts"), [(64, [100]), (65, [])])
def test_so_many_marks_stay_with_their_letter_and_no_more(marks: int, cuts: list[int]) -> None:
    text = "a" * 100 + "e" + "\u0301" * marks + "b" * 40
    end = 100 + marks  # before the last mark
    assert safe_split(text, 0, end) == (cuts or [end])[0]
