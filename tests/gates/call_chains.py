"""Chains of functions as docs/internals/architecture.md writes them, followed through the package's source.

A chain is a list of steps, one a line: `package.module:function`, `package.module:Class` or
`package.module:Class.method`, with a remark after two spaces. Each step uses the next one. A blank line ends
a chain; the next begins with a step that a chain above holds, or below a `#` line that says where it begins.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from python_source import Function, Module

FLOW = re.compile(r"^```text flow\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class Chains:
    """The chains of one flow, and the first steps that nothing leads to."""

    chains: list[list[str]] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)


def flows(page: str) -> list[Chains]:
    """The flows of a page, in order."""
    return [read_flow(text) for text in FLOW.findall(page)]


def read_flow(text: str) -> Chains:
    """The chains of the text of one block."""
    flow, known = Chains(), set[str]()
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = paragraph.splitlines()
        steps = [line.split("  ")[0].strip() for line in lines if not line.startswith("#")]
        if known and steps[0] not in known and not lines[0].startswith("#"):
            flow.loose.append(steps[0])
        known.update(steps)
        flow.chains.append(steps)
    return flow


def broken_steps(chain: Sequence[str], parts: Sequence[Module]) -> list[str]:
    """The steps that do not exist, and those that do not use the next one."""
    missing = [step for step in chain if definition(step, parts) is None]
    if missing:
        return [f"{step}: does not exist" for step in missing]
    return [
        f"{step}: does not use {following}"
        for step, following in pairwise(chain)
        if re.split(r"[:.]", following)[-1] not in used_names(step, parts)
    ]


def definition(step: str, parts: Sequence[Module]) -> tuple[Module, ast.ClassDef | None, ast.stmt] | None:
    """The statement that defines a step, with its module and, for a member, its class."""
    path, _, name = step.partition(":")
    own, _, member = name.partition(".")
    names = {f"{path.replace('.', '/')}.py", f"{path.replace('.', '/')}/__init__.py"}
    for part in parts:
        found = defined(part.tree.body).get(own) if part.path in names else None
        if found is not None and not member:
            return part, None, found
        if isinstance(found, ast.ClassDef) and member in defined(found.body):
            return part, found, defined(found.body)[member]
    return None


def defined(body: Sequence[ast.stmt]) -> dict[str, ast.stmt]:
    """Functions, classes and variables by name."""
    found: dict[str, ast.stmt] = {}
    for statement in body:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found[name] = statement
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = statement
    return found


def used_names(step: str, parts: Sequence[Module]) -> set[str]:
    """All names in the code of a step, and of what is private to its module and class and used by it."""
    start = definition(step, parts)
    assert start is not None
    part, owner, node = start
    owner = node if isinstance(node, ast.ClassDef) else owner
    scopes = [defined(part.tree.body), *([defined(owner.body), attributes(owner)] if owner else [])]
    names: set[str] = set()
    waiting = [node]
    while waiting:
        new = set(names_in(waiting.pop())) - names
        names |= new
        private = [name for name in new if name.startswith("_") or name.isupper()]
        waiting += [scope[name] for name in private for scope in scopes if name in scope]
    return names


def attributes(owner: ast.ClassDef) -> dict[str, ast.stmt]:
    """The assignment in `__init__` to each attribute of `self`."""
    found: dict[str, ast.stmt] = {}
    for method in owner.body:
        if isinstance(method, Function) and method.name == "__init__":
            for node in ast.walk(method):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                    found[node.targets[0].attr] = node
    return found


def names_in(node: ast.AST) -> Iterator[str]:
    """The names that the code mentions; strings and comments are none."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
