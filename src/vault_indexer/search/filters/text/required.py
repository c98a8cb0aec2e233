"""What a text must hold for a condition on its pieces to hold at all: pure functions of the condition."""

from __future__ import annotations

from vault_indexer.search.filters.candidates import Pattern
from vault_indexer.search.filters.text.pattern_search import is_worth_scanning
from vault_indexer.search.filters.text_pattern import TextPattern, text_pattern
from vault_indexer.search.query import (
    All,
    Either,
    Node,
    Phrase,
    Regex,
    RegexMatcher,
    Scope,
    Word,
    compile_regex,
)
from vault_indexer.text.tokens import LONGEST_TERM


def required_word(inside: Node | None) -> TextPattern | None:
    """The longest word that every piece for which a tree holds must have; None if there is none.

    A single word, since two finds of a phrase can overlap, and of those only the first would be seen.
    """
    words = sorted(_required_words(inside), key=lambda word: (-len(word), word)) if inside else []
    return text_pattern(words[0]) if words else None


def required_regex(inside: Node | None, scope: Scope) -> RegexMatcher | None:
    """An expression that every piece for which a tree holds must match; None if there is none of use."""
    for part in inside.parts if isinstance(inside, All) else (inside,):
        if isinstance(part, Regex):
            matcher = compile_regex(part.pattern, part.column, match_case=part.match_case)
            if is_seen_in_text(matcher, scope):
                return matcher
    return None


def is_seen_in_text(pattern: Pattern, scope: Scope) -> bool:
    """Whether it is worth while to look for a pattern in the whole text, and what a piece holds, as a text of
    its own, the whole text holds as well.

    The borders of a piece count as those of a line. Lines, and the content, do begin there; other pieces may
    be indented. All end with a line, save headings, which may end before their closing signs.
    """
    if isinstance(pattern, TextPattern):
        return is_worth_scanning(pattern)
    return scope in (Scope.LINE, Scope.CONTENT) or (scope != Scope.HEADING and not pattern.has_line_start)


def _required_words(node: Node) -> set[str]:
    match node:
        case Word(text, _) | Phrase(text, _):
            return {word for word in text_pattern(text).words if len(word) < LONGEST_TERM}
        case All(parts):
            return set[str]().union(*map(_required_words, parts))
        case Either(parts):
            return set[str].intersection(*map(_required_words, parts))
        case _:
            return set()
