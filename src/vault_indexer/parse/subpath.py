"""What the part of a link after `#` points at inside its note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from vault_indexer.model import BlockId, Heading
from vault_indexer.parse.resolve import normal

# Obsidian leaves these out when it writes a link to a heading, since most cannot stand in one.
NOT_IN_LINKS = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
NOT_IN_SLUGS = re.compile(r"[^\w\- ]")

_Form = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Subpath:
    """The heading or block that a subpath names, or a `problem` (the link still leads to the note)."""

    start: int | None = None
    end: int | None = None
    line: int | None = None
    problem: str | None = None


class Anchors:
    """What links into one note can point at. Each form of its headings is made once, however many links
    a table of contents holds."""

    def __init__(self, headings: Sequence[Heading], blocks: Sequence[BlockId]) -> None:
        self._headings = headings
        self._parents = _parents(headings)
        self._blocks: dict[str, BlockId] = {}
        for block in blocks:
            self._blocks.setdefault(block.id.lower(), block)
        self._forms: dict[_Form, dict[str, list[int]]] = {}

    def find(self, subpath: str, *, slugs: bool = False) -> Subpath:
        """The place of `^id`, `Heading` or `Heading#Heading below it`; the first match counts.

        `slugs` also accepts headings as web sites write them (`my-heading`, `my-heading-1` for the second
        of that text): for Markdown links, which documentation outside Obsidian writes so.
        """
        parts = [part.strip() for part in subpath.split("#") if part.strip()]
        if not parts:
            return Subpath()
        if parts[-1].startswith("^"):
            block = self._blocks.get(parts[-1][1:].lower())
            if block is None:
                return Subpath(problem=f"no block {parts[-1]}")
            return Subpath(block.start, block.end, block.line)
        found = self._heading(parts, slugs=slugs)
        if found is None:
            return Subpath(problem=f"no heading {' > '.join(parts)}")
        return Subpath(found.start, found.end, found.line)

    def _heading(self, parts: Sequence[str], *, slugs: bool) -> Heading | None:
        for form in (_spell, _linkable):
            if found := self._below(form, parts):
                return found
        if not slugs:
            return None
        if len(parts) == 1:
            index = self._numbered.get(_slug(parts[0]))
            return None if index is None else self._headings[index]
        return self._below(_slug, parts)

    def _below(self, form: _Form, parts: Sequence[str]) -> Heading | None:
        """The first heading of the last part's text that stands below headings of the other parts' texts."""
        if form not in self._forms:
            indices: dict[str, list[int]] = {}
            for index, heading in enumerate(self._headings):
                indices.setdefault(form(heading.text), []).append(index)
            self._forms[form] = indices
        *above, last = map(form, parts)
        for index in self._forms[form].get(last, ()):
            if not above or _contains(map(form, self._above(index)), above):
                return self._headings[index]
        return None

    def _above(self, index: int) -> Sequence[str]:
        """The texts of the headings that this one stands below, outermost first."""
        found: list[str] = []
        parent = self._parents[index]
        while parent is not None:
            found.append(self._headings[parent].text)
            parent = self._parents[parent]
        return found[::-1]

    @cached_property
    def _numbered(self) -> dict[str, int]:
        """The slugs of all headings, told apart as GitHub does: `a`, `a-1`, `a-2` in order of appearance."""
        found: dict[str, int] = {}
        counts: dict[str, int] = {}
        for index, heading in enumerate(self._headings):
            slug = name = _slug(heading.text)
            while name in found:
                counts[slug] = counts.get(slug, 0) + 1
                name = f"{slug}-{counts[slug]}"
            found[name] = index
        return found


def _parents(headings: Sequence[Heading]) -> list[int | None]:
    """Of each heading, the index of the heading that it stands below."""
    parents: list[int | None] = []
    open_headings: list[int] = []
    for index, heading in enumerate(headings):
        while open_headings and headings[open_headings[-1]].level >= heading.level:
            open_headings.pop()
        parents.append(open_headings[-1] if open_headings else None)
        open_headings.append(index)
    return parents


def _contains(chain: Iterable[str], wanted: Sequence[str]) -> bool:
    """Whether `wanted` is a subsequence of `chain`."""
    rest = iter(chain)
    return all(part in rest for part in wanted)


def _spell(text: str) -> str:
    return normal(" ".join(text.split()))


def _linkable(text: str) -> str:
    return NOT_IN_LINKS.sub(" ", _spell(text)).strip()


def _slug(text: str) -> str:
    return NOT_IN_SLUGS.sub("", _spell(text)).replace(" ", "-")
