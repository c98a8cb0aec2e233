"""Golden files rewritten in place: new values of citations, everything else as its author wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.errors import UsageError
from vault_indexer.evals.cases import CitationsExpected, ExpectedCitation, parse_case
from vault_indexer.system import write_atomically

if TYPE_CHECKING:
    import yaml

Edit = tuple[int, int, str]
"""A span of the text and what takes its place."""

_KEYS = ("path", "url", "heading", "block", "start", "end", "quote", "sha256")
_TRAILING_SPACE = re.compile(r"\s*\Z")
_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
"""What JSON leaves as it is and YAML reads as a line break, or refuses."""


def refresh_file(file: Path, citations: Mapping[int, ExpectedCitation]) -> None:
    """Replace the citations at these positions of the case in a file.

    Only values that differ are written. A text that is written, however it was written before, is in double
    quotes then; a byte order mark is dropped; nothing else is lost. The file is replaced at once.
    Raises UsageError if the file cannot be read or written, or would not hold these citations then.
    """
    try:
        text = file.read_bytes().decode("utf-8-sig")
        mode = file.stat().st_mode & 0o777
        fresh = refresh(text, citations)
        _check(fresh, file, citations)
        write_atomically(file, fresh.encode(), mode=mode)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be refreshed: {error}") from error


def refresh(text: str, citations: Mapping[int, ExpectedCitation]) -> str:
    """The text of a case with these citations, by position."""
    import yaml

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    listed = _value(_value(root, "expected"), "expected_citations")
    nodes = listed.value if isinstance(listed, yaml.SequenceNode) else []
    line_break = "\r\n" if "\r\n" in text else "\n"
    edits = [
        edit
        for position, citation in citations.items()
        if position < len(nodes)
        for edit in _edits(nodes[position], citation, text, line_break)
    ]
    for start, end, fresh in sorted(edits, reverse=True):
        text = text[:start] + fresh + text[end:]
    return text


def _edits(node: yaml.MappingNode, citation: ExpectedCitation, text: str, line_break: str) -> Iterator[Edit]:
    pairs = {str(key.value): (key, value) for key, value in node.value}
    added = []
    for name in _KEYS:
        value = getattr(citation, name)
        if name in pairs:
            old = pairs[name][1]
            if not _says(old, value):
                start, end = old.start_mark.index, old.end_mark.index
                # The node of a block of lines ends where the next line begins.
                trailing = _TRAILING_SPACE.search(text[start:end])
                yield start, end, _scalar(value) + (trailing[0] if trailing else "")
        elif value is not None and (value != "" or name == "heading"):
            added.append(f"{name}: {_scalar(value)}")
    if added:
        # In front of the second key, so that the note or page stays first.
        before = node.value[min(1, len(node.value) - 1)][0].start_mark
        behind = ", " if node.flow_style else line_break + " " * before.column
        yield before.index, before.index, "".join(f"{one}{behind}" for one in added)


def _value(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a key of a mapping."""
    import yaml

    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == name), None)


def _says(node: yaml.Node, value: str | int | None) -> bool:
    """Whether a scalar says this value already."""
    if value is None:
        return node.tag.endswith(":null")
    return str(node.value) == str(value) and not node.tag.endswith(":null")


def _scalar(value: str | int | None) -> str:
    """The value as YAML: a text in double quotes, which can hold any character."""
    quoted = json.dumps(value, ensure_ascii=False)
    return _SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _check(text: str, file: Path, citations: Mapping[int, ExpectedCitation]) -> None:
    """Whether the case in the text has these citations. Raises UsageError."""
    expected = parse_case(text, file).expected
    found = expected.expected_citations if isinstance(expected, CitationsExpected) else ()
    for position, wanted in citations.items():
        if position >= len(found) or found[position] != wanted:
            raise UsageError(f"{file}: expected.expected_citations.{position}: changed since it was checked")
