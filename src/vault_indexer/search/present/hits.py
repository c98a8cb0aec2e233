"""From ranked chunks to the hits of an answer."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
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

# The parent expander: what is found is small, what is read may be the text around it.
#
# Pure: a hit's span, the note's text and its headings in, a wider span of the same text out. The passage
# always contains the hit, and holds no more than `max_parent_tokens` unless the hit alone does.


ExpandMode = Literal["section", "window", "section_or_window", "parent"]

_BYTES_PER_TOKEN = 4
_MOST_CHARS_PER_TOKEN = 16
"""No text worth reading has longer tokens on average: what is longer than that need not be counted. A rule of
thumb."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Expansion:
    """How far a hit is widened.

    `section`: to the section it stands in, subsections included where they fit; of one that is too long as
    many paragraphs around the hit as fit. `window`: by so many paragraphs on each side, as far as they fit.
    `section_or_window`: the section if it fits, else the window. `parent`: to the chunk that its strategy
    calls its parent, whole; where that is no chunk, to the section that it ends in, without subsections, or
    to as many paragraphs of that as fit.
    """

    mode: ExpandMode
    max_parent_tokens: int = 2000
    window_paragraphs: int = 3


def estimated_tokens(text: str) -> int:
    """Four bytes of UTF-8 a token, rounded up: near what models count for English, more for other scripts."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def passage_of(
    catalog: CatalogReader,
    row: ChunkRow,
    expansion: Expansion,
    count: Callable[[str], int] = estimated_tokens,
) -> Passage:
    """The passage around a stored chunk, as its note was indexed."""
    chunk = row.chunk
    text, span = catalog.text(row.note_id), (chunk.start_pos, chunk.end_pos)
    if expansion.mode == "parent":
        if chunk.level == 0:
            return passage_at(text, span, "chunk", chunk.chunk_id)
        for one in catalog.chunks_of(row.note_id) if chunk.parent_id else ():
            if one.chunk.chunk_id == chunk.parent_id:
                whole = min(span[0], one.chunk.start_pos), max(span[1], one.chunk.end_pos)
                return passage_at(text, whole, "parent", chunk.parent_id)
    found = expand(text, catalog.headings(row.note_id), span, expansion, count)
    return replace(found, id=chunk.parent_id) if found.kind == "parent" else found


def expand(
    text: str,
    headings: Sequence[Heading],
    hit: Span,
    expansion: Expansion,
    count: Callable[[str], int] = estimated_tokens,
) -> Passage:
    """The passage around `hit`. `count` measures a text in tokens."""
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
    """The note's text, where its body begins, and its headings that make sections."""

    def __init__(self, text: str, headings: Sequence[Heading]) -> None:
        self.text = text
        self.body_start = body_start(text)
        self._headings = headings
        self._starts = [heading.start for heading in headings]

    def sections_around(self, hit: Span) -> list[Span]:
        """The innermost section that contains the hit: with its subsections, then its own text alone."""
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
        """The section in which the hit ends, without subsections, with all of the hit. The headings above a
        text are in the hit, and belong to the section of the text."""
        index = bisect_right(self._starts, max(hit[0], hit[1] - 1)) - 1
        start = self._starts[index] if index >= 0 else self.body_start
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)
        return min(hit[0], start), max(hit[1], end)

    def paragraphs(self, low: int, high: int, hit: Span, reach: int) -> list[Span]:
        """Blocks between blank lines, code in fences whole, from `low` to `high`, no further from the hit
        than `reach` characters and on to the next heading: no fence reaches over a heading."""
        before = bisect_right(self._starts, max(hit[0] - reach, 0)) - 1
        after = bisect_left(self._starts, hit[1] + reach)
        start = max(low, self._starts[before] if before >= 0 else self.body_start)
        end = min(high, self._starts[after] if after < len(self._starts) else len(self.text))
        return _blocks(self.text, start, end)

    def _end(self, index: int, level: int) -> int:
        """Where the section at a heading ends: at the next one of at most this level."""
        following = range(index + 1, len(self._headings))
        return next((self._starts[n] for n in following if self._headings[n].level <= level), len(self.text))


def _grow(
    note: _Structure, hit: Span, within: Span, limits: tuple[int, int], count: Callable[[str], int]
) -> Passage:
    """The hit with paragraphs above and below it, in turn, as long as they fit; `limits` are tokens in all
    and paragraphs on each side. Tokens are added up by paragraphs."""
    most, each_side = limits
    start, end = hit
    blocks = note.paragraphs(*within, hit, _MOST_CHARS_PER_TOKEN * most)
    above = [block for block in reversed(blocks) if block[0] < start]
    below = [block for block in blocks if block[1] > end]
    # The rest of a paragraph that the hit is a part of is no paragraph of its own.
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
    """The text of a span, without blank lines around it unless it is that of a chunk."""
    start, end = span if kind == "chunk" else trim(text, *span)
    first = text.count("\n", 0, start) + 1
    return Passage(kind, start, end, first, first + text.count("\n", start, end), text[start:end], name)


_FENCE_REACH = 32_768
"""Characters before a chunk that are read to know whether it begins in code. A rule of thumb."""


class RankedChunk(NamedTuple):
    """A chunk that an answer shows: its key, its score relative to the best one's, the reasons, its
    relevance, and the copies of its note."""

    key: int
    score: float
    why: Why
    relevance: float
    copies: tuple[str, ...] = ()


class HitBuilder:
    """Builds the hits of one vault for one answer from ranked chunks; nothing else makes a `Hit`.

    A search makes one for itself and uses it in its own thread, while it holds the snapshot. The builder
    reads chunks and notes from the catalog, makes the snippets, adds passages if an expansion is given, and
    with `stale` looks up (one `stat` a note) which files have changed since they were indexed. Where the
    vault has no folder it leaves the file system alone: no hit is stale then, and none has a URI.
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
        self._parents: set[tuple[int, int, int]] = set()
        self._in_obsidian = self._folder is not None and is_obsidian_vault(self._folder)

    def build(self, chunks: Iterable[RankedChunk]) -> dict[int, Hit]:
        """The hit of each chunk by its key, in order; none for a chunk that is gone. Raises
        QueryTimeoutError or QueryCancelledError at the deadline."""
        ranked = list(chunks)
        rows = self._catalog.chunks([one.key for one in ranked])
        notes = self._shown(self._catalog.notes({row.note_id for row in rows.values()}))
        self._catalog.outlines(notes)  # all at once; what the chunks need of them is then known
        stale = self._changed_files(note.path for note in notes.values())
        return dict(self._hits(ranked, rows, notes, stale))

    def of_files(self, paths: Sequence[str], score: float, why: Why) -> tuple[Hit, ...]:
        """One hit for each of these attachments, in order: it has a name and no text."""
        stale = self._changed_files(paths)
        known = self._catalog.files_at(paths)
        return tuple(self._of_file(known[path], score, why, stale) for path in paths if path in known)

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
        for one in ranked:
            self._deadline.check()
            if one.key in rows:
                row = rows[one.key]
                yield one.key, self._hit(one, row, notes[row.note_id], stale)

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
        text = self._catalog.text(row.note_id) if "]" in chunk.body or not chunk.header_path else ""
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
            passage=self._passage(row) if self._expansion else None,
            kind="canvas" if _is_canvas(note.path) else "note",
            relevance=ranked.relevance,
            language=note.language,
            vault=self._vault,
            copies=ranked.copies,
            chunk=chunk,
        )

    def _passage(self, row: ChunkRow) -> Passage:
        """The text around a hit; a parent is told by its first child alone."""
        assert self._expansion is not None
        found = passage_of(self._catalog, row, self._expansion)
        place = row.note_id, found.start_pos, found.end_pos
        if found.kind == "parent" and place in self._parents:
            return replace(found, text="")
        self._parents.add(place)
        return found

    def _shown(self, notes: dict[int, NoteRow]) -> dict[int, NoteRow]:
        """The notes with the titles that are shown: the file name where the title is a heading that several
        notes begin with, such as "Ingredients"."""
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
        """The headings that divide the chunk. Those of a canvas do not, as each holds in its card alone, and
        those of a source file are code."""
        start, end = row.chunk.start_pos, row.chunk.end_pos
        if _is_canvas(note.path) or language_of_path(note.path):
            return []
        found = self._catalog.headings_between(row.note_id, start, end)
        return [ChunkHeading(one.level, one.start - start, min(one.end, end) - start) for one in found]

    def _header_path(self, row: ChunkRow, headings: Sequence[ChunkHeading], offset: int) -> str:
        if not any(0 < heading.start <= offset for heading in headings):
            return row.chunk.header_path
        above = self._catalog.headings_above(row.note_id, row.chunk.start_pos + offset)
        return HEADER_SEPARATOR.join(heading.text for heading in above)

    def _fence(self, row: ChunkRow, note: NoteRow) -> str:
        """The mark of the code block that the chunk begins in, "" if it begins in none."""
        if language_of_path(note.path):
            return SOURCE_FENCE
        start = row.chunk.start_pos
        above = self._catalog.headings_above(row.note_id, start)
        section = above[-1].start if above else 0
        if section == start or _is_canvas(note.path):
            return ""
        return open_fence(self._catalog.text(row.note_id)[max(section, start - _FENCE_REACH) : start])

    def _changed_files(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of the notes whose file is not as it was indexed."""
        if self._folder is None or not self._stale:
            return frozenset()
        wanted = frozenset(paths)
        known = self._catalog.files_at(wanted)
        return wanted - {path for path, row in known.items() if is_unchanged(self._folder, row)}


def _is_canvas(path: str) -> bool:
    return kind_of(path) is FileKind.CANVAS


def is_obsidian_vault(vault: Path) -> bool:
    """Whether Obsidian has opened the folder as a vault."""
    return (vault / ".obsidian").is_dir()


@lru_cache(maxsize=4096)
def file_uri(vault: Path, path: str, *, in_obsidian: bool) -> str:
    """Opens the file in Obsidian, in whichever of its vaults holds the file, or as the system opens files.

    The form with an absolute, percent-encoded path needs no name of a vault.
    """
    file = vault / path
    return f"obsidian://open?path={quote(str(file), safe='')}" if in_obsidian else file.absolute().as_uri()
