"""What the tests notice: one small fault after the other is written into the code, and the tests are run.

    pip install -e ".[mutants]"; python benchmarks/mutants.py [--seed N] [--places 60] [--minutes 20]

Modules are drawn by their size and in each a place; the same seed draws the same. cosmic-ray's operators say
what can be changed at a place. A mutant is killed by a test that fails with it and passes without it.
Docstrings and messages stay (no operator changes text), as do annotations, calls of a log, arguments of
`@dataclass`.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/vault_indexer")
NEEDS_EXTRA = re.compile(r"/(gateway|llamaindex|providers|store/milvus)/")  # without it, tests are skipped
FIXED = {"annassign", "tfpdef", "parameters", "import_from", "import_name"}
IN_LOG = re.compile(r"\s*_?log(ger|ging)?\.")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
LIMIT_S = 180.0  # for the tests of one mutant, which may loop for ever
VERDICTS = ("killed", "survived", "timed out", "not judged")
# Where the tests of a package are, beside those in the folder of its name.
DEPENDENTS = {
    "answer": ("serve",),
    "evals": ("serve",),
    "index": ("store", "daemon"),
    "links": ("search",),
    "model": ("search", "serve"),
    "store": ("search", "index"),
    "system": ("index", "daemon"),
    "text": ("store", "search"),
    "vault": ("daemon", "security"),
    "vaults": ("daemon", "serve", "search"),
}


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: Path
    change: str
    text: str


def is_fixed(node) -> bool:  # type: ignore[no-untyped-def] # a node of parso
    """Whether a node is part of what stays as it is."""
    while (parent := node.parent) is not None:
        if parent.type in FIXED or (parent.type == "funcdef" and node is parent.annotation):
            return True
        if parent.type == "decorator" and "dataclass" in parent.get_code():
            return True
        if parent.type in ("power", "atom_expr") and IN_LOG.match(parent.get_code()):
            return True
        node = parent
    return False


def draw_mutants(seed: int) -> Iterator[Mutant]:
    """Without end. The same for the same seed and tree."""
    chance = random.Random(seed)
    classes = {name: get_operator(name) for name in operator_names()}
    operators = {name: found() for name, found in classes.items() if not found.arguments()}
    modules = [path.relative_to(ROOT) for path in sorted((ROOT / SOURCE).glob("*/**/*.py"))]
    texts = {path: (ROOT / path).read_text("utf-8") for path in modules if not NEEDS_EXTRA.search(f"{path}")}
    while True:
        (module,) = chance.choices(list(texts), [len(text) for text in texts.values()])
        places: dict[tuple[int, int], list[tuple[str, int]]] = {}
        seen: Counter[str] = Counter()
        for node in ast_nodes(get_ast(texts[module])):
            for name, operator in operators.items():
                for start, _ in operator.mutation_positions(node):
                    if not is_fixed(node):
                        places.setdefault(start, []).append((name, seen[name]))
                    seen[name] += 1
        if places:
            place = chance.choice(sorted(places))
            name, occurrence = chance.choice(places[place])
            text = mutate_code(texts[module], operators[name], occurrence)
            with suppress(SyntaxError):  # `**` in a display of a dict is no product
                compile(text, module, "exec")
                old, new = (one.splitlines()[place[0] - 1].strip() for one in (texts[module], text))
                yield Mutant(module, f"{module}:{place[0]}  {old}  ->  {new}", text)


def list_tests(tree: Path, module: Path) -> list[str]:
    """The files that import the module first, then the package's others, then those of its dependents."""
    name, package = ".".join(module.with_suffix("").parts[1:]), module.parts[2]
    folders = (package, *DEPENDENTS.get(package, ()))
    files = [path for folder in folders for path in sorted((tree / "tests" / folder).glob("test_*.py"))]
    return [
        f"{path.relative_to(tree)}" for path in sorted(files, key=lambda one: name not in one.read_text())
    ]


def run_tests(tree: Path, tests: list[str], limit_s: float) -> tuple[int, str]:
    """Exit status of pytest (-1: the time was over), and the test that failed ("": none)."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not long and not slow", *tests]
    where = {"cwd": tree, "env": {**os.environ, "PYTHONPATH": f"{tree / 'src'}"}}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, **where, **pipes, start_new_session=True)  # type: ignore[call-overload]
    try:
        failed = FAILED.search(process.communicate(timeout=limit_s)[0])
    except subprocess.TimeoutExpired:
        return -1, ""
    finally:
        with suppress(ProcessLookupError):  # what the tests started may outlive them
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, failed[1] if failed else ""


def write_module(path: Path, text: str) -> None:
    """Within one second and with the same size, what was compiled before would be taken for this text."""
    path.write_text(text, "utf-8")
    Path(cache_from_source(f"{path}")).unlink(missing_ok=True)


def judge(mutant: Mutant, trees: "SimpleQueue[Path]", end: float, unfit: set[str]) -> str:
    """The verdict on a mutant, found in one of the copies of the tree; printed, too. `unfit` are tests that
    fail without a mutant. They are left out."""
    tree = trees.get()
    path, failed, verdict = tree / mutant.module, "", ""
    original = path.read_text("utf-8")
    while not verdict:
        limit_s = min(LIMIT_S, end - time.monotonic())
        if limit_s <= 0:
            verdict = "not judged"
            break
        write_module(path, mutant.text)
        tests = [*list_tests(tree, mutant.module), *(f"--deselect={test}" for test in sorted(unfit))]
        status, failed = run_tests(tree, tests, limit_s)
        write_module(path, original)
        if failed and run_tests(tree, [failed], LIMIT_S)[0] == 1:
            unfit.add(failed)
        elif status == -1:
            verdict = "timed out" if limit_s == LIMIT_S else "not judged"
        else:
            verdict = {0: "survived", 5: "survived", 1: "killed", 2: "killed"}.get(status, "not judged")
    trees.put(tree)
    print(f"{verdict:10}  {mutant.change}  {failed}", flush=True)
    return verdict


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=random.randrange(100_000))
    parser.add_argument("--places", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=20)
    options = parser.parse_args()
    end, unfit = time.monotonic() + 60 * options.minutes, set[str]()
    print(f"seed {options.seed}", flush=True)
    ignored = shutil.ignore_patterns(
        ".venv", ".git", ".*_cache", "node_modules", "__pycache__", "build", "dist"
    )
    trees: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for number in range(2):
            trees.put(shutil.copytree(ROOT, Path(folder, f"{number}"), ignore=ignored))
        mutants = list(islice(draw_mutants(options.seed), options.places))
        verdicts = list(pool.map(lambda one: judge(one, trees, end, unfit), mutants))
    counts = Counter(zip([mutant.module.parts[2] for mutant in mutants], verdicts, strict=True))
    print("", f"{'':12}" + "".join(f"{one:>12}" for one in VERDICTS), sep="\n")
    for package in sorted({package for package, _ in counts}):
        print(f"{package:12}" + "".join(f"{counts[package, one]:12}" for one in VERDICTS))
    print(*(f"left out, for it fails without a mutant: {test}" for test in sorted(unfit)), sep="\n")
    print(f"{'all':12}" + "".join(f"{verdicts.count(one):12}" for one in VERDICTS))


if __name__ == "__main__":
    main()
