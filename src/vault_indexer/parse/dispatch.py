"""Which parser reads which file, and the versions that a manifest names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from types import MappingProxyType

from vault_indexer.model import Note
from vault_indexer.parse.canvas import parse_canvas
from vault_indexer.parse.notes import parse_note

PARSE_VERSION = "10"
"""Raised whenever the same bytes give another `Note` than before or other chunks by the same options, or the
catalog keeps more of one."""

PARSERS: Mapping[str, str] = MappingProxyType(
    {"tree-sitter-markdown": version("tree-sitter-markdown"), "vault-indexer": PARSE_VERSION}
)


def parse_any(path: str, data: bytes) -> Note:
    """Parses a file of the vault by its extension: `.canvas`, else Markdown. Raises NoteError."""
    parser = parse_canvas if path.lower().endswith(".canvas") else parse_note
    return parser(path, data)
