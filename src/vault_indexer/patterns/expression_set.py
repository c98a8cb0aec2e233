"""Many expressions of RE2, matched by one automaton."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vault_indexer.patterns.pattern_error import PatternError

_MAX_MEMORY = 32 << 20
"""Bytes for the program and the automaton of one set. It takes only what it needs."""

_ALWAYS = "(?s).*"


class ExpressionSet:
    """Finds the last of many expressions that matches. Each has a number, in rising order. Any thread may
    ask.

    RE2 says nothing where its automaton runs out of memory, and finds nothing then. So each set holds an
    expression that always matches: where it does not, the set is divided in two. Raises PatternError if a
    single expression is too large.
    """

    def __init__(
        self, expressions: Sequence[tuple[int, str]], *, whole: bool = True, memory: int = _MAX_MEMORY
    ) -> None:
        """With `whole`, an expression matches the whole text, else anywhere in it. `memory` is in bytes."""
        self._expressions = expressions
        self._whole = whole
        self._memory = memory
        self._halves: tuple[ExpressionSet, ExpressionSet] | None = None
        self._set = self._compile() if expressions else None
        if expressions and self._set is None:
            self._divide()

    def last_match(self, text: str) -> int:
        """The highest number of an expression that matches; -1 if there is none."""
        return self._last_in(text.encode("utf-8", "replace")) if self._expressions else -1

    def _last_in(self, data: bytes) -> int:
        if self._set is not None:
            found = self._set.Match(data)
            if found:
                last = max(found)
                return self._expressions[last - 1][0] if last else -1
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
