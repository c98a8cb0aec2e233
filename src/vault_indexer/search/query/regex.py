r"""Regular expressions of a query: JavaScript's syntax, as in Obsidian, on RE2, which needs linear time.

RE2 has no lookaround and no backreferences: with these an expression can take exponential time. One that has
them is an error with its column. The rest is translated where the two differ: `\u0041`, `\s` beyond ASCII,
`[^]`, `$` before a carriage return.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from vault_indexer.errors import QueryError

MAX_PROGRAM = 4000
"""Instructions of RE2 in one expression. RE2 runs most expressions as an automaton, at 1 to 3 ns a character.
One that needs too many states costs time by the size of its program: 300 ns a character at this bound."""

_SPACE = r"\x{b}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"
"""What `\\s` of JavaScript has beyond that of RE2."""

_GROUPS = (
    ("(?=", "lookahead"),
    ("(?!", "lookahead"),
    ("(?<=", "lookbehind"),
    ("(?<!", "lookbehind"),
)
_UNICODE = re.compile(r"\\u(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4}))")
_HEX = re.compile(r"\\x[0-9A-Fa-f]{2}")
_FLAGS = re.compile(r"[gimsuyd]{1,4}(?=\s|$)")
_SAME = frozenset("dDwWbBtnrfvpP")
"""Letters behind a backslash that mean the same in both."""

_SHORTEST_PIECE = 3
_LINES = "(?m)"


@dataclass(frozen=True, eq=False)
class RegexMatcher:
    """A compiled expression. Case does not matter unless `match_case`; `^` and `$` are the borders of lines.

    `pieces` are lower-case letters and digits that every text holds in which the expression matches.
    `has_line_start` says that it has `^`, `has_flags` that it may change what `^` and `$` mean.
    """

    pieces: tuple[str, ...]
    has_line_start: bool
    has_flags: bool
    _engine: Any

    def find(self, data: bytes, at: int = 0) -> tuple[int, int] | None:
        """The first match in UTF-8 from a position on, as positions of bytes."""
        found = self._engine.search(data, at)
        return found.span() if found else None

    def is_in(self, text: str) -> bool:
        """Whether it matches anywhere."""
        return self.find(encode(text)) is not None


def encode(text: str) -> bytes:
    """UTF-8, with a question mark for what is no character (a lone surrogate)."""
    return text.encode("utf-8", "replace")


def regex_end(text: str, start: int, end: str) -> int | None:
    """The position of the slash that closes the expression that begins at `start`; None: it is text.

    As in JavaScript, the first slash that is neither escaped nor in a class closes it. White space, the end
    of the query, or `end` must follow. An expression is not empty and does not begin with white space.
    """
    at, in_class = start + 1, False
    if text[at : at + 1].isspace():
        return None
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char in "[]":
            in_class = char == "["
        elif char == "/" and not in_class:
            follows = text[at + 1 : at + 2]
            closes = not follows or follows.isspace() or follows == end
            return at if closes and at > start + 1 else None
        at += 1
    return None


def looks_unfinished(text: str, start: int) -> str | None:
    """A notice on a word that begins with a slash and is text, where it looks like an expression."""
    body = re.match(r"/((?:\\.|[^/\\])+)(/?)", text[start:])
    if not body:
        return None
    if body[2] and _FLAGS.match(text, start + body.end()):
        return (
            f"the regular expression at column {start + 1} has flags, which are not supported: taken as text;"
            " write match-case:/…/ or ignore-case:/…/"
        )
    if not body[2] and re.search(r"[\\\[\](){}*+?|^$]", body[1]):
        return f"the regular expression at column {start + 1} is never closed: taken as text"
    return None


@lru_cache(maxsize=64)
def compile_regex(pattern: str, column: int = 1, *, match_case: bool = False) -> RegexMatcher:
    """The expression between the slashes; `column` is that of the first slash in the query.

    Raises QueryError for one that is wrong, too large, or uses what RE2 does not have.
    """
    import re2  # 7 ms, and few queries have an expression

    translation = _Translation(pattern, column)
    options = re2.Options()
    options.case_sensitive = match_case
    options.never_capture = True
    options.log_errors = False
    try:
        engine = re2.compile(encode(_LINES + translation.translate()), options=options)
    except re2.error as error:
        raise QueryError(f"this regular expression is not valid: {_message(error)}", column) from None
    if engine.programsize > MAX_PROGRAM:
        raise QueryError("this regular expression is too large: its repetitions multiply", column)
    has_flags = "(?" in pattern.replace("(?:", "")
    return RegexMatcher(translation.pieces(), translation.has_line_start, has_flags, engine)


def _message(error: Exception) -> str:
    said = error.args[0] if error.args else "it cannot be read"
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return text.replace(_LINES, "")


@dataclass(slots=True)
class _Translation:
    """From JavaScript's syntax to RE2's, character by character.

    It also collects the runs of plain letters and digits that every match holds: those outside of groups and
    without a quantifier, if there is no `|` beside them.
    """

    pattern: str
    column: int
    has_line_start: bool = False
    _depth: int = 0
    _run: str = ""
    _runs: list[str] = field(default_factory=list)
    _alternates: bool = False

    def translate(self) -> str:
        return "".join(self._parts())

    def pieces(self) -> tuple[str, ...]:
        """The required runs, the longest first. The last character of each is left out: an accent of its own
        may follow it in the text, and the index has the two as one letter."""
        if self._alternates:
            return ()
        found = {run[:-1].lower() for run in self._runs if len(run) > _SHORTEST_PIECE}
        return tuple(sorted(found, key=lambda piece: (-len(piece), piece))[:2])

    def _parts(self) -> Iterator[str]:
        at = 0
        while at < len(self.pattern):
            char = self.pattern[at]
            if char.isascii() and char.isalnum():
                if not self._depth:
                    self._run += char
                yield char
                at += 1
                continue
            self._end_run(optional=char in "?*{")
            read = self._escape if char == "\\" else self._class if char == "[" else self._sign
            part, at = read(at)
            yield part
        self._end_run(optional=False)

    def _end_run(self, *, optional: bool) -> None:
        self._runs.append(self._run[:-1] if optional else self._run)
        self._run = ""

    def _sign(self, at: int) -> tuple[str, int]:
        char = self.pattern[at]
        match char:
            case "(":
                for opening, name in _GROUPS:
                    if self.pattern.startswith(opening, at):
                        raise self._error(f"{name} ({opening}…) is not supported in a regular expression", at)
                self._depth += 1
            case ")":
                self._depth -= 1
            case "|" if self._depth == 0:
                self._alternates = True
            case "{":
                close = self.pattern.find("}", at)
                return (self.pattern[at : close + 1], close + 1) if close > 0 else (r"\{", at + 1)
            case "^":
                self.has_line_start = True
        return {"$": r"(?:\r?$)", ".": r"[^\r\n]"}.get(char, char), at + 1

    def _escape(self, at: int, *, in_class: bool = False) -> tuple[str, int]:
        char = self.pattern[at + 1 : at + 2]
        unicode = _UNICODE.match(self.pattern, at)
        if unicode:
            return f"\\x{{{unicode[1] or unicode[2]}}}", unicode.end()
        if char == "x" and _HEX.match(self.pattern, at):
            return self.pattern[at : at + 4], at + 4
        if char in ("p", "P") and self.pattern[at + 2 : at + 3] == "{":
            close = self.pattern.find("}", at)
            return (self.pattern[at : close + 1], close + 1) if close > 0 else (f"\\{char}", at + 2)
        return self._short_escape(char, at, in_class=in_class), at + 2

    def _short_escape(self, char: str, at: int, *, in_class: bool) -> str:
        if char == "k" or (char.isdigit() and char != "0"):
            raise self._error(f"a backreference (\\{char}) is not supported in a regular expression", at)
        if char == "b" and in_class:
            return r"\x08"
        if char in ("s", "S") and not in_class:
            return rf"[{'^' if char == 'S' else ''}\s{_SPACE}]"
        if char == "s":
            return rf"\s{_SPACE}"
        if char in _SAME or char == "S":
            return f"\\{char}"
        if char == "0":
            return r"\x00"
        if char.isascii() and char.isalpha():
            raise self._error(f"\\{char} is not supported in a regular expression", at)
        return f"\\{char}" if char.isascii() else char

    def _class(self, at: int) -> tuple[str, int]:
        if self.pattern.startswith("[^]", at):
            return r"(?s:.)", at + 3
        if self.pattern.startswith("[]", at):
            return r"[^\x00-\x{10ffff}]", at + 2
        parts, start, at = ["["], at, at + 1
        while at < len(self.pattern) and self.pattern[at] != "]":
            if self.pattern[at] == "\\":
                part, at = self._escape(at, in_class=True)
            else:
                part, at = "\\[" if self.pattern[at] == "[" else self.pattern[at], at + 1
            parts.append(part)
        if at >= len(self.pattern):
            raise self._error("this class of characters is never closed", start)
        return "".join([*parts, "]"]), at + 1

    def _error(self, message: str, at: int) -> QueryError:
        return QueryError(message, self.column + 1 + at)
