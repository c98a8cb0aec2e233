"""Finds places that name a note without a link to it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np

from vault_indexer.arrays import Keys
from vault_indexer.links.note_links import excerpt
from vault_indexer.model import Mention, MentionsAnswer, NoteRow, note_id_of
from vault_indexer.parse.blocks import Leaf, LeafKind, scan_blocks
from vault_indexer.parse.frontmatter import read_frontmatter
from vault_indexer.parse.inline import InlineScan, Lines, SpanKind
from vault_indexer.parse.link_syntax import link_definitions
from vault_indexer.parse.notes import stem
from vault_indexer.store import Snapshot
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import MARKS, SPACELESS
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import LONGEST_TERM, RUN, WORD, run_terms

# Finds a name in texts by whole words, ignoring case and accents.


_SHORTEST = 2
_PARTS = re.compile(r"[^-./:\\@'’&+#_]+")  # where the index divides compounds
_SPACELESS = re.compile(f"[{SPACELESS}]")
_CLUSTER = re.compile(rf".[{MARKS}]*", re.DOTALL)
_MARK = re.compile(f"[{MARKS}]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class Found(NamedTuple):
    """An occurrence of a name."""

    start: int
    end: int
    name: str


class Name:
    """One name of a note. A text with the name contains one index term of each of the sets `required`."""

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
        """Whether the name is long and regular enough to distinguish a mention from chance."""
        is_word = any(char.isalnum() for char in self.folded)
        return is_word and len(self.folded) >= _SHORTEST and bool(self.required)

    def spans(self, folded: str) -> Iterator[tuple[int, int]]:
        for match in self._pattern.finditer(folded):
            before = folded[match.start() - 1] if match.start() else " "
            # An expression that begins with letters is faster than one that begins with a look-behind.
            if self._begins_anywhere or not (before.isalnum() or before in "_^"):
                yield match.span()


def names(candidates: Iterable[str]) -> list[Name]:
    """Returns the findable names, with one spelling of each."""
    by_folded: dict[str, Name] = {}
    for name in map(Name, candidates):
        if name.is_findable:
            by_folded.setdefault(name.folded, name)
    return list(by_folded.values())


def find(text: str, wanted: Sequence[Name], start: int, end: int) -> list[Found]:
    """Returns the occurrences of any name in `text[start:end]`, in order. Of overlapping ones that begin at
    the same place, the longest is kept."""
    first = max(0, start - 1)  # the characters around a name determine whether it is a whole word
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
    """Yields sets of index terms (`text.tokens.analyze`). A text with this name has one of each."""
    for word in WORD.findall(name):
        parts = [part for part in _PARTS.findall(word) if len(part) > 1]
        if not parts and len(word) > 1:
            parts = [word.strip("_") or word]
        for part in parts:
            exact = normalize(part)[:LONGEST_TERM]
            yield frozenset((exact, fold(exact), VARIANT_MARK + fold(exact)))
    for run in RUN.findall(name):
        # Without the last term, a single character: in another text the run may go on.
        yield from (frozenset((pair,)) for pair in run_terms(run)[:-1])


def _align(text: str) -> tuple[str, Callable[[int], int]]:
    if text.isascii():
        return text.lower(), int
    changed = {char: _fold(char) for char in set(_NOT_ASCII.findall(text))}
    changed = {char: to for char, to in changed.items() if to != char.lower()}
    if all(len(to) == 1 for to in changed.values()):
        for char, to in changed.items():  # there are few, and `replace` is much faster than `translate`
            text = text.replace(char, to)
        return text.lower(), int
    clusters: list[str] = _CLUSTER.findall(text)
    pieces = [_fold(cluster) for cluster in clusters]
    origins = accumulate(map(len, clusters), initial=0)
    back = [origin for origin, piece in zip(origins, pieces, strict=False) for _ in piece]
    return "".join(pieces), lambda position: back[position] if position < len(back) else len(text)


@lru_cache(maxsize=1 << 14)
def _fold(cluster: str) -> str:
    """Returns a folded character with its marks, or "" for marks alone. Signs do not change, because names
    are not matched by them."""
    first = cluster[0]
    return fold(normalize(cluster)) if first.isalnum() or _MARK.match(first) or first == "’" else cluster


# The prose of a note: the text outside links, code, tags, HTML, math and frontmatter.


_BEFORE_URL = 300
_DEFINITION = re.compile(r"^[ >]*(\[[^\]\r\n]+\]:.*(?:\n[ >]*\S+)?)", re.MULTILINE)


class Prose:
    """The prose of one text, according to the parser.

    Only the required sections are parsed. A top-level heading ends every block before it, so a section parses
    alone in the same way as within the note. `headings` are the positions of these headings, and `links` the
    spans of links that have already been found.
    """

    def __init__(self, text: str, headings: Collection[int], links: Collection[tuple[int, int]]) -> None:
        self._text = text
        self._headings = sorted(headings)
        self._links = links
        self._sections: dict[int, list[Leaf]] = {}
        self._spans: dict[Leaf, list[tuple[int, int]]] = {}

    def holds(self, start: int, end: int) -> bool:
        """Whether all of `text[start:end]` is prose and not part of a bare URL."""
        if any(first < end and start < last for first, last in self._links) or self._is_in_url(start):
            return False
        leaves = self._leaves_around(start)
        at = bisect_right(leaves, start, key=lambda leaf: leaf.start) - 1
        if at < 0 or end > leaves[at].end:
            return False
        return not any(first < end and start < last for first, last in self._spans_in(leaves[at]))

    def _leaves_around(self, position: int) -> list[Leaf]:
        """Returns the inline leaves of the section at a position."""
        number = bisect_right(self._headings, position)
        if number not in self._sections:
            after = self._headings[number : number + 1]
            start = self._headings[number - 1] if number else read_frontmatter(self._text).block_end
            leaves = scan_blocks(self._text, start, after[0] if after else len(self._text)).leaves
            self._sections[number] = sorted(leaf for leaf in leaves if leaf.kind is not LeafKind.HTML)
        return self._sections[number]

    def _spans_in(self, leaf: Leaf) -> list[tuple[int, int]]:
        """Returns the spans of a leaf that are not prose."""
        if leaf not in self._spans:
            spans = InlineScan(self._text, leaf.start, leaf.end, self._definitions).spans()
            self._spans[leaf] = [(span.start, span.end) for span in spans if span.kind is not SpanKind.ESCAPE]
        return self._spans[leaf]

    @cached_property
    def _definitions(self) -> Mapping[str, str]:
        """The link reference definitions, which may be anywhere in a note."""
        if "]:" not in self._text:
            return {}
        return link_definitions(self._text, [match.span(1) for match in _DEFINITION.finditer(self._text)])

    def _is_in_url(self, start: int) -> bool:
        before = self._text[max(0, start - _BEFORE_URL) : start]
        return not before[-1:].isspace() and "://" in (before.split() or [""])[-1]


_FIELDS = ("content",)


def mentions(snapshot: Snapshot, path: str, limit: int) -> MentionsAnswer:
    """Returns the places in the prose of other notes that name this one, by file name, title or alias,
    ordered by path and position.

    The keyword index selects the notes that can contain a name, and their texts are then searched. Only
    sections with a name are parsed, to exclude links, code and other text that is not prose.
    """
    note = snapshot.catalog.note(path)
    if note is None:
        return MentionsAnswer(path, (), (), more=False)
    wanted = names((stem(path), note.title, *note.aliases))
    # One more than the limit, to know whether there are more.
    first = list(islice(_mentions(snapshot, note, wanted), limit + 1))
    shown = tuple(first[:limit])
    return MentionsAnswer(path, tuple(name.text for name in wanted), shown, more=len(first) > limit)


def _mentions(snapshot: Snapshot, note: NoteRow, wanted: Sequence[Name]) -> Iterator[Mention]:
    for path, title, note_id, keys in _candidates(snapshot, note, wanted):
        text = snapshot.catalog.text(note_id)
        places = [place for span in _spans(snapshot, keys) for place in find(text, wanted, *span)]
        if not places:
            continue
        prose, lines = _prose(snapshot, note_id, text), Lines(text)
        for place in places:
            if prose.holds(place.start, place.end):
                shown = excerpt(text, place.start, place.end)
                line = lines.at(place.start)
                yield Mention(
                    path, title, line, place.start, place.end, place.name, shown.text, (shown.mark,)
                )


def _spans(snapshot: Snapshot, keys: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the stretches of a note that the chunks cover, in order, with overlapping ones merged."""
    sql = "SELECT start_pos, end_pos FROM chunks WHERE key IN (%s)"
    merged: list[tuple[int, int]] = []
    for start, end in sorted(snapshot.catalog.rows_in(sql, keys)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _prose(snapshot: Snapshot, note_id: int, text: str) -> Prose:
    sql = "SELECT start_pos FROM headings WHERE note_id = ? AND NOT nested"
    headings = [row[0] for row in snapshot.catalog.rows(sql, (note_id,))]
    links = snapshot.catalog.rows("SELECT start_pos, end_pos FROM links WHERE note_id = ?", (note_id,))
    return Prose(text, headings, [(row[0], row[1]) for row in links])


def _candidates(
    snapshot: Snapshot, note: NoteRow, wanted: Sequence[Name]
) -> list[tuple[str, str, int, list[int]]]:
    """Returns path, title, id and chunks of the other notes with all words of a name, by path."""
    keys: dict[int, list[int]] = {}
    for key in sorted({key for name in wanted for key in _holding(snapshot, name).tolist()}):
        keys.setdefault(note_id_of(key), []).append(key)
    # A note names itself in its own text.
    keys.pop(note.note_id, None)
    rows = snapshot.catalog.rows_in("SELECT path, title, note_id FROM notes WHERE note_id IN (%s)", keys)
    return sorted((path, title, note_id, keys[note_id]) for path, title, note_id in rows)


def _holding(snapshot: Snapshot, name: Name) -> Keys:
    first, *others = name.required
    keys = snapshot.keywords.keys_containing(first, _FIELDS)
    for terms in others:
        if not len(keys):
            break
        keys = np.intersect1d(keys, snapshot.keywords.keys_containing(terms, _FIELDS), assume_unique=True)
    return keys
