"""Whether a text contains a keyword or a phrase, as a reader would judge."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator

from vault_indexer.text.scripts import SPACED_LETTER_OR_DIGIT
from vault_indexer.text.sentences import sentences

_GLUED = re.compile(SPACED_LETTER_OR_DIGIT)
"""A letter or digit of a script in which spaces separate words."""


def plain(text: str) -> str:
    """Case-folded, in one Unicode form, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def holds(text: str, phrase: str) -> bool:
    """Whether the text contains the phrase, ignoring case and white space, and not as a part of a longer word
    ("trust" does not contain "rust"; in scripts without spaces, it may)."""
    wanted, within = plain(phrase), plain(text)
    start = within.find(wanted) if wanted else -1
    while start >= 0:
        if not (_continues(within, start) or _continues(within, start + len(wanted))):
            return True
        start = within.find(wanted, start + 1)
    return False


def _continues(text: str, at: int) -> bool:
    around = text[max(at - 1, 0) : at + 1]
    return 0 < at < len(text) and len(_GLUED.findall(around)) == 2


Span = tuple[int, int]

LEAST_ALIKE = 0.6
"""The minimum similarity by difflib, in [0, 1]; below it, a passage counts as another one. It is the default
of the module's `get_close_matches` for similar words."""

_COMPARED_CHARS = 2_000
_CANDIDATES = 20
"""The number of passages that are compared character by character: those that share most words with the
quote."""

_WORD = re.compile(r"\w+")


def closest_passage(quote: str, text: str, start: int = 0, end: int | None = None) -> Span | None:
    """The span of the sentence, line or run of lines between `start` and `end` that is most similar to the
    quote; None if none is similar."""
    stop = len(text) if end is None else end
    spans = list(dict.fromkeys(_passages(quote, text[start:stop])))
    words = set(_WORD.findall(quote.casefold()))
    spans.sort(key=lambda span: -_shared(words, text[start + span[0] : start + span[1]]))
    best, found = LEAST_ALIKE, None
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(quote[:_COMPARED_CHARS])
    for first, last in spans[:_CANDIDATES]:
        matcher.set_seq1(text[start + first : start + last][:_COMPARED_CHARS])
        if matcher.real_quick_ratio() >= best and (ratio := matcher.ratio()) > best:
            best, found = ratio, (start + first, start + last)
    return found


def diff_of(before: str, after: str) -> str:
    """The lines of two texts that differ, with `-` before the old and `+` before the new."""
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return "\n".join(line.rstrip("\n") for line in lines if line[:1] in "-+")


def _passages(quote: str, text: str) -> Iterator[Span]:
    """Sentences, runs of as many sentences as the quote has, and runs of as many lines."""
    yield from _runs(sentences(text), len(sentences(quote)))
    lines = [(found.start(), found.end()) for found in re.finditer(r"[^\r\n]+", text)]
    trimmed = [_trim(text, span) for span in lines]
    yield from _runs([span for span in trimmed if span[0] < span[1]], len(quote.split("\n")))


def _runs(spans: list[Span], length: int) -> Iterator[Span]:
    yield from spans
    for first in range(len(spans) - length + 1 if length > 1 else 0):
        yield spans[first][0], spans[first + length - 1][1]


def _trim(text: str, span: Span) -> Span:
    line = text[span[0] : span[1]]
    return span[0] + len(line) - len(line.lstrip()), span[1] - len(line) + len(line.rstrip())


def _shared(words: set[str], passage: str) -> float:
    others = set(_WORD.findall(passage.casefold()))
    return len(words & others) / (len(words | others) or 1)
