"""Patterns of strangers, bounded: a vault may be cloned, and its patterns must not hang the matcher.

Both gitignore globs and Obsidian's regular expressions end in a backtracking engine, whose time grows with
the power of the number of open repetitions. The bounds keep one match of a path of `MAX_PATH` characters in
the milliseconds. A pattern beyond them is refused and named, never silently half-applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_PATH = 300
_MAX_PATTERN = 300
_MAX_PATTERNS = 1000
_MAX_STARS_PER_NAME = 3
_MAX_ANY_FOLDERS = 3
_MAX_REPEATS = 2
_SMALL_REPEAT = 10

_STARS = re.compile(r"\*+")
_REPEAT = re.compile(r"[*+]|\{\d*(,?)(\d*)\}")
# One step through a regular expression: an escape, a character class, or any one character.
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


def compile_globs(lines: Iterable[str], source: str, problems: list[str]) -> GitIgnoreSpec | None:
    """gitignore patterns as one spec; None without any. What is refused is appended to `problems`."""
    from pathspec import GitIgnoreSpec

    kept: list[str] = []
    for line in lines:
        fault = _glob_fault(line)
        if fault is None and len(kept) >= _MAX_PATTERNS:
            problems.append(f"{source}: only the first {_MAX_PATTERNS} patterns are used")
            break
        if fault is not None:
            problems.append(f"{source}: pattern {line[:80]!r} is not used: {fault}")
        elif line.strip() and not line.startswith("#"):
            kept.append(line)
    return GitIgnoreSpec.from_lines(kept) if kept else None


def _glob_fault(line: str) -> str | None:
    from pathspec import GitIgnoreSpec

    if len(line) > _MAX_PATTERN:
        return f"longer than {_MAX_PATTERN} characters"
    if any(len(_STARS.findall(name)) > _MAX_STARS_PER_NAME for name in line.split("/")):
        return f"more than {_MAX_STARS_PER_NAME} stars in one name"
    if line.count("**") > _MAX_ANY_FOLDERS:
        return f"more than {_MAX_ANY_FOLDERS} times **"
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error) as error:
        return str(error)
    return None


def compile_regex(pattern: str, source: str, problems: list[str]) -> re.Pattern[str] | None:
    """Obsidian's `/pattern/` (given without slashes); None, with a line in `problems`, if it is refused."""
    fault = _regex_fault(pattern)
    if fault is None:
        try:
            return re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            fault = str(error)
    problems.append(f"{source}: filter /{pattern[:80]}/ is not used: {fault}")
    return None


def _regex_fault(pattern: str) -> str | None:
    if len(pattern) > _MAX_PATTERN:
        return f"longer than {_MAX_PATTERN} characters"
    tokens = [match.group() for match in _TOKEN.finditer(pattern)]
    if any(token[0] == "\\" and token[1:].isdigit() for token in tokens):
        return "a back-reference"
    repeats = 0
    inside = [False]  # for each open group: does it hold a repetition or a choice?
    for position, token in enumerate(tokens):
        repeated = _is_open_repeat(tokens, position + 1)
        if token == "(":
            inside.append(False)
        elif token == ")" and len(inside) > 1:
            if inside.pop() and repeated:
                return "a repetition inside a repetition"
            inside[-1] = True
        elif token == "|":
            inside[-1] = True
        if repeated:
            repeats += 1
            inside[-1] = True
    return f"more than {_MAX_REPEATS} open repetitions" if repeats > _MAX_REPEATS else None


def _is_open_repeat(tokens: list[str], position: int) -> bool:
    """Whether `*`, `+` or a `{,n}` that may be large stands at `position`."""
    match = _REPEAT.match("".join(tokens[position : position + 12]))
    if match is None:
        return False
    if match.group() in "*+":
        return True
    most = match.group(2) or (match.group().strip("{},") if not match.group(1) else "")
    return not most or int(most) > _SMALL_REPEAT
