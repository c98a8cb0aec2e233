"""Which files are indexed, which are only link targets, and which do not exist for the index.

One predicate for the walker and the watcher. A path is judged by the first of these that applies:

1. a folder above it is ignored: IGNORE, and it is never entered;
2. its name begins with a dot (so `.git`, `.obsidian`, `.trash`, `.stfolder`, `.stversions`, `.indexer.toml`,
   `.*.swp`, `.syncthing.*.tmp`), as Obsidian itself has it, or ends in `~`, or begins with `~$` or
   `~syncthing~` (lock and temporary files): IGNORE. No pattern brings these back;
3. `files.exclude`, that of the vault's own configuration, or `<vault>/.indexerignore` (gitignore syntax)
   matches: IGNORE. Each stands for itself: a `!pattern` in the vault never undoes an exclusion of the user's;
4. it is an attachment, and no source file with a suffix of `files.sources`: LINK_ONLY;
5. `files.include`, or that of the vault's own configuration, is set and does not match, or one of Obsidian's
   own exclusions (`userIgnoreFilters` in `.obsidian/app.json`) does: LINK_ONLY, for Obsidian too keeps such
   notes linkable;
6. else INDEX.

`node_modules` and the like are not built in: a vault may well keep notes there, and one line excludes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import ConfigProblem, ExclusionError, in_one_line
from vault_indexer.model import FileKind, kind_of
from vault_indexer.patterns import GitignorePatterns
from vault_indexer.vault.exclusion_lists import (
    IGNORE_FILE,
    OBSIDIAN_APP_FILE,
    ExclusionLists,
    ObsidianFilters,
    compile_ignore_list,
    read_ignore_list,
    read_obsidian_filters,
)

CONFIG_FILE = ".indexer.toml"
CONTROL_FILES = frozenset({IGNORE_FILE, OBSIDIAN_APP_FILE, CONFIG_FILE})

_RULES_VERSION = "2"
_MAX_CACHED_FOLDERS = 100_000

Compiled = TypeVar("Compiled")


class Decision(StrEnum):
    """What the index does with a file."""

    INDEX = "index"
    """Its text is read and searched."""
    LINK_ONLY = "link_only"
    """Its path is known, so that links resolve; it is never read."""
    IGNORE = "ignore"
    """It does not exist for the index; an ignored folder is not entered."""


class PathRules(Protocol):
    """What walker and watcher ask; from several threads at once."""

    def decide(self, path: str, is_dir: bool) -> Decision:
        """What to do with a vault path; of a folder only whether it is entered (INDEX) or not (IGNORE)."""
        ...


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Decides whether a path is indexed, linkable or ignored, for walker and watcher alike. Any thread may
    ask.

    `fingerprint` changes with the rules, and `lists` are those of the vault that count. `problems`
    names what in the vault is not understood; then the former list of that file counts. Where the former
    lists are unknown, `known` says what an index does with each file: others stay out of it.
    """

    exclude: tuple[GitignorePatterns, ...] = ()
    include: tuple[GitignorePatterns, ...] = ()
    obsidian: ObsidianFilters = field(default_factory=ObsidianFilters)
    sources: tuple[str, ...] = ()
    lists: ExclusionLists = field(default_factory=ExclusionLists)
    known: Mapping[str, Decision] | None = None
    fingerprint: str = ""
    problems: tuple[ConfigProblem, ...] = ()
    _folders: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)

    @property
    def fault(self) -> str:
        """What is not understood, in one line; "" if there is nothing."""
        if not self.problems:
            return ""
        until = "the former ones stay active" if self.known is None else "no other file comes into the index"
        return f"exclusions are not understood, and {until} until they are: {in_one_line(self.problems)}"

    def decide(self, path: str, is_dir: bool) -> Decision:
        """What to do with a vault path; of a folder only whether it is entered (INDEX) or not (IGNORE)."""
        if is_dir:
            return Decision.IGNORE if self._is_ignored_folder(path) else Decision.INDEX
        parent, _, name = path.rpartition("/")
        if self._is_ignored_folder(parent) or self._is_ignored_here(path, name, is_dir=False):
            return Decision.IGNORE
        known = Decision.INDEX if self.known is None else self.known.get(path, Decision.IGNORE)
        if known is not Decision.INDEX:
            return known
        has_text = kind_of(name) is not FileKind.ATTACHMENT or name.lower().endswith(self.sources)
        if not has_text or self._is_link_only(path):
            return Decision.LINK_ONLY
        return Decision.INDEX

    def reason(self, path: str) -> str:
        """The list and the pattern that keep the text of a file out of the index; "" if none does."""
        ends = [at for at, char in enumerate(path) if char == "/"]
        for end in (*ends, len(path)):
            part, is_dir = path[:end], end < len(path)
            name = part.rpartition("/")[2]
            if _is_hidden(name):
                return f"names such as {name!r} are hidden or temporary files, as in Obsidian"
            for patterns in self.exclude:
                if line := patterns.matching_line(part, is_dir=is_dir):
                    return f"{patterns.source} excludes it by {line!r}"
        if not all(patterns.selects(path) for patterns in self.include):
            return "no pattern of files.include selects it"
        item = self.obsidian.matching_filter(path)
        return f"Obsidian's excluded files ({OBSIDIAN_APP_FILE}) have {item!r}" if item else ""

    def _is_ignored_folder(self, path: str) -> bool:
        # Upwards to the nearest folder that is known, then down again; a loop, for paths can be very deep.
        unknown: list[str] = []
        known: bool | None = None
        while path and (known := self._folders.get(path)) is None:
            unknown.append(path)
            path = path.rpartition("/")[0]
        ignored = bool(known)
        if len(self._folders) >= _MAX_CACHED_FOLDERS:
            self._folders.clear()
        for folder in reversed(unknown):
            name = folder.rpartition("/")[2]
            ignored = ignored or self._is_ignored_here(folder, name, is_dir=True)
            self._folders[folder] = ignored
        return ignored

    def _is_ignored_here(self, path: str, name: str, *, is_dir: bool) -> bool:
        return _is_hidden(name) or any(patterns.matches(path, is_dir=is_dir) for patterns in self.exclude)

    def _is_link_only(self, path: str) -> bool:
        return not all(patterns.selects(path) for patterns in self.include) or self.obsidian.matches(path)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$", "~syncthing~")) or name.endswith("~")


def load_ignore_rules(vault: Path, files: FilesSettings, former: IgnoreRules | None = None) -> IgnoreRules:
    """The active rules for the vault as it is now.

    If a list of the vault is not understood, what `former` says counts instead, and `problems` names it.
    Without `former`, and for patterns of the settings, it raises ExclusionError: to go on would index what
    its owner excluded.
    """
    problems: list[ConfigProblem] = []

    def read(now: Callable[[], Compiled], before: Callable[[ExclusionLists], Compiled]) -> Compiled:
        try:
            return now()
        except ExclusionError as error:
            problems.extend(error.problems)
            return before(former.lists if former is not None else ExclusionLists())

    ignored, patterns = read(
        partial(read_ignore_list, vault), lambda lists: (lists.ignored, compile_ignore_list(lists.ignored))
    )
    filters: tuple[str, ...] = ()
    obsidian = ObsidianFilters()
    if files.use_obsidian_filters:
        filters, obsidian = read(
            partial(read_obsidian_filters, vault),
            lambda lists: (lists.filters, ObsidianFilters(lists.filters)),
        )
    if problems and former is None:
        raise ExclusionError(problems)
    known = former.known if problems and former is not None else None
    own = (*files.include_lists, (), *files.exclude_lists, (), *filter(None, [files.sources]))
    return IgnoreRules(
        exclude=(*_compile(files.exclude_lists, "files.exclude"), *filter(None, [patterns])),
        include=_compile(files.include_lists, "files.include"),
        obsidian=obsidian,
        sources=files.sources,
        lists=ExclusionLists(ignored, filters),
        known=known,
        fingerprint=_fingerprint(*own, ignored, filters, () if known is None else ("known",)),
        problems=tuple(problems),
    )


def _compile(lists: Sequence[Sequence[str]], source: str) -> tuple[GitignorePatterns, ...]:
    return tuple(compile_ignore_list(patterns, source) for patterns in lists if patterns)


def _fingerprint(*parts: Sequence[str]) -> str:
    described = json.dumps([_RULES_VERSION, *(list(part) for part in parts)])
    return hashlib.sha256(described.encode()).hexdigest()[:16]
