"""Which file a link means: Obsidian's eleven rules as a pure function of the vault's paths.

Names are compared by `normal`, everywhere. `link_key` names the only thing that can change a link's outcome:
a file appearing or going under the same last component, whatever its folder.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

NOTE_SUFFIX = ".md"
_FINAL_SIGMA = "\u03c2"


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a link leads: a vault path, or None for an unresolved link.

    `ambiguous` holds every candidate (the chosen one too, shortest path first) if folder, length or
    alphabet had to decide between several; else it is empty.
    """

    path: str | None
    ambiguous: tuple[str, ...] = ()


UNRESOLVED = Resolution(None)


def normal(text: str) -> str:
    """How names of files and headings are compared: NFC, each character in lower case by itself (`ß` is not
    `ss`), and the final sigma as any other. So a part of a path is folded as it is within the path; the
    `lower` of a whole text looks at what follows a sigma."""
    if text.isascii():
        return text.lower()
    lowered = "".join(map(str.lower, unicodedata.normalize("NFC", text)))
    return unicodedata.normalize("NFC", lowered).replace(_FINAL_SIGMA, "σ")


def target_name(target: str) -> str:
    """The target of a link as it is resolved: blanks around it are not part of it."""
    return unicodedata.normalize("NFC", target).strip()


def link_key(target: str) -> str:
    """The normalised last component of a target or path, without `.md` and without blanks around it.

    If a file appears or goes, only links with its key can lead elsewhere than before.
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
        """The file at this very path; among files that differ in case only, exact case wins."""
        variants = self._exact.get(normal(form), {})
        if len(variants) <= 1:
            return Resolution(next(iter(variants), None))
        spelled = [path for path in variants if unicodedata.normalize("NFC", path) == form]
        ranked = tuple(sorted(spelled or variants))
        return Resolution(ranked[0], () if spelled else ranked)

    def candidates(self, form: str) -> tuple[str, ...]:
        """Files whose path ends with the components of `form`: shortest first, then alphabetically.

        Of files that differ in case only, those spelled as in `form` alone are candidates.
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
    """Where the target of a link in the note `source` leads (the subpath is not part of the target)."""
    target = target_name(target)
    if not target:
        return Resolution(source)
    anchored = _anchored(target, source)
    if anchored is None:
        return UNRESOLVED
    form, only_exact = anchored
    forms = _forms(form)
    for candidate in forms:
        found = paths.exact(candidate)
        if found.path is not None:
            return found
    if only_exact:
        return UNRESOLVED
    for candidate in forms:
        ranked = paths.candidates(candidate)
        if ranked:
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
    """The target without `.`, `..` and doubled slashes, and whether only this very path will do.

    None if it leads out of the vault or names no file.
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
    """The file names that a target may mean: `.md` may be left out, any other extension may not."""
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
