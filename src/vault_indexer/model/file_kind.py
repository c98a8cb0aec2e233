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


# Programming languages by the names that people give them, and by the suffixes of source files.


_LANGUAGE_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {
        "python": "py pyi",
        "javascript": "js jsx mjs cjs",
        "typescript": "ts mts cts",
        "tsx": "tsx",
        "java": "java",
        "csharp": "cs",
        "cpp": "cpp cc cxx hpp hh",
        "c": "c h",
        "php": "php",
        "go": "go",
        "rust": "rs",
        "bash": "sh bash zsh",
    }
)
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "python": "python3",
        "javascript": "node",
        "csharp": "c#",
        "cpp": "c++",
        "go": "golang",
        "bash": "shell",
    }
)
SOURCE_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {f".{suffix}": name for name, row in _LANGUAGE_SUFFIXES.items() for suffix in row.split()}
)
"""Suffixes of source files that can be indexed, each with the language."""

_NAMES = MappingProxyType(
    {
        alias: name
        for table in (_LANGUAGE_SUFFIXES, _OTHER_NAMES)
        for name, row in table.items()
        for alias in row.split()
    }
)


def language_of(name: str) -> str:
    """The one name of a language, from an info string or a suffix; any other text in lower case."""
    folded = name.lower().strip("{}.")
    return _NAMES.get(folded, folded)


def language_of_path(path: str) -> str:
    """The language of a source file by its suffix; "" for any other file."""
    name = path.rpartition("/")[2].lower()
    return SOURCE_SUFFIXES.get(name[name.rfind(".") :], "") if "." in name[1:] else ""
