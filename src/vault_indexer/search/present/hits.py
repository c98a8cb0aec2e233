"""Builds the hits of a result from ranked chunks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from vault_indexer.chunk.cutting import Span, trim
from vault_indexer.model import (
    HEADER_SEPARATOR,
    ChunkRow,
    FileKind,
    FileRow,
    Heading,
    Hit,
    NoteRow,
    Passage,
    Why,
    kind_of,
    language_of_path,
)
from vault_indexer.parse import SOURCE_FENCE, link_labels, open_fence, property_text, stem
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.present.snippet import ChunkHeading, Snippet, Snippets
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.text.phrases import iso_time
from vault_indexer.vault.read import is_unchanged

# The parent expander: the search finds small chunks, and the reader may get the text around them.
#
# It consists of pure functions. They take the span of a hit, the text of its note and its headings, and
# return a wider span of the same text. The passage always contains the hit, and exceeds `max_parent_tokens`
# only if the hit alone does.


ExpandMode = Literal["section", "window", "section_or_window", "parent"]

_BYTES_PER_TOKEN = 4
_MOST_CHARS_PER_TOKEN = 16
"""The maximum average length of a token in readable text. A section that exceeds the limit at this length is
too long and need not be counted. A rule of thumb."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Expansion:
    """The expansion of a hit.

    `section` expands to the section of the hit, including subsections if they fit; if the section is too
    long, to the paragraphs around the hit that fit. `window` adds up to `window_paragraphs` paragraphs on
    each side, as long as they fit. `section_or_window` is the section if it fits, otherwise the window.
    `parent` expands to the whole parent chunk, as set by the chunking strategy. If the parent is not a chunk,
    it expands to the section in which the hit ends, without subsections, or to the paragraphs of it that fit.
    """

    mode: ExpandMode
    max_parent_tokens: int = 2000
    window_paragraphs: int = 3


def estimated_tokens(text: str) -> int:
    """Returns the number of tokens at four UTF-8 bytes each, rounded up. It is close to the count of models
    for English, and larger for other scripts."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def passage_of(
    catalog: CatalogReader,
    row: ChunkRow,
    expansion: Expansion,
    count: Callable[[str], int] = estimated_tokens,
) -> Passage:
    """Returns the passage around a stored chunk, from the text of its note as indexed."""
    chunk = row.chunk
    text, span = catalog.text(row.note_id), (chunk.start_pos, chunk.end_pos)
    if expansion.mode == "parent":
        if chunk.level == 0:
            return passage_at(text, span, "chunk", chunk.chunk_id)
        for other in catalog.chunks_of(row.note_id) if chunk.parent_id else ():
            if other.chunk.chunk_id == chunk.parent_id:
                whole = min(span[0], other.chunk.start_pos), max(span[1], other.chunk.end_pos)
                return passage_at(text, whole, "parent", chunk.parent_id)
    passage = expand(text, catalog.headings(row.note_id), span, expansion, count)
    return replace(passage, id=chunk.parent_id) if passage.kind == "parent" else passage


def expand(
    text: str,
    headings: Sequence[Heading],
    hit: Span,
    expansion: Expansion,
    count: Callable[[str], int] = estimated_tokens,
) -> Passage:
    """Returns the passage around `hit`. `count` returns the number of tokens in a text."""
    note = _Structure(text, [heading for heading in headings if not heading.nested])
    most = expansion.max_parent_tokens
    if expansion.mode == "parent":
        section = note.own_section(hit)
        if count(text[slice(*section)]) <= most:
            return passage_at(text, section, "parent")
        return _grow(note, hit, section, (most, len(text)), count)
    if expansion.mode != "window":
        sections = note.sections_around(hit)
        for section in sections:
            short = section[1] - section[0] <= _MOST_CHARS_PER_TOKEN * most
            if short and count(text[slice(*section)]) <= most:
                return passage_at(text, section, "section")
        if expansion.mode == "section":
            return _grow(note, hit, sections[-1], (most, len(text)), count)
    return _grow(note, hit, (note.body_start, len(text)), (most, expansion.window_paragraphs), count)


class _Structure:
    """The note's text, the start of its body, and the headings that begin sections."""

    def __init__(self, text: str, headings: Sequence[Heading]) -> None:
        self.text = text
        self.body_start = body_start(text)
        self._headings = headings
        self._starts = [heading.start for heading in headings]

    def sections_around(self, hit: Span) -> list[Span]:
        """Returns the innermost section that contains the hit: first with its subsections, then without."""
        level = 7
        for index in range(bisect_right(self._starts, hit[0]) - 1, -1, -1):
            if self._headings[index].level >= level:
                continue
            level = self._headings[index].level
            start, end, own = self._starts[index], self._end(index, level), self._end(index, 6)
            if hit[1] <= end:
                return [(start, end), *([(start, own)] if hit[1] <= own < end else [])]
        first = self._starts[0] if self._starts else len(self.text)
        return [(self.body_start, first if hit[1] <= first else len(self.text))]

    def own_section(self, hit: Span) -> Span:
        """Returns the section in which the hit ends, without subsections but with the whole hit. It is the
        end that decides, because a hit includes the headings above its text."""
        index = bisect_right(self._starts, max(hit[0], hit[1] - 1)) - 1
        start = self._starts[index] if index >= 0 else self.body_start
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)
        return min(hit[0], start), max(hit[1], end)

    def paragraphs(self, low: int, high: int, hit: Span, reach: int) -> list[Span]:
        """Returns the blocks between blank lines from `low` to `high`, with fenced code as one block. The
        range is limited to `reach` characters from the hit, extended to the next heading, because no fence
        extends past a heading."""
        before = bisect_right(self._starts, max(hit[0] - reach, 0)) - 1
        after = bisect_left(self._starts, hit[1] + reach)
        start = max(low, self._starts[before] if before >= 0 else self.body_start)
        end = min(high, self._starts[after] if after < len(self._starts) else len(self.text))
        return _blocks(self.text, start, end)

    def _end(self, index: int, level: int) -> int:
        """Returns the end of the section of a heading: the next heading of at most this level."""
        following = range(index + 1, len(self._headings))
        return next((self._starts[n] for n in following if self._headings[n].level <= level), len(self.text))


def _grow(
    note: _Structure, hit: Span, within: Span, limits: tuple[int, int], count: Callable[[str], int]
) -> Passage:
    """Returns the hit with paragraphs above and below it, added in turn as long as they fit. `limits` are the
    total tokens and the paragraphs on each side. The tokens of the paragraphs are counted separately and
    added."""
    most, each_side = limits
    start, end = hit
    blocks = note.paragraphs(*within, hit, _MOST_CHARS_PER_TOKEN * most)
    above = [block for block in reversed(blocks) if block[0] < start]
    below = [block for block in blocks if block[1] > end]
    # The rest of a paragraph that contains the start or end of the hit does not count as a paragraph.
    above = above[: each_side + bool(above and above[0][1] > start)]
    below = below[: each_side + bool(below and below[0][0] < end)]
    held = count(note.text[start:end])
    sides = [iter((first, None) for first, _ in above), iter((None, last) for _, last in below)]
    while sides:
        for side in list(sides):
            first, last = next(side, (None, None))
            wider = start if first is None else first, end if last is None else last
            added = count(note.text[wider[0] : start]) + count(note.text[end : wider[1]])
            if wider == (start, end) or held + added > most:
                sides.remove(side)
                continue
            held += added
            start, end = wider
    return passage_at(note.text, (start, end), "chunk" if (start, end) == hit else "window")


def _blocks(text: str, start: int, end: int) -> list[Span]:
    found: list[Span] = []
    fence = ""
    begin = stop = -1
    for match in _LINE.finditer(text, start, end):
        line = match.group()
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
        if line.strip() or fence:
            begin = match.start() if begin < 0 else begin
            stop = match.start() + len(line.rstrip())
        elif begin >= 0:
            found.append((begin, stop))
            begin = -1
    return [*found, (begin, stop)] if begin >= 0 else found


def passage_at(text: str, span: Span, kind: str, name: str = "") -> Passage:
    """Returns the passage at a span, without surrounding blank lines unless its kind is "chunk"."""
    start, end = span if kind == "chunk" else trim(text, *span)
    first = text.count("\n", 0, start) + 1
    return Passage(kind, start, end, first, first + text.count("\n", start, end), text[start:end], name)


_FENCE_REACH = 32_768
"""The number of characters before a chunk that are searched for an open code fence. A rule of thumb."""


class RankedChunk(NamedTuple):
    """A chunk in the results: its key, its score relative to the best one, the reasons, its relevance, and
    the paths of the copies of its note."""

    key: int
    score: float
    why: Why
    relevance: float
    copies: tuple[str, ...] = ()


class HitBuilder:
    """Builds the hits of one vault for one search from ranked chunks. Only this class creates a `Hit`.

    Each search creates its own builder and uses it in its own thread during the lease of the snapshot. The
    builder reads chunks and notes from the catalog, creates the snippets, adds passages if there is an
    expansion, and with `stale` checks (one `stat` for each note) which files have changed since they were
    indexed. For a vault without a folder it does not access the file system, so no hit is stale or has a URI.
    """

    def __init__(
        self,
        query: PreparedQuery,
        snippets: Snippets,
        *,
        expansion: Expansion | None = None,
        stale: bool = True,
    ) -> None:
        self._catalog = query.snapshot.catalog
        self._deadline = query.deadline
        self._chosen = query.chosen
        self._vault = query.vault.name
        self._folder = query.vault.folder
        self._snippets = snippets
        self._expansion = expansion
        self._stale = stale
        self._text = cache(self._catalog.text)  # several hits may be of one note
        self._parents: set[tuple[int, int, int]] = set()
        self._in_obsidian = self._folder is not None and is_obsidian_vault(self._folder)

    def build(self, chunks: Iterable[RankedChunk]) -> dict[int, Hit]:
        """Returns the hits by chunk key, in order, without chunks that are gone. Raises QueryTimeoutError or
        QueryCancelledError at the deadline."""
        ranked = list(chunks)
        rows = self._catalog.chunks([chunk.key for chunk in ranked])
        notes = self._shown(self._catalog.notes({row.note_id for row in rows.values()}))
        self._catalog.outlines(notes)  # loads all outlines at once into the catalog's cache
        stale = self._changed_files(note.path for note in notes.values())
        return dict(self._hits(ranked, rows, notes, stale))

    def of_files(self, paths: Sequence[str], score: float, why: Why) -> tuple[Hit, ...]:
        """Returns a hit, with a name but no text, for each of these attachments, in order."""
        stale = self._changed_files(paths)
        files = self._catalog.files_at(paths)
        return tuple(self._of_file(files[path], score, why, stale) for path in paths if path in files)

    def _of_file(self, file: FileRow, score: float, why: Why, stale: Collection[str]) -> Hit:
        return Hit(
            path=file.path,
            title=file.path.rpartition("/")[2],
            header_path="",
            chunk_id="",
            chunk_index=0,
            start_pos=0,
            end_pos=0,
            start_line=1,
            end_line=1,
            score=score,
            snippet=f"not read: {file.reason}" if file.state == "skipped" else "",
            content="",
            modified_time=iso_time(file.mtime_ns),
            tags=(),
            stale=file.path in stale and file.state != "skipped",
            why=why,
            line=1,
            uri=self._uri(file.path),
            relevance=1.0,
            vault=self._vault,
            kind="base" if file.path.lower().endswith(".base") else "attachment",
        )

    def _hits(
        self,
        ranked: Iterable[RankedChunk],
        rows: dict[int, ChunkRow],
        notes: dict[int, NoteRow],
        stale: Collection[str],
    ) -> Iterator[tuple[int, Hit]]:
        for chunk in ranked:
            self._deadline.check()
            if chunk.key in rows:
                row = rows[chunk.key]
                yield chunk.key, self._hit(chunk, row, notes[row.note_id], stale)

    def _hit(self, ranked: RankedChunk, row: ChunkRow, note: NoteRow, stale: Collection[str]) -> Hit:
        chunk, why = row.chunk, ranked.why
        headings = self._headings(row, note)
        matched = why.keyword.terms if why.keyword else {}
        places = (
            [
                (start - chunk.start_pos, end - chunk.start_pos)
                for start, end in self._chosen.places_in(row.note_id, chunk.start_pos, chunk.end_pos)
            ]
            if self._chosen
            else []
        )
        text = self._text(row.note_id) if "]" in chunk.body or not chunk.header_path else ""
        if text and chunk.end_pos <= body_start(text):
            snippet = Snippet("", (), 0)  # a note of properties alone has no text to show
        else:
            fence = self._fence(row, note)
            snippet = self._snippets.of(chunk.body, matched, headings, fence, places, link_labels(text))
        return Hit(
            path=note.path,
            title=note.title,
            header_path=self._header_path(row, headings, snippet.at),
            chunk_id=chunk.chunk_id,
            chunk_index=chunk.chunk_index,
            start_pos=chunk.start_pos,
            end_pos=chunk.end_pos,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            score=ranked.score,
            snippet=snippet.text,
            content=chunk.content,
            modified_time=iso_time(note.mtime_ns),
            tags=note.tags,
            stale=note.path in stale,
            why=why,
            aliases=note.aliases,
            frontmatter=note.frontmatter,
            marks=snippet.marks,
            line=chunk.start_line + chunk.body.count("\n", 0, snippet.at),
            uri=self._uri(note.path),
            strategy=chunk.strategy,
            level=chunk.level,
            parent_id=chunk.parent_id,
            sentence_ids=chunk.sentence_ids,
            doc_id=chunk.doc_id,
            wikilinks=chunk.wikilinks,
            markdown_links=chunk.markdown_links,
            passage=self._passage(row) if self._expansion else None,
            kind="canvas" if _is_canvas(note.path) else "note",
            relevance=ranked.relevance,
            language=note.language,
            vault=self._vault,
            copies=ranked.copies,
            chunk=chunk,
        )

    def _passage(self, row: ChunkRow) -> Passage:
        """Returns the passage around a hit. Only the first of several hits with one parent gets its text."""
        assert self._expansion is not None
        passage = passage_of(self._catalog, row, self._expansion)
        place = row.note_id, passage.start_pos, passage.end_pos
        if passage.kind == "parent" and place in self._parents:
            return replace(passage, text="")
        self._parents.add(place)
        return passage

    def _shown(self, notes: dict[int, NoteRow]) -> dict[int, NoteRow]:
        """Returns the notes with their display titles. It is the file name if the title is a heading with
        which several notes begin, such as "Ingredients"."""
        shared = self._catalog.shared_titles(note.title for note in notes.values())
        return {
            number: replace(note, title=stem(note.path))
            if note.title in shared and not property_text(note.frontmatter, "title")
            else note
            for number, note in notes.items()
        }

    def _uri(self, path: str) -> str:
        if self._folder is None:
            return ""
        return file_uri(self._folder, path, in_obsidian=self._in_obsidian)

    def _headings(self, row: ChunkRow, note: NoteRow) -> list[ChunkHeading]:
        """Returns the headings that divide the chunk. There are none in a canvas, where each heading applies
        only to its card, or in a source file, where they are code."""
        start, end = row.chunk.start_pos, row.chunk.end_pos
        if _is_canvas(note.path) or _language_of_path(note.path):
            return []
        return [
            ChunkHeading(heading.level, heading.start - start, min(heading.end, end) - start)
            for heading in self._catalog.headings_between(row.note_id, start, end)
        ]

    def _header_path(self, row: ChunkRow, headings: Sequence[ChunkHeading], offset: int) -> str:
        if not any(0 < heading.start <= offset for heading in headings):
            return row.chunk.header_path
        above = self._catalog.headings_above(row.note_id, row.chunk.start_pos + offset)
        return HEADER_SEPARATOR.join(heading.text for heading in above)

    def _fence(self, row: ChunkRow, note: NoteRow) -> str:
        """Returns the fence of the code block in which the chunk begins, or "" if there is none."""
        if _language_of_path(note.path):
            return SOURCE_FENCE
        start = row.chunk.start_pos
        above = self._catalog.headings_above(row.note_id, start)
        section = above[-1].start if above else 0
        if section == start or _is_canvas(note.path):
            return ""
        return open_fence(self._text(row.note_id)[max(section, start - _FENCE_REACH) : start])

    def _changed_files(self, paths: Iterable[str]) -> frozenset[str]:
        """Returns the paths whose files have changed since they were indexed."""
        if self._folder is None or not self._stale:
            return frozenset()
        distinct = frozenset(paths)
        files = self._catalog.files_at(distinct)
        return distinct - {path for path, row in files.items() if is_unchanged(self._folder, row, row.digest)}


@lru_cache(maxsize=4096)
def _is_canvas(path: str) -> bool:
    return kind_of(path) is FileKind.CANVAS


_language_of_path = lru_cache(maxsize=4096)(language_of_path)


def is_obsidian_vault(vault: Path) -> bool:
    """Whether Obsidian has opened the folder as a vault."""
    return (vault / ".obsidian").is_dir()


@lru_cache(maxsize=4096)
def file_uri(vault: Path, path: str, *, in_obsidian: bool) -> str:
    """Returns a URI that opens the file in Obsidian, in the vault that contains it, or with the system's
    default program.

    The form with an absolute, percent-encoded path does not need the name of the vault.
    """
    file = vault / path
    return f"obsidian://open?path={quote(str(file), safe='')}" if in_obsidian else file.absolute().as_uri()
