"""Translates expressions to RE2, reports those that it does not support, and matches them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# The error for an unsupported pattern.


class PatternError(ValueError):
    """A pattern is malformed, or requires more than linear time. `str()` returns the reason in one line.

    `position` is the 0-based offset in the pattern at which the fault begins.
    """

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position


# Translates regular expressions of JavaScript and of Python to RE2, which needs linear time.
#
# RE2 has no lookaround and no back-references, because these can take exponential time. An expression with
# them is an error. Other differences are translated: `\u0041`, `\s` beyond ASCII, `[^]`, and the dialect's
# meaning of classes and of `.` and `$`.


MAX_PROGRAM = 4000
"""The maximum number of RE2 instructions of one expression. RE2 runs most expressions as an automaton, at 1
to 3 ns for each character. If one needs too many states, its time grows with the size of its program: 300 ns
for each character at this limit."""

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
    """The syntax of an expression before its translation. `classes` maps the letters after a backslash that
    denote a class to the inside of that class. `same` are the other letters after a backslash with the same
    meaning in RE2. `signs` contains the translations of signs."""

    classes: Mapping[str, str]
    same: frozenset[str]
    signs: Mapping[str, str] = field(default_factory=dict)
    is_python: bool = False
    """In Python, `]` may be the first character of a class, and `{,2}` is a repetition."""


_SPACES = (
    *((0x9, 0xD), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
)
_JAVASCRIPT_SPACES = (*_SPACES, (0xFEFF, 0xFEFF))
_PYTHON_SPACES = tuple(sorted((*_SPACES, (0x1C, 0x1F), (0x85, 0x85))))


def _inside(ranges: Sequence[tuple[int, int]]) -> str:
    return "".join(rf"\x{{{low:x}}}-\x{{{high:x}}}" for low, high in ranges)


def _inside_without(ranges: Sequence[tuple[int, int]]) -> str:
    """Returns the inside of a class of all characters except these."""
    begins = [0, *(high + 1 for _, high in ranges)]
    ends = [*(low - 1 for low, _ in ranges), 0x10FFFF]
    return _inside([*zip(begins, ends, strict=True)])


_JAVASCRIPT_CLASSES = {
    "s": _inside(_JAVASCRIPT_SPACES),
    "S": _inside_without(_JAVASCRIPT_SPACES),
    **{char: f"\\{char}" for char in "dDwW"},
}

JAVASCRIPT = Dialect(_JAVASCRIPT_CLASSES, frozenset("btnrfvpPB"), {".": r"[^\r\n\x{2028}\x{2029}]"})
"""The dialect of `new RegExp(text)`, without flags."""

JAVASCRIPT_LINES = Dialect(_JAVASCRIPT_CLASSES, frozenset("btnrfvpPB"), {"$": r"(?:\r?$)", ".": r"[^\r\n]"})
"""The same dialect for texts with Windows line ends. Its expressions must be compiled with `(?m)`."""

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
r"""The dialect of the module `re` with MULTILINE. Its expressions must be compiled with `(?m)`. `\b` is an
error, because RE2 supports it for ASCII only."""


@dataclass(slots=True)
class Translation:
    """Translates an expression from a dialect to RE2, character by character. `translate` raises
    PatternError.

    It also collects the runs of plain letters and digits that every match contains: those outside of groups
    and without a quantifier, if there is no `|` outside of groups.
    """

    pattern: str
    dialect: Dialect
    has_line_start: bool = False
    _depth: int = 0
    _run: str = ""
    _runs: list[str] = field(default_factory=list)
    _alternates: bool = False

    def translate(self) -> str:
        """Returns the expression for RE2, which may still reject it as invalid."""
        return "".join(self._parts())

    def pieces(self) -> tuple[str, ...]:
        """Returns the required runs, the longest first. The last character of each is left out, because a
        combining accent may follow it in the text, and the index stores the two as one letter."""
        if self._alternates:
            return ()
        pieces = {run[:-1].lower() for run in self._runs if len(run) > _SHORTEST_PIECE}
        return tuple(sorted(pieces, key=lambda piece: (-len(piece), piece))[:2])

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


_LINES = "(?m)"


def javascript_expression(pattern: str) -> str:
    """Returns the RE2 expression that matches like `new RegExp(pattern)`. Raises PatternError."""
    return _checked(pattern, JAVASCRIPT, "")


def compile_javascript(pattern: str, *, ignore_case: bool = False, by_line: bool = False) -> Any:
    """Returns the program of RE2 for `new RegExp(pattern)`. With `by_line`, `^` and `$` match at the borders
    of lines. Raises PatternError."""
    flags = "i" * ignore_case + "m" * by_line
    return compile_re2(_checked(pattern, JAVASCRIPT, f"(?{flags})" if flags else ""))


def check_linear(pattern: str) -> None:
    """Raises PatternError, with the reason, if a Python expression cannot be matched in linear time."""
    _checked(pattern, PYTHON, _LINES)


class TextPattern:
    """A Python expression that finds spans of a text. `^` and `$` match at the borders of lines.

    RE2 matches it in linear time if it supports it. Otherwise Python's `re` is used, which may never finish.
    Patterns from the vault's configuration file have passed `check_linear`.
    """

    def __init__(self, pattern: str) -> None:
        try:
            self._engine: Any = compile_re2(_checked(pattern, PYTHON, _LINES))
        except PatternError:
            self._engine = re.compile(pattern, re.MULTILINE)

    def spans(self, text: str, start: int) -> Iterator[tuple[int, int]]:
        """Returns the matches from `start`, in characters, in order."""
        return (match.span() for match in self._engine.finditer(text, start))


def _checked(pattern: str, dialect: Dialect, flags: str) -> str:
    expression = flags + Translation(pattern, dialect).translate()
    if compile_re2(expression).programsize > MAX_PROGRAM:
        raise PatternError("this regular expression is too large: its repetitions multiply")
    return expression


def compile_re2(expression: str | bytes, *, match_case: bool = True, captures: bool = True) -> Any:
    """Returns RE2's program for an expression in its own syntax, as text or UTF-8. Raises PatternError."""
    import re2  # 7 ms, and few vaults and queries have patterns

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = match_case
    options.never_capture = not captures
    try:
        return re2.compile(expression, options=options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(f"this regular expression is not valid: {text.replace(_LINES, '')}") from None


# Matches many RE2 expressions with one automaton.


_MAX_MEMORY = 32 << 20
"""The maximum bytes for the program and automaton of a set. RE2 allocates only what it needs."""

_ALWAYS = "(?s).*"


class ExpressionSet:
    """Finds the last of many expressions that matches. Each has a number, in ascending order. Any thread may
    call it.

    If its automaton runs out of memory, RE2 reports no error and no match. So each set contains an expression
    that always matches, and a set in which it does not match is divided in two. Raises PatternError if a
    single expression is too large.
    """

    def __init__(
        self, expressions: Sequence[tuple[int, str]], *, whole: bool = True, memory: int = _MAX_MEMORY
    ) -> None:
        """With `whole`, an expression must match the whole text, not any part. `memory` is in bytes."""
        self._expressions = expressions
        self._whole = whole
        self._memory = memory
        self._halves: tuple[ExpressionSet, ExpressionSet] | None = None
        self._set = self._compile() if expressions else None
        if expressions and self._set is None:
            self._divide()

    def last_match(self, text: str) -> int:
        """Returns the highest number of a matching expression, or -1 if there is none."""
        return self._last_in(text.encode("utf-8", "replace")) if self._expressions else -1

    def _last_in(self, data: bytes) -> int:
        if self._set is not None:
            matches = self._set.Match(data)
            if matches:
                last = max(matches)
                return self._expressions[last - 1][0] if last else -1  # 0 is the one that always matches
            self._divide()
        assert self._halves is not None
        return max(half._last_in(data) for half in self._halves)

    def _divide(self) -> None:
        middle = len(self._expressions) // 2
        if not middle:
            raise PatternError("it needs too much memory")
        first, second = (
            ExpressionSet(part, whole=self._whole, memory=self._memory)
            for part in (self._expressions[:middle], self._expressions[middle:])
        )
        self._halves = first, second
        self._set = None

    def _compile(self) -> Any:
        import re2  # 7 ms, and few vaults have patterns

        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.max_mem = self._memory
        compiled = re2.Set.FullMatchSet(options) if self._whole else re2.Set.SearchSet(options)
        try:
            for expression in (_ALWAYS, *(text for _, text in self._expressions)):
                compiled.Add(expression.encode("utf-8", "replace"))
            compiled.Compile()
        except re2.error:
            return None
        return compiled
