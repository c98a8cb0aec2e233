"""Patterns that a stranger may have written: translated to RE2, which needs linear time for every one."""

from vault_indexer.patterns.expression import TextPattern, check_linear, javascript_expression
from vault_indexer.patterns.expression_set import ExpressionSet
from vault_indexer.patterns.gitignore import GitignorePatterns, parse_pattern
from vault_indexer.patterns.pattern_error import PatternError
from vault_indexer.patterns.translation import JAVASCRIPT_LINES, MAX_PROGRAM, Translation

__all__ = [
    "JAVASCRIPT_LINES",
    "MAX_PROGRAM",
    "ExpressionSet",
    "GitignorePatterns",
    "PatternError",
    "TextPattern",
    "Translation",
    "check_linear",
    "javascript_expression",
    "parse_pattern",
]
