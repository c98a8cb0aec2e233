"""Builds the hits of a result from ranked chunks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, cast
from urllib.parse import quote

from vault_indexer.chunk import Span, trim
from vault_indexer.documents import part_at
from vault_indexer.model import (
    HEADER_SEPARATOR,
    Chunk,
    FileKind,
    FileRow,
    Heading,
    Hit,
    HitKind,
    JsonValue,
    NoteRow,
    Passage,
    Why,
    document_kind_of,
    kind_of,
    language_of_path,
)
from vault_indexer.parse import SOURCE_FENCE, link_labels, open_fence, property_text, stem
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.present.snippet import ChunkHeading, Snippet, Snippets
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import record
from vault_indexer.text.phrases import iso_time
from vault_indexer.vault.read import unchanged_files

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


@record
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


def passage_of(catalog: CatalogReader, note_id: int, chunk: Chunk, expansion: Expansion) -> Passage:
    """Returns the passage around a stored chunk, from the text of its note as indexed."""
    text, span = catalog.text(note_id), (chunk.start_pos, chunk.end_pos)
    if expansion.mode == "parent":
        if chunk.level == 0:
            return passage_at(text, span, "chunk", chunk.chunk_id)
        for other in catalog.chunks_of(note_id) if chunk.parent_id else ():
            if other.chunk.chunk_id == chunk.parent_id:
                whole = min(span[0], other.chunk.start_pos), max(span[1], other.chunk.end_pos)
                return passage_at(text, whole, "parent", chunk.parent_id)
    passage = expand(text, catalog.headings(note_id), span, expansion)
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
        # One deeper than any heading. Below, level 6 means that a heading of any level ends the section.
        level = 7
        for index in range(bisect_right(self._starts, hit[0]) - 1, -1, -1):
            # A sibling or a deeper heading, whose section has ended before the hit.
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
        # CommonMark: only a fence of at least the same length closes a block, and nothing may follow it.
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


class _ShownNote:
    """The values that all hits in a note share, each computed once."""

    def __init__(
        self,
        catalog: CatalogReader,
        row: NoteRow,
        text: str,
        sections: Sequence[Sequence[Heading]],
        fields: Mapping[str, JsonValue],
        *,
        stale: bool,
    ) -> None:
        self.row = row
        self.fields = fields
        self.stale = stale
        self.tags, self.aliases, self.frontmatter = row.tags, row.aliases, row.frontmatter
        self.modified_time = iso_time(row.mtime_ns)
        self.is_canvas = _kind_of(row.path) is FileKind.CANVAS
        document = _document_kind_of(row.path)
        self.is_document = document is not None
        self.kind: HitKind = (
            cast("HitKind", document.name) if document else "canvas" if self.is_canvas else "note"
        )
        self._is_source = bool(_language_of_path(row.path))
        self.labels = link_labels(text)
        self.body_start = body_start(text)
        self._text = text
        self._headings = [above[-1] for above in sections]
        self._starts = [heading.start for heading in self._headings]
        self._catalog = catalog

    def headings_of(self, chunk: Chunk) -> list[ChunkHeading]:
        """Returns the headings that divide the chunk. There are none in a canvas, where each heading applies
        only to its card, or in a source file, where they are code."""
        if self.is_canvas or self._is_source:
            return []
        start, end = chunk.start_pos, chunk.end_pos
        between = self._headings[slice(*(bisect_left(self._starts, pos) for pos in (start, end)))]
        return [ChunkHeading(one.level, one.start - start, min(one.end, end) - start) for one in between]

    def part(self, position: int) -> str:
        """Returns the part of the document at a position, such as "page 3"; "" if it has no parts."""
        return part_at(self.row.path, self._text, position)

    def header_path(self, chunk: Chunk, headings: Sequence[ChunkHeading], offset: int) -> str:
        """Returns the headings above an offset in the chunk, which `headings` divide."""
        if not any(0 < heading.start <= offset for heading in headings):
            return chunk.header_path
        above = self._catalog.headings_above(self.row.note_id, chunk.start_pos + offset)
        return HEADER_SEPARATOR.join(heading.text for heading in above)

    def fence_before(self, start: int) -> str:
        """Returns the fence of the code block that contains `start`, or "" if there is none."""
        if self._is_source:
            return SOURCE_FENCE
        above = bisect_right(self._starts, start)
        section = self._starts[above - 1] if above else 0
        if section == start or self.is_canvas:
            return ""
        return open_fence(self._text[max(section, start - _FENCE_REACH) : start])


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
        self._query = query
        self._catalog = query.snapshot.catalog
        self._folder = query.vault.folder
        self._snippets = snippets
        self._expansion = expansion
        self._stale = stale
        self._parents: set[tuple[int, int, int]] = set()
        self._editor = editor_of(self._folder, query.vault.editor) if self._folder else ""

    def build(self, chunks: Iterable[RankedChunk]) -> dict[int, Hit]:
        """Returns the hits by chunk key, in order, without chunks that are gone. Raises QueryTimeoutError or
        QueryCancelledError at the deadline."""
        ranked = list(chunks)
        rows = self._catalog.chunks([chunk.key for chunk in ranked])
        notes = self._shown_notes({row.note_id for row in rows.values()})
        hits: dict[int, Hit] = {}
        for chunk in ranked:
            if row := rows.get(chunk.key):
                self._query.deadline.check()
                hits[chunk.key] = self._hit(chunk, row.chunk, notes[row.note_id])
        return hits

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
            snippet=f"not read: {file.reason}" if file.reason else "",
            content="",
            modified_time=iso_time(file.mtime_ns),
            tags=(),
            stale=file.path in stale and file.state != "skipped",
            why=why,
            line=1,
            uri=self._uri(file.path),
            relevance=1.0,
            vault=self._query.vault.name,
            kind="base" if file.path.lower().endswith(".base") else "attachment",
        )

    def _hit(self, ranked: RankedChunk, chunk: Chunk, note: _ShownNote) -> Hit:
        headings, extra = note.headings_of(chunk), chunk.extra
        snippet = self._snippet(ranked, chunk, note, headings)
        part = note.part(chunk.start_pos + snippet.at) if note.is_document else ""
        line = chunk.start_line + chunk.body.count("\n", 0, snippet.at)
        return Hit(
            path=note.row.path,
            title=note.row.title,
            header_path=note.header_path(chunk, headings, snippet.at),
            chunk_id=chunk.chunk_id,
            chunk_index=chunk.chunk_index,
            start_pos=chunk.start_pos,
            end_pos=chunk.end_pos,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            score=ranked.score,
            snippet=snippet.text,
            content=chunk.content,
            modified_time=note.modified_time,
            tags=note.tags,
            stale=note.stale,
            why=ranked.why,
            aliases=note.aliases,
            frontmatter=note.frontmatter,
            fields=note.fields,
            marks=snippet.marks,
            line=line,
            part=part,
            uri=self._uri(note.row.path, part, line),
            strategy=chunk.strategy,
            level=chunk.level if extra else None,
            parent_id=chunk.parent_id if extra else "",
            sentence_ids=chunk.sentence_ids if extra else (),
            doc_id=chunk.doc_id,
            wikilinks=chunk.wikilinks,
            markdown_links=chunk.markdown_links,
            passage=self._passage(note.row.note_id, chunk) if self._expansion else None,
            kind=note.kind,
            relevance=ranked.relevance,
            language=note.row.language,
            vault=self._query.vault.name,
            copies=ranked.copies,
            chunk=chunk,
        )

    def _snippet(
        self, ranked: RankedChunk, chunk: Chunk, note: _ShownNote, headings: Sequence[ChunkHeading]
    ) -> Snippet:
        if (not chunk.header_path or "]" in chunk.body) and chunk.end_pos <= note.body_start:
            return Snippet("", (), 0)  # a note of properties alone has no text to show
        keyword, start, end = ranked.why.keyword, chunk.start_pos, chunk.end_pos
        chosen = self._query.chosen
        matches = chosen.places_in(note.row.note_id, start, end) if chosen else ()
        return self._snippets.of(
            chunk.body,
            keyword.terms if keyword else {},
            headings,
            note.fence_before(start),
            [(first - start, last - start) for first, last in matches],
            note.labels if "]" in chunk.body else frozenset(),
        )

    def _passage(self, note_id: int, chunk: Chunk) -> Passage:
        """Returns the passage around a hit. Only the first of several hits with one parent gets its text."""
        assert self._expansion is not None
        passage = passage_of(self._catalog, note_id, chunk, self._expansion)
        place = note_id, passage.start_pos, passage.end_pos
        if passage.kind == "parent" and place in self._parents:
            return replace(passage, text="")
        self._parents.add(place)
        return passage

    def _shown_notes(self, note_ids: set[int]) -> dict[int, _ShownNote]:
        rows = with_display_titles(self._catalog, self._catalog.notes(note_ids))
        stale = self._changed_files(row.path for row in rows.values())
        texts, sections = self._catalog.texts(rows), self._catalog.sections(rows)
        fields = self._catalog.fields(rows)
        return {
            note_id: _ShownNote(
                self._catalog,
                row,
                texts.get(note_id, ""),
                sections[note_id],
                fields.get(note_id, {}),
                stale=row.path in stale,
            )
            for note_id, row in rows.items()
        }

    def _uri(self, path: str, part: str = "", line: int = 1) -> str:
        if self._folder is None:
            return ""
        return file_uri(self._folder, path, part, line, editor=self._editor)

    def _changed_files(self, paths: Iterable[str]) -> frozenset[str]:
        if self._folder is None or not self._stale:
            return frozenset()
        distinct = frozenset(paths)
        files = self._catalog.files_at(distinct)
        return distinct - unchanged_files(self._folder, files.values())


def with_display_titles(catalog: CatalogReader, notes: Mapping[int, NoteRow]) -> dict[int, NoteRow]:
    """Returns the notes with their display titles. It is the file name if the title is a heading with which
    several notes begin, such as "Ingredients"."""
    shared = catalog.shared_titles(note.title for note in notes.values())
    return {
        number: replace(note, title=stem(note.path))
        if note.title in shared and not property_text(note.frontmatter, "title")
        else note
        for number, note in notes.items()
    }


_kind_of = lru_cache(maxsize=4096)(kind_of)
_document_kind_of = lru_cache(maxsize=4096)(document_kind_of)
_language_of_path = lru_cache(maxsize=4096)(language_of_path)


_EDITORS = {"vscode": "vscode://file{path}:{line}"}
"""What stands for a template, by its name in `page.editor`. Obsidian's addresses have their own form."""


def editor_of(vault: Path, setting: str) -> str:
    """Returns what opens the files of a vault: "obsidian", a template of addresses, or "" for the system's
    default program. Without a `setting`, that is Obsidian if it has opened the folder as a vault."""
    if setting:
        return _EDITORS.get(setting, setting)
    return "obsidian" if (vault / ".obsidian").is_dir() else ""


@lru_cache(maxsize=4096)
def file_uri(vault: Path, path: str, part: str = "", line: int = 1, *, editor: str) -> str:
    """Returns a URI that opens the file with an editor as `editor_of` returns it.

    Obsidian's form with an absolute, percent-encoded path does not need the name of the vault. The page of a
    PDF needs the other form.
    """
    file = vault / path
    page = f"#page={part.removeprefix('page ')}" if part.startswith("page ") else ""
    if editor == "obsidian" and page:
        return f"obsidian://open?vault={quote(vault.name, safe='')}&file={quote(path + page, safe='')}"
    if editor == "obsidian":
        return f"obsidian://open?path={quote(str(file), safe='')}"
    uri = file.absolute().as_uri()
    if not editor:
        return uri + page
    values = {"path": uri.removeprefix("file://"), "file": quote(path), "vault": quote(vault.name, safe="")}
    return editor.format(line=line, **values)
