"""Decides which files are indexed, which are only link targets, and which are ignored.

The walker and the watcher use the same rules. The first of these rules that applies to a path decides:

1. a folder above it is ignored: IGNORE, and it is never entered;
2. its name begins with a dot (so `.git`, `.obsidian`, `.trash`, `.stfolder`, `.stversions`, `.indexer.toml`,
   `.*.swp`, `.syncthing.*.tmp`), as Obsidian itself has it, or ends in `~`, or begins with `~$` or
   `~syncthing~` (lock and temporary files): IGNORE. No pattern brings these back;
3. `files.exclude`, that of the vault's own configuration, or `<vault>/.indexerignore` (gitignore syntax)
   matches: IGNORE. Each list is independent: a `!pattern` in the vault never undoes an exclusion of the user;
4. it is an attachment, and no source file with a suffix of `files.sources`: LINK_ONLY;
5. `files.include`, or that of the vault's own configuration, is set and does not match, or one of Obsidian's
   own exclusions (`userIgnoreFilters` in `.obsidian/app.json`) does: LINK_ONLY, because Obsidian also keeps
   such notes linkable;
6. otherwise: INDEX.

`node_modules` and similar folders are not ignored by default: they may contain notes, and one line excludes
them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, TypeVar

from vault_indexer.config.settings import DocumentsSettings, FilesSettings
from vault_indexer.errors import ConfigProblem, ExclusionError, NoteError, in_one_line
from vault_indexer.model import DOCUMENT_KINDS, DocumentKind, FileKind, kind_of
from vault_indexer.patterns import (
    ExpressionSet,
    GitignorePatterns,
    PatternError,
    javascript_expression,
    parse_pattern,
)
from vault_indexer.system import record
from vault_indexer.vault.read import NoteVanished, read_note, resolve_in_vault

# The exclusions in a vault: `.indexerignore`, and Obsidian's in `.obsidian/app.json`.
#
# Anyone with access to the vault can write them, and the excluded notes may be private. So they are matched
# in linear time, and a list with a part that cannot be parsed is an error: the rest alone would index notes
# that their owner excluded.


IGNORE_FILE = ".indexerignore"
OBSIDIAN_APP_FILE = ".obsidian/app.json"

_MAX_IGNORE_BYTES = 256 * 1024
_MAX_APP_BYTES = 4 * 1024 * 1024
_MAX_FILTERS = 1000
_MAX_FILTER_CHARS = 64 * 1024
_FILTERS_KEY = "userIgnoreFilters"
_ADVICE = "what it excludes is unknown"
_SHOWN_CHARS = 80

Compiled = TypeVar("Compiled")


@record
class ExclusionLists:
    """The texts of both lists in order: the lines of `.indexerignore`, and Obsidian's filters."""

    ignored: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()


class ObsidianFilters:
    """Obsidian's "Excluded files": path prefixes, and regular expressions between slashes."""

    def __init__(self, filters: Sequence[str] = (), source: str = "") -> None:
        """`source` is the text that contains the filters. Raises ExclusionError."""
        if len(filters) > _MAX_FILTERS or sum(map(len, filters)) > _MAX_FILTER_CHARS:
            bounds = f"{_MAX_FILTERS:,} filters of {_MAX_FILTER_CHARS:,} characters"
            reason = f"at most {bounds} together are understood"
            raise ExclusionError([_app_problem(reason, _FILTERS_KEY)])
        expressions, problems = [], []
        for item in filters:
            try:
                if _is_expression(item):
                    # Obsidian compiles them as JavaScript's RegExp.
                    expressions.append(javascript_expression(item[1:-1]))
            except PatternError as error:
                problems.append(_problem(OBSIDIAN_APP_FILE, _line_of(item, source), item, str(error)))
        if problems:
            raise ExclusionError(problems)
        self._sources = [item for item in filters if _is_expression(item)]
        self._prefixes = tuple(item for item in filters if item and not _is_expression(item))
        try:
            self._expressions = ExpressionSet(list(enumerate(expressions)), whole=False)
        except PatternError as error:
            raise ExclusionError([_problem(OBSIDIAN_APP_FILE, _FILTERS_KEY, "", str(error))]) from error

    def matches(self, path: str) -> bool:
        return bool(self.matching_filter(path))

    def matching_filter(self, path: str) -> str:
        """Returns the filter that excludes this file; "" if none does."""
        if path.startswith(self._prefixes):
            return next(prefix for prefix in self._prefixes if path.startswith(prefix))
        last = self._expressions.last_match(path)
        return self._sources[last] if last >= 0 else ""


def read_ignore_list(vault: Path) -> tuple[tuple[str, ...], GitignorePatterns]:
    """Returns the lines of `.indexerignore`, split as git does, and their matcher. Raises ExclusionError."""
    try:
        data = read_note(vault, IGNORE_FILE, _MAX_IGNORE_BYTES).data
    except NoteVanished:
        return (), GitignorePatterns(())
    except NoteError as error:
        raise ExclusionError([_problem(IGNORE_FILE, "the file", "", f"{error}; {_ADVICE}")]) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ExclusionError(
            [_problem(IGNORE_FILE, f"line {line}", "", f"is not UTF-8; {_ADVICE}")]
        ) from error
    # Not `splitlines`, which also divides at characters that git takes for part of a pattern.
    lines = tuple(line.removesuffix("\r") for line in text.split("\n"))
    return lines, compile_ignore_list(lines)


def compile_ignore_list(lines: Sequence[str], source: str = IGNORE_FILE) -> GitignorePatterns:
    """Compiles `.gitignore` patterns. Raises ExclusionError with each line that cannot be parsed."""
    problems = []
    for number, line in enumerate(lines, start=1):
        try:
            parse_pattern(line)
        except PatternError as error:
            problems.append(_problem(source, f"line {number}", line, str(error)))
    if problems:
        raise ExclusionError(problems)
    try:
        return GitignorePatterns(lines, source)
    except PatternError as error:
        raise ExclusionError([_problem(source, "all lines", "", str(error))]) from error


def read_obsidian_filters(vault: Path) -> tuple[tuple[str, ...], ObsidianFilters]:
    """Returns Obsidian's filters and their matcher. Raises ExclusionError."""
    try:
        text = read_note(vault, OBSIDIAN_APP_FILE, _MAX_APP_BYTES).data.decode("utf-8-sig")
        app = json.loads(text)
    except NoteVanished:
        return (), ObsidianFilters()
    except NoteError as error:
        raise ExclusionError([_app_problem(str(error))]) from error
    except UnicodeDecodeError as error:
        raise ExclusionError([_app_problem("is not UTF-8")]) from error
    except (ValueError, RecursionError) as error:
        line = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "the file"
        raise ExclusionError([_app_problem("is not valid JSON", line)]) from error
    filters = app.get(_FILTERS_KEY) or [] if isinstance(app, dict) else None
    if not isinstance(filters, list) or not all(isinstance(item, str) for item in filters):
        raise ExclusionError([_app_problem("is not a list of texts", _FILTERS_KEY)])
    return tuple(filters), ObsidianFilters(filters, text)


def _is_expression(item: str) -> bool:
    return len(item) > 2 and item[0] == item[-1] == "/"


def _line_of(item: str, source: str) -> str:
    """Returns the location of the filter in the file: its line, if it is formatted as by JSON.stringify."""
    at = source.find(json.dumps(item, ensure_ascii=False))
    return f"line {source.count(chr(10), 0, at) + 1}" if at >= 0 else _FILTERS_KEY


def _app_problem(reason: str, where: str = "the file") -> ConfigProblem:
    advice = f"{_ADVICE}; correct it, or set files.use_obsidian_filters = false in your own configuration"
    return _problem(OBSIDIAN_APP_FILE, where, "", f"{reason}; {advice}")


def _problem(source: str, where: str, pattern: str, reason: str) -> ConfigProblem:
    shown = pattern if len(pattern) <= _SHOWN_CHARS else f"{pattern[:_SHOWN_CHARS]}…"
    return ConfigProblem(where, ascii(shown) if pattern else "", reason, source)


CONFIG_FILE = ".indexer.toml"
CONTROL_FILES = frozenset({IGNORE_FILE, OBSIDIAN_APP_FILE, CONFIG_FILE})

# Raised when the same patterns exclude other files, so that the fingerprint differs.
_RULES_VERSION = "2"
_MAX_CACHED_FOLDERS = 100_000


class Decision(StrEnum):
    """The treatment of a file by the index."""

    INDEX = "index"
    """Its text is read and searched."""
    LINK_ONLY = "link_only"
    """Its path is stored so that links resolve; it is never read."""
    IGNORE = "ignore"
    """It is not in the index at all; an ignored folder is not entered."""


class PathRules(Protocol):
    """The rules as the walker and the watcher use them. Thread-safe."""

    def decide(self, path: str, is_dir: bool) -> Decision:
        """What to do with a vault path; of a folder only whether it is entered (INDEX) or not (IGNORE)."""
        ...


@record
class IgnoreRules:
    """Decides whether a path is indexed, linkable or ignored, for walker and watcher alike. Thread-safe.

    `fingerprint` changes with the rules, and `lists` are those of the vault that count. `problems` lists what
    cannot be parsed in the vault; the previous list of that file is then used. If the previous lists are
    unknown, `known` contains the decision of an index for each file: others stay out of it.
    """

    exclude: tuple[GitignorePatterns, ...] = ()
    include: tuple[GitignorePatterns, ...] = ()
    obsidian: ObsidianFilters = field(default_factory=ObsidianFilters)
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    document_folders: GitignorePatterns | None = None
    lists: ExclusionLists = field(default_factory=ExclusionLists)
    known: Mapping[str, Decision] | None = None
    fingerprint: str = ""
    problems: tuple[ConfigProblem, ...] = ()
    _folders: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)

    @property
    def fault(self) -> str:
        """One line about the exclusions that cannot be parsed; "" if there are none."""
        if not self.problems:
            return ""
        until = "the former ones stay active" if self.known is None else "no new files are indexed"
        return (
            f"some exclusions are invalid, and {until} until they are corrected: {in_one_line(self.problems)}"
        )

    def decide(self, path: str, is_dir: bool) -> Decision:
        """What to do with a vault path; of a folder only whether it is entered (INDEX) or not (IGNORE)."""
        if is_dir:
            return Decision.IGNORE if self._is_ignored_folder(path) else Decision.INDEX
        # As in git, a file in an ignored folder cannot be included again.
        parent, _, name = path.rpartition("/")
        if self._is_ignored_folder(parent) or self._is_ignored_here(path, name, is_dir=False):
            return Decision.IGNORE
        known = Decision.INDEX if self.known is None else self.known.get(path, Decision.IGNORE)
        if known is not Decision.INDEX:
            return known
        is_included = all(patterns.selects(path) for patterns in self.include)
        if is_included and self._has_text(path, name) and not self.obsidian.matches(path):
            return Decision.INDEX
        return Decision.LINK_ONLY

    def _has_text(self, path: str, name: str) -> bool:
        match kind_of(name):
            case FileKind.ATTACHMENT:
                return name.lower().endswith(self.sources)
            case FileKind.DOCUMENT:
                is_here = self.document_folders is None or self.document_folders.selects(path)
                return is_here and name.lower().endswith(self.documents)
            case _:
                return True

    def reason(self, path: str) -> str:
        """Returns the list and the pattern that exclude a file from the index, as text; "" if none does."""
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
        # Go up to the nearest folder with a known decision, then down again. This is a loop and not a
        # recursion, because paths can be very deep.
        unknown: list[str] = []
        known: bool | None = None
        while path and (known := self._folders.get(path)) is None:
            unknown.append(path)
            path = path.rpartition("/")[0]
        ignored = bool(known)
        if len(self._folders) >= _MAX_CACHED_FOLDERS:
            # Emptied as a whole: a walk goes folder by folder, so the entries in use are soon there again.
            self._folders.clear()
        for folder in reversed(unknown):
            name = folder.rpartition("/")[2]
            ignored = ignored or self._is_ignored_here(folder, name, is_dir=True)
            self._folders[folder] = ignored
        return ignored

    def _is_ignored_here(self, path: str, name: str, *, is_dir: bool) -> bool:
        return _is_hidden(name) or any(patterns.matches(path, is_dir=is_dir) for patterns in self.exclude)


def _is_hidden(name: str) -> bool:
    # Hidden files, lock files of Office, temporary files of Syncthing, and backups of editors.
    return name.startswith((".", "~$", "~syncthing~")) or name.endswith("~")


def load_ignore_rules(vault: Path, files: FilesSettings, former: IgnoreRules | None = None) -> IgnoreRules:
    """Loads the active rules of the vault.

    If a list of the vault cannot be parsed, that of `former` is used instead, and `problems` reports it.
    Raises ExclusionError without `former`, and for patterns of the settings: the index would otherwise
    contain notes that their owner excluded.
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
    documents, folders = readable_suffixes(files.documents.chosen), files.documents.folders
    # The empty parts separate the lists: a pattern that moves from one to another changes the rules.
    own = (*files.include_lists, (), *files.exclude_lists, (), *filter(None, [files.sources]))
    own += (documents, folders)
    return IgnoreRules(
        exclude=(*_compile(files.exclude_lists, "files.exclude"), *filter(None, [patterns])),
        include=_compile(files.include_lists, "files.include"),
        obsidian=obsidian,
        sources=files.sources,
        documents=documents,
        document_folders=compile_ignore_list(folders, "documents.folders") if folders else None,
        lists=ExclusionLists(ignored, filters),
        known=known,
        fingerprint=_fingerprint(*own, ignored, filters, () if known is None else ("known",)),
        problems=tuple(problems),
    )


def readable_suffixes(kinds: Collection[str]) -> tuple[str, ...]:
    """The suffixes of these kinds of documents, without kinds whose library is not installed."""
    missing = kinds_without_library(kinds)
    chosen = (kind for kind in DOCUMENT_KINDS if kind.name in kinds and kind not in missing)
    return tuple(suffix for kind in chosen for suffix in kind.suffixes)


def kinds_without_library(kinds: Collection[str]) -> tuple[DocumentKind, ...]:
    """Those of the kinds that cannot be read because their library is not installed."""
    return tuple(
        kind
        for kind in DOCUMENT_KINDS
        if kind.name in kinds and kind.library and not is_installed(kind.library)
    )


def can_recognise(documents: DocumentsSettings) -> bool:
    """Returns whether recognition of text in images is enabled and its extra is installed."""
    return documents.ocr and is_installed("rapidocr", "onnxruntime")


@cache
def is_installed(*modules: str) -> bool:
    return all(find_spec(module) for module in modules)


def _compile(lists: Sequence[Sequence[str]], source: str) -> tuple[GitignorePatterns, ...]:
    return tuple(compile_ignore_list(patterns, source) for patterns in lists if patterns)


def _fingerprint(*parts: Sequence[str]) -> str:
    described = json.dumps([_RULES_VERSION, *(list(part) for part in parts)])
    return hashlib.sha256(described.encode()).hexdigest()[:16]


# The reason why a file of the vault is not in the index: the list and the pattern that exclude it.


def why_excluded(vault: Path, files: FilesSettings, name: str) -> str:
    """The first file of the vault with this name or path that a pattern excludes from the index, and that
    pattern; "" if there is none. It walks through the vault if the name is not the path of a file. Raises
    ExclusionError."""
    rules = None
    for path in _files_named(vault, name):
        rules = rules or load_ignore_rules(vault, files)
        if reason := rules.reason(path):
            return f"{path} is not in the index: {reason}"
    return ""


def _files_named(vault: Path, name: str) -> Iterator[str]:
    """The files at that path of the vault, with or without `.md`; without any, those whose paths end so."""
    at_path = [path for path in (name, f"{name}.md") if _is_file(vault, path)]
    if at_path:
        yield from at_path
        return
    ends = tuple(f"/{name}{suffix}".casefold() for suffix in ("", ".md"))
    for folder, _, names in os.walk(vault):
        for one in names:
            path = f"{folder}/{one}".removeprefix(f"{vault}/")
            if f"/{path}".casefold().endswith(ends):
                yield path


def _is_file(vault: Path, path: str) -> bool:
    try:
        return resolve_in_vault(vault, path).is_file()
    except (NoteError, OSError):
        return False
