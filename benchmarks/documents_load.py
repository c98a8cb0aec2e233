"""What a daemon does while it reads many PDFs: when the first are found, and what searches and edits wait.

    python benchmarks/documents_load.py VAULT [--pdfs 1000] [--pages 20] [--rounds 40] [--large]

The vault is copied, and the PDFs are made of the words of its notes. A round is ten searches and one edit,
which is searched for until it is found. Rounds are measured before and while the PDFs are read. Other work
on the machine would count as well, so both are also compared in pairs: while the PDFs are read, every other
round is made in a pause of the daemon, in which it reads nothing; its edits are those of a second daemon,
with another copy of the vault. Memory is that of both with their processes, and processor time as well
(Linux). With `--large`, a PDF of 2,000 pages and one of 300 MB are read instead, the second also by a daemon
that allows its size.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from vault_indexer.bootstrap import open_daemon, resolve_target
from vault_indexer.config.sources import OptionValue
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "documents"))
from pdfs import pdf_of

_SEARCHES = 10
_DEADLINE_S = 120.0


def own_processes() -> Iterator[tuple[float, float]]:
    """Yield the resident memory in MB and the processor time in seconds of this process and its
    descendants."""
    parents: dict[int, int] = {}
    found: dict[int, tuple[float, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            times, text = (folder / "stat").read_text(), (folder / "status").read_text()
        except OSError:
            continue
        fields = times.rpartition(")")[2].split()  # from the third on
        seconds = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
        resident = re.search(r"^VmRSS:\s*(\d+)", text, re.MULTILINE)
        parents[int(folder.name)] = int(fields[1])
        found[int(folder.name)] = (int(resident[1]) / 1024 if resident else 0.0, seconds)

    def is_own(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and is_own(parents[pid]))

    return (values for pid, values in found.items() if is_own(pid))


def memory_mb() -> float:
    return sum(memory for memory, _ in own_processes())


def processor_s() -> float:
    return sum(seconds for _, seconds in own_processes())


class Rounds:
    """The times of searches and edits, in seconds."""

    def __init__(self, vault: Path, service: VaultService, queries: Sequence[str]) -> None:
        self._vault = vault
        self._service = service
        self._queries = queries
        self._numbers = count()
        self.most_mb = 0.0

    def search(self) -> Iterator[float]:
        for _ in range(_SEARCHES):
            query = self._queries[next(self._numbers) % len(self._queries)]
            began = time.perf_counter()
            self._service.search(SearchRequest(query))
            yield time.perf_counter() - began
        self.most_mb = max(self.most_mb, memory_mb())

    def edit(self) -> float:
        word = f"fresh{next(self._numbers)}word"
        (self._vault / "Fresh.md").write_text(f"# Fresh\n\n{word}\n")
        began = time.perf_counter()
        while not any(word in hit.content for hit in self._service.search(SearchRequest(word)).results):
            if time.perf_counter() - began > _DEADLINE_S:
                break
            time.sleep(0.01)
        return time.perf_counter() - began

    def row(self, label: str, searches: list[float], edits: list[float]) -> None:
        edit = f"{p95(edits):.2f} | {sorted(edits)[len(edits) // 2]:.2f}" if edits else "|"
        found = f"{p95(searches) * 1000:.0f} | {sorted(searches)[len(searches) // 2] * 1000:.0f}"
        print(
            f"| {label} | {len(searches)} | {found} | {len(edits)} | {edit} | {self.most_mb:.0f} |",
            flush=True,
        )
        self.most_mb = 0.0


def p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


@contextmanager
def daemon_of(vault: Path, index: Path, **options: OptionValue) -> Iterator[VaultService]:
    service = open_daemon(resolve_target(vault, index, None, environ={}, options=options))
    with closing(service):
        wait_until_ready(service)
        yield service


def wait_until_ready(service: VaultService) -> float:
    return wait_until_done(service, math.inf)


def wait_until_done(service: VaultService, until: float) -> float:
    """Wait until a time of the clock at most. Return the most memory meanwhile, in MB."""
    most = 0.0
    while (service.status().state != "ready" or service.status().pending) and time.perf_counter() < until:
        most = max(most, memory_mb())
        time.sleep(0.5)
    return most


def pdf(words: Sequence[str], pages: int, number: int) -> bytes:
    chosen = random.Random(number)
    return pdf_of(
        [
            [f"pdf{number}page{page}", *(" ".join(chosen.choices(words, k=11)) for _ in range(40))]
            for page in range(pages)
        ],
        f"Paper {number}",
    )


def make_pdfs(folder: Path, words: Sequence[str], many: int, pages: int) -> Path:
    folder.mkdir()
    for number in range(many):
        (folder / f"{number:04}.pdf").write_bytes(pdf(words, pages, number))
    return folder


def words_of(vault: Path) -> list[str]:
    text = " ".join(file.read_text("utf-8", "replace") for file in sorted(vault.rglob("*.md")))
    return re.findall(r"[A-Za-z]{2,}", text)


def measure_in_turns(service: VaultService, rounds: Rounds, others: Rounds, many: int) -> None:
    """Measure every other round in a pause of the daemon, with edits of the other one."""
    busy: list[float] = []
    paused: list[float] = []
    edits: list[float] = []
    edits_without: list[float] = []
    for number in range(many):
        if not service.status().pending:
            break
        if number % 2:
            service.pause(None)
            time.sleep(1.5)
            paused += rounds.search()
            edits_without.append(others.edit())
            service.resume()
            time.sleep(0.5)
        else:
            busy += rounds.search()
            edits.append(rounds.edit())
    rounds.row("PDFs are read", busy, edits)
    if paused:
        rounds.row("pauses of it", paused, edits_without)


def load(vault: Path, folder: Path, given: argparse.Namespace) -> None:
    made = make_pdfs(folder / "PDFs", words_of(vault), given.pdfs, given.pages)
    queries = [file.stem for file in sorted(vault.rglob("*.md"))]
    print("| while | searches | p95 ms | median ms | edits | p95 s | median s | MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    shutil.copytree(vault, folder / "plain")
    options: dict[str, OptionValue] = {"embedding.provider": "wordllama"}
    with (
        daemon_of(vault, folder / "index", **options) as service,
        daemon_of(folder / "plain", folder / "plain-index", **options) as plain,
    ):
        rounds = Rounds(vault, service, queries)
        others = Rounds(folder / "plain", plain, queries)
        list(rounds.search())
        searches: list[float] = []
        edits: list[float] = []
        for _ in range(given.rounds):
            searches += rounds.search()
            edits.append(rounds.edit())
        rounds.row("before", searches, edits)
        made.rename(vault / "PDFs")
        began, spent = time.perf_counter(), processor_s()
        while not service.search(SearchRequest("kind:pdf paper")).results:
            time.sleep(0.05)
        first = time.perf_counter() - began
        measure_in_turns(service, rounds, others, 2 * given.rounds)
        print(f"\nFirst PDF found after {first:.1f} s.", flush=True)
        most = wait_until_done(service, began + given.minutes * 60)
        done, seconds = sum(service.status().documents.values()), time.perf_counter() - began
        spent = processor_s() - spent
        print(f"{done} PDFs after {seconds:.0f} s, with {spent:.0f} s of processor time; {most:.0f} MB.")


def large(vault: Path, folder: Path) -> None:
    words = words_of(vault)
    long = pdf(words, 2_000, 1)
    for name, data, limit in (
        ("2000 pages.pdf", long, 100 << 20),
        ("300 MB.pdf", long + b"%" * (300 << 20), 100 << 20),
        ("300 MB, allowed.pdf", long + b"%" * (300 << 20), 1 << 30),
    ):
        options: dict[str, OptionValue] = {
            "embedding.provider": "wordllama",
            "documents.max_file_bytes": limit,
        }
        with daemon_of(vault, folder / "index", **options) as service:
            began = time.perf_counter()
            (vault / name).write_bytes(data)
            time.sleep(3)
            most = wait_until_ready(service)
            reasons = [one.reason for one in service.status().skipped if one.path == name]
            found = service.search(SearchRequest("pdf1page1234")).results
            page = next((hit.part for hit in found if hit.path == name), "not found")
            print(
                f"- {name}: {time.perf_counter() - began:.0f} s, {most:.0f} MB; {page}; {reasons}", flush=True
            )
            (vault / name).unlink()
            time.sleep(3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--pdfs", type=int, default=1_000)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=0.0, help="wait so long until all are read")
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        vault = Path(name) / "vault"
        shutil.copytree(given.vault, vault)
        if given.large:
            large(vault, Path(name))
        else:
            load(vault, Path(name), given)


if __name__ == "__main__":
    main()
