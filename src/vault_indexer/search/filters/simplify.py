"""Conditions that contradict themselves, or always hold, found without reading any text.

`line:(the -the)` would read every note that holds the word, to find nothing in any of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from vault_indexer.search.filters.candidates import Pattern, pattern_of
from vault_indexer.search.filters.text_pattern import TextPattern, text_pattern
from vault_indexer.search.query import NAMES, All, Either, Node, Not, Phrase, Within, Word, replace_leaves

NOTHING = Either(())
"""A condition that holds for no note."""

_ROUNDS = 3
"""So often what follows from the parts of a condition is put into its other parts. A rule of thumb."""

_PLAIN_WORDS = re.compile("[a-z0-9]+(?: [a-z0-9]+)*")

_Key = Pattern | Node
_Facts = Mapping[_Key, bool]


def simplify(node: Node) -> Node:
    """A condition on notes that holds for the same notes, at the same places. Places that contradict
    themselves are `NOTHING`, as is a condition that does; what a place says in vain is left out."""
    known = replace_leaves(node, _simple_place)
    # The condition itself stays as well: what is wrong in it is still an error.
    return All((known, NOTHING)) if _reduce(known, {}, _by_node) is False else known


def _simple_place(leaf: Node) -> Node:
    match leaf:
        case Within(scope, inside, column) if inside and scope not in NAMES:
            found = _reduce(inside, {}, _by_pattern)
            if found is False:
                return NOTHING
            return Within(scope, None if found is True else found, column)
        case _:
            return leaf


def _by_node(node: Node) -> _Key:
    return node


def _by_pattern(node: Node) -> _Key:
    """Within a piece of text, words and phrases that look for the same are the same."""
    return pattern_of(node) if isinstance(node, Word | Phrase) else node


def _reduce(node: Node, facts: _Facts, key_of: Callable[[Node], _Key]) -> Node | bool:
    """What is left of a tree where some of its leaves are known to hold, or not to."""
    match node:
        case Not(operand, column):
            found = _reduce(operand, facts, key_of)
            return not found if isinstance(found, bool) else Not(found, column)
        case All(parts):
            return _reduce_parts(All, parts, facts, key_of)
        case Either(parts):
            return _reduce_parts(Either, parts, facts, key_of)
        case _:
            known = _value(key_of(node), facts)
            return node if known is None else known


def _reduce_parts(
    kind: type[All] | type[Either], parts: tuple[Node, ...], facts: _Facts, key_of: Callable[[Node], _Key]
) -> Node | bool:
    """In `All`, each part may take for granted what another says; in `Either`, that it is not so."""
    wanted = kind is All
    left = list(parts)
    for _ in range(_ROUNDS):
        held = dict(facts)
        kept: list[Node] = []
        for part in sorted(left, key=lambda part: _literal(part, wanted) is None):
            found = _reduce(part, held, key_of)
            if isinstance(found, bool):
                if found is not wanted:
                    return found
                continue
            kept.append(found)
            literal = _literal(found, wanted)
            if literal:
                _learn(key_of(literal[0]), literal[1], held)
        # In the order in which they are written.
        unchanged = len(kept) == len(left) and all(part in left for part in kept)
        left = [part for part in left if part in kept] if unchanged else kept
        if unchanged:
            break
    if len(left) == 1:
        return left[0]
    return kind(tuple(left)) if left else wanted


def _literal(node: Node, wanted: bool) -> tuple[Node, bool] | None:
    """A leaf, and the value that it has where the node has the value `wanted`; None for other trees."""
    match node:
        case Not(operand, _):
            found = _literal(operand, wanted)
            return (found[0], not found[1]) if found else None
        case All() | Either():
            return None
        case _:
            return node, wanted


def _learn(key: _Key, value: bool, facts: dict[_Key, bool]) -> None:
    facts[key] = value
    if value and isinstance(key, TextPattern):
        facts.update(dict.fromkeys(_implied_by(key), True))


def _value(key: _Key, facts: _Facts) -> bool | None:
    if key in facts:
        return facts[key]
    if isinstance(key, TextPattern) and any(facts.get(word) is False for word in _implied_by(key)):
        return False
    return None


@lru_cache(maxsize=512)
def _implied_by(pattern: TextPattern) -> tuple[TextPattern, ...]:
    """What stands in a text wherever the pattern does: each of its words, and the same in any case."""
    if not _PLAIN_WORDS.fullmatch(pattern.source):
        return ()
    words = {text_pattern(word) for word in pattern.source.split()}
    return tuple(words | {text_pattern(pattern.source)} - {pattern})
