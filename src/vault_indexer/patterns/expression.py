"""Single expressions: is RE2 able to match them, and on which texts do they match?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from vault_indexer.patterns.pattern_error import PatternError
from vault_indexer.patterns.translation import JAVASCRIPT, MAX_PROGRAM, PYTHON, Dialect, Translation

_LINES = "(?m)"


def javascript_expression(pattern: str) -> str:
    """The expression of RE2 for what `new RegExp(pattern)` finds. Raises PatternError."""
    return _checked(pattern, JAVASCRIPT, "")


def check_linear(pattern: str) -> None:
    """Whether an expression of Python is matched in linear time. Raises PatternError, which says why not."""
    _checked(pattern, PYTHON, _LINES)


class TextPattern:
    """An expression of Python that finds spans of a text; `^` and `$` are the borders of lines.

    RE2 matches it in linear time if it can. Otherwise Python's `re` does, which may take for ever: a pattern
    of the vault's file has passed `check_linear`.
    """

    def __init__(self, pattern: str) -> None:
        try:
            self._engine: Any = _compile(_checked(pattern, PYTHON, _LINES))
        except PatternError:
            self._engine = re.compile(pattern, re.MULTILINE)

    def spans(self, text: str, start: int) -> Iterator[tuple[int, int]]:
        """Where it matches from `start` on, in characters, in order."""
        return (match.span() for match in self._engine.finditer(text, start))


def _checked(pattern: str, dialect: Dialect, flags: str) -> str:
    expression = flags + Translation(pattern, dialect).translate()
    if _compile(expression).programsize > MAX_PROGRAM:
        raise PatternError("this regular expression is too large: its repetitions multiply")
    return expression


def _compile(expression: str) -> Any:
    import re2  # 7 ms, and few vaults have patterns

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(expression, options=options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(f"this regular expression is not valid: {text.replace(_LINES, '')}") from None
