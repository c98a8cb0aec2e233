"""How long after a save a running daemon finds the change: new, edit, write-and-rename, rename, delete.

    python benchmarks/freshness.py VAULT [--rounds 10]

The vault is copied first. Debounce (0.5 s) and the hold of deletions (2 s) are part of the figures.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from vault_indexer.bootstrap import open_daemon, resolve_target
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

_DEADLINE_S = 30.0
_LOOK_S = 0.01


class Clock:
    """Changes one vault and waits until its daemon shows it."""

    def __init__(self, vault: Path, service: VaultService) -> None:
        self.vault = vault
        self._service = service
        self.taken: dict[str, list[float]] = {}

    def change(
        self, what: str, act: Callable[[], object], word: str, path: str, *, there: bool = True
    ) -> None:
        """Act, then search for `word` until a hit of `path` holds it (or none does any more)."""
        act()
        started = time.perf_counter()
        while self._holds(word, path) != there:
            if time.perf_counter() - started > _DEADLINE_S:
                raise SystemExit(f"{what}: not seen within {_DEADLINE_S} s")
            time.sleep(_LOOK_S)
        self.taken.setdefault(what, []).append(time.perf_counter() - started)

    def _holds(self, word: str, path: str) -> bool:
        answer = self._service.search(SearchRequest(word))
        return any(hit.path == path and word in hit.content for hit in answer.results)


def rounds(clock: Clock, count: int) -> None:
    for number in range(count):
        one_round(clock, number)


def one_round(clock: Clock, number: int) -> None:
    first, second, third = (f"{stem}{number}" for stem in ("alphaword", "betaword", "gammaword"))
    name, moved = f"Fresh {number}.md", f"Moved {number}.md"
    note, other = clock.vault / name, clock.vault / f".fresh-{number}.tmp"
    clock.change("new note", lambda: note.write_text(f"# New\n\n{first}\n"), first, name)
    clock.change("edit", lambda: note.write_text(f"# New\n\n{second}\n"), second, name)
    other.write_text(f"# New\n\n{third}\n")
    clock.change("write and rename", lambda: other.replace(note), third, name)
    clock.change("rename", lambda: note.rename(clock.vault / moved), third, moved)
    clock.change("delete", (clock.vault / moved).unlink, third, moved, there=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        shutil.copytree(options.vault, vault)
        service = open_daemon(resolve_target(vault, Path(folder) / "index", None, environ={}, options={}))
        while service.status().state != "ready":
            time.sleep(0.1)
        clock = Clock(vault, service)
        rounds(clock, options.rounds)
        service.close()
    print("| change | median | slowest |\n| --- | --- | --- |")
    for what, taken in clock.taken.items():
        print(f"| {what} | {statistics.median(taken):.2f} s | {max(taken):.2f} s |")


if __name__ == "__main__":
    main()
