"""strace walks through the system calls of an edit: killed there, disk full there, I/O error there."""

import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_child import digest
from reliability_lab import (
    assembly_of,
    child_environment,
    make_vault,
    opened,
    sized,
    told_by,
    told_by_a_fresh_build,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
]

CALLS = (
    *("write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "openat", "unlink", "unlinkat"),
    "ftruncate",
)
HERE = Path(__file__).parent


class Bench:
    """A vault with one edit that its index does not know yet, and a process that is ready to index it."""

    def __init__(self, folder: Path) -> None:
        rng = random.Random(6)
        self.folder = folder
        self.vault = make_vault(folder / "vault", rng, 20)
        with opened(assembly_of(self.vault, folder / "before")):
            pass
        names = sorted(path.relative_to(self.vault) for path in self.vault.rglob("*.md"))
        (self.vault / names[0]).write_text(f"# Edited\n\nbasalt [[{names[1].stem}]] [[Nowhere]]\n")
        (self.vault / names[1]).unlink()
        (self.vault / "Nowhere.md").write_text("# Now here\n\nzephyr\n")
        self.fresh = digest(told_by_a_fresh_build(self.vault, folder / "fresh"))
        self._child = subprocess.Popen(
            [sys.executable, str(HERE / "fault_child.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=child_environment(),
        )

    def under(self, *options: str) -> list[str]:
        """Index the edit with strace attached; what the process said."""
        index = self.folder / "index"
        shutil.rmtree(index, ignore_errors=True)
        shutil.copytree(self.folder / "before", index)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._send(f"{self.vault}\t{index}\n")
        pid = self._child.stdout.readline().split()[1]
        tracer = subprocess.Popen(
            ["strace", "-f", "-p", pid, *options],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        assert tracer.stderr is not None
        attached = tracer.stderr.readline()
        if "attached" not in attached:
            pytest.skip(f"strace may not attach here: {attached.strip()}")
        self._send("go\n")
        said = []
        while not (line := self._child.stdout.readline()).startswith("ended"):
            assert line, "the process that forks has ended"
            said.append(line.strip())
        tracer.communicate()
        return said

    def _send(self, line: str) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(line)
        self._child.stdin.flush()

    def assert_heals(self, where: str) -> None:
        with opened(assembly_of(self.vault, self.folder / "index")) as session:
            assert digest(told_by(session)) == self.fresh, f"{where}: not equal to a fresh build"
            assert session.verify(repair=False) == (), where

    def close(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("faults"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def points(bench: Bench) -> list[tuple[str, int]]:
    """(call, how manieth) of all that the commit does to files; opening for reading changes nothing."""
    log = bench.folder / "calls.log"
    said = bench.under("-e", f"trace={','.join(CALLS)}", "-o", str(log))
    assert said == [f"done {bench.fresh}"]
    counted: Counter[str] = Counter()
    every = []
    for call, rest in re.findall(r"^\d+ +(\w+)\((.*)", log.read_text(), re.MULTILINE):
        counted[call] += 1
        if call != "openat" or re.search(r"O_WRONLY|O_RDWR", rest):
            every.append((call, counted[call]))
    assert counted["fsync"] + counted["fdatasync"] >= 4, "an edit must reach the disk in every store"
    return every


def chosen(points: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """All of them in full size, else some spread evenly over the commit."""
    return points[:: max(1, len(points) // sized(7, len(points)))]


def test_killed_at_every_system_call(bench: Bench, points: list[tuple[str, int]]) -> None:
    for call, k in chosen(points):
        said = bench.under("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={k}")
        assert said in ([], [f"done {bench.fresh}"]), f"{call} {k}: {said}"
        bench.assert_heals(f"killed at {call} {k}")


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_an_error_at_every_system_call(error: str, bench: Bench, points: list[tuple[str, int]]) -> None:
    """The edit is made or refused whole, and the next try makes it, in the same process and in another."""
    for call, k in chosen(points):
        said = bench.under("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={k}")
        where = f"{error} at {call} {k}"
        if said != []:  # [] where its own last word could not be written
            assert said[-1].split()[0] in ("done", "recovered", "failed"), f"{where}: {said}"
            assert said == ["failed twice"] or said[-1].endswith(bench.fresh), f"{where}: {said}"
        bench.assert_heals(where)
