"""The parser of each kind of file, and the versions that a manifest names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from types import MappingProxyType

from vault_indexer.model import FileKind, LinkStyle, Note, kind_of
from vault_indexer.parse.canvas import parse_canvas
from vault_indexer.parse.notes import parse_note

PARSE_VERSION = "14"
"""Increased whenever the same bytes produce a different `Note`, or different chunks with the same options, or
the catalog stores more of a note."""

PARSERS: Mapping[str, str] = MappingProxyType(
    {"tree-sitter-markdown": version("tree-sitter-markdown"), "vault-indexer": PARSE_VERSION}
)


def parse_any(path: str, data: bytes, style: LinkStyle = "obsidian") -> Note:
    """Parses a file of the vault by its kind, and unknown kinds as Markdown. Raises NoteError."""
    return parse_canvas(path, data) if kind_of(path) is FileKind.CANVAS else parse_note(path, data, style)
