"""Which files are indexed, which are only link targets, and which do not exist for the index.

One predicate for the walker and the watcher. A path is judged by the first of these that applies:

1. a folder above it is ignored: IGNORE, and it is never entered;
2. its name begins with a dot (so `.git`, `.obsidian`, `.trash`, `.stfolder`, `.stversions`, `.indexer.toml`,
   `.*.swp`, `.syncthing.*.tmp`), as Obsidian itself has it, or ends in `~`, or begins with `~$` or
   `~syncthing~` (lock and temporary files): IGNORE. No pattern brings these back;
3. `files.exclude` or `<vault>/.indexerignore` (gitignore syntax) matches: IGNORE. Each stands for itself: a
   `!pattern` in the vault never undoes an exclusion of the configuration;
4. it is an attachment: LINK_ONLY;
5. `files.include` is set and does not match, or one of Obsidian's own exclusions (`userIgnoreFilters` in
   `.obsidian/app.json`) does: LINK_ONLY, for Obsidian too keeps such notes linkable;
6. else INDEX.

`node_modules` and the like are not built in: a vault may well keep notes there, and one line excludes it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import NoteError, VaultError
from vault_indexer.vault.files import FileKind, kind_of
from vault_indexer.vault.patterns import MAX_PATH, compile_globs, compile_regex
from vault_indexer.vault.read import NoteVanished, read_note

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".indexerignore"
OBSIDIAN_APP_FILE = ".obsidian/app.json"
CONFIG_FILE = ".indexer.toml"
CONTROL_FILES = frozenset({IGNORE_FILE, OBSIDIAN_APP_FILE, CONFIG_FILE})

_RULES_VERSION = "1"
_MAX_IGNORE_BYTES = 256 * 1024
_MAX_APP_BYTES = 4 * 1024 * 1024
_MAX_CACHED_FOLDERS = 100_000


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
    """The predicate. `problems` names what could not be understood, `fingerprint` changes with the rules."""

    exclude: tuple[GitIgnoreSpec, ...] = ()
    include: GitIgnoreSpec | None = None
    link_only_prefixes: tuple[str, ...] = ()
    link_only_patterns: tuple[re.Pattern[str], ...] = ()
    fingerprint: str = ""
    problems: tuple[str, ...] = ()
    _folders: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)

    def decide(self, path: str, is_dir: bool) -> Decision:
        """What to do with a vault path; of a folder only whether it is entered (INDEX) or not (IGNORE)."""
        if is_dir:
            return Decision.IGNORE if self._is_ignored_folder(path) else Decision.INDEX
        parent, _, name = path.rpartition("/")
        if self._is_ignored_folder(parent) or self._is_ignored_here(path, name, is_dir=False):
            return Decision.IGNORE
        if kind_of(name) is FileKind.ATTACHMENT or self._is_link_only(path):
            return Decision.LINK_ONLY
        return Decision.INDEX

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
        if name.startswith((".", "~$", "~syncthing~")) or name.endswith("~"):
            return True
        candidate = f"{path}/" if is_dir else path
        return any(spec.match_file(candidate) for spec in self.exclude)

    def _is_link_only(self, path: str) -> bool:
        if self.include is not None and not self.include.match_file(path):
            return True
        if self.link_only_prefixes and path.startswith(self.link_only_prefixes):
            return True
        if not self.link_only_patterns:
            return False
        return len(path) > MAX_PATH or any(pattern.search(path) for pattern in self.link_only_patterns)


def load_ignore_rules(vault: Path, files: FilesSettings) -> IgnoreRules:
    """The active rules for the vault as it is now.

    Raises VaultError if `.indexerignore` is there but cannot be read: to go on without it would index what
    its owner excluded.
    """
    problems: list[str] = []
    ignored = _ignore_lines(vault, problems)
    filters = _obsidian_filters(vault, problems) if files.use_obsidian_filters else ()
    specs = (
        compile_globs(files.exclude, "files.exclude", problems),
        compile_globs(ignored, IGNORE_FILE, problems),
    )
    prefixes, patterns = _split_filters(filters, problems)
    return IgnoreRules(
        exclude=tuple(spec for spec in specs if spec is not None),
        include=compile_globs(files.include, "files.include", problems),
        link_only_prefixes=prefixes,
        link_only_patterns=patterns,
        fingerprint=_fingerprint(files.include, files.exclude, ignored, filters),
        problems=tuple(problems),
    )


def _fingerprint(*parts: Sequence[str]) -> str:
    described = json.dumps([_RULES_VERSION, *(list(part) for part in parts)])
    return hashlib.sha256(described.encode()).hexdigest()[:16]


def _ignore_lines(vault: Path, problems: list[str]) -> tuple[str, ...]:
    try:
        data = read_note(vault, IGNORE_FILE, _MAX_IGNORE_BYTES).data
    except NoteVanished:
        return ()
    except NoteError as error:
        raise VaultError(f"{vault / IGNORE_FILE}: {error}; what it excludes is unknown") from error
    text = data.decode("utf-8-sig", errors="replace")
    if "\ufffd" in text:
        problems.append(f"{IGNORE_FILE}: not all of it is UTF-8")
    return tuple(text.splitlines())


def _obsidian_filters(vault: Path, problems: list[str]) -> tuple[str, ...]:
    try:
        app = json.loads(read_note(vault, OBSIDIAN_APP_FILE, _MAX_APP_BYTES).data)
    except NoteVanished:
        return ()
    except NoteError as error:
        problems.append(f"{OBSIDIAN_APP_FILE}: {error}")
        return ()
    except (ValueError, RecursionError):
        problems.append(f"{OBSIDIAN_APP_FILE}: not valid JSON; its exclusions are not used")
        return ()
    found = app.get("userIgnoreFilters") if isinstance(app, dict) else None
    if not isinstance(found, list):
        return ()
    return tuple(item for item in found if isinstance(item, str) and item)


def _split_filters(
    filters: Sequence[str], problems: list[str]
) -> tuple[tuple[str, ...], tuple[re.Pattern[str], ...]]:
    prefixes: list[str] = []
    patterns: list[re.Pattern[str]] = []
    for item in filters:
        if len(item) > 2 and item[0] == item[-1] == "/":
            pattern = compile_regex(item[1:-1], OBSIDIAN_APP_FILE, problems)
            if pattern is not None:
                patterns.append(pattern)
        else:
            prefixes.append(item)
    return tuple(prefixes), tuple(patterns)
