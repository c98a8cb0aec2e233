"""Judged queries: a file a person can edit, and the split into a part to tune on and a part kept aside.

A file holds shorthands for paths, then queries, each with its kind and the notes that answer it:

    shorthand t = /tldr-pages+tldr/pages/*/{}.md

    para | shrink png images without losing quality
      2 t:oxipng t:optipng
      1 t:pngquant

2 is a note that answers, 1 one that helps. `{}` of a shorthand is replaced by what follows the colon, and
`*`, `?` and `[…]` match as in a shell (`*` also over `/`). Every path pattern must match a note of the vault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

TUNE, ASIDE = "tune", "aside"


@dataclass(frozen=True, slots=True)
class Query:
    """A query and what it should find: grades by item (a note's path, or a chunk's id)."""

    kind: str
    text: str
    grades: Mapping[str, int]

    @property
    def split(self) -> str:
        """By a hash of the text alone, so that nobody chose it."""
        return TUNE if hashlib.sha256(self.text.encode()).digest()[0] % 2 else ASIDE


@dataclass(slots=True)
class _Written:
    kind: str
    text: str
    patterns: list[tuple[int, str]] = field(default_factory=list)


def read_queries(file: Path, paths: Collection[str]) -> list[Query]:
    """The queries of a file, judged over the vault's paths. Raises ValueError naming the line at fault."""
    shorthands: dict[str, str] = {}
    written: list[_Written] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if words[0] == "shorthand":
            shorthands[words[1]] = line.split("=", 1)[1].strip()
        elif line[0] != " ":
            kind, _, text = line.partition("|")
            written.append(_Written(kind.strip(), text.strip()))
        else:
            for pattern in _patterns(words[1:], shorthands, f"{file.name}:{number}"):
                written[-1].patterns.append((int(words[0]), pattern))
    return [Query(one.kind, one.text, _grades(one.patterns, paths, one.text)) for one in written]


def _patterns(words: Sequence[str], shorthands: Mapping[str, str], where: str) -> Iterator[str]:
    for word in words:
        name, _, rest = word.partition(":")
        if name not in shorthands:
            raise ValueError(f"{where}: no shorthand {name!r} (there are {', '.join(shorthands)})")
        yield shorthands[name].replace("{}", rest)


def _grades(patterns: Sequence[tuple[int, str]], paths: Collection[str], text: str) -> dict[str, int]:
    """Where several patterns match a note, the first counts."""
    grades: dict[str, int] = {}
    for grade, pattern in patterns:
        matched = [path for path in paths if fnmatchcase(f"/{path}", pattern)]
        if not matched:
            raise ValueError(f"query {text!r}: no note matches {pattern}")
        for path in matched:
            grades.setdefault(path, grade)
    return grades
