"""Every help, and what is said of mistakes, as a person edits it: `fixtures/messages.md`.

No word of it is one that only a reader of the code knows. `UPDATE_GOLDEN=1` writes the file.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

from cli_sandbox import Sandbox
from golden_commands import GOLDENS
from shown_text import TIME
from test_cli_views import EACH, parts

from vault_indexer.cli.app import COMMANDS

GOLDEN = GOLDENS / "messages.md"
SOURCE = Path(__file__).parents[2] / "src"

BANNED = re.compile(
    r"\b(generation|owed|set aside|keepers?|degraded|fused|token weights|catalog|derived ind\w+|signpost)\b",
    re.IGNORECASE,
)
"""Words of the code. What a gateway is configured with is called keeper there, and so in its messages."""

SAYING = re.compile(r"(notices|_happened|_done|said)\.(append|extend)$")
"""Lists whose texts are shown to a person."""

SECOND_PART = "# What is raised and said"

SQL = re.compile(r"\s*(SELECT|INSERT|CREATE|DELETE|DROP|UPDATE) ")

SUBCOMMANDS = (
    *("vault add", "vault list", "vault remove", "config show", "config edit", "config path"),
    *("service install", "service uninstall", "service status", "service logs"),
    *("eval run", "eval drift", "eval snapshot", "eval generate", "eval rank", "eval tune", "eval judge"),
)
MISTAKES = (
    "sync",
    "serch telescope",
    "zzz -n 3 words",
    "status .",
    "search",
    "search telescope --limt 3",
    "search telescope -i",
    "search telescope --limit 0",
    "ask telescope --limit 0",
    "search (telescope",
    "search bread before:soon",
    "search --explain Bread bread before:soon",
    "links",
    "links Nowhere",
    "links --orphans --broken",
    "links Welcome --orphans --depth 2",
    "links Welcome --json --dot",
    "related Nowhere",
    "base Nowhere",
    "inspect",
    "inspect Nowhere",
    "help nonsense",
    "pause",
    "pause --for soon",
    "embed --pause",
    "embed --resume",
    "completion tcsh",
    "resume",
    "vault add A /nowhere",
    "vault remove nobody",
    "config edit",
    "gateway",
    "stop",
)


def test_messages(copied: Sandbox) -> None:
    names = [one.name for one in COMMANDS]
    helps = [f"{name} --help" for name in (*names, *SUBCOMMANDS)]
    plain = Sandbox(copied.root, {"COLUMNS": "100", "EDITOR": "", "VISUAL": ""})
    found = ["# Help and mistakes\n"]
    for commands, where in ((("--help", *helps), ()), (MISTAKES, copied.place)):
        ran = plain.run("|".join(commands), *where, code=EACH)
        for command, out, err in zip(commands, parts(ran.out), parts(ran.err), strict=True):
            said = err.rpartition("[exit")[0] or out.rpartition("[exit")[0]
            shown = said.replace(str(copied.root), "~").strip()
            found.append(f"## {command}\n\n```text\n{shown}\n```\n")
    text = TIME.sub("in N s", "\n".join(found))
    compare(0, text)
    unknown = [line for line in text.splitlines() if BANNED.search(line) and "keeper" not in line.lower()]
    assert unknown == []
    assert not re.search(r"Traceback|<int|\[default", text)


def compare(number: int, text: str) -> None:
    """Compare a part of the golden with what it should be, or write that: 0 has helps and mistakes, 1 every
    sentence that is raised or said."""
    written = GOLDEN.read_text(encoding="utf-8").partition(SECOND_PART)
    parts_of_file = [written[0].rstrip("\n"), written[2].strip("\n")]
    if os.environ.get("UPDATE_GOLDEN"):
        parts_of_file[number] = text.strip("\n")
        GOLDEN.write_text(f"\n\n{SECOND_PART}\n\n".join(parts_of_file) + "\n", encoding="utf-8")
    assert text.strip("\n") == parts_of_file[number]


def said_in(tree: ast.AST) -> Iterator[str]:
    """The sentences that a module raises as errors, prints on standard error, or hands over as notices."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)) or is_said(node):
            yield from sentences(node)


def is_said(node: ast.AST) -> bool:
    """Whether a node is a call that says something to a person."""
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
    return name in ("note", "say") or (
        name in ("append", "extend") and bool(SAYING.search(ast.unparse(node.func)))
    )


def test_every_sentence_that_is_raised_or_said() -> None:
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = (
            sentences(tree) if path.name == "progress.py" and path.parent.name == "output" else said_in(tree)
        )
        found |= {" ".join(text.split()) for text in texts if len(text.split()) > 1}
    lines = "\n".join(sorted(found))
    compare(1, f"```text\n{lines}\n```")


def sentences(tree: ast.AST) -> Iterator[str]:
    """The texts of three words and more in a module that are no docstrings."""
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
    skipped = {id(one.value) for one in statements if isinstance(one.value, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node)}
            parts_of_it = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield "".join(map(str, parts_of_it))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def test_no_sentence_of_the_program_has_a_word_of_the_code() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        if "gateway" not in path.relative_to(SOURCE).as_posix()
        for text in sentences(ast.parse(path.read_text(encoding="utf-8")))
        if len(text.split()) > 2 and BANNED.search(text) and not SQL.match(text)
    ]
    assert found == []
