"""The parser of each kind of file, and the versions that a manifest names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from types import MappingProxyType

from vault_indexer.model import FileKind, LinkStyle, Note, kind_of
from vault_indexer.parse.canvas import parse_canvas
from vault_indexer.parse.notes import parse_note
from vault_indexer.parse.readable import find_tasks

PARSE_VERSION = "18"
"""Increased whenever the same bytes produce a different `Note`, or different chunks with the same options, or
the same chunk is embedded with other text, or the catalog stores more of a note."""

PARSERS: Mapping[str, str] = MappingProxyType(
    {"tree-sitter-markdown": version("tree-sitter-markdown"), "vault-indexer": PARSE_VERSION}
)


def parse_any(path: str, data: bytes, style: LinkStyle = "obsidian") -> Note:
    """Parses a file of the vault by its kind, and unknown kinds as Markdown. Raises NoteError."""
    return parse_canvas(path, data) if kind_of(path) is FileKind.CANVAS else parse_note(path, data, style)


# A built-in note that tests whether the parser works on this Python.
#
# A fault of the regular expressions or of the grammar loses links or tags of every note without an error.


_SAMPLE = "---\ntags: [garden]\n---\n# Beds\n\n- [ ] Water [[Tomatoes|them]] before #summer/july\n"


def missing_from_sample() -> list[str]:
    """The missing results of parsing the sample: "links", "tags", "tasks", "headings", "properties"."""
    note = parse_note("sample.md", _SAMPLE.encode())
    is_found = {
        "links": [(link.target, link.display) for link in note.links] == [("Tomatoes", "them")],
        "tags": set(note.tags) == {"garden", "summer/july"},
        "tasks": len(list(find_tasks(note.text, note.body_start))) == 1,
        "headings": [heading.text for heading in note.headings] == ["Beds"],
        "properties": note.frontmatter == {"tags": ["garden"]},
    }
    return [kind for kind in is_found if not is_found[kind]]
