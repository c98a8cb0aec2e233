"""A built-in note that tests whether the parser works on this Python.

A fault of the regular expressions or of the grammar loses links or tags of every note without an error.
"""

from __future__ import annotations

from vault_indexer.model import Note
from vault_indexer.parse.notes import parse_note
from vault_indexer.parse.readable import find_tasks

_SAMPLE = "---\ntags: [garden]\n---\n# Beds\n\n- [ ] Water [[Tomatoes|them]] before #summer/july\n"


def missing_from_sample() -> list[str]:
    """The missing results of parsing the sample: "links", "tags", "tasks", "headings", "properties"."""
    note = parse_note("sample.md", _SAMPLE.encode())
    return [kind for kind, is_found in _findings(note).items() if not is_found]


def _findings(note: Note) -> dict[str, bool]:
    return {
        "links": [(link.target, link.display) for link in note.links] == [("Tomatoes", "them")],
        "tags": set(note.tags) == {"garden", "summer/july"},
        "tasks": len(list(find_tasks(note.text, note.body_start))) == 1,
        "headings": [heading.text for heading in note.headings] == ["Beds"],
        "properties": note.frontmatter == {"tags": ["garden"]},
    }
