"""Resolves links to files: Obsidian's eleven rules as a pure function of the vault's paths.

Names are always compared by `normal`. `link_key` identifies the only event that can change a link's target: a
file with the same last component appears or disappears, in any folder.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from vault_indexer.model import BlockId, Heading
from vault_indexer.system import record

NOTE_SUFFIX = ".md"
_FINAL_SIGMA = "\u03c2"


@record
class Resolution:
    """The target of a link: a vault path, or None for an unresolved link.

    `ambiguous` contains every candidate (including the chosen one, shortest path first) if folder, length or
    alphabetical order had to decide between several; otherwise it is empty.
    """

    path: str | None
    ambiguous: tuple[str, ...] = ()


UNRESOLVED = Resolution(None)


def normal(text: str) -> str:
    """The form in which names of files and headings are compared: NFC, each character lowercased separately
    (`ß` is not `ss`), with the final sigma like any other. So a part of a path folds as it does within the
    path; `lower` of a whole text depends on the characters after a sigma."""
    if text.isascii():
        return text.lower()
    lowered = "".join(map(str.lower, unicodedata.normalize("NFC", text)))
    return unicodedata.normalize("NFC", lowered).replace(_FINAL_SIGMA, "σ")


def target_name(target: str) -> str:
    """The target of a link without surrounding spaces, which are not part of it."""
    return unicodedata.normalize("NFC", target).strip()


def link_key(target: str) -> str:
    """The normalised last component of a target or path, without `.md` and surrounding spaces.

    If a file appears or disappears, only links with its key can change their target.
    """
    name = target_name(normal(target_name(target)).rstrip("/").rpartition("/")[2])
    while name.endswith(NOTE_SUFFIX):
        name = name.removesuffix(NOTE_SUFFIX)
    return name


class VaultPaths:
    """The paths of all files of a vault, notes and attachments, looked up by exact path and by suffix."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._all: dict[str, str] = {}  # path -> normal path
        self._exact: dict[str, dict[str, None]] = {}  # normal path -> paths that differ in case only
        self._suffix: dict[str, dict[str, None]] = {}  # normal last and last two components -> paths
        self._ranked: dict[str, dict[str, tuple[str, ...]]] = {}  # link key -> form -> candidates
        self.add(*paths)

    def __contains__(self, path: object) -> bool:
        return path in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def add(self, *paths: str) -> frozenset[str]:
        """Adds files; returns the link keys whose links have to be resolved again."""
        new = [path for path in dict.fromkeys(paths) if path not in self._all]
        for path in new:
            key = normal(path)
            self._all[path] = key
            self._exact.setdefault(key, {})[path] = None
            for suffix in _suffixes(key):
                self._suffix.setdefault(suffix, {})[path] = None
        return self._changed(new)

    def remove(self, *paths: str) -> frozenset[str]:
        """Removes files; returns the link keys whose links have to be resolved again."""
        gone = [path for path in dict.fromkeys(paths) if path in self._all]
        for path in gone:
            key = self._all.pop(path)
            _drop(self._exact, key, path)
            for suffix in _suffixes(key):
                _drop(self._suffix, suffix, path)
        return self._changed(gone)

    def exact(self, form: str) -> Resolution:
        """The file at exactly this path; among files that differ only in case, the exact case wins."""
        variants = self._exact.get(normal(form), {})
        if len(variants) <= 1:
            return Resolution(next(iter(variants), None))
        spelled = [path for path in variants if unicodedata.normalize("NFC", path) == form]
        ranked = tuple(sorted(spelled or variants))
        return Resolution(ranked[0], () if spelled else ranked)

    def candidates(self, form: str) -> tuple[str, ...]:
        """Files whose path ends with the components of `form`: shortest first, then alphabetically.

        Of files that differ only in case, only those spelled like `form` are candidates.
        """
        key = normal(form)
        bucket = self._suffix.get("/".join(key.split("/")[-2:]))
        if not bucket:
            return ()
        known = self._ranked.setdefault(link_key(key), {})
        if form not in known:
            known[form] = self._rank(form, key, bucket)
        return known[form]

    def _rank(self, form: str, key: str, bucket: Iterable[str]) -> tuple[str, ...]:
        groups: dict[str, list[str]] = {}
        for path in bucket:
            full = self._all[path]
            if full == key or full.endswith("/" + key):
                groups.setdefault(full, []).append(path)
        chosen: list[str] = []
        for group in groups.values():
            spelled = [path for path in group if unicodedata.normalize("NFC", path).endswith(form)]
            chosen += spelled or group
        return tuple(sorted(chosen, key=lambda path: (len(path), path)))

    def _changed(self, paths: Iterable[str]) -> frozenset[str]:
        keys = frozenset(link_key(path) for path in paths)
        for key in keys:
            self._ranked.pop(key, None)
        return keys


def resolve(target: str, source: str, paths: VaultPaths) -> Resolution:
    """Resolves the target of a link in the note `source` (the subpath is not part of the target)."""
    target = target_name(target)
    if not target:
        return Resolution(source)
    anchored = _anchored(target, source)
    if anchored is None:
        return UNRESOLVED
    form, only_exact = anchored
    forms = _forms(form)
    # All forms first: an exact path in any form precedes a file that only ends with the target.
    for candidate in forms:
        found = paths.exact(candidate)
        if found.path is not None:
            return found
    if only_exact:
        return UNRESOLVED
    for candidate in forms:
        ranked = paths.candidates(candidate)
        if ranked:
            # Among several candidates, the source's own folder wins over the shortest path.
            own = _in_own_folder(candidate, source, ranked, paths)
            return Resolution(own or ranked[0], ranked if len(ranked) > 1 else ())
    return UNRESOLVED


def _in_own_folder(form: str, source: str, ranked: tuple[str, ...], paths: VaultPaths) -> str | None:
    """The candidate in the folder of the source, or at the target's path below its folder."""
    if len(ranked) == 1:
        return None
    folder = unicodedata.normalize("NFC", source).rpartition("/")[0]
    name = form.rpartition("/")[2]
    beside = f"{folder}/{name}"
    if normal(beside).endswith("/" + normal(form)):
        found = paths.exact(beside).path
        if found is not None:
            return found
    return paths.exact(f"{folder}/{form}").path


def _anchored(target: str, source: str) -> tuple[str, bool] | None:
    """The target without `.`, `..` and doubled slashes, and whether only exactly this path matches.

    None if it is outside the vault or names no file.
    """
    parts = target.split("/")
    relative = parts[0] in (".", "..")
    folder = unicodedata.normalize("NFC", source).split("/")[:-1] if relative else []
    for part in parts:
        if part == "..":
            if not folder:
                return None
            folder.pop()
        elif part not in ("", "."):
            folder.append(part)
    if not folder or parts[-1] in ("", ".", ".."):
        return None
    return "/".join(folder), relative or not parts[0]


def _forms(form: str) -> tuple[str, str]:
    """The file names that a target may mean: `.md` may be omitted, any other extension may not."""
    with_suffix = form + NOTE_SUFFIX
    return (form, with_suffix) if "." in form.rpartition("/")[2] else (with_suffix, form)


def _suffixes(key: str) -> set[str]:
    parts = key.split("/")
    return {parts[-1], "/".join(parts[-2:])}


def _drop(index: dict[str, dict[str, None]], key: str, path: str) -> None:
    bucket = index[key]
    del bucket[path]
    if not bucket:
        del index[key]


# Resolution of a link's subpath, the part after `#`, within its note.


# Obsidian omits these when it writes a link to a heading, since most are not allowed in one.
NOT_IN_LINKS = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
NOT_IN_SLUGS = re.compile(r"[^\w\- ]")

_Form = Callable[[str], str]


@record
class Subpath:
    """The heading or block that a subpath names, or a `problem` (the link still resolves to the note)."""

    start: int | None = None
    end: int | None = None
    line: int | None = None
    problem: str | None = None


_PART = re.compile(r"([a-z]+)=(\d+)(?:&|$)")
"""A part of a document, as the link `[[paper.pdf#page=3&selection=…]]` names it."""


class Anchors:
    """The possible targets of links into one note. Each form of its headings is computed once, for any number
    of links in a table of contents."""

    def __init__(self, headings: Sequence[Heading], blocks: Sequence[BlockId]) -> None:
        self._headings = headings
        self._parents = _parents(headings)
        self._blocks: dict[str, BlockId] = {}
        for block in blocks:
            self._blocks.setdefault(block.id.lower(), block)
        self._forms: dict[_Form, dict[str, list[int]]] = {}

    def find(self, subpath: str, *, slugs: bool = False) -> Subpath:
        """The position of `^id`, `Heading`, `Heading#Heading below it`, or a part of a document as `page=3`
        (`&` and the text after it are for the viewer); the first match wins.

        `slugs` also accepts headings as web sites write them (`my-heading`, `my-heading-1` for the second of
        that text): for Markdown links, which have this form in documentation outside Obsidian.
        """
        parts = [part.strip() for part in subpath.split("#") if part.strip()]
        if not parts:
            return Subpath()
        found: BlockId | Heading | None
        if parts[-1].startswith("^"):
            found, missing = self._blocks.get(parts[-1][1:].lower()), f"block {parts[-1]}"
        else:
            part = self._blocks.get(parts[-1].partition("&")[0].lower()) if "=" in parts[-1] else None
            found = part or self._heading(parts, slugs=slugs)
            numbered = _PART.match(parts[-1])
            missing = " ".join(numbered.groups()) if numbered else f"heading {' > '.join(parts)}"
        if found is None:
            return Subpath(problem=f"no {missing}")
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
        """The first heading with the last part's text below headings with the other parts' texts."""
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
        """The texts of the headings that enclose this one, outermost first."""
        found: list[str] = []
        parent = self._parents[index]
        while parent is not None:
            found.append(self._headings[parent].text)
            parent = self._parents[parent]
        return found[::-1]

    @cached_property
    def _numbered(self) -> dict[str, int]:
        """The slugs of all headings, made unique as on GitHub: `a`, `a-1`, `a-2` in order of appearance."""
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
    """For each heading, the index of its parent heading."""
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
