"""The package's source as the gates see it: one parsed module at a time, and what a rule finds in it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "vault_indexer"
TESTS = ROOT / "tests"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """A Python file: `path` is relative to the folder that was read, with `/`."""

    path: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def functions(self) -> Iterator[Function]:
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node

    def at(self, node: ast.stmt | ast.expr | ast.excepthandler, what: str) -> str:
        return f"{self.path}:{node.lineno}: {what}"


def module(text: str, path: str = "package/part.py") -> Module:
    return Module(path, text, ast.parse(text))


@cache
def modules(folder: Path) -> list[Module]:
    """Every Python file below the folder, in the order of paths; read once."""
    return [
        module(file.read_text(encoding="utf-8"), file.relative_to(folder).as_posix())
        for file in sorted(folder.rglob("*.py"))
    ]


@cache
def all_modules() -> list[Module]:
    """Those of the core, and those of optional packages with the name of the package before their paths."""
    added = [
        module(one.text, f"{folder.name}/{one.path}")
        for folder in sorted(PACKAGE.parent.glob("vault_*"))
        if folder != PACKAGE
        for one in modules(folder)
    ]
    return [*modules(PACKAGE), *added]


def imported_names(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """Full dotted names of the modules; a relative import starts with its dots."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return ["." * statement.level + (statement.module or "")]


def imports_in(nodes: Iterable[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run when the module is imported: not function bodies, not under TYPE_CHECKING."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, Function | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from (node for branch in child.orelse for node in [branch, *run_at_import(branch)])
            continue
        yield child
        yield from run_at_import(child)
