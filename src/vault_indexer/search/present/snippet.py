"""Selects the part of a chunk to show: the sentences that match the query best, without markup."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import fsum
from typing import NamedTuple

from vault_indexer.parse import POINT, ReadableText, blank_hidden, open_fence, readable
from vault_indexer.search.filters import TextPattern
from vault_indexer.search.present.borders import (
    after_pictures,
    cluster_end,
    cluster_start,
    markup_around,
    word_end,
    word_start,
)
from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import function_words
from vault_indexer.text.scripts import MARKS, SPACELESS
from vault_indexer.text.stem import stem

_ELLIPSIS = "…"
_TOKEN = re.compile(rf"[{SPACELESS}][{SPACELESS}{MARKS}]*+|[^\W{SPACELESS}](?:[^\W{SPACELESS}]|[{MARKS}])*")
_RUN = re.compile(rf"[{SPACELESS}]")
_INSIDE = re.compile(r"(?<=\w)")
_SIGN = re.compile(r"\W")
_SPACE = re.compile(r"\s+")
_BLOCK_END = re.compile(r"(?<=\w)[^\S\n]*\n\s*\n\s*")
_BLANK_LINES = re.compile(r"\n\s*\n")
_BETWEEN_BLOCKS = f" {POINT}"
"""The separator after a block that ends without a stop, such as a heading."""

_IDLE_POINT = re.compile(rf"(?<=:) {POINT.strip()}|(?: {POINT.strip()})+(?= {POINT})")
"""A point after a colon or before another point."""

_SENTENCE_END = re.compile(r"[.!?…]\s+|[。！？]|\n\s*")
_STEM = 4
"""The number of first letters that two forms of a word must share. A rule of thumb."""

_PLACE = "\0"
"""The prefix of the key of a phrase among the marked words."""

_MOST_PLACES = 50
"""Limit of places of a chunk that are considered. A rule of thumb."""

_LONG = 2000
"""Limit of characters that are read on each side of a place in a paragraph. A rule of thumb."""

Span = tuple[int, int]


class ChunkHeading(NamedTuple):
    """A heading in a chunk, with its level and its span in the chunk's body."""

    level: int
    start: int
    end: int


@record
class Snippet:
    """Text on one line, the spans in it that match, and its position in the chunk's body: that of the first
    match shown, or of its beginning."""

    text: str
    marks: tuple[Span, ...]
    at: int


class _Match(NamedTuple):
    """A word of a text that matches a word of the query."""

    start: int
    end: int
    word: str


class _Section(NamedTuple):
    """A part of a body. Its heading begins at `start`, and its own text extends from `text` to `end`."""

    start: int
    text: int
    end: int
    worth: float = 0.0
    own_worth: float = 0.0


class Snippets:
    """Creates the snippets, of at most `size` characters, for the hits of one query.

    `words` are the words of the query, each with the compounds that are also marked. `language` (ISO 639-1)
    is the query's language. Its function words are neither searched for nor marked, unless the query has no
    other words. `phrases` are the texts of the filters. If the filters have found a place, the snippet shows
    it.
    """

    def __init__(
        self,
        words: Mapping[str, Sequence[str]],
        size: int,
        language: str = "",
        phrases: Sequence[TextPattern] = (),
    ) -> None:
        every = chain(words, *words.values())
        folded = frozenset(word for word in map(_fold_word, every) if word)
        self._words = words
        self._phrases = phrases
        self._of_phrases = frozenset(
            _fold_word(word) for phrase in phrases for word in _TOKEN.findall(phrase.source)
        )
        idle = function_words(language)
        self._size = size
        self._language = language
        self._idle = idle if folded - idle else frozenset[str]()
        self._likely = _likely(frozenset(word for word in folded - self._idle if word.isascii()))

    def of(
        self,
        body: str,
        words: Mapping[str, float],
        headings: Sequence[ChunkHeading] = (),
        fence: str = "",
        places: Sequence[Span] = (),
        labels: frozenset[str] = frozenset(),
    ) -> Snippet:
        """Returns the part of `body` to show. `words` are the query words that the body matches, each with
        its weight.

        A word matches if its folded form begins with that of a query word, or the reverse, for at least four
        characters, or if both have the same stem. So inflected forms are marked as well. The snippet comes
        from one section. `headings` divide the body, and no snippet shows them unless there is no other text,
        or the places are in a heading.
        `fence` is the fence of the code block in which the body begins. `places` are the spans that the
        filters have found in the body. The words of `phrases` count and are marked only there. `labels` are
        those of links that the note defines elsewhere.
        """
        folded = {
            _fold_word(form): worth
            for word, worth in words.items()
            for form in (word, *self._words.get(word, ()))
        }
        wanted = {word: worth for word, worth in folded.items() if word and word not in self._idle}
        at_places = self._at_places(body, places, fence, labels)
        if at_places:
            wanted = {word: worth for word, worth in wanted.items() if word not in self._of_phrases}
            # More than all words together: the place that a filter found must be shown.
            wanted |= dict.fromkeys((match.word for match in at_places), 1 + fsum(wanted.values()))
        found = sorted([*self._matches(body, wanted), *at_places])

        def preference(section: _Section) -> tuple[float, float, bool, int]:
            blank = not body[section.text : section.end].strip()
            return -section.worth, -section.own_worth, blank, section.start

        ranked = sorted(_sections(body, headings, found, wanted), key=preference)
        shown_body = blank_hidden(body, fence)
        # A chunk that is hidden as a whole, such as a comment, was found by it, so it is shown.
        body = shown_body if shown_body.strip() else body
        for section in ranked:
            # Only the beginning of the chunk can be within a code block that began before it.
            inside = fence if section.start == 0 and section.text == 0 else ""
            own = [match.start for match in at_places if section.start <= match.start < section.end]
            # All places are in the heading, so the snippet begins with it.
            start = section.start if own and own[-1] < section.text else section.text
            shown = self._show(body, (start, section.end), found, wanted, inside, labels)
            if shown is None and section.worth:
                shown = self._show(body, (section.start, section.text), found, wanted, "", labels)
            if shown is not None:
                return shown
        whole = (0, len(body))
        shown = self._show(body, whole, found, wanted, fence, labels)
        return shown or self._cut(ReadableText(body, [0], [0]), found, wanted, (0, False, False))

    def _show(
        self,
        body: str,
        within: Span,
        found: Sequence[_Match],
        wanted: Mapping[str, float],
        fence: str,
        labels: frozenset[str],
    ) -> Snippet | None:
        """Returns the snippet of a part of the body, or None if the part has no visible text."""
        first = next((match.start for match in found if within[0] <= match.start < within[1]), within[1])
        # Only up to the first match, which may be in the caption of a picture.
        within = after_pictures(body, within[0], within[1], first), within[1]
        start, end = _region(body, within, found, wanted, self._size)
        if start > within[0]:
            fence = open_fence(body[within[0] : start], fence)
        text = readable(body[start:end], fence, labels, has_signs=True)
        if not text.text.strip():
            return None
        phrases = [
            _Match(text.place(match.start - start), text.place(match.end - start), match.word)
            for match in found
            if match.word[0] == _PLACE and start <= match.start < end
        ]
        words = (
            match
            for match in self._matches(text.text, wanted)
            if not any(phrase.start < match.end and match.start < phrase.end for phrase in phrases)
        )
        matches = sorted([*words, *phrases])
        place = start, start > within[0], bool(body[end : within[1]].strip())
        if matches:
            return self._cut(text, matches, wanted, place)
        hidden = next((match for match in found if start <= match.start < end), None)
        if hidden is None:
            return self._cut(text, (), wanted, place)
        near = text.place(hidden.start - start)
        # The match is not visible. An empty match selects the text around it and marks nothing.
        shown = self._cut(text, [_Match(near, near, hidden.word)], wanted, place)
        return Snippet(shown.text, (), hidden.start)

    def _cut(
        self,
        text: ReadableText,
        found: Sequence[_Match],
        wanted: Mapping[str, float],
        place: tuple[int, bool, bool],
    ) -> Snippet:
        """Returns the best window of the text. `place` is the offset of the text in the body, and whether the
        body has more text before and after it."""
        offset, before, after = place
        start, end = _window(text, found, wanted, self._size)
        start = cluster_start(text.text, start, end)
        end = cluster_end(text.text, end, start)
        inside = [match for match in found if start <= match.start <= end]
        spans = [(match.start, min(match.end, end)) for match in inside if match.start < min(match.end, end)]
        before = before or bool(text.text[:start].strip())
        after = after or bool(text.text[end:].strip())
        shown, marks = _on_one_line(text.text, (start, end), spans, before=before, after=after)
        first = _densest(text.units, inside, wanted) if inside else end - len(text.text[start:end].lstrip())
        return Snippet(shown, marks, offset + text.source(first))

    def _at_places(
        self, body: str, places: Sequence[Span], fence: str, labels: frozenset[str]
    ) -> list[_Match]:
        """Returns the matches of phrases in the places, and an empty one at a place without phrases."""
        found: list[_Match] = []
        for start, end in places[:_MOST_PLACES]:
            first, last = _paragraph(body, start, end)
            shown = readable(body[first:last], open_fence(body[:first], fence), labels)
            inside = [
                _Match(first + shown.source(left), first + shown.source(right - 1) + 1, f"{_PLACE}{number}")
                for number, phrase in enumerate(self._phrases)
                for left, right in phrase.spans(shown.text)
            ]
            inside = [match for match in inside if start < match.end and match.start < end]
            found += inside or [_Match(start, start, _PLACE)]
        return found

    def _matches(self, body: str, wanted: Mapping[str, float]) -> list[_Match]:
        """Returns the words of the body that match a word of `wanted`, in order."""
        if not wanted:
            return []
        by_stem = _by_stem(tuple(wanted))
        letters = body if body.isascii() else _with_plain_letters(body)
        if letters is None:
            return list(self._tokens(body, wanted, by_stem))
        # In a text of ASCII letters the expression finds the few words that can match.
        known: dict[str, str | None] = {}
        found = []
        for place in self._likely.finditer(letters.lower()):
            word = place.group()
            if word not in known:
                known[word] = self._match_word(word, wanted, by_stem)
            match = known[word]
            if match is not None and not _INSIDE.match(letters, place.start()):
                found.append(_Match(*place.span(), match))
        return found

    def _tokens(
        self, body: str, wanted: Mapping[str, float], by_stem: Mapping[str, Sequence[str]]
    ) -> Iterator[_Match]:
        known: dict[str, str | None] = {}
        parts = by_stem.get("", ())
        for place in _TOKEN.finditer(body):
            word = place.group()
            if word in known:
                match = known[word]
            elif not word.isascii() and _RUN.match(word):
                yield from _parts_of_run(_fold_word(word), place.span(), parts)
                continue
            else:
                folded = _fold_word(word)
                is_near = folded in wanted or folded[:_STEM] in by_stem
                match = known[word] = self._match_word(folded, wanted, by_stem) if is_near else None
            if match is not None:
                yield _Match(*place.span(), match)

    def _match_word(
        self, word: str, wanted: Mapping[str, float], by_stem: Mapping[str, Sequence[str]]
    ) -> str | None:
        if word in wanted:
            return word
        for other in by_stem.get(word[:_STEM], ()):
            if word.startswith(other) or other.startswith(word):
                return other
            if len(word) >= _STEM and stem(word, self._language) == stem(other, self._language):
                return other
        return None


def _paragraph(body: str, start: int, end: int) -> Span:
    """Returns the lines around a place up to blank ones, since a link may have several lines."""
    low = body.rfind("\n", 0, max(0, start - _LONG)) + 1
    above = [match.end() for match in _BLANK_LINES.finditer(body, low, start)]
    below = _BLANK_LINES.search(body, end, end + _LONG)
    last = below.start() if below else body.find("\n", end + _LONG)
    return above[-1] if above else low, last if last >= 0 else len(body)


def _with_plain_letters(text: str) -> str | None:
    """Returns the text with `?` for each non-ASCII sign, or None if it has such letters, digits or marks."""
    others = (char for char in set(text) if char > "\x7f")
    if any(char.isalnum() or unicodedata.category(char)[0] == "M" for char in others):
        return None
    return text.encode("ascii", "replace").decode("ascii")


def _parts_of_run(run: str, span: Span, wanted: Sequence[str]) -> Iterator[_Match]:
    """Yields the matches of words in a run of a script without spaces. Overlapping matches are merged."""
    places = sorted(
        (match.start(), match.end(), word) for word in wanted for match in re.finditer(re.escape(word), run)
    )
    if places and len(run) != span[1] - span[0]:  # folding changed the length: the positions are unknown
        yield _Match(*span, places[0][2])
        return
    open_match: _Match | None = None
    for start, end, word in places:
        if open_match and span[0] + start < open_match.end:
            open_match = _Match(open_match.start, max(open_match.end, span[0] + end), open_match.word)
            continue
        if open_match:
            yield open_match
        open_match = _Match(span[0] + start, span[0] + end, word)
    if open_match:
        yield open_match


def _sections(
    body: str, headings: Sequence[ChunkHeading], found: Sequence[_Match], wanted: Mapping[str, float]
) -> Iterator[_Section]:
    """Yields the parts of the body with the weights of their words, with headings and without."""
    starts = [match.start for match in found]

    def words(start: int, end: int) -> set[str]:
        return {match.word for match in found[bisect_left(starts, start) : bisect_left(starts, end)]}

    borders = [*(heading.start for heading in headings), len(body)]
    if borders[0] > 0 or not headings:
        worth = fsum(wanted[word] for word in words(0, borders[0]))
        yield _Section(0, 0, borders[0], worth, worth)
    above: list[tuple[int, set[str]]] = []
    for heading, end in zip(headings, borders[1:], strict=True):
        while above and above[-1][0] >= heading.level:
            above.pop()
        own, in_heading = words(heading.end, end), words(heading.start, heading.end)
        # The headings above belong to what a reader of the section knows.
        worth = fsum(wanted[word] for word in own.union(in_heading, *(inherited for _, inherited in above)))
        above.append((heading.level, {word for word in in_heading if word[0] != _PLACE}))
        yield _Section(heading.start, heading.end, end, worth, fsum(wanted[word] for word in own))


def _region(body: str, within: Span, found: Sequence[_Match], wanted: Mapping[str, float], size: int) -> Span:
    """Returns the part of a long text around the densest matches, of about twice `size` characters."""
    start, end = within
    if end - start <= 2 * size:
        return within
    starts = [match.start for match in found]
    first, last = bisect_left(starts, start), bisect_left(starts, end)
    most = fsum(wanted[word] for word in {match.word for match in found[first:last]})
    best, place = 0.0, start
    for number in range(first, last):
        near = found[number : bisect_left(starts, min(end, starts[number] + size))]
        worth = fsum(wanted[word] for word in {match.word for match in near})
        if worth > best:
            best, place = worth, starts[number]
        if best == most:  # no other place can have more
            break
    low = max(start, place - size // 2)
    if low > start:
        # At the start of a sentence or line, or otherwise of a word.
        after = _SENTENCE_END.search(body, low, place)
        low = after.end() if after else word_start(body, low)
    marked = (match.end for match in found[first:last] if match.word[0] == _PLACE and match.start == place)
    high = min(end, max(place + size + size // 2, *marked, 0))
    low = max(start, markup_around(body, low)[0])
    return low, end if end - high < size // 2 else min(end, markup_around(body, word_end(body, high))[1])


@lru_cache(maxsize=65_536)
def _fold_word(word: str) -> str:
    return fold(normalize(word))


@lru_cache(maxsize=256)
def _likely(wanted: frozenset[str]) -> re.Pattern[str]:
    """Returns an expression for the words in a lower-case text that may match. It also matches within words,
    because an expression that begins with a letter is several times faster. A word with a sign in it, such as
    `a-b`, is one word."""
    whole = sorted((word for word in wanted if _SIGN.search(word)), key=lambda word: (-len(word), word))
    begins = [re.escape(word) for word in whole]
    begins += sorted(
        {word[:_STEM] if len(word) >= _STEM else rf"{word}\b" for word in wanted.difference(whole)}
    )
    return re.compile(rf"(?:{'|'.join(begins)})\w*" if begins else r"(?!)")


@lru_cache(maxsize=1024)
def _by_stem(wanted: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Returns the query's words by the required beginning of a matching word. The key "" is for words that a
    match may contain anywhere, because a run of a script without spaces is one word here."""
    by_beginning: dict[str, list[str]] = {}
    for word in wanted:
        if len(word) >= _STEM:
            by_beginning.setdefault(word[:_STEM], []).append(word)
        if _RUN.match(word):
            by_beginning.setdefault("", []).append(word)
    return by_beginning


def _window(
    readable_text: ReadableText, found: Sequence[_Match], wanted: Mapping[str, float], size: int
) -> Span:
    """Returns the run of whole sentences within `size` that has the largest weight. Each word counts once."""
    body = readable_text.text
    spans = _with_whole_phrases(readable_text.units, found)
    if len(body) <= size:
        return 0, len(body)
    if not spans:
        return 0, size
    starts = [match.start for match in found]
    best, shown, last = -1.0, spans[0], 0
    for number in _worth_a_look(spans, starts, size):
        start = spans[number][0]
        last = max(last, number)
        while last + 1 < len(spans) and spans[last + 1][1] - start <= size:
            last += 1
        end = spans[last][1]
        within = found[bisect_left(starts, start) : bisect_left(starts, min(end, start + size))]
        whole = {match.word for match in within if match.word[0] != _PLACE or match.end <= end}
        worth = fsum(map(wanted.__getitem__, whole))
        if worth > best:
            best, shown = worth, (start, end)
    start, end = shown
    return shown if end - start <= size else _dense(body, found, shown, size)


def _with_whole_phrases(units: Sequence[Span], found: Sequence[_Match]) -> Sequence[Span]:
    """Returns the sentences, as one where a phrase extends over several."""
    whole = list(units)
    for match in found:
        if match.word[0] == _PLACE and match.start < match.end:
            first = max(0, bisect_left(whole, (match.start + 1, 0)) - 1)
            last = bisect_left(whole, (match.end, 0))
            if last > first + 1:
                whole[first:last] = [(whole[first][0], whole[last - 1][1])]
    return whole


def _densest(units: Sequence[Span], found: Sequence[_Match], wanted: Mapping[str, float]) -> int:
    """Returns the position of the first match in the sentence whose matches have the largest weight."""
    by_unit: dict[int, list[_Match]] = {}
    for match in found:
        # `+ 1`, so that a match at the very beginning of a sentence belongs to it.
        by_unit.setdefault(bisect_left(units, (match.start + 1, 0)), []).append(match)
    best = max(by_unit.values(), key=lambda own: fsum(wanted[word] for word in {match.word for match in own}))
    return next((match.start for match in best if match.word[0] == _PLACE), best[0].start)


def _worth_a_look(spans: Sequence[Span], starts: Sequence[int], size: int) -> range:
    """Returns the sentences from which a window of `size` can reach a match; without matches the first."""
    if not starts:
        return range(1)
    first = bisect_left(spans, (starts[0] - size, 0))
    return range(max(0, first - 1), bisect_left(spans, (starts[-1] + 1, 0)) or 1)


def _dense(body: str, found: Sequence[_Match], within: Span, size: int) -> Span:
    """Returns the part with the most matches of a sentence that is too long."""
    inside = [match for match in found if within[0] <= match.start < within[1]]
    starts = [match.start for match in inside if match.word[0] == _PLACE] or [m.start for m in inside]
    best = max(
        range(len(starts)),
        key=lambda first: (bisect_left(starts, starts[first] + size * 3 // 4) - first, -first),
        default=None,
    )
    # A quarter of the snippet shows what precedes the matches, so these fill at most the other three.
    start = within[0] if best is None else max(within[0], starts[best] - size // 4)
    start = word_start(body, max(within[0], min(start, within[1] - size)))
    return start, word_end(body, min(within[1], start + size))


def _on_one_line(
    body: str, window: Span, spans: Sequence[Span], *, before: bool, after: bool
) -> tuple[str, tuple[Span, ...]]:
    """Returns the window with each run of white space replaced by one space, or by `_BETWEEN_BLOCKS` between
    blocks, and the spans at their new positions."""
    out = _ELLIPSIS if before else ""
    marks: list[Span] = []
    at, end = window
    for first, last in spans:
        out = _append(out, body[at:first])
        marks.append((len(out), len(out) + last - first))
        out += body[first:last]
        at = last
    out = _append(out, body[at:end])
    return out.rstrip(_BETWEEN_BLOCKS) + (_ELLIPSIS if after else ""), tuple(marks)


def _append(out: str, text: str) -> str:
    before = out[-1:]
    folded = _SPACE.sub(" ", _BLOCK_END.sub(_BETWEEN_BLOCKS, before + text))
    folded = _IDLE_POINT.sub("", folded)[len(before) :]
    if not out or out == _ELLIPSIS:
        folded = folded.lstrip(_BETWEEN_BLOCKS)
    return out + (folded.lstrip() if out.endswith(" ") else folded)
