"""What of a note is prose, sentence by sentence, and whether a text is fit to be a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vault_indexer.model import Element, ElementKind, Note
from vault_indexer.parse.plain import plain
from vault_indexer.text.function_words import is_function_word
from vault_indexer.text.sentences import sentences
from vault_indexer.text.tokens import RUN, WORD

_BLOCK_MARKS = re.compile(r"^[\s>]*(?:[-*+]|\d{1,9}[.)])?\s*(?:\[.\]\s+)?(?:\[![\w-]+\][+-]?)?\s*")
_NEXT_ITEM = re.compile(r"\n[\s>]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_QUOTE_SIGNS = re.compile(r"\n[ \t>]+")
_BLOCK_ID = re.compile(r"\s\^[\w-]+\s*$")
_WORDS = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")
_EMPTY_MARKUP = re.compile(r"(?:\*\*|__|~~|==|\*|_)\s+(?:\*\*|__|~~|==|\*|_)|\(\s*\)|“\s*”|\"\s+\"")
_SPACE_BEFORE_SIGN = re.compile(r"\s+([.,;:!?])(?!\w)")
_NOT_PROSE = re.compile(r"`|\{\{|\}\}|<%|%>|\$\$|\|.*\|")
"""Code, the placeholders of templates, formulas, rows of tables."""

_TEMPLATE_FOLDERS = frozenset({"template", "templates", "_templates", "vorlagen", "plantillas"})
_TEMPLATE = re.compile(r"<%[-_=*+\s]|\{\{\s*(?:title|date|time|content)\b[^}]*\}\}")
_CHARS_A_WORD = 2
"""Scripts without spaces: two characters are about a word."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a note's prose; positions are characters of the note's text."""

    start: int
    end: int
    in_paragraph: bool


def prose_sentences(note: Note) -> Iterator[Sentence]:
    """The sentences of paragraphs, list items and quotes: no headings, code, tables or HTML."""
    for element in note.elements:
        for block, is_paragraph in _blocks(element):
            for start, end in _pieces(note.text, block.start, block.end):
                for first, last in sentences(note.text[start:end]):
                    yield Sentence(start + first, start + last, is_paragraph)


def _blocks(element: Element) -> Iterator[tuple[Element, bool]]:
    if element.kind is ElementKind.PARAGRAPH:
        yield element, True
    elif element.kind is ElementKind.LIST:
        for part in element.parts:
            yield part, False
    elif element.kind in (ElementKind.QUOTE, ElementKind.ITEM):
        yield element, False


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of nested items."""
    at = start
    for match in _NEXT_ITEM.finditer(text, start, end):
        yield at, match.start()
        at = match.start() + 1
    yield at, end


def is_prose(text: str) -> bool:
    """Whether the source text of a sentence is free of code, formulas, tables and placeholders."""
    return not _NOT_PROSE.search(text) and "```" not in text and "~~~" not in text


def is_template(note: Note) -> bool:
    """Whether the note is a template: by its folder, or by what only a template holds."""
    folders = note.path.lower().split("/")[:-1]
    return not _TEMPLATE_FOLDERS.isdisjoint(folders) or _TEMPLATE.search(note.text) is not None


def as_query(source: str) -> str:
    """The source text as a person would type it: without marks of blocks and markup, on one line."""
    text = _QUOTE_SIGNS.sub("\n", _BLOCK_ID.sub("", _BLOCK_MARKS.sub("", source, count=1)))
    shown = _EMPTY_MARKUP.sub(" ", plain(text))
    return _SPACE_BEFORE_SIGN.sub(r"\1", _SPACE.sub(" ", shown)).strip()


def content_words(text: str, language: str) -> int:
    """How many words say something: not function words of the language, and not numbers alone.

    In scripts that write no spaces, two characters count as a word.
    """
    words = [word for word in WORD.findall(text) if any(map(str.isalpha, word)) and len(word) > 1]
    spaceless = sum(len(run) // _CHARS_A_WORD for run in RUN.findall(text))
    return sum(not is_function_word(word, language or "en") for word in words) + spaceless


def same(text: str) -> str:
    """The form in which two texts are the same: words alone, in small letters."""
    return " ".join(_WORDS.findall(text.casefold()))
