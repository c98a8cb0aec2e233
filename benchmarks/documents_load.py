"""What a daemon does while it reads many PDFs: when the first are found, and what searches and edits wait.

    python benchmarks/documents_load.py VAULT [--pdfs 1000] [--pages 20] [--rounds 40] [--large]

The vault is copied, and the PDFs are made of the words of its notes. A round is ten searches and one edit,
which is searched for until it is found. Rounds are measured before and while the PDFs are read. Other work
on the machine would count as well, so searches are also compared in pairs: while the PDFs are read, every
other round is made in a pause of the daemon, in which it reads nothing. Memory is that of the daemon with
its processes (Linux). With `--large`, a PDF of 2,000 pages and one of 300 MB are read instead, the second
also by a daemon that allows its size.
"""

from __future__ import annotations

import argparse
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

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from tiny_pdf import pdf_of

_SEARCHES = 10
_DEADLINE_S = 120.0


def memory_mb() -> float:
    """Return the resident memory of this process and its descendants."""
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "status").read_text()
        except OSError:
            continue
        values = dict(re.findall(r"^(PPid|VmRSS):\s*(\d+)", text, re.MULTILINE))
        parents[int(folder.name)] = int(values.get("PPid", 0))
        sizes[int(folder.name)] = int(values.get("VmRSS", 0))

    def is_own(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and is_own(parents[pid]))

    return sum(size for pid, size in sizes.items() if is_own(pid)) / 1024


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
    """Return the most memory meanwhile, in MB."""
    most = 0.0
    while service.status().state != "ready" or service.status().pending:
        most = max(most, memory_mb())
        time.sleep(0.2)
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


def load(vault: Path, folder: Path, given: argparse.Namespace) -> None:
    made = make_pdfs(folder / "PDFs", words_of(vault), given.pdfs, given.pages)
    queries = [file.stem for file in sorted(vault.rglob("*.md"))]
    print("| while | searches | p95 ms | median ms | edits | p95 s | median s | MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with daemon_of(vault, folder / "index", **{"embedding.provider": "wordllama"}) as service:
        rounds = Rounds(vault, service, queries)
        list(rounds.search())
        searches: list[float] = []
        edits: list[float] = []
        for _ in range(given.rounds):
            searches += rounds.search()
            edits.append(rounds.edit())
        rounds.row("before", searches, edits)
        made.rename(vault / "PDFs")
        began = time.perf_counter()
        while not service.search(SearchRequest("kind:pdf paper")).results:
            time.sleep(0.05)
        first = time.perf_counter() - began
        busy: list[float] = []
        paused: list[float] = []
        edits = []
        for number in range(2 * given.rounds):
            if service.status().state == "ready":
                break
            if number % 2:
                service.pause(None)
                time.sleep(1.5)
                paused += rounds.search()
                service.resume()
                time.sleep(0.5)
            else:
                busy += rounds.search()
                edits.append(rounds.edit())
        rounds.row("PDFs are read", busy, edits)
        if paused:
            rounds.row("pauses of it", paused, [])
        done = sum(service.status().documents.values())
        print(f"\nFirst PDF found after {first:.1f} s, {done} after {time.perf_counter() - began:.0f} s.")
        if given.wait:
            wait_until_ready(service)
            print(f"All {given.pdfs} were read after {time.perf_counter() - began:.0f} s, with the pauses.")


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
    parser.add_argument("--wait", action="store_true", help="until all are read")
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
