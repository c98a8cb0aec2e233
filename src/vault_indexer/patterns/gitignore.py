"""Patterns of `.gitignore` with git's semantics, on RE2.

The rules are those of git (dir.c and wildmatch.c, git 2.39), and a test compares the results with `git
check-ignore`. There are two differences. A malformed pattern (an unclosed class, an unknown POSIX class, a
backslash at the end) never matches in git, but is an error here, because its author intends to exclude
something. And `?` or a class matches one character, while git matches one byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from vault_indexer.patterns.expression import ExpressionSet, PatternError
from vault_indexer.system import record

_SPECIAL = frozenset("*?[\\")
_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": "\t ",
    "cntrl": "\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@[-`{-~",
    "space": "\t\n\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_RANGE = re.compile(r"(.)(?:-(.))?", re.DOTALL)
_NOTHING = r"[^\x00-\x{10ffff}]"
_ANYTHING = "(?s:.*)"
_MAX_STARS = 20_000
"""The maximum number of stars in one list. A hostile list with this number takes 30 ms for a path, and a list
of 2,000 usual patterns 0.04 ms."""

_FOLDER, _FILE = "d", "f"
"""The first letter of a candidate, so that a pattern that ends in a slash matches folders only."""


@record
class GitignorePattern:
    """One pattern. `expression` is for RE2 and matches a whole candidate: `d` or `f` (folder, file), followed
    by the name if `is_name`, otherwise by the path."""

    expression: str
    is_name: bool
    is_negated: bool


def parse_pattern(line: str) -> GitignorePattern | None:
    """Returns the pattern of a line, or None for a blank line or a comment. Raises PatternError."""
    glob = _without_trailing_spaces(line)
    if not glob or glob.startswith("#"):
        return None
    if "\0" in glob:
        raise PatternError("a NUL character")
    is_negated = glob.startswith("!")
    glob = glob.removeprefix("!")
    folders_only = glob.endswith("/")
    if folders_only:
        glob = glob[:-1]
    is_name = "/" not in glob
    kind = _FOLDER if folders_only else f"[{_FOLDER}{_FILE}]"
    return GitignorePattern(kind + _Glob(glob.removeprefix("/"), is_name).translate(), is_name, is_negated)


def _without_trailing_spaces(line: str) -> str:
    """Removes trailing spaces, except one after a backslash. Tabs remain."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 and kept != line else kept


class GitignorePatterns:
    """A list of patterns, of which the last matching one decides. Any thread may call its methods.

    Raises PatternError for the first invalid line, and if the patterns exceed the memory limit of RE2.
    """

    def __init__(self, lines: Iterable[str], source: str = "") -> None:
        """`source` is the list that contains the lines."""
        lines = tuple(lines)
        if sum(line.count("*") for line in lines) > _MAX_STARS:
            raise PatternError(f"the list has more than {_MAX_STARS:,} stars")
        self.source = source
        parsed = [(line, pattern) for line in lines if (pattern := parse_pattern(line))]
        self._lines = [line for line, _ in parsed]
        patterns = [pattern for _, pattern in parsed]
        self._is_negated = [pattern.is_negated for pattern in patterns]
        numbered = list(enumerate(patterns))
        self._names = ExpressionSet([(at, own.expression) for at, own in numbered if own.is_name])
        self._paths = ExpressionSet([(at, own.expression) for at, own in numbered if not own.is_name])

    def __bool__(self) -> bool:
        return bool(self._is_negated)

    def matches(self, path: str, *, is_dir: bool) -> bool:
        """Whether the patterns ignore this path itself. The caller must check the parent folders first,
        because no path in an ignored folder can be included again."""
        return bool(self.matching_line(path, is_dir=is_dir))

    def matching_line(self, path: str, *, is_dir: bool) -> str:
        """Returns the line that ignores this path itself, or "" if there is none."""
        last = self._last_match(path, is_dir=is_dir)
        return self._lines[last] if last >= 0 and not self._is_negated[last] else ""

    def selects(self, path: str) -> bool:
        """Whether the last pattern that matches this file or a parent folder is not negated."""
        last = self._last_match(path, is_dir=False)
        while path := path.rpartition("/")[0]:
            last = max(last, self._last_match(path, is_dir=True))
        return last >= 0 and not self._is_negated[last]

    def _last_match(self, path: str, *, is_dir: bool) -> int:
        kind = _FOLDER if is_dir else _FILE
        in_names = self._names.last_match(kind + path.rpartition("/")[2])
        return max(in_names, self._paths.last_match(kind + path))


class _Glob:
    """Translates one glob, without the slashes at its ends, according to wildmatch.c.

    For a path, git compares the text before the first special character separately and matches only the rest.
    So two stars there count as the beginning, regardless of the text before them.
    """

    def __init__(self, glob: str, is_name: bool) -> None:
        self._glob = glob
        self._is_name = is_name
        self._at = 0
        self._begin = next((at for at, char in enumerate(glob) if char in _SPECIAL), len(glob))

    def translate(self) -> str:
        parts = []
        while self._at < len(self._glob):
            parts.append(self._next_part())
        return "".join(parts)

    def _next_part(self) -> str:
        char = self._glob[self._at]
        if char == "*":
            return self._stars()
        self._at += 1
        if char == "?":
            return "[^/]"
        if char == "[":
            return self._class()
        return _literal(self._escaped() if char == "\\" else char)

    def _escaped(self) -> str:
        if self._at >= len(self._glob):
            raise PatternError("it ends in a backslash", self._at - 1)
        self._at += 1
        return self._glob[self._at - 1]

    def _stars(self) -> str:
        first = self._at
        while self._glob.startswith("*", self._at):
            self._at += 1
        rest = self._glob[self._at : self._at + 2]
        is_first = first == self._begin or self._glob[first - 1] == "/"
        any_folders = not self._is_name and self._at - first > 1 and is_first
        if not any_folders or not (rest == "" or rest[0] == "/" or rest == "\\/"):
            return "[^/]*"
        if rest[:1] != "/":
            return _ANYTHING
        self._at += 1
        return f"(?:{_ANYTHING}/)?"

    def _class(self) -> str:
        start = self._at - 1
        is_negated = self._glob[self._at : self._at + 1] in ("!", "^")
        self._at += is_negated
        ranges: list[tuple[int, int]] = []
        before = 0  # the character that a range may begin with
        while True:
            before = self._class_item(before, ranges, start)
            if self._peek(start) == "]":
                break
        self._at += 1
        if is_negated:
            return f"[^/{''.join(_range_text(low, high) for low, high in ranges)}]"
        return _positive_class(ranges)

    def _peek(self, start: int) -> str:
        if self._at >= len(self._glob):
            raise PatternError("a class of characters ([…]) that is not closed", start)
        return self._glob[self._at]

    def _take(self, start: int) -> str:
        """Consumes and returns the next character of the class, without a backslash before it."""
        if self._peek(start) == "\\":
            self._at += 1
        self._peek(start)
        self._at += 1
        return self._glob[self._at - 1]

    def _class_item(self, before: int, ranges: list[tuple[int, int]], start: int) -> int:
        """Reads one item. Returns the character that can begin a range, or 0 for none."""
        char = self._peek(start)
        if char == "-" and before and self._glob[self._at + 1 : self._at + 2] not in ("", "]"):
            self._at += 1
            ranges.append((before, ord(self._take(start))))
            return 0
        if self._glob.startswith("[:", self._at) and (posix := self._posix_class(start)):
            ranges.extend(posix)
            return 0
        code = ord(self._take(start))
        ranges.append((code, code))
        return code

    def _posix_class(self, start: int) -> list[tuple[int, int]]:
        """Returns the ranges of `[:name:]`, or an empty list if it is not such a class."""
        end = self._glob.find("]", self._at + 2)
        if end < 0:
            raise PatternError("a class of characters ([…]) that is not closed", start)
        name = self._glob[self._at + 2 : end]
        if not name.endswith(":"):
            return []
        if name[:-1] not in _POSIX_CLASSES:
            raise PatternError(
                f"an unknown class [:{name}], choose one of {', '.join(_POSIX_CLASSES)}", self._at
            )
        self._at = end + 1
        ranges = _RANGE.findall(_POSIX_CLASSES[name[:-1]])
        return [(ord(low), ord(high or low)) for low, high in ranges]


def _positive_class(ranges: Sequence[tuple[int, int]]) -> str:
    """Returns a class with these ranges that never matches a slash."""
    slash = ord("/")
    parts = []
    for low, high in ranges:
        if low <= slash <= high:
            parts += [_range_text(low, slash - 1), _range_text(slash + 1, high)]
        else:
            parts.append(_range_text(low, high))
    inside = "".join(parts)
    return f"[{inside}]" if inside else _NOTHING


def _range_text(low: int, high: int) -> str:
    return rf"\x{{{low:x}}}-\x{{{high:x}}}" if low <= high else ""


def _literal(char: str) -> str:
    return char if char.isalnum() or not char.isascii() else rf"\x{{{ord(char):x}}}"
