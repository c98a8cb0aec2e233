"""An answer without a model: the sentences of the passages that hold most of the question.

The constants are chosen on the tuning halves of the sets of `benchmarks/ask.py` (XQuAD en, es, zh, ru).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vault_indexer.answer.sentences import Sentence, Span
from vault_indexer.model import Hit
from vault_indexer.parse import readable
from vault_indexer.search import QuestionWord, share_held
from vault_indexer.text.tokens import analyze

RANK_SHARE = 0.7
"""How much of a sentence's worth depends on the score of its hit; the rest is the share of the question."""

HEADING_SHARE = 0.2
"""What a word of the question counts that only the title or a heading above the sentence holds."""

CODE_SHARE = 0.5
"""The weight of a line of code relative to a sentence of prose."""

BEGUN_SHARE = 0.8
"""What a word of the question counts that a sentence holds only with an ending that no stem takes off."""

SHORTEST_BEGUN = 4
LONGEST_ENDING = 5
"""Letters of such a word, and of its ending."""

NOVELTY = 0.1
"""The weight of likeness to sentences chosen before (maximal marginal relevance, Carbonell 1998)."""

OF_ONE_HIT = 2
"""Quotes from one hit at most: with one, 7 to 9 of a hundred answers more are missed (tuning halves)."""

LEAST_WORTH = 0.4
"""A quote that is worth less than this share of the best one is left out: that spares one of three quotes and
loses less than one answer in a hundred."""


LEAST_WORDS = 2
"""Words of the question that a quote, with the title and heading above it, has at least, if the question has
as many that say something. With one alone, it is about another thing as often as not."""

RELEVANCE_WORTH = 8.0
LEAST_SUPPORT = 4.5
"""Passages of a weak verdict may answer if the relevance of the best hit, so many times, and the weight of
the question's words that one sentence holds reach this sum: 2.3 rare words at the least relevance, half a
one at the largest. Of all questions far from the vault's topics 89% are declined then, of those with an
answer 4% (XQuAD en, es, ru and zh, means); with 4, 86% and 3%, and "what is the capital of Peru" is not
declined over notes on a program; with 5, 91% and 5%."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    sentence: Sentence
    worth: float
    terms: frozenset[str]
    is_related: bool


def choose_quotes(
    sentences: Sequence[Sentence], hits: Sequence[Hit], words: Sequence[QuestionWord], limit: int
) -> list[Sentence]:
    """At most `limit` sentences, best first: the best ones of each hit, and none that repeats another.

    A sentence is as good as the share of the question's words that it holds, each word by its rarity, and as
    its hit. It is chosen only if it, with the title and heading above it, has at least two of the question's
    words that say something, or the only one.
    """
    of_hits: dict[int, list[_Candidate]] = {}
    for sentence in sentences:
        one = _candidate(sentence, hits[sentence.hit], words)
        if one.worth > 0 and one.is_related:
            of_hits.setdefault(sentence.hit, []).append(one)
    best = [
        one
        for candidates in of_hits.values()
        for one in sorted(candidates, key=lambda one: -one.worth)[:OF_ONE_HIT]
    ]
    return [one.sentence for one in _without_repeats(best, limit)]


def is_supported(sentences: Sequence[Sentence], hits: Sequence[Hit], words: Sequence[QuestionWord]) -> bool:
    """Whether a sentence holds so much of the question that the passages may answer it, though they are only
    weakly about it."""
    total = sum(word.weight for word in words)
    held = max((share_held(words, _terms(one)) for one in sentences), default=0.0)
    relevance = hits[0].relevance if hits else 0.0
    return RELEVANCE_WORTH * relevance + total * held >= LEAST_SUPPORT


def _terms(sentence: Sentence) -> frozenset[str]:
    return frozenset(analyze(sentence.readable, sentence.note.row.language))


def _candidate(sentence: Sentence, hit: Hit, words: Sequence[QuestionWord]) -> _Candidate:
    terms = _terms(sentence)
    share = _share_held(words, terms)
    title = f"{sentence.note.row.title} {hit.header_path}"
    around = terms.union(analyze(title, sentence.note.row.language))
    share += HEADING_SHARE * (_share_held(words, around) - share)
    worth = share * (1 - RANK_SHARE + RANK_SHARE * hit.score)
    worth *= CODE_SHARE if sentence.is_code else 1.0
    return _Candidate(sentence, worth, terms, is_related=_has_words(words, around))


def _share_held(words: Sequence[QuestionWord], terms: frozenset[str]) -> float:
    """`share_held`, and a part of it for words that begin others: `fold` in `foldable`."""
    begun = {
        term
        for word in words
        if word.terms.isdisjoint(terms) and _is_begun(word, terms)
        for term in word.terms
    }
    held = share_held(words, terms)
    return held + BEGUN_SHARE * (share_held(words, terms | begun) - held) if begun else held


def _is_begun(word: QuestionWord, terms: frozenset[str]) -> bool:
    begin = word.word.lower()
    least, most = len(begin), len(begin) + LONGEST_ENDING
    return least >= SHORTEST_BEGUN and any(
        term.startswith(begin) and least < len(term) <= most for term in terms
    )


def _has_words(words: Sequence[QuestionWord], terms: frozenset[str]) -> bool:
    """Whether a text with these terms has as many words of the question as a quote needs."""
    telling = [word for word in words if word.weight]
    held = sum(not word.terms.isdisjoint(terms) or _is_begun(word, terms) for word in telling)
    return held >= min(LEAST_WORDS, len(telling))


def _without_repeats(candidates: list[_Candidate], limit: int) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    left = sorted(candidates, key=lambda one: -one.worth)
    while left and len(chosen) < limit:
        best = max(left, key=lambda one: one.worth - NOVELTY * _likeness(one, chosen))
        left.remove(best)
        if chosen and best.worth < LEAST_WORTH * chosen[0].worth:
            break
        if _likeness(best, chosen) < 1 and not any(_overlap(best.sentence, one.sentence) for one in chosen):
            chosen.append(best)
    return chosen


def _overlap(one: Sentence, other: Sentence) -> bool:
    return one.note is other.note and one.start < other.end and other.start < one.end


def _likeness(one: _Candidate, chosen: Sequence[_Candidate]) -> float:
    """The largest share of terms in common with one of the chosen (Jaccard)."""
    return max((len(one.terms & o.terms) / len(one.terms | o.terms) for o in chosen), default=0.0)


# What of a note can be quoted: sentences of prose, lists with what introduces them, rows of tables with
# their header, and code with the sentence before it.


LONGEST_LIST = 1_000
LONGEST_CODE = 1_000
"""Characters of a list or of code that is quoted as a whole."""

_LEAD_IN = (":", "：")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_INDENTED = re.compile(r"(?: {2,}|\t)[ \t]*\S")
_LINE = re.compile(r"[^\n]*\n?")
_DELIMITER_ROW = re.compile(r"(?=.*\|)[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*")
_LINK = r"!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\)|<?[a-z]+://\S+"
_ONLY_LINKS = re.compile(rf"(?:(?:{_LINK})[\s.,;:|·>*_-]*)+")
_ONLY_BOLD = re.compile(r"(?:\*\*|__)(?:\S+\s?){1,3}(?:\*\*|__)[.:]?|[*_]\S+[*_]")
_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_WORD = re.compile(r"\w")


def quotable(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The quotes that sentences of hits make, in their order. What introduces a list or code that is too long
    to be quoted, or nothing at all, makes none."""
    return list(_quotes(sentences))


def _quotes(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    before: Sentence | None = None
    blocks: set[tuple[str, str, int]] = set()
    for sentence in sentences:
        if sentence.block is None:
            found = _of_prose(sentence)
            before = sentence if found is None or found.header is None else None
        else:
            place = (sentence.note.vault, sentence.note.row.path, sentence.block[0])
            found = None if place in blocks else _of_code(sentence, before)
            blocks.add(place)
        if found is not None:
            yield found


def _of_prose(sentence: Sentence) -> Sentence | None:
    source = sentence.quote.strip()
    if _ONLY_LINKS.fullmatch(source) or _ONLY_BOLD.fullmatch(source):
        return None
    if sentence.readable.rstrip().endswith(_LEAD_IN):
        end = _list_end(sentence.note.text, sentence.end)
        return _of_span(sentence, sentence.start, end) if end else None
    row = _line_at(sentence.note.text, sentence.start)
    return _of_row(sentence, row) if "|" in sentence.note.text[slice(*row)] else sentence


def _of_span(sentence: Sentence, start: int, end: int) -> Sentence:
    """The quote that is all the text of a span, a unit a line."""
    shown = readable(sentence.note.text[start:end])
    lines = "\n".join(shown.text[slice(*unit)] for unit in shown.units)
    return replace(sentence, start=start, end=end, readable=lines, block=None)


def _list_end(text: str, start: int) -> int:
    """Where the list ends that begins behind a line; 0 if there is none, or if it is too long."""
    line = _LINE.match(text, start)
    at = line.end() if line else len(text)
    end = 0
    while at < len(text) and at - start <= LONGEST_LIST:
        line = _LINE.match(text, at)
        assert line is not None
        if line[0].strip():
            if not (_ITEM.match(line[0]) or (end and _INDENTED.match(line[0]))):
                return end
            end = at + len(line[0].rstrip())
        at = line.end()
    return end if at >= len(text) else 0


def _of_code(sentence: Sentence, before: Sentence | None) -> Sentence | None:
    """The block of code, with the sentence right before it where there is one."""
    assert sentence.block is not None
    start, end = sentence.block
    text = sentence.note.text
    if end - start > LONGEST_CODE:
        return None
    code = "\n".join(
        line for line in text[start:end].split("\n") if not line.lstrip().startswith(("```", "~~~"))
    )
    quote = replace(sentence, start=start, end=end, readable=code.strip("\n"))
    if before is None or before.note is not sentence.note or not before.end <= start:
        return quote
    if _WORD.search(text, before.end, start) or start - before.end > LONGEST_CODE:
        return quote
    return replace(quote, start=before.start, readable=f"{before.readable}\n{quote.readable}", block=None)


def _of_row(sentence: Sentence, row: Span) -> Sentence | None:
    """The row of a table with its header; the sentence where it stands in no table; None for the header and
    for rows of cells of several lines."""
    text = sentence.note.text
    header = _header(text, row)
    if header is None:
        return sentence
    if header == row or _BREAK.search(text, *row):
        return None
    shown = f"{_cells(text[slice(*header)])}\n{_cells(text[slice(*row)])}"
    return replace(sentence, start=row[0], end=row[1], readable=shown, header=header)


def _header(text: str, row: Span) -> Span | None:
    """The line of a table's header: the one above the delimiters. A row that stands above these is it."""
    below = _line_at(text, row[1] + 1) if row[1] < len(text) else None
    if below and _DELIMITER_ROW.fullmatch(text[slice(*below)].rstrip()):
        return row
    line = row
    while line[0] and "|" in text[slice(*line)]:
        line = _line_at(text, line[0] - 1)
        if _DELIMITER_ROW.fullmatch(text[slice(*line)].rstrip()):
            return _line_at(text, line[0] - 1) if line[0] else None
    return None


def _cells(row: str) -> str:
    shown = (readable(cell.strip()).text.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")))
    return " | ".join(shown)


def _line_at(text: str, offset: int) -> Span:
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end
