"""The kinds of files, by their suffixes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class FileKind(StrEnum):
    """What a file of the vault is to the index: text to read, cards to read, or a target of links."""

    NOTE = "note"
    CANVAS = "canvas"
    ATTACHMENT = "attachment"


_SUFFIXES: Mapping[str, FileKind] = MappingProxyType(
    {".md": FileKind.NOTE, ".markdown": FileKind.NOTE, ".canvas": FileKind.CANVAS}
)
"""Of the files whose text is read; all others are attachments."""


def kind_of(path: str) -> FileKind:
    """The kind, by the extension alone, in any case."""
    lowered = path.lower()
    return _SUFFIXES.get(lowered[lowered.rfind(".") :], FileKind.ATTACHMENT)
