"""The syntax tree of a query as text, as goldens write it."""

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
