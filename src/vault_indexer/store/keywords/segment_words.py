"""The words of one segment, and which of them are near a misspelt one."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.text.fold import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Letters = NDArray[np.uint64]

LONGEST_WORD = 24
"""Longer words are neither corrected nor suggested."""

_BLOCK = 16_384


class SegmentWords:
    """Terms that some text holds as written, each with the largest document frequency of its fields."""

    def __init__(self, frequencies: Mapping[str, int]) -> None:
        self.terms = sorted(frequencies)
        self.frequencies = [frequencies[term] for term in self.terms]

    def near(self, word: str, distance: int) -> dict[str, tuple[int, int]]:
        """Terms within the Damerau-Levenshtein distance, each with its distance and frequency."""
        letters, lengths = self._signatures
        wanted, length = _signatures([word])
        close = np.abs(lengths.astype(np.int16) - length.astype(np.int16)) <= distance
        close &= lengths > 0
        # One edit changes at most two of the letters that a word is made of.
        close &= np.bitwise_count(letters ^ wanted) <= 2 * distance
        numbers = np.flatnonzero(close).tolist()
        candidates = [self.terms[number] for number in numbers]
        found: dict[str, tuple[int, int]] = {}
        for number, apart in zip(numbers, edit_distances(word, candidates), strict=True):
            if apart <= distance:
                found[self.terms[number]] = (apart, self.frequencies[number])
        return found

    def holding(self, piece: str) -> dict[str, int]:
        """Terms that hold `piece` once they are folded, each with its frequency."""
        text, ends = self._folded
        wanted = piece.encode()
        found: dict[str, int] = {}
        at = text.find(wanted)
        while at >= 0:
            number = bisect_right(ends, at)
            found[self.terms[number]] = self.frequencies[number]
            at = text.find(wanted, ends[number])
        return found

    @cached_property
    def _folded(self) -> tuple[bytes, array[int]]:
        """All terms without accents in UTF-8, a line each, and where each line ends."""
        lines = [fold(term).encode() + b"\n" for term in self.terms]
        return b"".join(lines), array("q", accumulate(map(len, lines)))

    @cached_property
    def _signatures(self) -> tuple[Letters, Bytes]:
        return _signatures(self.terms)


def _signatures(words: list[str]) -> tuple[Letters, Bytes]:
    """For each word its letters as a set of 64 bits (modulo 64), and its length, 0 beyond `LONGEST_WORD`."""
    letters = np.zeros(len(words), np.uint64)
    lengths = np.zeros(len(words), np.uint8)
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK]
        points = _code_points([word[: LONGEST_WORD + 1] for word in block])
        bits = np.where(points > 0, np.uint64(1) << (points % 64).astype(np.uint64), np.uint64(0))
        letters[start : start + _BLOCK] = np.bitwise_or.reduce(bits, axis=1)
        counts = (points > 0).sum(axis=1)
        lengths[start : start + _BLOCK] = np.where(counts > LONGEST_WORD, 0, counts)
    return letters, lengths


def edit_distances(word: str, others: list[str]) -> list[int]:
    """Damerau-Levenshtein distances (optimal string alignment) of `word` to each of `others`, at once."""
    if not others:
        return []
    points = _code_points(others)
    count, width = points.shape
    row = np.tile(np.arange(width + 1, dtype=np.int16), (count, 1))
    before = row
    for i, letter in enumerate(word):
        above, row = row, np.empty_like(row)
        row[:, 0] = i + 1
        differs = (points != ord(letter)).astype(np.int16)
        for j in range(width):
            best = np.minimum(above[:, j + 1], row[:, j]) + 1
            np.minimum(best, above[:, j] + differs[:, j], out=best)
            if i and j:
                swapped = (points[:, j - 1] == ord(letter)) & (points[:, j] == ord(word[i - 1]))
                best = np.where(swapped, np.minimum(best, before[:, j - 1] + 1), best)
            row[:, j + 1] = best
        before = above
    lengths = (points > 0).sum(axis=1)
    distances: list[int] = row[np.arange(count), lengths].tolist()
    return distances


def _code_points(words: list[str]) -> NDArray[np.uint32]:
    """One row a word, padded with 0."""
    table = np.array(words, dtype=np.str_)
    width = max(table.dtype.itemsize // 4, 1)
    return table.astype(f"<U{width}").view(np.uint32).reshape(len(words), width)
