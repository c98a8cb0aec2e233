"""What a query asks of Milvus: words, what the server filters by, and what is checked of each hit.

A gateway has no text of the notes and no properties. What it cannot decide it refuses by name; no operator is
ever taken as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from vault_indexer.errors import QueryError
from vault_indexer.search.filters import name_contains, plain
from vault_indexer.search.query import (
    All,
    Condition,
    Either,
    Fact,
    InVault,
    Linked,
    Node,
    Not,
    Phrase,
    Property,
    Regex,
    Scope,
    Within,
    Word,
    atoms,
    compile_regex,
    holds,
    moment_ns,
    parse_query,
)
from vault_indexer.store import FoundChunk

_KNOWN = "words, tag:, path:, file:, lang:, before: and after:"


@dataclass(frozen=True, slots=True)
class Question:
    """A query as a gateway answers it.

    `text` ranks. The server filters by `tags`; the `conditions` are checked of each hit by its path, language
    and time, at the time `now`.
    """

    text: str
    tags: tuple[str, ...]
    conditions: tuple[Condition, ...]
    notices: tuple[str, ...]
    now: datetime

    def leaves(self, found: FoundChunk) -> bool:
        """Whether all conditions hold for a chunk."""
        return all(holds(one.node, partial(_leaf_holds, found, self.now)) for one in self.conditions)


def parse_gateway_query(query: str, now: datetime) -> Question:
    """The question in a query. Raises QueryError for a wrong one, for one that only filters, and for
    operators that a gateway cannot decide."""
    parsed = parse_query(query)
    tags: list[str] = []
    checked: list[Condition] = []
    refused: list[Condition] = []
    for condition in parsed.conditions:
        own = _tags(condition.node)
        if own is not None:
            tags += own
        else:
            (checked if _can_check(condition.node, now) else refused).append(condition)
    if refused:
        named = ", ".join(f"{one.source} ({_name(one.node)})" for one in refused)
        raise QueryError(
            f"a gateway cannot decide {named}; it knows {_KNOWN}. A daemon knows all operators", 1
        )
    if not parsed.text:
        raise QueryError("the query has only filters; a gateway needs a word that ranks", 1)
    return Question(parsed.text, tuple(tags), tuple(checked), parsed.notices, now)


def _tags(node: Node) -> list[str] | None:
    """The tags that must all be there; None for another condition."""
    match node:
        case Within(Scope.TAG, Word(text, _) | Phrase(text, _), _):
            return [text]
        case Within(Scope.TAG, All(parts), column):
            return _all_tags([Within(Scope.TAG, part, column) for part in parts])
        case All(parts):
            return _all_tags(parts)
        case _:
            return None


def _all_tags(parts: list[Node] | tuple[Node, ...] | list[Within]) -> list[str] | None:
    found = [_tags(part) for part in parts]
    return None if None in found else [tag for one in found if one for tag in one]


def _can_check(node: Node, now: datetime) -> bool:
    """Whether a hit says enough to decide the condition. Raises QueryError for a wrong value in it."""
    return all(_can_check_leaf(leaf, now) for leaf in atoms(node))


def _can_check_leaf(leaf: Node, now: datetime) -> bool:
    match leaf:
        case Within(Scope.PATH | Scope.FILE, inside, _) if inside:
            for part in atoms(inside):
                if isinstance(part, Regex):
                    compile_regex(part.pattern, part.column, match_case=part.match_case)
            return True
        case Fact("lang", _, _):
            return True
        case Fact("before" | "after", moment, _):
            moment_ns(moment, now)
            return True
        case _:
            return False


def _leaf_holds(found: FoundChunk, now: datetime, leaf: Node) -> bool:
    match leaf:
        case Within(scope, inside, _) if inside:
            name = found.path.rpartition("/")[2] if scope is Scope.FILE else found.path
            return holds(inside, partial(name_contains, name, plain(name)))
        case Fact("lang", code, _):
            return found.language == code
        case Fact("before" | "after" as operator, moment, _):
            return (found.modified_ns >= moment_ns(moment, now)) == (operator == "after")
        case _:
            raise AssertionError(leaf)


def _name(node: Node) -> str:
    """What people call a condition."""
    match node:
        case Phrase():
            return "a phrase"
        case Regex():
            return "a regular expression"
        case Word():
            return "a word that must be there"
        case Not():
            return "a condition with -"
        case All() | Either():
            return "conditions joined"
        case Property():
            return "a property"
        case InVault():
            return "vault: is a parameter of a gateway, not a part of the query"
        case Linked(name, _, _) | Fact(name, _, _):
            return f"{name}:"
        case Within(scope, _, _):
            return f"{scope}:"
        case _:
            return "a condition"
