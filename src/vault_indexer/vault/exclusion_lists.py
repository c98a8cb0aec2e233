"""The exclusions that stand in a vault: `.indexerignore`, and Obsidian's in `.obsidian/app.json`.

Anyone who shares the vault can write them, and what they exclude may be private. So they are matched in
linear time, and a list of which a part is not understood is an error: the rest would index what its owner
excluded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vault_indexer.errors import ConfigProblem, ExclusionError, NoteError
from vault_indexer.patterns import (
    ExpressionSet,
    GitignorePatterns,
    PatternError,
    javascript_expression,
    parse_pattern,
)
from vault_indexer.vault.read import NoteVanished, read_note

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
Compiler = Callable[[Sequence[str]], Compiled]
"""From the lines of a list to what matches them. Raises ExclusionError."""


@dataclass(frozen=True, slots=True)
class ExclusionLists:
    """The texts of both lists, in order: lines of `.indexerignore`, and Obsidian's filters."""

    ignored: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()


class ObsidianFilters:
    """Obsidian's "Excluded files": beginnings of paths, and regular expressions between slashes."""

    def __init__(self, filters: Sequence[str] = (), source: str = "") -> None:
        """Raises ExclusionError; `source` is the text in which the filters stand."""
        _check_filter_bounds(filters)
        expressions, problems = [], []
        for item in filters:
            try:
                if _is_expression(item):
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
        """Whether Obsidian excludes this file."""
        return bool(self.matching_filter(path))

    def matching_filter(self, path: str) -> str:
        """The filter that excludes this file; "" if none does."""
        if path.startswith(self._prefixes):
            return next(prefix for prefix in self._prefixes if path.startswith(prefix))
        last = self._expressions.last_match(path)
        return self._sources[last] if last >= 0 else ""


def read_ignore_list(vault: Path) -> tuple[tuple[str, ...], GitignorePatterns]:
    """The lines of `.indexerignore` as git divides them, and what they match. Raises ExclusionError."""
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
    lines = tuple(line.removesuffix("\r") for line in text.split("\n"))
    return lines, compile_ignore_list(lines)


def compile_ignore_list(lines: Sequence[str], source: str = IGNORE_FILE) -> GitignorePatterns:
    """Patterns of `.gitignore`. Raises ExclusionError, which names each line that is not understood."""
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
    """Obsidian's filters, and what they match. Raises ExclusionError."""
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


def _check_filter_bounds(filters: Sequence[str]) -> None:
    if len(filters) > _MAX_FILTERS or sum(map(len, filters)) > _MAX_FILTER_CHARS:
        bounds = (
            f"at most {_MAX_FILTERS:,} filters of {_MAX_FILTER_CHARS:,} characters together are understood"
        )
        raise ExclusionError([_app_problem(bounds, _FILTERS_KEY)])


def _is_expression(item: str) -> bool:
    return len(item) > 2 and item[0] == item[-1] == "/"


def _line_of(item: str, source: str) -> str:
    """Where in the file the filter stands: the line, if it is written as JSON.stringify writes it."""
    at = source.find(json.dumps(item, ensure_ascii=False))
    return f"line {source.count(chr(10), 0, at) + 1}" if at >= 0 else _FILTERS_KEY


def _app_problem(reason: str, where: str = "the file") -> ConfigProblem:
    advice = f"{_ADVICE}; correct it, or set files.use_obsidian_filters = false in your own configuration"
    return _problem(OBSIDIAN_APP_FILE, where, "", f"{reason}; {advice}")


def _problem(source: str, where: str, pattern: str, reason: str) -> ConfigProblem:
    shown = pattern if len(pattern) <= _SHOWN_CHARS else f"{pattern[:_SHOWN_CHARS]}…"
    return ConfigProblem(where, ascii(shown) if pattern else "", reason, source)
