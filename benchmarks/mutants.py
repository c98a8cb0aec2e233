"""What the tests notice: one small fault after the other is written into the code, and the tests are run.

    pip install -e ".[mutants]"; python benchmarks/mutants.py [--seed N] [--places 60] [--minutes 20]

Modules are drawn by their size and in each a place; the same seed draws the same. cosmic-ray's operators say
what can be changed at a place. First the suite runs once on the code as it is, and records which tests reach
which place. Then each mutant meets the cheapest tests that reach it, half of them of its own package.
It is killed by a test that fails twice with it and passes without it, or that does not end.

All limits are of processor time, so that no verdict depends on what else the machine does: `--minutes` are
those of two idle processors. Needs Linux.

Docstrings and messages stay (no operator changes text), as do annotations, calls of a log, arguments of
`@dataclass`, and what is there for Windows. `strict=True` of `zip` stays, too: it raises only where the
program has a fault already, and no code of the package catches that, so without it nothing else happens.
"""

import argparse
import ast
import compileall
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice
from pathlib import Path
from py_compile import compile as write_bytecode
from queue import SimpleQueue

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/vault_indexer")
NEEDS_EXTRA = re.compile(r"/(gateway|llamaindex|providers|store/milvus)/")  # without it, tests are skipped
LEFT_OUT = ("gates", "page", "plugin", "reliability")  # folders of tests
ELSEWHERE = re.compile(r"if (sys\.platform == .win32.|TYPE_CHECKING)")
FIXED = {"annassign", "tfpdef", "parameters", "import_from", "import_name"}
IN_LOG = re.compile(r"\s*_?log(ger|ging)?\.")
STRICT = re.compile(r"strict\s*=\s*True")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
TESTS_CPU_S = 20.0
"""What all tests of a mutant cost at most when there is no mutant."""
REST_S = 180.0
"""Tests that use no processor time for so long wait for what never comes."""
PROCESSORS = 2
Function = ast.FunctionDef | ast.AsyncFunctionDef
VERDICTS = ("killed", "survived", "not judged")


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: Path
    line: int
    change: str
    text: str

    @property
    def is_in_function(self) -> bool:
        """Else an import executes it."""
        return is_in_function(ast.parse((ROOT / self.module).read_text("utf-8")), self.line)

    @property
    def package(self) -> str:
        """`search` for `src/vault_indexer/search/rank/rank.py`."""
        return self.module.parts[2]


@dataclass
class Reach:
    """Which tests reach which mutant, by its number, and what they cost in seconds of processor time."""

    costs: dict[str, float] = field(default_factory=dict)
    unfit: set[str] = field(default_factory=set)
    """Tests that fail without a mutant."""
    _tests: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    _scopes: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add_record(self, text: str) -> None:
        """Add what `mutants_reach.py` has written."""
        for kind, what, test in (line.split("\t") for line in text.splitlines()):
            name, _, phase = test.rpartition(" (")
            if kind == "cost":
                self.costs[test] = float(what)
            elif phase == "call)":
                self._tests[int(what)].add(name)
            elif name:  # a fixture, which may be that of all tests of the file
                self._scopes[int(what)].add(f"{file_of(name)}::")

    def choose_tests(self, number: int, mutant: Mutant) -> list[str]:
        """The cheapest of its package that reach it, and the cheapest of all that do; where an import
        executes it, also the cheapest of its package, and of all. Each group has as much time, and what the
        one before leaves. The package's own come first, of them the files that name the module."""
        own, name = f"tests/{mutant.package}/", re.compile(rf"\b{mutant.module.stem}\b")
        reached, scopes = self._tests[number], tuple(self._scopes[number])
        fit = self.costs.keys() - self.unfit
        reaching = {test for test in fit if test in reached or test.startswith(scopes)}
        groups = [group_of(own, reaching), reaching]
        if not mutant.is_in_function:
            groups += [group_of(own, fit), fit]
        chosen: list[str] = []
        left = 0.0
        for group in groups:
            more, left = self._choose_cheapest(group.difference(chosen), left + TESTS_CPU_S / len(groups))
            chosen += more
        is_about = {file: name.search((ROOT / file).read_text("utf-8")) is not None for file in self._entries}
        return sorted(chosen, key=lambda one: (not one.startswith(own), not is_about[file_of(one)]))

    def _choose_cheapest(self, tests: Set[str], left: float) -> tuple[list[str], float]:
        """As many as so many seconds are enough for, at least one of any; and the seconds left then."""
        files = Counter(map(file_of, tests))
        shares = {
            test: self.costs[test] + self._entries[file_of(test)] / files[file_of(test)] for test in tests
        }
        chosen: list[str] = []
        entered: set[str] = set()
        for test in sorted(tests, key=lambda one: (shares[one], one)):
            file = file_of(test)
            cost = self.costs[test] + (0.0 if file in entered else self._entries[file])
            if cost < left or not chosen:
                left -= cost
                entered.add(file)
                chosen.append(test)
        return chosen, left

    @cached_property
    def _entries(self) -> Mapping[str, float]:
        """What the first test of each file costs: it makes what the others share."""
        return {file_of(test): self.costs[test] for test in reversed(self.costs)}


def group_of(folder: str, tests: Set[str]) -> set[str]:
    """Those of a folder."""
    return {test for test in tests if test.startswith(folder)}


def file_of(test: str) -> str:
    """The file of a test by its name for pytest."""
    return test.partition("::")[0]


def is_elsewhere(node) -> bool:  # type: ignore[no-untyped-def] # a node of parso
    """Whether a node is a condition on the platform, or on the type checker."""
    return node.type == "if_stmt" and ELSEWHERE.match(node.get_code(include_prefix=False)) is not None


def is_fixed(node) -> bool:  # type: ignore[no-untyped-def] # a node of parso
    """Whether a node is part of what stays as it is."""
    if is_elsewhere(node):
        return True
    while (parent := node.parent) is not None:
        if parent.type in FIXED or (parent.type == "funcdef" and node is parent.annotation):
            return True
        if parent.type == "decorator" and "dataclass" in parent.get_code():
            return True
        is_first = any(node is one for one in parent.children[:4])  # not what stands behind `else`
        if is_first and is_elsewhere(parent):
            return True
        if parent.type == "argument" and STRICT.fullmatch(parent.get_code(include_prefix=False)):
            called = parent.search_ancestor("trailer")
            return called is not None and called.get_previous_sibling().get_code().strip() == "zip"
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
            # `**` in a display of a dict is no product; an exception with a dot has no name.
            with suppress(SyntaxError, AttributeError):
                text = mutate_code(texts[module], operators[name], occurrence)
                compile(text, module, "exec")
                yield Mutant(
                    module, place[0], f"{module}:{place[0]}  {difference(texts[module], text)}", text
                )


def difference(old: str, new: str) -> str:
    """The lines that differ, before and after. An operator may drop a line break."""
    before, after = old.splitlines(), new.splitlines()
    places = [
        one for one in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if one[0] != "equal"
    ]
    was = " ".join(line.strip() for line in before[places[0][1] : places[-1][2]])
    becomes = " ".join(line.strip() for line in after[places[0][3] : places[-1][4]])
    return f"{was}  ->  {becomes or 'nothing'}"


def find_functions(tree: ast.Module) -> Iterator[Function]:
    """All of them, methods and inner ones, too."""
    return (one for one in ast.walk(tree) if isinstance(one, Function))


def is_in_function(tree: ast.Module, line: int) -> bool:
    """Whether the line is in the body of one; else an import executes it."""
    return any(one.body[0].lineno <= line <= (one.end_lineno or 0) for one in find_functions(tree))


def find_statements(tree: ast.Module, line: int) -> list[ast.stmt]:
    """What runs where a line matters: its innermost statement; of a decorator, the function's first; of what
    an import executes, the first of each function of the class, or of the module."""
    functions = list(find_functions(tree))
    decorated = [one for one in functions if first_line(one) <= line < one.lineno]
    if decorated:
        return [first_statement(decorated[0])]
    if is_in_function(tree, line):
        statements = [one for one in ast.walk(tree) if isinstance(one, ast.stmt)]
        around = [one for one in statements if one.lineno <= line <= (one.end_lineno or one.lineno)]
        return [max(around, key=lambda one: (one.lineno, one.col_offset))]
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
    own = [one for one in classes if first_line(one) <= line <= (one.end_lineno or 0)]
    inside = [
        one for one in functions if any(first_line(two) < one.lineno <= (two.end_lineno or 0) for two in own)
    ]
    return [first_statement(one) for one in inside or functions]


def first_line(definition: Function | ast.ClassDef) -> int:
    """That of its first decorator, if it has any."""
    return min(one.lineno for one in (definition, *definition.decorator_list))


def first_statement(function: Function) -> ast.stmt:
    """Behind the docstring, unless that is all there is."""
    return function.body[1 if ast.get_docstring(function) is not None and len(function.body) > 1 else 0]


def mark_places(text: str, places: dict[int, int]) -> str:
    """The module with calls at what is executed where one of these lines, which have numbers, matters."""
    tree = ast.parse(text)
    calls: dict[ast.stmt, list[ast.stmt]] = defaultdict(list)
    for place, line in places.items():
        call = f"__import__('vault_indexer.mutants_reach', fromlist=['reached']).reached({place})"
        for statement in find_statements(tree, line):
            calls[statement] += ast.parse(call).body
    for node in ast.walk(tree):
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                block[:] = [part for one in block for part in (*calls.get(one, ()), one)]
    return ast.unparse(ast.fix_missing_locations(tree))


def write_module(path: Path, text: str) -> None:
    """With its bytecode: the former would be taken for that of a text of the same second and size."""
    path.write_text(text, "utf-8")
    write_bytecode(f"{path}", quiet=2)


def copy_tree(folder: Path) -> Path:
    """A copy of the project, with an environment in which every process imports its code, from bytecode."""
    ignored = shutil.ignore_patterns(
        ".venv*", ".git", ".*_cache", "node_modules", "__pycache__", "build", "dist"
    )
    tree = Path(shutil.copytree(ROOT, folder, ignore=ignored))
    plugin = Path(shutil.copy(ROOT / "benchmarks" / "mutants_reach.py", tree / SOURCE))
    # Some tests of root become a plain user, who imports, too, and records what is reached.
    folder.parent.chmod(0o711)
    plugin.with_suffix(".txt").touch()
    plugin.with_suffix(".txt").chmod(0o666)
    compileall.compile_dir(tree / SOURCE, quiet=2)
    venv.create(tree / ".venv", symlinks=True)
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    (site,) = (tree / ".venv").glob("lib/python*/site-packages")
    # The lines of these folders' own .pth files are not read: one of them leads to the code without a mutant.
    (site / "mutants.pth").write_text("\n".join([f"{tree / 'src'}", *libraries]) + "\n")
    command = tree / ".venv" / "bin" / "indexer"
    command.write_text(f"#!{command.with_name('python')}\nfrom vault_indexer.cli.app import main\nmain()\n")
    command.chmod(0o755)
    return tree


def list_processes(tree: Path) -> Iterator[tuple[int, float]]:
    """Each process of the tree's tests, in any session, and its seconds of processor time."""
    python = f"{tree / '.venv' / 'bin'}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):  # it has ended
            if (folder / "cmdline").read_bytes().startswith(python):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                yield int(folder.name), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def wait_for_end(process: subprocess.Popen[bytes], tree: Path) -> int:
    """The exit status; that of a process that was ended where the tests wait for ever."""
    used, since = 0.0, time.monotonic()
    while True:
        try:
            return process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            now = sum(seconds for _, seconds in list_processes(tree))
            if abs(now - used) > 0.02:
                used, since = now, time.monotonic()
            elif time.monotonic() - since > REST_S:
                return -signal.SIGKILL


def run_tests(tree: Path, arguments: Sequence[str], *, limited: bool = True) -> tuple[int, list[str]]:
    """Exit status of pytest, negative where a limit ended it, and the tests that failed."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    if limited:
        environment["MUTANT_LIMITS"] = "1"
    options = ("-q", "-p", "vault_indexer.mutants_reach", "-p", "no:cacheprovider", *arguments)
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            [f"{tree / '.venv' / 'bin' / 'python'}", "-m", "pytest", *options],
            cwd=tree,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            status = wait_for_end(process, tree)
        finally:
            for number, _ in list(list_processes(tree)):  # what the tests started may outlive them
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return status, FAILED.findall(output.read())


def find_reach(trees: Sequence[Path], mutants: Sequence[Mutant]) -> Reach:
    """Run the suite once with all places marked, a part in each tree."""
    modules: dict[Path, dict[int, int]] = defaultdict(dict)
    for number, mutant in enumerate(mutants):
        modules[mutant.module][number] = mutant.line
    folders = sorted(path for path in (ROOT / "tests").iterdir() if path.name not in LEFT_OUT)
    files = [f"{path.relative_to(ROOT)}" for folder in folders for path in sorted(folder.glob("test_*.py"))]

    def run(number: int) -> tuple[int, list[str]]:
        tree = trees[number]
        for module, places in modules.items():
            write_module(tree / module, mark_places((ROOT / module).read_text("utf-8"), places))
        part = files[number :: len(trees)]
        found = run_tests(tree, ["-m", "not slow and not process", *part], limited=False)
        for module in modules:
            write_module(tree / module, (ROOT / module).read_text("utf-8"))
        return found

    reach = Reach()
    with ThreadPoolExecutor(len(trees)) as pool:
        for tree, (status, failed) in zip(trees, pool.map(run, range(len(trees))), strict=True):
            reach.unfit.update(failed)
            reach.add_record((tree / SOURCE / "mutants_reach.txt").read_text("utf-8"))
            print(f"tests without a mutant: status {status}", *failed, sep="\n  ", flush=True)
    print(f"{len(reach.costs)} tests, {sum(reach.costs.values()):.0f} s of processor time", flush=True)
    return reach


@dataclass
class Judge:
    """Judges mutants, each in one of the copies of the tree. Thread-safe."""

    reach: Reach
    trees: SimpleQueue[Path]
    cpu_end: float
    """In `used()` seconds."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @staticmethod
    def used() -> float:
        """Seconds of processor time of all tests so far."""
        return sum(os.times()[2:4])

    def judge(self, number: int, mutant: Mutant) -> str:
        """The verdict, printed, too."""
        tree = self.trees.get()
        try:
            verdict, why = self._find_verdict(tree, number, mutant)
        finally:
            write_module(tree / mutant.module, (ROOT / mutant.module).read_text("utf-8"))
            self.trees.put(tree)
        print(f"{number:3} {verdict:10}  {mutant.change}  [{why}]", flush=True)
        return verdict

    def _find_verdict(self, tree: Path, number: int, mutant: Mutant) -> tuple[str, str]:
        while tests := self.reach.choose_tests(number, mutant):
            if self.used() > self.cpu_end:
                return "not judged", "no time"
            write_module(tree / mutant.module, mutant.text)
            status, failed = run_tests(tree, ["-x", *tests])
            if status < 0:
                return "killed", "a test does not end"
            if not failed:
                return ("killed", "no test starts") if status else ("survived", f"{len(tests)} tests")
            again = run_tests(tree, failed[:1])[0]
            write_module(tree / mutant.module, (ROOT / mutant.module).read_text("utf-8"))
            if again != 0 and run_tests(tree, failed[:1])[0] == 0:
                return "killed", failed[0]
            with self._lock:
                self.reach.unfit.add(failed[0])
        return "survived", "no test reaches it"


def print_table(mutants: Sequence[Mutant], verdicts: Sequence[str]) -> None:
    """How many of each package."""
    counts = Counter(zip([mutant.package for mutant in mutants], verdicts, strict=True))
    print("", f"{'':12}" + "".join(f"{one:>12}" for one in VERDICTS), sep="\n")
    for package in sorted({package for package, _ in counts}):
        print(f"{package:12}" + "".join(f"{counts[package, one]:12}" for one in VERDICTS))
    killed, survived, _ = (verdicts.count(one) for one in VERDICTS)
    share = f"  {killed / max(1, killed + survived):.0%} killed"
    print(f"{'all':12}" + "".join(f"{verdicts.count(one):12}" for one in VERDICTS) + share)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=random.randrange(100_000))
    parser.add_argument("--places", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=20)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    mutants = list(islice(draw_mutants(options.seed), options.places))
    trees: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(PROCESSORS) as pool:
        copies = [copy_tree(Path(folder, f"{number}")) for number in range(PROCESSORS)]
        for tree in copies:
            trees.put(tree)
        reach = find_reach(copies, mutants)
        judge = Judge(reach, trees, cpu_end=60 * options.minutes * PROCESSORS)
        verdicts = list(pool.map(judge.judge, range(len(mutants)), mutants))
    print_table(mutants, verdicts)
    print(*(f"left out, for it fails without a mutant: {test}" for test in sorted(reach.unfit)), sep="\n")
    print(f"{Judge.used():.0f} s of processor time, load average {os.getloadavg()[2]:.1f}")


if __name__ == "__main__":
    main()
