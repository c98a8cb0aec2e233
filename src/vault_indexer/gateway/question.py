"""What a gateway can decide of a query: it knows the notes that may answer, and not all links of a vault."""

from __future__ import annotations

from dataclasses import dataclass

from vault_indexer.errors import QueryError
from vault_indexer.search.query import (
    All,
    Condition,
    Fact,
    InVault,
    Linked,
    Node,
    Phrase,
    Scope,
    Within,
    Word,
    atoms,
    parse_query,
)


@dataclass(frozen=True, slots=True)
class Question:
    """A query as a gateway answers it: all of its `tags` must be there, which the server checks, and
    `has_conditions` says that more is checked of the notes that it gives."""

    tags: tuple[str, ...]
    has_conditions: bool
    needs_text: bool


def parse_gateway_query(query: str) -> Question:
    """What a query asks of the server. Raises QueryError for a wrong one, for one that only filters, and for
    operators that a gateway cannot decide."""
    parsed = parse_query(query)
    refused = [one for one in parsed.conditions if any(map(_is_refused, atoms(one.node)))]
    if refused:
        named = ", ".join(f"{one.source} ({_why(one)})" for one in refused)
        raise QueryError(f"a gateway cannot decide {named}", 1)
    if not parsed.text:
        raise QueryError("the query has only filters; a gateway needs a word that ranks", 1)
    tags = [_tags(one.node) for one in parsed.conditions]
    return Question(
        tags=tuple(tag for own in tags for tag in own or ()),
        has_conditions=any(own is None for own in tags),
        needs_text=any(map(_needs_text, parsed.conditions)),
    )


def _is_refused(node: Node) -> bool:
    return isinstance(node, Linked | InVault)


def _why(condition: Condition) -> str:
    if any(isinstance(one, InVault) for one in atoms(condition.node)):
        return "vault: is a parameter of a gateway, not a part of the query"
    return "links are known to the daemon alone"


_OF_NAMES = frozenset({Scope.PATH, Scope.FILE, Scope.TAG})


def _needs_text(condition: Condition) -> bool:
    """Whether the text of a note decides the condition."""
    return not all(map(_is_of_row, atoms(condition.node)))


def _is_of_row(leaf: Node) -> bool:
    return isinstance(leaf, Fact) or (isinstance(leaf, Within) and leaf.scope in _OF_NAMES)


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
