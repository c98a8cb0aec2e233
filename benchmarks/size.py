"""How large the program is: the table of `make size`, and what exceeds the limits in benchmarks/size.toml.

    python benchmarks/size.py [--update]

Files in folders called `generated` are counted apart. Lines of code exclude docstrings and comments.
`--update` lowers the limits to the current counts, adds new packages and drops those that are gone. To
raise a limit, edit the table and give the reason there.

A search is followed with `sys.setprofile`, the third time that the same query is asked: the modules that it
passes, and the calls from one module into another. Comprehensions count as part of the function around them.
The vault is Obsidian's help if ../shared/data has it, else the demo.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tempfile
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import tomlkit

ROOT = Path(__file__).resolve().parents[1]
LIMITS = Path(__file__).with_suffix(".toml")
TESTS = "tests"
HELP_VAULT = ROOT / "../shared/data/vaults/obsidian-help"
DEMO_VAULT = ROOT / "src/vault_indexer/demo"
QUERY = "how do I sync notes"
SAVE_FLOW = 1
"""Its place among the flows of docs/internals/architecture.md."""
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DIRECTIVES = ("# noqa", "# type:", "# pragma")

Size = dict[str, int]


def sizes() -> dict[str, Size]:
    """Modules and lines of each package in src and of the tests, without generated files."""
    packages = sorted(folder.parent for folder in (ROOT / "src").glob("*/__init__.py"))
    counted = {package.name: _size(python_files(package)) for package in packages}
    return counted | {TESTS: {"lines": _size(python_files(ROOT / TESTS))["lines"]}}


def python_files(folder: Path) -> list[Path]:
    """The Python files below a folder that are written by hand."""
    return [file for file in sorted(folder.rglob("*.py")) if "generated" not in file.parts]


def excess(counted: dict[str, Size]) -> list[str]:
    """One sentence for each limit that is exceeded, and for each package that has none."""
    limits = tomlkit.parse(LIMITS.read_text("utf-8"))
    return [
        f"{name}: {number:,} {unit}, {limits[name][unit]:,} allowed"
        if name in limits
        else f"{name}: {number:,} {unit}, no limit given"
        for name, size in counted.items()
        for unit, number in size.items()
        if name not in limits or number > limits[name][unit]
    ]


def lower_limits(counted: dict[str, Size]) -> None:
    """Write what is counted into the table where it is less than the limit."""
    table = tomlkit.parse(LIMITS.read_text("utf-8"))
    for name, size in counted.items():
        row = table.setdefault(name, tomlkit.table())
        for unit, number in size.items():
            row[unit] = min(number, row.get(unit, number))
    for name in set(table) - set(counted):
        del table[name]
    LIMITS.write_text(tomlkit.dumps(table), "utf-8")


def _size(files: Sequence[Path]) -> Size:
    return {"modules": len(files), "lines": sum(len(file.read_bytes().splitlines()) for file in files)}


def comment_shares(files: Sequence[Path]) -> tuple[float, float]:
    """Lines of code for each comment, and for each that does more than direct a tool."""
    code = comments = directives = 0
    for file in files:
        text = file.read_text("utf-8")
        docstrings = {
            line
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        lines = set[int]()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments += 1
                directives += token.string.startswith(DIRECTIVES)
            elif token.type not in NOT_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
        code += len(lines - docstrings)
    return code / comments, code / (comments - directives)


def words(*patterns: str) -> int:
    """The words of the pages."""
    return sum(
        len(page.read_text("utf-8").split()) for pattern in patterns for page in sorted(ROOT.glob(pattern))
    )


def save_flow() -> tuple[int, int]:
    """The steps of a save as the architecture gives them, and the modules that they are in."""
    sys.path.append(str(ROOT / "tests/gates"))
    from call_chains import flows

    flow = flows((ROOT / "docs/internals/architecture.md").read_text("utf-8"))[SAVE_FLOW]
    steps = [step for chain in flow.chains for step in chain]
    return len(steps), len({step.partition(":")[0] for step in steps})


def search_path(vault: Path) -> tuple[int, int]:
    """The modules that a repeated search passes, and the calls between them."""
    from vault_indexer import open_vault

    calls: list[tuple[str, str]] = []

    def note_call(frame: FrameType, event: str, _: object) -> None:
        called = frame.f_code
        if event == "call" and called.co_filename.startswith(str(ROOT / "src")) and not _is_inner(frame):
            caller = frame.f_back
            while caller and _is_inner(caller):
                caller = caller.f_back
            calls.append((caller.f_code.co_filename if caller else "", called.co_filename))

    with tempfile.TemporaryDirectory() as folder, open_vault(vault, Path(folder) / "index") as opened:
        for _ in range(3):
            calls.clear()
            sys.setprofile(note_call)
            opened.search(QUERY)
            sys.setprofile(None)
    return len({called for _, called in calls}), sum(caller != called for caller, called in calls)


def _is_inner(frame: FrameType) -> bool:
    """Whether the frame is one of a comprehension."""
    return frame.f_code.co_name in {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


def _rows(counted: dict[str, Size]) -> Iterator[tuple[str, str]]:
    source = {name: size for name, size in counted.items() if name != TESTS}
    lines, modules = (sum(size[unit] for size in source.values()) for unit in ("lines", "modules"))
    yield "src, all packages: lines of Python in modules", f"{lines:,} in {modules:,}"
    for name, size in source.items():
        yield f"`{name}`", f"{size['lines']:,} in {size['modules']:,}"
    for folder in sorted(path.parent for path in (ROOT / "src/vault_indexer").glob("*/__init__.py")):
        size = _size(python_files(folder))
        yield f"&emsp;`{folder.name}`", f"{size['lines']:,} in {size['modules']:,}"
    generated = [
        path
        for path in (ROOT / "src").rglob("generated/*")
        if path.suffix in (".py", ".ts", ".js") and "node_modules" not in path.parts
    ]
    yield "generated files, apart: lines in files", "{lines:,} in {modules:,}".format(**_size(generated))
    yield "tests: lines of Python", f"{counted[TESTS]['lines']:,}"
    vault = HELP_VAULT if HELP_VAULT.is_dir() else DEMO_VAULT
    passed, moves = search_path(vault)
    yield f"a repeated search ({vault.name}): modules passed, moves between them", f"{passed:,}, {moves:,}"
    yield "a save: steps, modules", "{}, {}".format(*save_flow())
    shares = comment_shares(python_files(ROOT / "src"))
    yield "comments per line of code; without directives", "1 in {:.0f}; 1 in {:.0f}".format(*shares)
    short, rest = words("README.md", "docs/*.md"), words("docs/internals/*.md", "docs/decisions/*.md")
    yield "words: README and docs/*.md; with internals and decisions", f"{short:,}; {short + rest:,}"


def main() -> None:
    """Print the table, then the limits that are exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--update", action="store_true", help="lower the limits to what is counted now")
    update = parser.parse_args().update
    counted = sizes()
    print("| | |\n| --- | ---: |")
    for what, figures in _rows(counted):
        print(f"| {what} | {figures} |", flush=True)
    if update:
        lower_limits(counted)
    print(f"\nAbove the limits of {LIMITS.relative_to(ROOT)}:", *excess(counted) or ["nothing"], sep="\n")


if __name__ == "__main__":
    main()
