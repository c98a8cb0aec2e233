"""The rules by which strategies gather and divide, with both sides of each bound. Sizes are in words."""

from collections.abc import Sequence

import pytest
from chunk_laws import build, note_of

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


HOWEVER, THEREFORE = "However", "Therefore"
DISCOURSE = {"max_chars": 100, "min_chars": 50, "language": "en", "continuation_overflow": 0.1}
SHORT, CONTINUES = "short_paragraph", "continuation_marker"


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ([said("a", 60), said("b", 40)], [(100, SHORT, None)]),
        ([said("a", 60), said("b", 41)], [(60, None, None), (41, None, None)]),
        ([said("a", 60), f"{HOWEVER} {said('b', 49)}"], [(110, CONTINUES, None)]),
        ([said("a", 60), f"{HOWEVER} {said('b', 50)}"], [(60, None, None), (51, None, None)]),
        ([said("a", 60), "# H", f"{HOWEVER} {said('b', 9)}"], [(60, None, None), (12, None, None)]),
        ([said("a", 49), "# H", said("b", 30)], [(81, SHORT, None)]),
        ([said("a", 50), "# H", said("b", 30)], [(50, None, None), (32, None, None)]),
        ([said("a", 9), f"{HOWEVER} x.", said("a", 9)], [(20, CONTINUES, None)]),
        ([said("a", 9), said("a", 9), f"{HOWEVER} x."], [(20, CONTINUES, None)]),
        ([said("a", 9), *[f"{HOWEVER} x."] * 4], [(13, CONTINUES, None), (4, CONTINUES, None)]),
        (
            [said("a", 9), *[f"{HOWEVER} x."] * 2, said("a", 9), *[f"{HOWEVER} x."] * 3],
            [(26, CONTINUES, None), (2, None, None)],
        ),
        (
            [said("a", 20), f"{THEREFORE} {said('b', 29)}", said("c", 5)],
            [(50, SHORT, THEREFORE), (5, None, None)],
        ),
        ([said("a", 20), f"{THEREFORE} {said('b', 28)}", said("c", 5)], [(54, SHORT, None)]),
        ([f"{THEREFORE} {said('b', 60)}", said("c", 5)], [(61, None, THEREFORE), (5, None, None)]),
        ([said("a", 5), f"b. {HOWEVER} c."], [(8, SHORT, None)]),
        ([f"{HOWEVER} {said('a', 5)}"], [(6, None, None)]),
    ],
)
def test_discourse_gathers_by_size_and_by_the_words_a_paragraph_opens_with(
    blocks: Sequence[str], found: Sequence[tuple[int, str | None, str | None]]
) -> None:
    gathered = chunks("discourse", *blocks, **DISCOURSE)
    reasons = [(chunk.extra["merge_reason"], chunk.extra["closure_marker"]) for chunk in gathered]
    assert [(size, *why) for size, why in zip(sizes(gathered), reasons, strict=True)] == found


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


@pytest.mark.parametrize(
    ("declared", "option", "language"),
    [("pt_BR", "auto", "pt"), ("DE-at", "auto", "de"), ("de", "fr", "fr"), ("", "auto", "en")],
)
def test_discourse_takes_the_language_asked_for_then_that_of_the_note(
    declared: str, option: str, language: str
) -> None:
    front = f"---\nlang: {declared}\n---\n" if declared else ""
    (found,) = build("discourse", language=option).chunk(note_of(f"{front}{ENGLISH}"))
    assert found.extra["language_detected"] == language
    assert "fallback" not in found.extra


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ([said("a", 50), said("b", 3)], [50, 3]),
        ([said("a", 49), said("b", 3)], [52]),
        ([said("a", 60)[:-1], said("b", 3)], [63]),
        ([said("a", 60)[:-1], said("b", 40), said("c", 3)], [100, 3]),
        ([said("a", 60)[:-1], said("b", 41)], [60, 41]),
        ([said("a", 50)[:-1], "# H", said("b", 3)], [50, 5]),
        ([said("a", 49)[:-1], "# H", said("b", 3)], [54]),
        (["- " + said("a", 49)[:-1], said("b", 3)], [50, 3]),
        ([said("a", 50)[:-1] + '?"*)', said("b", 2)], [50, 2]),
        (["x", "# H"], [3]),
        ([sentences(10)], [100]),
        ([sentences(11)], [60, 50]),
    ],
)
def test_paragraph_closes_what_is_long_enough_and_ends_a_sentence(
    blocks: Sequence[str], found: list[int]
) -> None:
    assert sizes(chunks("paragraph", *blocks, max_chars=100, min_chars=50)) == found


CHILD = {"min_child_tokens": 10, "max_child_tokens": 50}


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ([said("a", 9), said("b", 41), said("c", 3)], [(50, [0, 1]), (3, [2])]),
        ([said("a", 9), said("b", 42), said("c", 3)], [(9, [0]), (42, [1]), (3, [2])]),
        ([said("a", 10), said("b", 4), said("c", 3), said("d", 3)], [(10, [0]), (10, [1, 2, 3])]),
        ([said("a", 3), "# C", said("b", 3)], [(3, [0]), (5, [1])]),
        ([said("a", 3), said("b", 3), "# C", said("c", 3)], [(6, [0, 1]), (5, [2])]),
    ],
)
def test_a_small_child_takes_in_the_next_paragraph_of_its_section(
    blocks: Sequence[str], found: list[tuple[int, list[int]]]
) -> None:
    children = chunks("parent_child", *blocks, **CHILD)
    ids = [[f"N_paragraph_{number}" for number in numbers] for _, numbers in found]
    assert sizes(children) == [size for size, _ in found]
    assert [child.extra["paragraph_ids"] for child in children] == ids
    assert [child.extra["paragraph_id"] for child in children] == [held[0] for held in ids]
    assert {(child.extra["paragraph_part"], child.extra["paragraph_part_count"]) for child in children} == {
        (0, 1)
    }


def test_a_child_names_the_innermost_section_and_its_parts() -> None:
    found = chunks("parent_child", said("a", 3), "# A", "## B", sentences(6), "# C", **CHILD)
    keys = ("section_title", "section_id", "parent_id", "level", "paragraph_part", "paragraph_part_count")
    assert [tuple(chunk.extra[key] for key in keys) for chunk in found] == [
        ("", "N_section_0", "N_section_0", 1, 0, 1),
        ("B", "N_section_2", "N_section_2", 1, 0, 2),
        ("B", "N_section_2", "N_section_2", 1, 1, 2),
        ("C", "N_section_3", "N_section_3", 1, 0, 1),
    ]


BOUNDARY = {"max_chunk_size": 100, "min_chunk_size": 20}


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ([said("a", 60), said("b", 40)], [100]),
        ([said("a", 60), said("b", 41)], [60, 41]),
        ([sentences(11), said("c", 20)], [60, 50, 20]),
        ([sentences(11), said("c", 19)], [60, 69]),
        ([said("a", 19), sentences(11)], [79, 50]),
        ([said("a", 20), sentences(11)], [20, 60, 50]),
        ([sentences(20), said("c", 1)], [100, 100, 1]),
    ],
)
def test_boundary_joins_what_is_small_to_a_neighbour_where_both_fit(
    blocks: Sequence[str], found: list[int]
) -> None:
    assert sizes(chunks("boundary", *blocks, **BOUNDARY)) == found


@pytest.mark.parametrize(
    ("size", "found"), [(21, ["One two. Three fours.", "Five."]), (20, ["One two.", "Three fours.", "Five."])]
)
def test_boundary_counts_no_blank_lines_behind_a_unit(size: int, found: list[str]) -> None:
    options = {"max_chunk_size": size, "min_chunk_size": 0, "size_unit": "characters"}
    cut = chunks("boundary", "One two. Three fours.", "Five.", **options)
    assert [chunk.body for chunk in cut] == found


def test_boundary_leaves_small_units_alone_where_asked() -> None:
    found = chunks(
        "boundary", said("a", 5), sentences(11), said("c", 3), merge_small_chunks=False, **BOUNDARY
    )
    assert sizes(found) == [5, 60, 50, 3]
    assert {(chunk.extra["split_on"], chunk.extra["size_unit"]) for chunk in found} == {
        ("paragraph", "words")
    }


@pytest.mark.parametrize(
    ("mode", "value", "count"),
    [
        ("tokens", 0, 12),
        ("tokens", 7, 10),
        ("tokens", 40, 6),  # no more than a half
        ("words", 3, 10),  # two tokens each
        ("words", 20, 6),
        ("percentage", 10, 10),
        ("percentage", 30, 8),
        ("percentage", 60, 6),
        ("sentence", 1, 9),  # a quarter
        ("characters", 9, 9),
    ],
)
def test_boundary_keeps_room_for_what_is_repeated_where_sizes_are_tokens(
    mode: str, value: int, count: int
) -> None:
    found = chunks(
        "boundary",
        " ".join(["We see it now."] * 60),  # five tokens each
        size_unit="tokens",
        max_chunk_size=60,
        min_chunk_size=0,
        split_on="sentence",
        overlap={"mode": mode, "value": value},
    )
    assert found[0].body.count("now") == count


@pytest.mark.parametrize(
    ("mode", "value", "repeated"),
    [
        ("words", 0, ""),
        ("words", 3, "C d e.\n\n"),
        ("words", 9, "A b c. C d e.\n\n"),
        ("sentence", 0, ""),
        ("sentence", 1, "C d e.\n\n"),
        ("sentence", 2, "A b c. C d e.\n\n"),
        ("percentage", 20, "e.\n\n"),
        ("percentage", 50, "C d e.\n\n"),
        ("characters", 7, "d e.\n\n"),
        ("tokens", 4, "C d e.\n\n"),
        ("tokens", 3, "d e.\n\n"),
    ],
)
def test_boundary_repeats_so_much_of_the_chunk_before(mode: str, value: int, repeated: str) -> None:
    found = chunks(
        "boundary",
        "A b c. C d e.",
        "F g h. I j k.",
        max_chunk_size=6,
        min_chunk_size=0,
        overlap={"mode": mode, "value": value},
    )
    assert [chunk.overlap for chunk in found] == ["", repeated]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"patterns": ["^Q"], "replace_patterns": True}, ["x\n\ny", "Q z\nw"]),
        ({"patterns": ["^w", "^Q"]}, ["x", "y", "Q z", "w"]),
        ({}, ["x", "y", "Q z\nw"]),
    ],
)
def test_boundary_begins_units_at_patterns_beside_its_own_or_instead(
    options: dict[str, object], found: list[str]
) -> None:
    text = "---\nQ: 1\n---\nx\n\ny\n\nQ z\nw\n"
    assert [chunk.body for chunk in chunks("boundary", text, merge_small_chunks=False, **options)] == found


A, B, C = "a" * 30, "b" * 30, "c" * 15


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, [f"|{A}; ", f"|{B}; {C}; ", f"|{A}"]),
        ({"keep_separator": False}, [f"|{A}", f"|{B}; {C}", f"|{A}"]),
        ({"separator_position": "start"}, [f"|{A}", f"|; {B}; {C}", f"|; {A}"]),
        ({"separator_position": "start", "keep_separator": False}, [f"|{A}", f"|{B}; {C}", f"|{A}"]),
        ({"chunk_overlap": 17}, [f"|{A}; ", f"|{B}; {C}; ", f"{C}; |{A}"]),
        ({"chunk_overlap": 17, "keep_separator": False}, [f"|{A}", f"|{B}; {C}", f"{C}; |{A}"]),
    ],
)
def test_recursive_keeps_or_drops_the_separator_of_a_split(
    options: dict[str, object], found: list[str]
) -> None:
    sizes_of = {"size_unit": "characters", "chunk_size": 50, "chunk_overlap": 0, "separators": ["; "]}
    cut = chunks("recursive", "; ".join([A, B, C, A]), **{**sizes_of, **options})
    assert [f"{chunk.overlap}|{chunk.body}" for chunk in cut] == found
    assert {tuple(chunk.extra["separators"]) for chunk in cut} == {("; ",)}  # type: ignore[arg-type]  # a list


@pytest.mark.parametrize("front", ["", "---\na: 1\n---\n"])
@pytest.mark.parametrize(("position", "last"), [("start", f"{B};"), ("end", f"{B};")])
def test_recursive_keeps_separators_at_the_ends_of_a_note(front: str, position: str, last: str) -> None:
    options = {"chunk_size": 50, "chunk_overlap": 0, "separators": ["; "], "size_unit": "characters"}
    found = chunks(
        "recursive", f"{front}; {A}; {B}; ", keep_separator=False, separator_position=position, **options
    )
    assert [chunk.overlap + chunk.body for chunk in found] == [f"; {A}", last]


@pytest.mark.parametrize(
    ("text", "separators", "found"),
    [
        ("a" * 50, [""], [50]),
        ("a" * 51, [""], [26, 25]),
        ("\n\n \n", [""], []),
        ("a" * 49 + "; " + "b" * 48 + "; c", ["; "], [50, 50, 1]),
        (f"{A} {B}; {C}", ["; ", " "], [31, 47]),
    ],
)
def test_recursive_fills_chunks_up_to_their_size(text: str, separators: list[str], found: list[int]) -> None:
    options = {"chunk_size": 50, "chunk_overlap": 0, "separators": separators, "size_unit": "characters"}
    assert [len(chunk.body) for chunk in chunks("recursive", text, **options)] == found


TEN = "One two six. Ten red sky. "


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        (TEN * 2, {}, ["|One two six. Ten red sky."] * 2),
        (
            TEN * 2,
            {"overlap_tokens": 3},
            ["|One two six. Ten red sky.", "red sky. |One two six.", "two six. |Ten red sky."],
        ),
        ("a b c d e f g h", {"overflow": "truncate"}, ["|a b c d e f g h"]),
        ("a b c d e f g h i", {"overflow": "truncate"}, ["|a b c d e f g h"]),
        ("a b c d e f g h i", {}, ["|a b c d e f g h", "|i"]),
    ],
)
def test_token_windows_hold_so_many_tokens(text: str, options: dict[str, object], found: list[str]) -> None:
    settings = {"max_tokens": 8, "overlap_tokens": 0, **options}
    cut = build("token", **settings).chunk(note_of(text))
    assert [f"{chunk.overlap}|{chunk.body}" for chunk in cut] == found
    assert {chunk.extra["tokenizer"] for chunk in cut} == {"embedding model"}
    dropped = [
        chunk.extra.get(key) for chunk in cut for key in ("dropped_start", "dropped_end", "dropped_tokens")
    ]
    assert dropped == ([15, 17, 1] if options and len(text) == 17 else [None] * 3 * len(cut))
