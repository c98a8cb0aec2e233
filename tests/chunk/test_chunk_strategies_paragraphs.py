"""The best division of segments into chunks, compared with all divisions there are."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from vault_indexer.chunk.strategies.paragraphs import Markers, detect, load_markers
from vault_indexer.chunk.strategies.semantic import best_division

A, B = (1.0, 0.0), (0.0, 1.0)


def division(
    vectors: list[tuple[float, float]], lengths: list[int], opens: list[bool], limit: int
) -> list[int]:
    return best_division(np.array(vectors, np.float32), lengths, opens, limit)


@pytest.mark.parametrize(
    ("vectors", "lengths", "opens", "limit", "borders"),
    [
        ([A], [900], [True], 1000, [0, 1]),
        ([A], [1100], [True], 1000, [0, 1]),
        ([A, A], [500, 500], [True, True], 1000, [0, 2]),
        ([A, A], [500, 501], [True, True], 1000, [0, 1, 2]),
        ([A, B], [500, 500], [True, True], 1000, [0, 1, 2]),
        ([A, B], [100, 50], [True, True], 1000, [0, 2]),
        ([A, B], [300, 300], [True, True], 1000, [0, 1, 2]),
        ([A, B], [300, 300], [True, False], 1000, [0, 2]),
        ([A, B], [88, 88], [True, True], 1000, [0, 2]),
        ([A, B], [89, 89], [True, True], 1000, [0, 1, 2]),
        ([A, B], [203, 203], [True, True], 2000, [0, 2]),
        ([A, B], [204, 204], [True, True], 2000, [0, 1, 2]),
        ([A, B], [344, 344], [True, False], 1000, [0, 2]),
        ([A, B], [345, 345], [True, False], 1000, [0, 1, 2]),
        ([A, A, B, B], [300, 300, 300, 300], [True] * 4, 1000, [0, 2, 4]),
        ([A, A, B, B], [300, 300, 300, 300], [True] * 4, 500, [0, 1, 2, 3, 4]),
        ([A, B, A], [400, 1200, 400], [True] * 3, 1000, [0, 1, 2, 3]),
        ([A, A, A, B, A], [400, 400, 400, 400, 400], [True] * 5, 1200, [0, 3, 4, 5]),
    ],
)
def test_chunks_hold_what_speaks_of_one_thing_within_the_limit(
    vectors: list[tuple[float, float]], lengths: list[int], opens: list[bool], limit: int, borders: list[int]
) -> None:
    assert division(vectors, lengths, opens, limit) == borders


def worth(
    vectors: np.ndarray, lengths: list[int], opens: list[bool], borders: list[int], limit: int
) -> float:
    """By the definition: the length of the sum of each chunk's vectors, less the price of each chunk."""
    total = 0.0
    for first, end in pairwise(borders):
        summed = (vectors[first:end] * np.array(lengths[first:end])[:, None]).sum(axis=0)
        total += float(np.linalg.norm(summed)) - 52.0 * (limit / 1000) ** 1.2
        total -= 0.0 if opens[first] else 150.0
    return total


@pytest.mark.parametrize("seed", range(12))
def test_no_other_division_is_worth_more(seed: int) -> None:
    chance = np.random.default_rng(seed)
    count, limit = 7, (400, 1000, 2500)[seed % 3]
    vectors = np.abs(chance.normal(size=(count, 3))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths = chance.integers(50, 400, count).tolist()
    opens = [True, *(chance.random(count - 1) < 0.5).tolist()]
    allowed = [
        [0, *inner, count]
        for size in range(count)
        for inner in combinations(range(1, count), size)
        if all(sum(lengths[a:b]) <= limit for a, b in pairwise([0, *inner, count]))
    ]
    found = best_division(vectors, lengths, opens, limit)
    assert found in allowed
    best = max(worth(vectors, lengths, opens, one, limit) for one in allowed)
    assert worth(vectors, lengths, opens, found, limit) == pytest.approx(best, abs=0.01)


ENGLISH = load_markers()["en"]


def languages(**common: str) -> dict[str, Markers]:
    """Languages by their commonest words."""
    return {
        name: Markers(ENGLISH.continuation, ENGLISH.conclusion, frozenset(words.split()))
        for name, words in common.items()
    }


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("one " + "x " * 9, "aa"),
        ("one " + "x " * 10, ""),
        ("ONE Two three", "aa"),
        ("one two one two one two uno dos uno dos uno", "aa"),
        ("one two one two one uno dos uno dos uno", ""),
        ("one two one two one two uno dos uno dos uno dos uno", ""),
        ("one two one two one uno dos uno dos uno dos", "bb"),
        ("", ""),
        ("12 34", ""),
    ],
)
def test_a_language_is_known_by_a_tenth_of_the_words_and_a_fifth_more_than_the_next(
    text: str, language: str
) -> None:
    assert detect(text, languages(aa="one two three", bb="uno dos")) == language


@pytest.mark.parametrize(
    ("paragraph", "continues", "concludes"),
    [
        ("However, it rains.", True, ""),
        ("> **however** it", True, ""),
        ("  - However", True, ""),
        ("“However”, she said", True, ""),
        ("Howevers do not count", False, ""),
        ("It rains, however.", False, ""),
        ("Therefore it rains", False, "Therefore"),
        ("In\n conclusion, it rains", False, "In\n conclusion"),
        ("", False, ""),
    ],
)
def test_a_paragraph_is_judged_by_the_words_it_opens_with(
    paragraph: str, continues: bool, concludes: str
) -> None:
    assert (ENGLISH.continues(paragraph), ENGLISH.conclusion_of(paragraph)) == (continues, concludes)
