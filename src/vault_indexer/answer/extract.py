"""Answers without a model, by quoting the sentences of the passages that cover most of the question.

The constants were chosen on the tuning halves of the sets of `benchmarks/ask.py` (XQuAD en, es, zh, ru).
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
"""The part of a sentence's value that depends on the score of its hit. The rest depends only on the share of
the question that the sentence covers."""

HEADING_SHARE = 0.2
"""The weight of a question word that occurs only in the title or a heading above the sentence."""

CODE_SHARE = 0.5
"""The weight of a line of code relative to a sentence of prose."""

BEGUN_SHARE = 0.8
"""The weight of a question word that occurs in a sentence only with an ending that no stemmer removes."""

SHORTEST_BEGUN = 4
LONGEST_ENDING = 5
"""The minimum letters of such a word, and the maximum letters of its ending."""

NOVELTY = 0.1
"""The weight of the similarity to sentences already chosen (maximal marginal relevance, Carbonell 1998)."""

OF_ONE_HIT = 2
"""The maximum number of quotes from one hit. With one, 7 to 9 more of a hundred answers are missed (tuning
halves)."""

LEAST_WORTH = 0.4
"""Quotes with less than this share of the best one's value are left out. That removes one of three quotes and
loses less than one answer in a hundred."""


LEAST_WORDS = 2
"""The minimum number of content words of the question in a quote with its title and heading, if the question
has as many. A quote with only one is about something else as often as not."""

RELEVANCE_WORTH = 8.0
LEAST_SUPPORT = 4.5
"""Passages with a weak verdict may answer if `RELEVANCE_WORTH` times the relevance of the best hit plus the
weight of the question words in one sentence reach this sum. That requires 2.3 rare words at the lowest
relevance, half a word at the highest. Then 89% of all questions far from the vault's topics are declined, and
4% of those with an answer (XQuAD en, es, ru and zh, means). With 4, it is 86% and 3%, and "what is the
capital of Peru" is not declined for notes on a program; with 5, it is 91% and 5%."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    sentence: Sentence
    worth: float
    terms: frozenset[str]
    is_related: bool


def choose_quotes(
    sentences: Sequence[Sentence], hits: Sequence[Hit], words: Sequence[QuestionWord], limit: int
) -> list[Sentence]:
    """Returns at most `limit` sentences, best first: the best ones of each hit, without repetitions.

    The value of a sentence depends on the share of the question's words that it contains, each weighted by
    its rarity, and on the score of its hit. A sentence is chosen only if it contains, together with its title
    and heading, at least two content words of the question, or the only one.
    """
    of_hits: dict[int, list[_Candidate]] = {}
    for sentence in sentences:
        candidate = _candidate(sentence, hits[sentence.hit], words)
        if candidate.worth > 0 and candidate.is_related:
            of_hits.setdefault(sentence.hit, []).append(candidate)
    best = [
        candidate
        for candidates in of_hits.values()
        for candidate in sorted(candidates, key=lambda candidate: -candidate.worth)[:OF_ONE_HIT]
    ]
    return [candidate.sentence for candidate in _without_repeats(best, limit)]


def is_supported(sentences: Sequence[Sentence], hits: Sequence[Hit], words: Sequence[QuestionWord]) -> bool:
    """Whether a sentence covers enough of the question for the passages to answer it, although their
    relevance is weak."""
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
    """Returns `share_held`, with partial weight for words at the beginning of others: `fold` in
    `foldable`."""
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
    """Whether a text with these terms contains enough words of the question for a quote."""
    telling = [word for word in words if word.weight]
    held = sum(not word.terms.isdisjoint(terms) or _is_begun(word, terms) for word in telling)
    return held >= min(LEAST_WORDS, len(telling))


def _without_repeats(candidates: list[_Candidate], limit: int) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    left = sorted(candidates, key=lambda candidate: -candidate.worth)
    while left and len(chosen) < limit:
        best = max(left, key=lambda candidate: candidate.worth - NOVELTY * _likeness(candidate, chosen))
        left.remove(best)
        if chosen and best.worth < LEAST_WORTH * chosen[0].worth:
            break
        if _likeness(best, chosen) < 1 and not any(_overlap(best.sentence, one.sentence) for one in chosen):
            chosen.append(best)
    return chosen


def _overlap(one: Sentence, other: Sentence) -> bool:
    return one.note is other.note and one.start < other.end and other.start < one.end


def _likeness(one: _Candidate, chosen: Sequence[_Candidate]) -> float:
    """Returns the largest Jaccard similarity of terms with a chosen sentence."""
    return max((len(one.terms & o.terms) / len(one.terms | o.terms) for o in chosen), default=0.0)


# The quotable parts of a note: sentences of prose, lists with their introduction, rows of tables with their
# header, and code with the sentence before it.


LONGEST_LIST = 1_000
LONGEST_CODE = 1_000
"""The maximum characters of a list or of code that is quoted as a whole."""

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
    """Returns the quotes from the sentences of hits, in order. An introduction is not quoted if its list or
    code is missing or too long."""
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
    """Returns the quote of all the text of a span, with one unit on each line."""
    shown = readable(sentence.note.text[start:end])
    lines = "\n".join(shown.text[slice(*unit)] for unit in shown.units)
    return replace(sentence, start=start, end=end, readable=lines, block=None)


def _list_end(text: str, start: int) -> int:
    """Returns the end of the list that begins after a line, or 0 if there is none or it is too long."""
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
    """Returns the code block, with the sentence directly before it if there is one."""
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
    """Returns the table row with its header, or the sentence if it is not in a table. Returns None for the
    header and for rows with multi-line cells."""
    text = sentence.note.text
    header = _header(text, row)
    if header is None:
        return sentence
    if header == row or _BREAK.search(text, *row):
        return None
    shown = f"{_cells(text[slice(*header)])}\n{_cells(text[slice(*row)])}"
    return replace(sentence, start=row[0], end=row[1], readable=shown, header=header)


def _header(text: str, row: Span) -> Span | None:
    """Returns the header line of a table, which is the line above the delimiter row, or None outside a table.
    A row above the delimiter row is itself the header."""
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
