"""Habits of this code that ruff has no rule for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import pytest
from python_source import ROOT, TESTS, Module, all_modules, imported_names, imports_in, module, modules

# Where an unforeseen error is logged and the work goes on: the daemon's loop and the serving edge; and
# where a function of the user's own is called.
MAY_CATCH_ALL = (
    *("daemon/", "serve/", "chunk/strategies/custom.py", "chunk/contextual.py", "vault_evals/agents.py"),
    "vault_gateway/follower.py",
)
# Small letters count in comments only: "todo" is Spanish for "everything", and half of an operator's name.
UNFINISHED = re.compile(
    r"\b(TODO|FIXME|XXX|HACK|TBD|NotImplementedError)\b|#.*(?<!task-)\b(todo|fixme|hack)\b"
    r"|[Ll]orem ipsum|[Nn]ot implemented"
)
VAGUE_NAME = re.compile(r"(^|_)(utils?|helpers?|misc)$|(Helper|Manager|Utils?)$")
BOUNDED = re.compile(r"monotonic\(|perf_counter\(|process_time\(|deadline")

Rule = Callable[[Module], list[str]]


def catches_all(part: Module) -> list[str]:
    """Bare `except`, `except Exception`, `except BaseException`, unless the handler ends in `raise`."""
    if part.path.startswith(MAY_CATCH_ALL):
        return []
    return [
        part.at(node, "catches everything")
        for node in ast.walk(part.tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or re.search(r"\b(Base)?Exception\b", ast.unparse(node.type)))
        and not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)
    ]


def global_statements(part: Module) -> list[str]:
    return [part.at(node, "global") for node in ast.walk(part.tree) if isinstance(node, ast.Global)]


def untyped_dicts(part: Module) -> list[str]:
    return [
        part.at(node, ast.unparse(node))
        for node in ast.walk(part.tree)
        if isinstance(node, ast.Subscript)
        and re.fullmatch(r"[dD]ict\[str, (typing\.)?Any\]", ast.unparse(node))
    ]


def vague_names(part: Module) -> list[str]:
    found = [part.path] if VAGUE_NAME.search(part.path.removesuffix(".py").rpartition("/")[2]) else []
    return found + [
        part.at(node, f"class {node.name}")
        for node in ast.walk(part.tree)
        if isinstance(node, ast.ClassDef) and VAGUE_NAME.search(node.name)
    ]


def unfinished(part: Module) -> list[str]:
    return [
        f"{part.path}:{number}: {line.strip()}"
        for number, line in enumerate(part.text.splitlines(), start=1)
        if UNFINISHED.search(line)
    ]


def sleeps(part: Module) -> list[str]:
    """Calls of `sleep`, by any name that ends in it."""
    return [
        part.at(node, ast.unparse(node.func))
        for node in ast.walk(part.tree)
        if isinstance(node, ast.Call)
        and re.fullmatch(r"((time|asyncio|anyio)\.)?sleep", ast.unparse(node.func))
    ]


def spins(part: Module) -> list[str]:
    """Loops that only wait, by asking again and again, and whose code names no deadline."""
    return [
        part.at(node, f"while {ast.unparse(node.test)}: no deadline")
        for node in ast.walk(part.tree)
        if isinstance(node, ast.While)
        and all(map(_does_nothing, node.body))
        and not BOUNDED.search(ast.unparse(node))
    ]


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass | ast.Continue | ast.Assert)


def mocks(part: Module) -> list[str]:
    return [
        part.at(statement, f"imports {name}")
        for statement in imports_in(ast.walk(part.tree))
        for name in imported_names(statement)
        if re.match(r"(unittest\.)?mock\b|unittest$|pytest_mock", name)
    ]


def unsafe_python(part: Module) -> list[str]:
    """Commands that let Python import from the working folder: only `python_command` names the interpreter,
    and only its arguments say `-m` or `-c`."""
    if part.path == "system/processes.py":
        return []
    words = [
        part.at(node, f"{word.value}: build the command by python_command")
        for node in ast.walk(part.tree)
        if isinstance(node, ast.List | ast.Tuple | ast.Call)
        for word in (node.args if isinstance(node, ast.Call) else node.elts)
        if isinstance(word, ast.Constant) and word.value in ("-m", "-c")
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("python_command"))
    ]
    programs = [
        part.at(node, f"{ast.unparse(node)} begins a command: use python_command")
        for node in ast.walk(part.tree)
        if isinstance(node, ast.List | ast.Tuple)
        and node.elts
        and ast.unparse(node.elts[0]) in ("sys.executable", "executable")
    ]
    return words or programs


@pytest.mark.parametrize(
    "rule", [catches_all, global_statements, untyped_dicts, vague_names, unfinished, unsafe_python]
)
def test_the_package_keeps_its_habits(rule: Rule) -> None:
    assert [line for part in all_modules() for line in rule(part)] == []


@pytest.mark.parametrize("rule", [sleeps, spins, mocks])
def test_the_tests_keep_their_habits(rule: Rule) -> None:
    assert [line for part in modules(TESTS) for line in rule(part)] == []


def test_the_docs_are_finished() -> None:
    pages = [*sorted((ROOT / "docs").rglob("*.md")), *ROOT.glob("*.md")]
    texts = [(page.relative_to(ROOT), page.read_text(encoding="utf-8")) for page in pages]
    assert [str(path) for path, text in texts if UNFINISHED.search(text)] == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (catches_all, "try:\n    f()\nexcept (OSError, Exception):\n    pass"),
        (catches_all, "try:\n    f()\nexcept:\n    log()"),
        (global_statements, "def f():\n    global x\n    x = 1"),
        (untyped_dicts, "def f(x: dict[str, Any]) -> None: ..."),
        (vague_names, "class CacheManager: ..."),
        (unfinished, "x = 1  # todo: the rest"),
        (unsafe_python, "command = [sys.executable, '-m', 'vault_indexer.cli', *options]"),
        (unsafe_python, "run(program, '-c', code)"),
        (unsafe_python, "run([sys.executable, script])"),
        (sleeps, "time.sleep(1)"),
        (sleeps, "sleep(1)"),
        (spins, "while not done():\n    pass"),
        (spins, "while True:\n    ..."),
        (spins, "while not done():\n    assert alive()\n    continue"),
        (mocks, "from unittest.mock import Mock"),
    ],
)
def test_each_habit_can_be_broken(rule: Rule, text: str) -> None:
    assert len(rule(module(text))) == 1


def test_what_is_allowed_stays_allowed() -> None:
    cleanup = "try:\n    f()\nexcept BaseException:\n    undo()\n    raise"
    assert catches_all(module(cleanup)) == []
    assert catches_all(module("try:\n    f()\nexcept Exception:\n    log()", "daemon/loop.py")) == []
    assert spins(module("while not done():\n    assert time.monotonic() < end")) == []
    assert spins(module("while part := read():\n    whole += part")) == []
    assert unsafe_python(module("command = python_command('-m', 'vault_indexer.cli')")) == []
    assert vague_names(module("", "package/utils.py")) == ["package/utils.py"]
    assert vague_names(module("class ContextManagerLike: ...")) == []
