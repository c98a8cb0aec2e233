"""How soon a save is found while folders are renamed and removed: a real daemon, real files, real time.

    python benchmarks/rename_storm.py [--notes 2400] [--minutes 5] [--every 2] [--nice N]

A vault of notes in 48 folders is made and indexed. Then, until the time is over, a folder is renamed, or
removed and written again, twice a second, while every few seconds a note is saved: in turn one in a folder
that nobody touches, one in a folder that the storm has just left, and a new one. Each save has a word of its
own, which is searched for over HTTP until its note is found. After the storm come ten more saves.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import threading
import time
from pathlib import Path

from endurance.ground import be_nice, daemon
from speed.figures import table
from speed.material import Material
from vault_indexer.errors import DaemonError
from vault_indexer.serve.api.endpoints import SEARCH, STATUS
from vault_indexer.serve.client import DaemonClient

FOLDERS = 48
QUIET = 8
"""Folders that the storm leaves alone."""
STORM_S = 0.5
LOOK_S = 0.05
LIMIT_S = 120.0
WORDS = ["harbour", "lantern", "bread", "winter", "garden", "ledger", "engine", "violin", "copper", "letter"]


def write_vault(vault: Path, notes: int, chance: random.Random) -> list[Path]:
    """The folders, with as many notes in each."""
    folders = [vault / f"folder {number}" for number in range(FOLDERS)]
    for number in range(notes):
        folder = folders[number % FOLDERS]
        folder.mkdir(exist_ok=True, parents=True)
        text = "\n\n".join(" ".join(chance.choices(WORDS, k=60)) for _ in range(3))
        link = f"[[note {chance.randrange(notes)}]]"
        (folder / f"note {number}.md").write_text(f"# Note {number}\n\n{text}\n\nSee {link}.\n")
    return folders


class Storm:
    """Renames a folder, or removes it and writes it again, twice a second, in a thread of its own."""

    def __init__(self, folders: list[Path], chance: random.Random) -> None:
        self.folders = folders
        self.done = 0
        self._chance = chance
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._kept: Path | None = None
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Storm:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def keep(self) -> Path:
        """The folder that was touched last; the storm spares it until the next call."""
        with self._lock:
            self._kept = self.folders[-1]
            return self._kept

    def _work(self) -> None:
        be_nice()
        while not self._ended.wait(STORM_S):
            with self._lock:
                number = self._chance.randrange(len(self.folders))
                if self.folders[number] != self._kept:
                    self.folders.append(self._touch(self.folders.pop(number)))
                    self.done += 1

    def _touch(self, folder: Path) -> Path:
        if self.done % 2:
            texts = {path.name: path.read_bytes() for path in folder.iterdir()}
            shutil.rmtree(folder)
            folder.mkdir()
            for name, text in texts.items():
                (folder / name).write_bytes(text)
            return folder
        return folder.rename(folder.with_name(f"folder {FOLDERS + self.done}"))


def word_of(number: int) -> str:
    """Of letters alone: a digit would part it into words that the others have, too."""
    return "zyx" + f"{number:04}".translate(str.maketrans("0123456789", "bcdfghjklm"))


def save(client: DaemonClient, folder: Path, word: str, *, new: bool) -> float:
    """Seconds from the save of a note of the folder until a search finds it; infinite beyond the limit."""
    note = folder / f"{word}.md" if new else min(folder.iterdir())
    text = "" if new else note.read_text()
    path = note.relative_to(folder.parent).as_posix()
    temporary = note.with_name(f".{note.name}.tmp")
    temporary.write_text(f"{text}\n\n{word}\n")
    temporary.replace(note)
    start = time.monotonic()
    while time.monotonic() - start < LIMIT_S:
        hits = client.ask(SEARCH, q=word, limit=3)["results"]
        if any(hit["path"] == path and word in hit["content"] for hit in hits):
            return time.monotonic() - start
        time.sleep(LOOK_S)
    return float("inf")


def measure(client: DaemonClient, quiet: list[Path], storm: Storm, minutes: float, every: float) -> list[str]:
    """Rows of the table."""
    took: dict[str, list[float]] = {"quiet folder": [], "stormy folder": [], "new note": [], "afterwards": []}
    ends, number = time.monotonic() + 60 * minutes, 0
    with storm:
        while time.monotonic() < ends:
            kind = ("quiet folder", "stormy folder", "new note")[number % 3]
            folder = storm.keep() if kind == "stormy folder" else quiet[number % QUIET]
            took[kind].append(save(client, folder, word_of(number), new=kind == "new note"))
            number += 1
            time.sleep(every)
    for _ in range(10):
        took["afterwards"].append(save(client, quiet[number % QUIET], word_of(number), new=False))
        number += 1
    rows = [(kind, str(len(ones)), *summary(ones)) for kind, ones in took.items() if ones]
    return [table(("save in a", "saves", "median, s", "p95, s", "slowest, s"), rows)]


def summary(seconds: list[float]) -> tuple[str, str, str]:
    """Median, 95th percentile, maximum."""
    ordered = sorted(seconds)
    places = (len(ordered) // 2, min(len(ordered) - 1, int(0.95 * len(ordered))), -1)
    median, late, slowest = (f"{ordered[place]:.2f}" for place in places)
    return median, late, slowest


def wait_until_in_step(client: DaemonClient) -> float:
    """Seconds until nothing is pending."""
    start = time.monotonic()
    while client.ask(STATUS)["pending"]:
        if time.monotonic() - start > LIMIT_S:
            raise DaemonError(f"still pending after {LIMIT_S:g} s")
        time.sleep(LOOK_S)
    return time.monotonic() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=2400)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--nice", type=int, help="of the workers, where the machine has other work, too")
    parser.add_argument("--every", type=float, default=2, help="seconds between a find and the next save")
    options = parser.parse_args()
    chance = random.Random(24)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        folders = write_vault(root / "vault", options.notes, chance)
        (root / "work").mkdir()
        environ = {name: str(root / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
        if options.nice is not None:
            environ["INDEXER_INDEX_NICE"] = f"{options.nice}"
        ground = Material(root / "vault", root / "index", root / "work", environ)
        before = os.getloadavg()[0]
        with daemon(ground) as running:
            print(f"{options.notes} notes, ready after {running.started_s:.1f} s")
            storm = Storm(folders[QUIET:], chance)
            rows = measure(running.client, folders[:QUIET], storm, options.minutes, options.every)
            print(
                f"{storm.done} folders renamed or written again in {options.minutes:g} minutes",
                *rows,
                sep="\n\n",
            )
            print(f"\nin step {wait_until_in_step(running.client):.1f} s later")
            print(f"load average {before:.1f} before, {os.getloadavg()[1]:.1f} in the last 5 minutes")


if __name__ == "__main__":
    main()
