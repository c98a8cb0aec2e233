"""The best division of segments into chunks, compared with all divisions there are."""

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.chunk.strategies.paragraphs import Markers, detect, load_markers
from vault_indexer.chunk.strategies.semantic import best_division


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


def division(directions: str, lengths: str, opens: str, limit: str) -> list[int]:
    vectors = [(1.0, 0.0) if one == "A" else (0.0, 1.0) for one in directions]
    begins = [one == "+" for one in opens]
    return best_division(np.array(vectors, np.float32), list(map(int, lengths.split())), begins, int(limit))


def test_segments_and_paragraphs_are_judged_as_the_golden_says() -> None:
    known = languages(aa="one two three", bb="uno dos")
    check_golden(
        Path(__file__).parent / "fixtures" / "paragraphs.md",
        {
            "The best division": of_parts(division),
            "A language is known by a tenth of the words and a fifth more than the next": lambda text: detect(
                text, known
            ),
            "A paragraph is judged by the words it opens with": lambda text: (
                "continues" if ENGLISH.continues(text) else repr(ENGLISH.conclusion_of(text))
            ),
        },
    )
