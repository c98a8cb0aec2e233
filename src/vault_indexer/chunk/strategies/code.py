"""`code`: functions and classes of fenced code and of source files, found by tree-sitter grammars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Code,
    Draft,
    Joiner,
    Outline,
    Ruler,
    Span,
    Splitter,
    Unit,
    assemble,
    blocks_of,
    fit,
    language_of,
    language_of_path,
    parser_for,
    read_code,
    ruler_for,
    trim,
)
from vault_indexer.config.tables.chunking_options import CodeOptions
from vault_indexer.model import Chunk, Element, ElementKind, JsonValue, Note
from vault_indexer.ports import Tokenizer

if TYPE_CHECKING:
    from tree_sitter import Parser

STRATEGY = "code"
_LONGEST_CONTEXT = 1000


@dataclass(frozen=True, slots=True)
class _Source:
    """A stretch of code in the note. `classes` have the position of their first line."""

    start: int
    end: int
    language: str
    parsed: bool
    is_ambiguous: bool = False
    borders: tuple[int, ...] = ()
    classes: tuple[Span, ...] = ()
    imports: tuple[Span, ...] = field(default=())


class CodeChunker:
    """Definitions begin chunks; prose around them is split at sections and blocks.

    `extra` of a chunk of code: `language`; without a grammar for it also `fallback` = "blocks".
    """

    strategy = STRATEGY

    def __init__(self, options: CodeOptions, tokenizer: Tokenizer | None = None) -> None:
        self._options = options
        self._tokenizer = tokenizer
        self._parsers: dict[str, Parser | None] = {}

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note."""
        options = self._options
        outline, blocks = Outline(note), blocks_of(note)
        ruler = ruler_for(note.text, options.size_unit, self._tokenizer)
        whole = language_of_path(note.path)
        if whole:
            blocks = [Element(ElementKind.CODE, *trim(note.text, note.body_start, len(note.text)), whole)]
            blocks = [block for block in blocks if block.end > block.start]
        sources = [
            self._source(note.text, ruler, b, fenced=not whole) for b in blocks if b.kind is ElementKind.CODE
        ]
        units = self._units(note, outline, blocks, sources)
        splitter = Splitter(
            outline, blocks, BlockSplitter(note.text, ruler, ruler.room(options.max_chunk_size)), 0
        )
        units = Joiner(ruler, options.min_chunk_size, options.max_chunk_size).join(units)
        drafts = splitter.split(units, minimum=0)
        described = self._describe(note.text, drafts, sources)
        return assemble(note, STRATEGY, fit(note.text, described, ruler, options.max_chunk_size), outline)

    def _units(
        self, note: Note, outline: Outline, blocks: list[Element], sources: list[_Source]
    ) -> list[Unit]:
        """Stretches between sections, blocks of code, and definitions within those."""
        borders = {block.start for block in blocks if block.kind is ElementKind.HEADING}
        for source in sources:
            borders.update((source.start, source.end, *source.borders))
        text = note.text
        spans = (trim(text, *span) for span in pairwise(sorted({note.body_start, len(text), *borders})))
        return [
            Unit(start, end, section.level if (section := outline.section(start)) else 0)
            for start, end in spans
            if end > start
        ]

    def _source(self, text: str, ruler: Ruler, block: Element, *, fenced: bool) -> _Source:
        named = language_of(block.language)
        language = named or (language_of(self._options.language) if self._options.language != "auto" else "")
        if language not in self._parsers:
            self._parsers[language] = parser_for(language)
        parser = self._parsers[language]
        if parser is None:
            return _Source(block.start, block.end, language, parsed=False)
        start, end = _content(text, block) if fenced else (block.start, block.end)
        content = text[start:end]
        code = read_code(parser, language, content.encode("utf-8"), self._options.include_docstrings)
        if code is None:
            return _Source(block.start, block.end, language, parsed=False, is_ambiguous=True)
        return self._place(text, ruler, block, (start, language, code))

    def _place(self, text: str, ruler: Ruler, block: Element, read: tuple[int, str, Code]) -> _Source:
        """The definitions as positions in the note, those that are to begin a chunk as borders."""
        start, language, code = read
        position = _Positions(text[start : block.end], start)
        limit = self._options.max_chunk_size
        fits = ruler.size(block.start, block.end) <= limit and self._options.preserve_code_blocks
        borders: list[int] = []
        classes: list[Span] = []
        for definition in code.definitions:
            begin, end = position(definition.start), position(definition.end)
            if definition.is_class:
                classes.append((begin, end))
            in_small_class = definition.depth > 0 and classes and ruler.size(*classes[-1]) <= limit
            wanted = (
                self._options.split_on_classes if definition.is_class else self._options.split_on_functions
            )
            if wanted and not fits and not in_small_class:
                borders.append(text.rfind("\n", 0, begin) + 1)
                borders.append(end)
        borders = [border for border in borders if block.start < border < block.end]
        imports = tuple((position(first), position(last)) for first, last in code.imports)
        return _Source(
            block.start,
            block.end,
            language,
            parsed=True,
            borders=tuple(borders),
            classes=tuple(classes),
            imports=imports,
        )

    def _describe(self, text: str, drafts: list[Draft], sources: list[_Source]) -> Iterator[Draft]:
        """The drafts, with what is known of the code that they begin with or hold."""
        index = 0
        for draft in drafts:
            while index < len(sources) and sources[index].end <= draft.start:
                index += 1
            source = sources[index] if index < len(sources) and sources[index].start < draft.end else None
            if source is None:
                yield draft
                continue
            extra: dict[str, JsonValue] = {"language": source.language}
            if not source.parsed:
                extra |= {"fallback": "blocks", "reason": _reason(source)}
            yield replace(draft, extra=extra, context=self._context(text, draft, source))

    def _context(self, text: str, draft: Draft, source: _Source) -> str:
        lines: list[str] = []
        if self._options.include_imports:
            missing = [text[a:b].strip() for a, b in source.imports if not draft.start <= a < draft.end]
            lines.extend(missing)
        if self._options.include_class_context:
            lines.extend(
                text[a:b].strip().partition("\n")[0] for a, b in source.classes if a < draft.start < b
            )
        return "\n".join(lines)[:_LONGEST_CONTEXT]


def _reason(source: _Source) -> str:
    if source.is_ambiguous:
        return "too ambiguous to parse"
    return f"no grammar for {source.language or 'code'}"


def _content(text: str, block: Element) -> Span:
    """The code of a fenced block, without its fences; of an indented one all of it."""
    if not text[block.start : block.end].lstrip().startswith(("```", "~~~")):
        return block.start, block.end
    first = text.find("\n", block.start, block.end)
    start = block.end if first < 0 else first + 1
    last = text.rfind("\n", start, block.end)
    closed = last >= 0 and text[last + 1 : block.end].strip().startswith(("```", "~~~"))
    return start, last if closed else block.end


class _Positions:
    """From byte offsets in a stretch of text, in any order, to positions in the note."""

    _STEP = 1024

    def __init__(self, text: str, start: int) -> None:
        self._start = start
        self._plain = text.isascii()
        self._encoded = b"" if self._plain else text.encode("utf-8")
        self._counts = [] if self._plain else self._character_counts()

    def __call__(self, offset: int) -> int:
        if self._plain:
            return self._start + offset
        step = offset // self._STEP
        return self._start + self._counts[step] + _characters(self._encoded[step * self._STEP : offset])

    def _character_counts(self) -> list[int]:
        counts = [0]
        for begin in range(0, len(self._encoded), self._STEP):
            counts.append(counts[-1] + _characters(self._encoded[begin : begin + self._STEP]))
        return counts


def _characters(encoded: bytes) -> int:
    """Characters that begin in a piece of UTF-8."""
    return sum(byte & 0xC0 != 0x80 for byte in encoded)
