r"""Regular expressions of JavaScript and of Python, translated to RE2, which needs linear time.

RE2 has no lookaround and no back-references: with these an expression can take exponential time. One that has
them is an error. The rest is translated where the two differ: `\u0041`, `\s` beyond ASCII, `[^]`, and what a
dialect says of classes and of `.` and `$`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vault_indexer.patterns.pattern_error import PatternError

MAX_PROGRAM = 4000
"""Instructions of RE2 in one expression. RE2 runs most expressions as an automaton, at 1 to 3 ns a character.
One that needs too many states costs time by the size of its program: 300 ns a character at this bound."""

_GROUPS = (
    ("(?=", "lookahead"),
    ("(?!", "lookahead"),
    ("(?<=", "lookbehind"),
    ("(?<!", "lookbehind"),
    ("(?P=", "a backreference"),
)
_UNICODE = re.compile(r"\\u(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4}))")
_HEX = re.compile(r"\\x[0-9A-Fa-f]{2}")
_OPEN = re.compile(r"\[\^?")
_OPEN_BRACKET = re.compile(r"\[\^?\]?")
_SHORTEST_PIECE = 3


@dataclass(frozen=True, eq=False)
class Dialect:
    """What an expression means before it is translated. `classes` are the insides of the classes that a
    backslash and a letter stand for, `same` the other letters behind a backslash that RE2 reads alike, and
    `signs` the translations of signs."""

    classes: Mapping[str, str]
    same: frozenset[str]
    signs: Mapping[str, str] = field(default_factory=dict)
    is_python: bool = False
    """`[]` is not a class without a character: `]` is the first character of one. `{,2}` is a repetition."""


_SPACES = (
    *((0x9, 0xD), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
)
_JAVASCRIPT_SPACES = (*_SPACES, (0xFEFF, 0xFEFF))
_PYTHON_SPACES = tuple(sorted((*_SPACES, (0x1C, 0x1F), (0x85, 0x85))))


def _inside(ranges: Sequence[tuple[int, int]]) -> str:
    return "".join(rf"\x{{{low:x}}}-\x{{{high:x}}}" for low, high in ranges)


def _inside_without(ranges: Sequence[tuple[int, int]]) -> str:
    """All characters but these."""
    begins = [0, *(high + 1 for _, high in ranges)]
    ends = [*(low - 1 for low, _ in ranges), 0x10FFFF]
    return _inside([*zip(begins, ends, strict=True)])


_JAVASCRIPT_CLASSES = {
    "s": _inside(_JAVASCRIPT_SPACES),
    "S": _inside_without(_JAVASCRIPT_SPACES),
    **{char: f"\\{char}" for char in "dDwW"},
}

JAVASCRIPT = Dialect(_JAVASCRIPT_CLASSES, frozenset("btnrfvpPB"), {".": r"[^\r\n\x{2028}\x{2029}]"})
"""`new RegExp(text)`, without flags."""

JAVASCRIPT_LINES = Dialect(_JAVASCRIPT_CLASSES, frozenset("btnrfvpPB"), {"$": r"(?:\r?$)", ".": r"[^\r\n]"})
"""The same on texts with line ends of Windows. To be compiled with `(?m)`."""

PYTHON = Dialect(
    {
        "s": _inside(_PYTHON_SPACES),
        "S": _inside_without(_PYTHON_SPACES),
        "d": r"\p{Nd}",
        "D": r"\P{Nd}",
        "w": r"\p{L}\p{N}_",
    },
    frozenset("tnrfvaA"),
    is_python=True,
)
r"""The module `re` with MULTILINE, to be compiled with `(?m)`. `\b` is an error: that of RE2 is ASCII
only."""


@dataclass(slots=True)
class Translation:
    """From a dialect to RE2, character by character. `translate` raises PatternError.

    It also collects the runs of plain letters and digits that every match holds: those outside of groups and
    without a quantifier, if there is no `|` beside them.
    """

    pattern: str
    dialect: Dialect
    has_line_start: bool = False
    _depth: int = 0
    _run: str = ""
    _runs: list[str] = field(default_factory=list)
    _alternates: bool = False

    def translate(self) -> str:
        """The expression for RE2. Whether it is valid is for RE2 to say."""
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

    def _sign(self, offset: int) -> tuple[str, int]:
        char = self.pattern[offset]
        match char:
            case "(":
                for opening, name in _GROUPS:
                    if self.pattern.startswith(opening, offset):
                        raise PatternError(
                            f"{name} ({opening}…) is not supported in a regular expression", offset
                        )
                self._depth += 1
            case ")":
                self._depth -= 1
            case "|" if self._depth == 0:
                self._alternates = True
            case "{":
                return self._repetition(offset)
            case "^":
                self.has_line_start = True
        return self.dialect.signs.get(char, char), offset + 1

    def _repetition(self, offset: int) -> tuple[str, int]:
        close = self.pattern.find("}", offset)
        if close < 0:
            return r"\{", offset + 1
        inside = self.pattern[offset + 1 : close]
        return f"{{{'0' if self.dialect.is_python and inside.startswith(',') else ''}{inside}}}", close + 1

    def _escape(self, offset: int, *, in_class: bool = False) -> tuple[str, int]:
        char = self.pattern[offset + 1 : offset + 2]
        unicode = _UNICODE.match(self.pattern, offset)
        if unicode:
            return f"\\x{{{unicode[1] or unicode[2]}}}", unicode.end()
        if char == "x" and _HEX.match(self.pattern, offset):
            return self.pattern[offset : offset + 4], offset + 4
        if char in ("p", "P") and self.pattern[offset + 2 : offset + 3] == "{":
            close = self.pattern.find("}", offset)
            return (self.pattern[offset : close + 1], close + 1) if close > 0 else (f"\\{char}", offset + 2)
        return self._short_escape(char, offset, in_class=in_class), offset + 2

    def _short_escape(self, char: str, offset: int, *, in_class: bool) -> str:
        if char == "k" or (char.isdigit() and char != "0"):
            raise PatternError(f"a backreference (\\{char}) is not supported in a regular expression", offset)
        if char == "b" and in_class:
            return r"\x08"
        if char and char in "sdwSDW":
            return self._class_escape(char, offset, in_class=in_class)
        if char in self.dialect.same:
            return f"\\{char}"
        if char == "0":
            return r"\x00"
        if char.isascii() and char.isalpha():
            raise PatternError(f"\\{char} is not supported in a regular expression", offset)
        return f"\\{char}" if char.isascii() else char

    def _class_escape(self, char: str, offset: int, *, in_class: bool) -> str:
        classes = self.dialect.classes
        if not in_class:
            return f"[{'' if char.islower() else '^'}{classes[char.lower()]}]"
        if char in classes:
            return classes[char]
        raise PatternError(
            f"\\{char} in a class of characters is not supported in a regular expression", offset
        )

    def _class(self, offset: int) -> tuple[str, int]:
        if not self.dialect.is_python and self.pattern.startswith("[^]", offset):
            return r"(?s:.)", offset + 3
        if not self.dialect.is_python and self.pattern.startswith("[]", offset):
            return r"[^\x00-\x{10ffff}]", offset + 2
        opening = (_OPEN_BRACKET if self.dialect.is_python else _OPEN).match(self.pattern, offset)
        assert opening is not None
        parts, start, offset = [opening[0].replace("]", r"\]")], offset, opening.end()
        while offset < len(self.pattern) and self.pattern[offset] != "]":
            if self.pattern[offset] == "\\":
                part, offset = self._escape(offset, in_class=True)
            else:
                part, offset = "\\[" if self.pattern[offset] == "[" else self.pattern[offset], offset + 1
            parts.append(part)
        if offset >= len(self.pattern):
            raise PatternError("this class of characters is never closed", start)
        return "".join([*parts, "]"]), offset + 1
