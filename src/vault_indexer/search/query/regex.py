"""Regular expressions of a query: JavaScript's syntax, as in Obsidian, on RE2, which needs linear time.

`patterns.translation` says what is translated and what is refused; a refusal is an error with its column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from vault_indexer.errors import QueryError
from vault_indexer.patterns import JAVASCRIPT_LINES, MAX_PROGRAM, PatternError, Translation

_FLAGS = re.compile(r"[gimsuyd]{1,4}(?=\s|$)")
_LINES = "(?m)"
_EFFORT_SIZE = 200
"""Instructions of a program per step of `effort`. A rule of thumb."""


@dataclass(frozen=True, eq=False)
class RegexMatcher:
    """A compiled expression. Case does not matter unless `match_case`; `^` and `$` are the borders of lines.

    `pieces` are lower-case letters and digits that every text holds in which the expression matches.
    `has_line_start` says that it has `^`, `has_flags` that it may change what `^` and `$` mean. `effort` is
    how many characters of plain reading one character counts for: RE2 reads most expressions as fast as that,
    and takes up to 300 ns a character for the largest ones, which nothing but its size tells in advance.
    """

    pieces: tuple[str, ...]
    has_line_start: bool
    has_flags: bool
    effort: int
    _engine: Any

    def find(self, data: bytes, offset: int = 0) -> tuple[int, int] | None:
        """The first match in UTF-8 from a position on, as positions of bytes."""
        found = self._engine.search(data, offset)
        return found.span() if found else None

    def is_in(self, text: str) -> bool:
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

    Raises QueryError for one that is wrong or too large, or uses what RE2 does not have.
    """
    import re2  # 7 ms, and few queries have an expression

    translation = Translation(pattern, JAVASCRIPT_LINES)
    options = re2.Options()
    options.case_sensitive = match_case
    options.never_capture = True
    options.log_errors = False
    try:
        engine = re2.compile(encode(_LINES + translation.translate()), options=options)
    except PatternError as error:
        raise QueryError(str(error), column + 1 + error.position) from None
    except re2.error as error:
        raise QueryError(f"this regular expression is not valid: {_message(error)}", column) from None
    if engine.programsize > MAX_PROGRAM:
        raise QueryError("this regular expression is too large: its repetitions multiply", column)
    has_flags = "(?" in pattern.replace("(?:", "")
    effort = 1 + engine.programsize // _EFFORT_SIZE
    return RegexMatcher(translation.pieces(), translation.has_line_start, has_flags, effort, engine)


def _message(error: Exception) -> str:
    said = error.args[0] if error.args else "it cannot be read"
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return text.replace(_LINES, "")


# Where a word or phrase may stand, by RE2 over the UTF-8 of a text.
#
# RE2 needs 1 to 2 ns a byte, however often the first words of a phrase stand in the text and whatever
# accents they have; the exact expression of a phrase needs 2 to 40 ns a character. So RE2 says which
# texts to look at, and where. It finds every place that the exact expression fits, and a few more.


_NO_LETTER = "[^0-9A-Za-z]"
"""What may stand beside a word and between words, and letters beyond ASCII, which the exact expression rules
out."""


class ByteScanner:
    """An expression that fits wherever a pattern occurs.

    `follows_border`: it begins with what stands before a word, or at the beginning of the text.
    """

    def __init__(self, engine: Any, *, follows_border: bool) -> None:
        self._engine = engine
        self.follows_border = follows_border

    def next_start(self, data: bytes, start: int, end: int) -> int | None:
        """The position of the first byte, from `start` on, at which this expression fits before `end`. None:
        the pattern does not occur there."""
        found = self._engine.search(data, start, end)
        return found.start() if found else None


def byte_scanner(body: str, *, starts_word: bool, ends_word: bool) -> ByteScanner | None:
    """A scanner for an expression of RE2, with the borders of words that it has at its ends; None where RE2
    cannot have it (it is too large, or has characters that no text has)."""
    import re2  # 7 ms, and few queries have to read texts

    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    before = rf"(?:\A|{_NO_LETTER})" if starts_word else ""
    after = rf"(?:\z|{_NO_LETTER})" if ends_word else ""
    try:
        engine = re2.compile(f"{before}{body}{after}".encode(), options=options)
    except (re2.error, UnicodeEncodeError):
        return None
    return ByteScanner(engine, follows_border=starts_word)
