"""Queries that are a note's name, as typed into a quick switcher: that note first, at its beginning."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from quality.queries import Query

_FRONTMATTER = re.compile(r"\A---\s*\n(.*?)\n---\s*\n", re.DOTALL)
_HEADING = re.compile(r"\A\s*# +(.+?)\s*#*\s*$", re.MULTILINE)


def title_queries(vault: Path, most: int) -> tuple[Query, ...]:
    """The names of at most so many notes, chosen by a hash of the path.

    Kinds: `title` (the file's name), `alias`, `heading` (a first heading that differs from the file's name),
    and of these `lower case` and `no accents` where that changes them. Every note with the name is relevant.
    """
    names = {path.relative_to(vault).as_posix(): _names(path) for path in sorted(vault.rglob("*.md"))}
    holders = defaultdict(set)
    for path, own in names.items():
        for name in own:
            holders[_folded(name)].add(path)
    chosen = sorted(names, key=lambda path: hashlib.sha256(path.encode()).digest())[:most]
    queries: dict[str, Query] = {}
    for path in chosen:
        for name, kind in names[path].items():
            for text, spelling in _spellings(name, kind):
                queries.setdefault(
                    text, Query(spelling, text, dict.fromkeys(sorted(holders[_folded(name)]), 1))
                )
    return tuple(queries.values())


def _names(file: Path) -> dict[str, str]:
    """The kind of each name of a note."""
    text = file.read_text("utf-8", errors="replace")
    names = {file.stem: "title"}
    found = _FRONTMATTER.match(text)
    for alias in _aliases(found.group(1)) if found else ():
        names.setdefault(alias, "alias")
    heading = _HEADING.match(text[found.end() :] if found else text)
    if heading and not re.search(r"[\[\]`*_<>]", heading.group(1)):
        names.setdefault(heading.group(1), "heading")
    return names


def _aliases(frontmatter: str) -> Iterator[str]:
    """Those that a person types; "Folder/Name" is what a link was called before."""
    try:
        properties = yaml.safe_load(frontmatter)
    except yaml.YAMLError:
        return
    if isinstance(properties, Mapping) and isinstance(properties.get("aliases"), list):
        yield from (one for one in properties["aliases"] if isinstance(one, str) and "/" not in one)


def _spellings(name: str, kind: str) -> Iterator[tuple[str, str]]:
    yield name, kind
    yield name.lower(), "lower case"
    yield unaccented(name), "no accents"


def unaccented(name: str) -> str:
    """The name without accents."""
    return "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))


def _folded(name: str) -> str:
    return unaccented(name).casefold()
