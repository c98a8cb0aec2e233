"""Search for attachments and bases by file name. They have no text, so only their names are indexed.

A file matches a query if its name contains all ranking words and meets the conditions. No attachment meets a
condition that only a note can meet: a tag, a property or a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache, partial
from itertools import islice

from vault_indexer.search.filters import TextPattern, name_contains, pattern_of, plain, text_pattern
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.query import (
    All,
    Either,
    Fact,
    InVault,
    Node,
    Not,
    Phrase,
    Regex,
    Scope,
    Within,
    Word,
    holds,
    moment_ns,
    ranking_words,
)
from vault_indexer.store.catalog import AttachmentNames, fold_path
from vault_indexer.system import record

BY_WORDS = 3
"""Limit of attachments returned for a query that has neither `file:` nor `path:`. A rule of thumb."""

_MOST_WORDS = 16
"""A query with more words is taken for a question and matches no file name. A rule of thumb."""

_PROBED = 1000
"""Limit of names checked for one word before the next word is tried. A query without `file:` or `path:` never
checks more. A search through the names of 100,000 attachments takes 2 ms."""

_PUNCTUATION = re.compile(r"\A[\W_]+|[\W_]+\Z")
"""The signs around a word."""

_moment_ns = lru_cache(maxsize=64)(moment_ns)

_FILE_SCOPES = frozenset({Scope.PATH, Scope.FILE})


@record
class NameQuery:
    """The conditions that a query sets for a file name.

    Each of `words` must be a word of the name. Each of `parts`, from a word that is still being typed, must
    occur anywhere in it. `explicit` is true if the query has `file:` or `path:`, so that it searches for
    files.
    """

    words: tuple[TextPattern, ...]
    parts: tuple[str, ...]
    conditions: tuple[Node, ...]
    explicit: bool
    now: datetime

    @property
    def is_possible(self) -> bool:
        asks = self.words or self.parts or any(map(_asks_for_names, self.conditions))
        return bool(asks) and len(self.words) <= _MOST_WORDS and all(map(_can_hold, self.conditions))

    def missing_words(self, path: str) -> list[str]:
        name = path.rpartition("/")[2]
        missing = [word.source for word in self.words if not word.is_in(name)]
        folded = fold_path(name)
        return missing + [part for part in self.parts if part not in folded]

    def meets(self, node: Node, path: str, mtime_ns: int) -> bool:
        return holds(node, partial(_leaf_holds, path, mtime_ns, self.now))


def name_query(prepared: PreparedQuery, now: datetime) -> NameQuery:
    conditions = tuple(condition.node for condition in prepared.conditions)
    within = {word for node in conditions for text in ranking_words(node) for word in text.split()}
    typed = {plain(term.word) for term in prepared.terms if term.prefix and term.end == len(prepared.text)}
    words: list[TextPattern] = []
    parts: list[str] = []
    # A pasted page is not analyzed as a whole. Twice the limit, because words of the conditions do not count.
    for written in dict.fromkeys(prepared.text.split()[: 2 * _MOST_WORDS]):
        word = _PUNCTUATION.sub("", written)
        if not word or written in within:
            continue
        if plain(word) in typed:
            parts.append(plain(word))
        else:
            words.append(text_pattern(word))
    return NameQuery(tuple(words), tuple(parts), conditions, any(map(_names_a_file, conditions)), now)


def match_attachments(prepared: PreparedQuery, wanted: NameQuery, limit: int) -> list[str]:
    """Returns the paths of at most `limit` attachments that match the query, the most recently changed first.

    Raises QueryTimeoutError or QueryCancelledError at the deadline, and QueryError for an invalid expression.
    """
    if not wanted.is_possible:
        return []
    found: list[str] = []
    most = limit if wanted.explicit else min(limit, BY_WORDS)
    names = prepared.snapshot.catalog.attachments()
    for number in _candidates(names, wanted):
        prepared.deadline.check()
        path, time_ns = names.paths[number], names.times[number]
        meets = (wanted.meets(node, path, time_ns) for node in wanted.conditions)
        if not wanted.missing_words(path) and all(meets):
            found.append(path)
            if len(found) == most:
                break
    return found


def _candidates(names: AttachmentNames, wanted: NameQuery) -> Iterator[int]:
    """Yields the positions of the names that contain every required part. Without `file:` or `path:` at most
    `_PROBED` names are checked."""
    # The longest part comes first because it is likely to be the rarest.
    needed = sorted(_needed(wanted), key=lambda part: (-len(part), part))
    for number in _likely(names, needed, wanted.explicit):
        folded = fold_path(names.paths[number]) if len(needed) > 1 else ""
        if len(needed) < 2 or all(part in folded for part in needed):
            yield number


def _likely(names: AttachmentNames, needed: Sequence[str], every: bool) -> Iterable[int]:
    for part in needed:
        matches = list(islice(names.numbers_containing(part), _PROBED))
        # The part is rare enough that all of its names can be checked.
        if len(matches) < _PROBED:
            return matches
    positions = names.numbers_containing(needed[0]) if needed else iter(range(len(names.paths)))
    return positions if every else islice(positions, _PROBED)


def _needed(wanted: NameQuery) -> set[str]:
    needed = {part for word in wanted.words for part in (*word.words, *word.pairs)}
    return needed.union(wanted.parts, *(_needed_by(node, False) for node in wanted.conditions))


def _needed_by(node: Node, within: bool) -> Iterator[str]:
    """Yields folded texts that a path needs to meet the condition, `within` `file:` or `path:` or not."""
    match node:
        case Word(text, _) | Phrase(text, _, _) if within:
            yield plain(text)
        case Word() | Phrase():
            pattern = pattern_of(node)
            assert isinstance(pattern, TextPattern)
            yield from (*pattern.words, *pattern.pairs)
        case All(parts):
            for part in parts:
                yield from _needed_by(part, within)
        case Within(scope, inside, _) if inside and scope in _FILE_SCOPES:
            yield from _needed_by(inside, True)
        case _:
            return


def _leaf_holds(path: str, mtime_ns: int, now: datetime, leaf: Node) -> bool:
    match leaf:
        case Word() | Phrase() | Regex():
            return pattern_of(leaf).is_in(path.rpartition("/")[2])
        case Within(scope, inside, _) if inside and scope in _FILE_SCOPES:
            name = path.rpartition("/")[2] if scope is Scope.FILE else path
            return holds(inside, partial(name_contains, name, fold_path(name)))
        case Fact("before" | "after" as operator, moment, _):
            return (mtime_ns >= _moment_ns(moment, now)) == (operator == "after")
        case InVault():
            return leaf.is_here
        case _:
            return False


def _asks_for_names(node: Node) -> bool:
    """Whether a condition searches for something that a name can contain."""
    if isinstance(node, All | Either):
        return any(map(_asks_for_names, node.parts))
    return isinstance(node, Word | Phrase) or _names_a_file(node)


def _names_a_file(node: Node) -> bool:
    if isinstance(node, All | Either):
        return any(map(_names_a_file, node.parts))
    return isinstance(node, Within) and node.scope in _FILE_SCOPES


def _can_hold(node: Node) -> bool:
    match node:
        case All(parts):
            return all(map(_can_hold, parts))
        case Either(parts):
            return any(map(_can_hold, parts))
        case InVault():
            return node.is_here
        case Word() | Phrase() | Regex() | Not() | Fact("before" | "after", _, _):
            return True
        case _:
            return _names_a_file(node)
