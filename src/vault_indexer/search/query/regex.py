"""Regular expressions of a query, in JavaScript's syntax as in Obsidian, run by RE2 in linear time.

`patterns.expression` defines the supported syntax. An unsupported construct is an error with its column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from vault_indexer.errors import QueryError
from vault_indexer.patterns import JAVASCRIPT_LINES, MAX_PROGRAM, PatternError, Translation, compile_re2

_FLAGS = re.compile(r"[gimsuyd]{1,4}(?=\s|$)")
_EFFORT_SIZE = 200
"""The number of program instructions for each step of `effort`. A rule of thumb."""


@dataclass(frozen=True, eq=False)
class RegexMatcher:
    """A compiled expression. Case is ignored unless `match_case` is set. `^` and `$` match at the borders of
    lines.

    `pieces` are lower-case letters and digits that every matching text contains. `has_line_start` is true if
    the expression has `^`, and `has_flags` if it may change the meaning of `^` and `$`. `effort` is the cost
    of one character relative to plain reading. RE2 runs most expressions at that speed, but takes up to 300
    ns for each character with the largest ones. Only the program size predicts this.
    """

    pieces: tuple[str, ...]
    has_line_start: bool
    has_flags: bool
    effort: int
    _engine: Any

    def find(self, data: bytes, offset: int = 0) -> tuple[int, int] | None:
        """Returns the first match in UTF-8 from `offset`, in bytes."""
        match = self._engine.search(data, offset)
        return match.span() if match else None

    def is_in(self, text: str) -> bool:
        return self.find(encode(text)) is not None


def encode(text: str) -> bytes:
    """Returns the text as UTF-8, with a question mark for each lone surrogate."""
    return text.encode("utf-8", "replace")


def regex_end(text: str, start: int, end: str) -> int | None:
    """Returns the position of the slash that closes the expression at `start`, or None if it is text.

    As in JavaScript, the first slash that is neither escaped nor in a class closes the expression. White
    space, the end of the query, or `end` must follow. An expression is not empty and does not begin with
    white space. A class that is never closed ends with the expression, which is then an error.
    """
    at, in_class, end_in_class = start + 1, False, None
    if text[at : at + 1].isspace():
        return None
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char in "[]":
            in_class = char == "["
        elif char == "/":
            follows = text[at + 1 : at + 2]
            closes = not follows or follows.isspace() or follows == end
            if not in_class:
                return at if closes and at > start + 1 else None
            end_in_class = end_in_class or (at if closes else None)
        at += 1
    return end_in_class if in_class else None


def looks_unfinished(text: str, start: int) -> str | None:
    """Returns a notice for a word that looks like an expression but is taken as text."""
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
    """Compiles the expression between the slashes. `column` is that of the first slash in the query.

    Raises QueryError for an expression that is invalid, too large, or not supported by RE2.
    """
    translation = Translation(pattern, JAVASCRIPT_LINES)
    try:
        expression = encode(f"(?m){translation.translate()}")
    except PatternError as error:
        raise QueryError(str(error), column + 1 + error.position) from None
    try:
        engine = compile_re2(expression, match_case=match_case, captures=False)
    except PatternError as error:
        raise QueryError(str(error), column) from None
    if engine.programsize > MAX_PROGRAM:
        raise QueryError("this regular expression is too large: its repetitions multiply", column)
    # A group without capture has no flags.
    has_flags = "(?" in pattern.replace("(?:", "")
    effort = 1 + engine.programsize // _EFFORT_SIZE
    return RegexMatcher(translation.pieces(), translation.has_line_start, has_flags, effort, engine)


# Finds the places where a word or phrase may occur, by RE2 over the UTF-8 of a text.
#
# RE2 needs 1 to 2 ns for each byte, regardless of the accents and the frequency of a phrase's first words in
# the text. The exact expression of a phrase needs 2 to 40 ns for each character. So RE2 selects the texts and
# places to check. It finds every place where the exact expression matches, and a few more.


_NO_LETTER = "[^0-9A-Za-z]"
"""What may surround words, including non-ASCII letters, which the exact expression excludes."""


class ByteScanner:
    """An expression that matches wherever a pattern occurs.

    `follows_border` is true if it begins with the character before a word, or at the beginning of the text.
    """

    def __init__(self, engine: Any, *, follows_border: bool) -> None:
        self._engine = engine
        self.follows_border = follows_border

    def next_start(self, data: bytes, start: int, end: int) -> int | None:
        """Returns the first byte position from `start` at which this expression matches before `end`, or None
        if the pattern does not occur there."""
        match = self._engine.search(data, start, end)
        return match.start() if match else None


def byte_scanner(body: str, *, starts_word: bool, ends_word: bool) -> ByteScanner | None:
    """Returns a scanner for an RE2 expression, with word borders at its ends as specified, or None if RE2
    rejects it because it is too large or has characters that no text contains."""
    before = rf"(?:\A|{_NO_LETTER})" if starts_word else ""
    after = rf"(?:\z|{_NO_LETTER})" if ends_word else ""
    try:
        engine = compile_re2(f"{before}{body}{after}".encode(), captures=False)
    except (PatternError, UnicodeEncodeError):
        return None
    return ByteScanner(engine, follows_border=starts_word)
