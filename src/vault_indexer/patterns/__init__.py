"""Patterns from untrusted authors, translated to RE2, which matches every pattern in linear time."""

from vault_indexer.patterns.expression import (
    JAVASCRIPT_LINES,
    MAX_PROGRAM,
    ExpressionSet,
    PatternError,
    TextPattern,
    Translation,
    check_linear,
    compile_javascript,
    compile_re2,
    javascript_expression,
)
from vault_indexer.patterns.gitignore import GitignorePatterns, parse_pattern

__all__ = [
    "JAVASCRIPT_LINES",
    "MAX_PROGRAM",
    "ExpressionSet",
    "GitignorePatterns",
    "PatternError",
    "TextPattern",
    "Translation",
    "check_linear",
    "compile_javascript",
    "compile_re2",
    "javascript_expression",
    "parse_pattern",
]
