"""The rules by which strategies gather and divide, with both sides of each bound. Sizes are in words."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from chunk_laws import build, cut, note_of
from golden_cases import check_golden, of_parts

from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.model import Chunk


def said(word: str, count: int) -> str:
    """A sentence of so many words."""
    return " ".join([word] * count) + "."


def sentences(count: int) -> str:
    """So many sentences of ten words each."""
    return " ".join([said("Tea", 10)] * count)


def chunks(strategy: str, *blocks: str, **options: object) -> list[Chunk]:
    return build(strategy, **{"size_unit": "words", **options}).chunk(note_of("\n\n".join(blocks), "N.md"))


def sizes(found: Sequence[Chunk]) -> list[int]:
    return [len(chunk.body.split()) for chunk in found]


DISCOURSE = {"max_chars": 100, "min_chars": 50, "language": "en", "continuation_overflow": 0.1}


CHILD = {"min_child_tokens": 10, "max_child_tokens": 50}
BOUNDARY = {"max_chunk_size": 100, "min_chunk_size": 20}


def expand(block: str) -> str:
    """`a*3` is `a a a`, `(a*2.)*2` is `a a. a a.`."""
    for pattern in (r"\((\w+\*\d+\.)\)\*(\d+)", r"(\w+)\*(\d+)"):
        block = re.sub(pattern, lambda found: " ".join([found[1]] * int(found[2])), block)
    return block


def gathered(source: str, strategy: str, *keys: str, **options: object) -> str:
    """The size of each chunk, and what it says under these keys."""
    found = chunks(strategy, *map(expand, source.split(" | ")), **options)
    told = (
        [size, *(chunk.extra[key] for key in keys)] for size, chunk in zip(sizes(found), found, strict=True)
    )
    return ", ".join(" ".join(str(one) for one in said if one) for said in told)


def children(source: str) -> str:
    found = chunks("parent_child", *map(expand, source.split(" | ")), **CHILD)
    ids = [chunk.extra["paragraph_ids"] for chunk in found]
    assert [chunk.extra["paragraph_id"] for chunk in found] == [held[0] for held in ids]  # type: ignore[index]
    assert {(one.extra["paragraph_part"], one.extra["paragraph_part_count"]) for one in found} == {(0, 1)}
    return f"{sizes(found)} {ids}".replace("N_paragraph_", "")


def room(mode: str, value: str) -> int:
    """How many sentences of five tokens are in the first chunk of sixty."""
    sizes_of = {"size_unit": "tokens", "max_chunk_size": 60, "min_chunk_size": 0, "split_on": "sentence"}
    overlap = {"mode": mode, "value": int(value)}
    found = chunks("boundary", " ".join(["We see it now."] * 60), overlap=overlap, **sizes_of)
    return found[0].body.count("now")


def repeated(mode: str, value: str) -> str:
    options = {"max_chunk_size": 6, "min_chunk_size": 0, "overlap": {"mode": mode, "value": int(value)}}
    first, second = chunks("boundary", "A b c. C d e.", "F g h. I j k.", **options)
    assert first.overlap == ""
    return repr(second.overlap)


def test_strategies_gather_as_the_golden_says() -> None:
    check_golden(
        Path(__file__).parent / "fixtures" / "rules.md",
        {
            "Discourse gathers by size and by the words a paragraph opens with": lambda source: gathered(
                source, "discourse", "merge_reason", "closure_marker", **DISCOURSE
            ),
            "Paragraph closes what is long enough and ends a sentence": lambda source: gathered(
                source, "paragraph", max_chars=100, min_chars=50
            ),
            "A small child takes in the next paragraph of its section": children,
            "Boundary joins what is small to a neighbour where both fit": lambda source: gathered(
                source, "boundary", **BOUNDARY
            ),
            "Boundary keeps room for what is repeated where sizes are tokens": of_parts(room),
            "Boundary repeats so much of the chunk before": of_parts(repeated),
        },
    )


def test_discourse_names_the_paragraphs_of_each_chunk() -> None:
    found = chunks("discourse", said("a", 60), said("b", 40), sentences(12), said("c", 3), **DISCOURSE)
    assert sizes(found) == [100, 60, 60, 3]
    assert [chunk.extra["para_ids"] for chunk in found] == [
        ["N_paragraph_0", "N_paragraph_1"],
        ["N_paragraph_2"],
        ["N_paragraph_2"],
        ["N_paragraph_3"],
    ]


ENGLISH = "the house is on the hill and the garden is in front of it"
GERMAN = "das Haus ist auf dem Hügel und der Garten ist nicht so groß"


@pytest.mark.parametrize(
    ("blocks", "is_mixed"),
    [
        ([ENGLISH, GERMAN], True),
        ([ENGLISH, ENGLISH], False),
        ([ENGLISH, GERMAN.removesuffix(" groß")], False),
        ([ENGLISH, "lorem ipsum " * 10], False),
    ],
)
def test_discourse_says_where_long_paragraphs_of_one_chunk_differ_in_language(
    blocks: Sequence[str], is_mixed: bool
) -> None:
    (found,) = chunks("discourse", *blocks, **DISCOURSE)
    assert (found.extra["mixed_language"], found.extra["language_detected"]) == (is_mixed, "en")


def test_a_child_names_the_innermost_section_and_its_parts() -> None:
    found = chunks("parent_child", said("a", 3), "# A", "## B", sentences(6), "# C", **CHILD)
    keys = ("section_title", "section_id", "parent_id", "level", "paragraph_part", "paragraph_part_count")
    assert [tuple(chunk.extra[key] for key in keys) for chunk in found] == [
        ("", "N_section_0", "N_section_0", 1, 0, 1),
        ("B", "N_section_2", "N_section_2", 1, 0, 2),
        ("B", "N_section_2", "N_section_2", 1, 1, 2),
        ("C", "N_section_3", "N_section_3", 1, 0, 1),
    ]


def test_boundary_leaves_small_units_alone_where_asked() -> None:
    found = chunks(
        "boundary", said("a", 5), sentences(11), said("c", 3), merge_small_chunks=False, **BOUNDARY
    )
    assert sizes(found) == [5, 60, 50, 3]
    assert {(chunk.extra["split_on"], chunk.extra["size_unit"]) for chunk in found} == {
        ("paragraph", "words")
    }


@pytest.mark.parametrize(
    ("strategy", "size"),
    [
        ("markdown", "max_chunk_size"),
        ("paragraph", "max_chars"),
        ("recursive", "chunk_size"),
        ("boundary", "max_chunk_size"),
        ("discourse", "max_chars"),
        ("semantic", "max_chunk_size"),
        ("hierarchical", "child_size"),
        ("parent_child", "max_child_tokens"),
        ("code", "max_chunk_size"),
    ],
)
def test_every_size_can_count_words(strategy: str, size: str) -> None:
    found = cut(strategy, sentences(100), size_unit="words", **{size: 60})
    lowest = [chunk for chunk in found if chunk.extra.get("level", 1) == 1]
    assert all(len(chunk.content.split()) <= 60 + 60 for chunk in lowest)
    assert max(sizes(lowest)) > 20


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("token", {"max_tokens": 20, "overlap_tokens": 19}),
        ("word", {"chunk_size": 20, "chunk_overlap": 19}),
        ("recursive", {"chunk_size": 100, "chunk_overlap": 99}),
        ("markdown", {"max_chunk_size": 20, "overlap": 19}),
        ("hierarchical", {"parent_size": 40, "child_size": 20, "child_overlap": 19}),
    ],
)
def test_an_overlap_may_be_nearly_as_large_as_the_chunk(strategy: str, options: dict[str, object]) -> None:
    found = cut(strategy, " ".join(f"w{n}" for n in range(100)), **options)
    assert min(len(chunk.overlap.split()) for chunk in found[2:-1] if chunk.overlap) >= 15
    with pytest.raises(ValueError, match="must be smaller than"):
        same = {"overlap_tokens": 20, "chunk_overlap": 100, "overlap": 20, "child_overlap": 20}
        ChunkingSettings.model_validate(
            {"strategy": strategy, **options, **{key: same[key] for key in same if key in options}}
        )


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("word", {"chunk_size": 50, "chunk_overlap": 30}),
        ("token", {"max_tokens": 50, "overlap_tokens": 30}),
        ("recursive", {"chunk_size": 50, "chunk_overlap": 30, "size_unit": "words"}),
        ("hierarchical", {"parent_size": 500, "child_size": 50, "child_overlap": 30}),
    ],
)
def test_every_window_repeats_more_than_half_where_that_is_chosen(
    strategy: str, options: dict[str, object]
) -> None:
    found = cut(strategy, " ".join(f"w{n}" for n in range(250)), **options)
    windows = [chunk for chunk in found if chunk.extra.get("level", 1) == 1][1:-1]
    sized = [(len(one.overlap.split()), len((one.overlap + one.body).split())) for one in windows]
    assert len(sized) == 9
    assert all(29 <= repeated <= 30 and 49 <= size <= 50 for repeated, size in sized), sized


def test_an_overlap_begins_at_a_word_where_the_block_before_is_longer() -> None:
    words = "word " * 99 + "end."
    found = cut("hierarchical", f"{words}\n\n{words}\n", parent_size=120, child_size=100, parent_overlap=7)
    parents = [chunk for chunk in found if chunk.extra["level"] == 0]
    assert parents[1].overlap.split() == ["word"] * 6 + ["end."]


def test_patterns_that_replace_the_boundaries_are_needed() -> None:
    with pytest.raises(ValueError, match="replace_patterns needs patterns"):
        ChunkingSettings.model_validate({"strategy": "boundary", "replace_patterns": True})
