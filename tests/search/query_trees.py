"""Syntax trees of queries: as text, as goldens write them, and drawn at random."""

from hypothesis import strategies as st

from vault_indexer.search.query import (
    All,
    Compare,
    Either,
    Fact,
    InVault,
    Linked,
    Node,
    Not,
    Phrase,
    Property,
    Regex,
    Within,
    Word,
)


def outline(node: Node) -> str:
    """The tree on one line, with operators as functions and columns after an `@`."""
    match node:
        case All(parts) | Either(parts):
            return f"{'all' if isinstance(node, All) else 'any'}({', '.join(map(outline, parts))})"
        case Word(text, column):
            return f"{text}@{column}"
        case Phrase(text, column, match_case):
            return f'{"match-case " if match_case else ""}"{text}"@{column}'
        case Regex(pattern, column, match_case):
            return f"{'match-case ' if match_case else ''}/{pattern}/@{column}"
        case Compare(op, value, column):
            return f"{op} {value}@{column}"
    name, inside = _call(node)
    return f"{name}@{node.column}" + (f"({', '.join(inside)})" if inside else "")


def _call(node: Node) -> tuple[str, list[str]]:
    match node:
        case Not(operand):
            return "not", [outline(operand)]
        case Within(scope, inside):
            return scope, [outline(inside) if inside else ""]
        case Property(name, test):
            return "property", [name, *([outline(test)] if test else [])]
        case Fact(name, value) | Linked(name, value):
            return name, [value]
        case InVault(name):
            return "vault", [name]
        case _:
            return "null", []


def trees(
    leaves: st.SearchStrategy[Node], *, parts: tuple[int, int] = (1, 3), max_leaves: int = 8
) -> st.SearchStrategy[Node]:
    """Trees over these leaves, with at least and at most so many parts of an `All` or `Either`."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=parts[0], max_size=parts[1]).map(lambda nodes: All(tuple(nodes))),
            st.lists(inner, min_size=parts[0], max_size=parts[1]).map(lambda nodes: Either(tuple(nodes))),
            inner.map(lambda node: Not(node, 0)),
        ),
        max_leaves=max_leaves,
    )
