"""The parser of each kind of file, and the versions that a manifest names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from types import MappingProxyType

from vault_indexer.model import FileKind, Note, kind_of
from vault_indexer.parse.canvas import parse_canvas
from vault_indexer.parse.notes import parse_note

PARSE_VERSION = "14"
"""Increased whenever the same bytes produce a different `Note`, or different chunks with the same options, or
the catalog stores more of a note."""

PARSERS: Mapping[str, str] = MappingProxyType(
    {"tree-sitter-markdown": version("tree-sitter-markdown"), "vault-indexer": PARSE_VERSION}
)


_PARSER_OF: Mapping[FileKind, Callable[[str, bytes], Note]] = MappingProxyType(
    {FileKind.NOTE: parse_note, FileKind.CANVAS: parse_canvas}
)


def parse_any(path: str, data: bytes) -> Note:
    """Parses a file of the vault by its kind, and unknown kinds as Markdown. Raises NoteError."""
    return _PARSER_OF.get(kind_of(path), parse_note)(path, data)
