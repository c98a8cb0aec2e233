"""What the part of a link after `#` points at inside its note."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vault_indexer.model import BlockId, Heading

# Obsidian leaves these out when it writes a link to a heading, since most cannot stand in one.
NOT_IN_LINKS = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
NOT_IN_SLUGS = re.compile(r"[^\w\- ]")

_REMEMBERED = 4096
"""Forms of headings: a table of contents asks for all headings of its note, once for each of its links."""


@dataclass(frozen=True, slots=True)
class Subpath:
    """The heading or block that a subpath names, or a `problem` (the link still leads to the note)."""

    start: int | None = None
    end: int | None = None
    line: int | None = None
    problem: str | None = None


def resolve_subpath(
    subpath: str, headings: Sequence[Heading], blocks: Sequence[BlockId], *, slugs: bool = False
) -> Subpath:
    """Finds `^id`, `Heading` or `Heading#Heading below it` in a note; the first match counts.

    `slugs` also accepts headings as web sites write them (`my-heading`): for Markdown links, which
    documentation outside Obsidian writes so.
    """
    parts = [part.strip() for part in subpath.split("#") if part.strip()]
    if not parts:
        return Subpath()
    if parts[-1].startswith("^"):
        wanted = parts[-1][1:].lower()
        for block in blocks:
            if block.id.lower() == wanted:
                return Subpath(block.start, block.end, block.line)
        return Subpath(problem=f"no block {parts[-1]}")
    for form in (_spelled, _linkable, *((_slug,) if slugs else ())):
        wanted_chain = [form(part) for part in parts]
        for heading, above in _with_ancestors(headings):
            if form(heading.text) != wanted_chain[-1]:
                continue
            if _contains([form(text) for text in (*above, heading.text)], wanted_chain):
                return Subpath(heading.start, heading.end, heading.line)
    return Subpath(problem=f"no heading {' > '.join(parts)}")


def _with_ancestors(headings: Sequence[Heading]) -> Iterator[tuple[Heading, tuple[str, ...]]]:
    above: list[Heading] = []
    for heading in headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        yield heading, tuple(parent.text for parent in above)
        above.append(heading)


def _contains(chain: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether `wanted` is a subsequence of `chain`."""
    rest = iter(chain)
    return all(part in rest for part in wanted)


@lru_cache(maxsize=_REMEMBERED)
def _spelled(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split())).lower()


@lru_cache(maxsize=_REMEMBERED)
def _linkable(text: str) -> str:
    return NOT_IN_LINKS.sub(" ", _spelled(text)).strip()


@lru_cache(maxsize=_REMEMBERED)
def _slug(text: str) -> str:
    return NOT_IN_SLUGS.sub("", _spelled(text)).replace(" ", "-")
