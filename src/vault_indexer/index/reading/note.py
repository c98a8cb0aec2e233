"""Converts the bytes of a file to a parsed note with its language."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from vault_indexer.chunk import CodeReader
from vault_indexer.config import Settings
from vault_indexer.errors import NoteError
from vault_indexer.model import Element, ElementKind, Heading, LinkStyle, Note, language_of_path
from vault_indexer.parse import decode, detect_style, parse_any, sections
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.text.language import detect_note
from vault_indexer.vault.walk import Scan

# Notes of source files. Their headings are their classes and functions, and they have no links.


_DEEPEST = 6
_NOT_BLANK = re.compile(r"[ \t]*\S")


def source_note(path: str, data: bytes) -> Note:
    """Return the note of a source file. The name of the file is its title, and also the heading of module
    code that follows a definition. Raises NoteError if the file is not text in UTF-8."""
    text, diagnostics = decode(path, data)
    name = path.rpartition("/")[2]
    headings = tuple(_headings(text, name, language_of_path(path)))
    whole = Element(ElementKind.CODE, 0, len(text.rstrip()), language_of_path(path))
    return Note(
        path=path,
        text=text,
        title=name,
        headings=headings,
        sections=sections(text, 0, len(text), headings),
        elements=(whole,) if text.strip() else (),
        diagnostics=diagnostics,
    )


def _headings(text: str, module: str, language: str) -> Iterator[Heading]:
    """Yield a heading for each named definition, from the comments above it to the line of its name."""
    code = CodeReader().read(language, text, with_comments=True)
    breaks = [found.start() for found in re.finditer("\n", text)]

    def heading(level: int, name: str, start: int, named: int) -> Heading:
        end = text.find("\n", named)
        return Heading(level, name, start, len(text) if end < 0 else end, bisect_left(breaks, start) + 1)

    def module_heading(start: int, end: int) -> Iterator[Heading]:
        """Yield the heading of the code between two definitions. Code before the first one needs none."""
        line = text.find("\n", start, end) + 1 if start else 0
        found = _NOT_BLANK.search(text, line, end) if line else None
        if found:
            begin = text.rfind("\n", 0, found.end()) + 1
            yield heading(1, module, begin, begin)

    end_of_last = 0
    for one in code.definitions if code else ():
        start = text.rfind("\n", 0, one.start) + 1
        if one.depth == 0:
            yield from module_heading(end_of_last, start)
            end_of_last = max(end_of_last, one.end)
        if one.name:
            yield heading(
                min(one.depth + 1, _DEEPEST), one.name, start, max(text.find(one.name, one.start), start)
            )
    yield from module_heading(end_of_last, len(text))


def parse_file(path: str, data: bytes, style: LinkStyle = "obsidian") -> Note:
    """Parse a note, canvas or source file, depending on its suffix. Raises NoteError."""
    return source_note(path, data) if language_of_path(path) else parse_any(path, data, style)


def note_from(path: str, data: bytes, style: LinkStyle = "obsidian") -> Note:
    """Parse a file and set its language, which is declared in the note or detected from its body. It is "" if
    the detection is unsure, and for a source file. Raises NoteError."""
    note = parse_file(path, data, style)
    if note.language or language_of_path(path):
        return note
    return replace(note, language=detect_note(note.text[note.body_start :]))


def reason_of(error: NoteError, path: str) -> str:
    """Return why the note at this path cannot be indexed, without the path, which the caller shows."""
    return str(error).removeprefix(f"{path}: ")


# The style of the links of a vault: the configured one, else the one that its files show.


def style_of_files(settings: Settings, found: Scan) -> LinkStyle:
    """Return the style for the files of a scan of the whole vault."""
    tops = {"/".join(file.path.split("/")[:depth]) for file in found.files for depth in (1, 2)}
    return detect_style(tops.__contains__) if settings.links.style == "auto" else settings.links.style


def style_of_catalog(settings: Settings, catalog: CatalogReader) -> LinkStyle:
    """Return the style for the files of a catalog."""
    return detect_style(catalog.exists) if settings.links.style == "auto" else settings.links.style
