"""Finding a name in texts: by whole words, whatever its case and accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import MARKS, SPACELESS
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import LONGEST_TERM, RUN, WORD, run_terms

_SHORTEST = 2
_PARTS = re.compile(r"[^-./:\\@'’&+#_]+")  # where the index divides compounds
_SPACELESS = re.compile(f"[{SPACELESS}]")
_CLUSTER = re.compile(rf".[{MARKS}]*", re.DOTALL)
_MARK = re.compile(f"[{MARKS}]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class Found(NamedTuple):
    """A place at which a name stands."""

    start: int
    end: int
    name: str


class Name:
    """One name of a note. `required` are sets of index terms: a text with the name in it has one of each."""

    def __init__(self, name: str) -> None:
        self.text = name
        self.folded = " ".join(fold(normalize(name)).split())
        self.required = tuple(_required_terms(unicodedata.normalize("NFC", name)))
        words = [re.escape(word) for word in self.folded.split()]
        last = self.folded[-1:]
        ends = rf"(?![{MARKS}])" if _SPACELESS.match(last) else rf"(?![\w{MARKS}])"
        self._pattern = re.compile(r"\s+".join(words) + ends)
        self._begins_anywhere = _SPACELESS.match(self.folded) is not None

    @property
    def is_findable(self) -> bool:
        """Not so short, nor so odd, that nothing could tell a mention from chance."""
        is_word = any(char.isalnum() for char in self.folded)
        return is_word and len(self.folded) >= _SHORTEST and bool(self.required)

    def spans(self, folded: str) -> Iterator[tuple[int, int]]:
        """Where the name stands in a folded text."""
        for match in self._pattern.finditer(folded):
            before = folded[match.start() - 1] if match.start() else " "
            if self._begins_anywhere or not (before.isalnum() or before in "_^"):
                yield match.span()


def names(candidates: Iterable[str]) -> list[Name]:
    """The findable ones, each spelling of the same name once."""
    found: dict[str, Name] = {}
    for name in map(Name, candidates):
        if name.is_findable:
            found.setdefault(name.folded, name)
    return list(found.values())


def find(text: str, wanted: Sequence[Name], start: int, end: int) -> list[Found]:
    """Where any of the names stands in `text[start:end]`, in order; of several that overlap, the longest."""
    first = max(0, start - 1)  # the characters around a name show whether it is a whole word
    folded, at = _align(text[first : end + 1])
    places = (
        Found(first + at(begin), first + at(stop), name.text)
        for name in wanted
        for begin, stop in name.spans(folded)
    )
    found = sorted(
        (place for place in places if start <= place.start and place.end <= end),
        key=lambda place: (place.start, -place.end),
    )
    kept: list[Found] = []
    for place in found:
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
    return kept


def _required_terms(name: str) -> Iterator[frozenset[str]]:
    """What the keyword index holds of every text with this name in it, by `text.tokens.analyze`."""
    for word in WORD.findall(name):
        parts = [part for part in _PARTS.findall(word) if len(part) > 1]
        if not parts and len(word) > 1:
            parts = [word.strip("_") or word]
        for part in parts:
            exact = normalize(part)[:LONGEST_TERM]
            yield frozenset((exact, fold(exact), VARIANT_MARK + fold(exact)))
    for run in RUN.findall(name):
        yield from (frozenset((pair,)) for pair in run_terms(run)[:-1])


def _align(text: str) -> tuple[str, Callable[[int], int]]:
    """The folded text, and from its positions to those of the text."""
    if text.isascii():
        return text.lower(), int
    changed = {char: _fold(char) for char in set(_NOT_ASCII.findall(text))}
    changed = {char: to for char, to in changed.items() if to != char.lower()}
    if all(len(to) == 1 for to in changed.values()):
        for char, to in changed.items():  # a handful, and much faster than `translate`
            text = text.replace(char, to)
        return text.lower(), int
    clusters: list[str] = _CLUSTER.findall(text)
    pieces = [_fold(cluster) for cluster in clusters]
    origins = accumulate(map(len, clusters), initial=0)
    back = [origin for origin, piece in zip(origins, pieces, strict=False) for _ in piece]
    return "".join(pieces), lambda position: back[position] if position < len(back) else len(text)


@lru_cache(maxsize=1 << 14)
def _fold(cluster: str) -> str:
    """A character with its marks, folded; "" for marks alone. Signs stay: no name is found by them."""
    first = cluster[0]
    return fold(normalize(cluster)) if first.isalnum() or _MARK.match(first) or first == "’" else cluster
