"""`code`: functions and classes of fenced code and of source files, found by tree-sitter grammars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from vault_indexer.chunk.cutting.assemble import Draft, DraftChunker, NoteLayout, Splitter, fit
from vault_indexer.chunk.cutting.grammars import Code, CodeReader, no_parser_reason
from vault_indexer.chunk.cutting.sections import Joiner, Unit
from vault_indexer.chunk.cutting.spans import Ruler, Span, trim
from vault_indexer.config.tables.chunking_options import CodeOptions
from vault_indexer.model import Element, ElementKind, JsonValue, language_of, language_of_path
from vault_indexer.ports import Tokenizer
from vault_indexer.system import record

_LONGEST_CONTEXT = 1000


@record
class _Definition:
    """A function or class with its span in the note. `name` begins with the names of the enclosing
    classes."""

    start: int
    end: int
    kind: str
    name: str


@record
class _Source:
    """A stretch of code in the note. `language` may be guessed from the text."""

    start: int
    end: int
    language: str
    parsed: bool
    is_ambiguous: bool = False
    is_guessed: bool = False
    borders: tuple[int, ...] = ()
    definitions: tuple[_Definition, ...] = ()
    imports: tuple[Span, ...] = ()


class CodeChunker(DraftChunker[CodeOptions]):
    """Definitions begin chunks; prose around them is split at sections and blocks.

    `extra` of a chunk of code: `language`, and `block_type` and `block_name` of the function or class that it
    begins with, or else is part of. Without a grammar also `fallback` = "blocks".
    """

    strategy = "code"

    def __init__(self, options: CodeOptions, tokenizer: Tokenizer | None = None) -> None:
        super().__init__(options, tokenizer)
        self._reader = CodeReader()

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        options, text, ruler, blocks = self._options, layout.text, layout.ruler, layout.blocks
        whole = language_of_path(layout.note.path)
        if whole:
            start, end = trim(text, *layout.body)
            blocks = [Element(ElementKind.CODE, start, end, whole)] if end > start else []
        sources = [
            self._source(text, ruler, b, fenced=not whole) for b in blocks if b.kind is ElementKind.CODE
        ]
        units = self._units(layout, blocks, sources)
        units = Joiner(ruler, options.min_chunk_size, options.max_chunk_size).join(units)
        splitter = Splitter(layout.outline, blocks, layout.splitter(options.max_chunk_size), 0)
        described = self._describe(text, splitter.split(units, minimum=0), sources)
        return fit(text, described, ruler, options.max_chunk_size)

    def _units(self, layout: NoteLayout, blocks: list[Element], sources: list[_Source]) -> list[Unit]:
        """Stretches between sections, blocks of code, and definitions within those. A stretch of only
        punctuation, such as the `;` after a definition, belongs to the previous one."""
        borders = {block.start for block in blocks if block.kind is ElementKind.HEADING}
        for source in sources:
            borders.update((source.start, source.end, *source.borders))
        text = layout.text
        units: list[Unit] = []
        for span in pairwise(sorted({*layout.body, *borders})):
            start, end = trim(text, *span)
            if units and not any(map(str.isalnum, text[start:end])):
                units[-1] = replace(units[-1], end=max(end, units[-1].end))
            elif end > start:
                section = layout.outline.section(start)
                units.append(Unit(start, end, section.level if section else 0))
        return units

    def _source(self, text: str, ruler: Ruler, block: Element, *, fenced: bool) -> _Source:
        start, end = _content(text, block) if fenced else (block.start, block.end)
        content = text[start:end]
        named = "" if self._options.language == "auto" else language_of(self._options.language)
        language = language_of(block.language) or named
        is_guessed = not language
        language = language or self._reader.guess(content)
        source = _Source(block.start, block.end, language, parsed=False, is_guessed=is_guessed)
        if not self._reader.can_read(language):
            return source
        code = self._reader.read(language, content, self._options.include_docstrings)
        if code is None:
            return replace(source, is_ambiguous=True)
        return self._place(text, ruler, source, start, code)

    def _place(self, text: str, ruler: Ruler, source: _Source, start: int, code: Code) -> _Source:
        """Converts definitions to positions in the note; those that begin a chunk become borders."""
        limit = self._options.max_chunk_size
        fits = ruler.size(source.start, source.end) <= limit and self._options.preserve_code_blocks
        borders: list[int] = []
        found: list[_Definition] = []
        around: list[_Definition] = []
        last_class: Span | None = None
        for definition in code.definitions:
            begin, end = start + definition.start, start + definition.end
            around = [one for one in around if begin < one.end]
            name = ".".join(filter(None, [*(one.name for one in around[-1:]), definition.name]))
            found.append(_Definition(begin, end, "class" if definition.is_class else "function", name))
            if definition.is_class:
                around.append(found[-1])
                last_class = begin, end
            in_small_class = definition.depth > 0 and last_class and ruler.size(*last_class) <= limit
            wanted = (
                self._options.split_on_classes if definition.is_class else self._options.split_on_functions
            )
            if wanted and not fits and not in_small_class:
                borders.append(text.rfind("\n", 0, begin) + 1)
                borders.append(end)
        return replace(
            source,
            parsed=True,
            borders=tuple(border for border in borders if source.start < border < source.end),
            definitions=tuple(found),
            imports=tuple((start + first, start + last) for first, last in code.imports),
        )

    def _describe(self, text: str, drafts: list[Draft], sources: list[_Source]) -> Iterator[Draft]:
        """The drafts, with a description of the code that they begin with or contain."""
        index = 0
        for draft in drafts:
            while index < len(sources) and sources[index].end <= draft.start:
                index += 1
            if index < len(sources) and sources[index].start < draft.end:
                facts = _facts(text, draft, sources[index])
                draft = replace(draft, extra=facts, context=self._context(text, draft, sources[index]))
            yield draft

    def _context(self, text: str, draft: Draft, source: _Source) -> str:
        lines: list[str] = []
        if self._options.include_imports:
            lines += [text[a:b].strip() for a, b in source.imports if not draft.start <= a < draft.end]
        if self._options.include_class_context:
            lines.extend(
                text[definition.start : definition.end].strip().partition("\n")[0]
                for definition in source.definitions
                if definition.kind == "class" and definition.start < draft.start < definition.end
            )
        return "\n".join(lines)[:_LONGEST_CONTEXT]


def _facts(text: str, draft: Draft, source: _Source) -> dict[str, JsonValue]:
    facts: dict[str, JsonValue] = {"language": source.language}
    if source.is_guessed and source.language:
        facts["language_guessed"] = True
    if not source.parsed:
        reason = "too ambiguous to parse" if source.is_ambiguous else no_parser_reason(source.language)
        return facts | {"fallback": "blocks", "reason": reason}
    own = _definition_of(text, draft, source)
    return facts | ({"block_type": own.kind, "block_name": own.name} if own else {"block_type": "module"})


def _definition_of(text: str, draft: Draft, source: _Source) -> _Definition | None:
    """The definition that a chunk begins with, or the innermost one around it, or else the first that it
    contains."""
    body = text[draft.start : draft.end]
    start = draft.end - len(body.lstrip())
    outer = [definition for definition in source.definitions if definition.start <= start < definition.end]
    inner = [one for one in source.definitions if start < one.start < draft.end]
    return outer[-1] if outer else (inner[0] if inner else None)


def _content(text: str, block: Element) -> Span:
    """The code of a fenced block without its fences, or all of an indented block."""
    if not text[block.start : block.end].lstrip().startswith(("```", "~~~")):
        return block.start, block.end
    first = text.find("\n", block.start, block.end)
    start = block.end if first < 0 else first + 1
    last = text.rfind("\n", start, block.end)
    closed = last >= 0 and text[last + 1 : block.end].strip().startswith(("```", "~~~"))
    return start, last if closed else block.end
