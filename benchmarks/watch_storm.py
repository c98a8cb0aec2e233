"""How the watcher stands a storm: python benchmarks/watch_storm.py [FILES] [FOLDERS]

Prints, as JSON: how long after the last of many writes all files were found, in how many scans; how long
after a lone save its batch came (the debounce is part of it); and what a scan of everything takes.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from vault_indexer.config.settings import WatchSettings
from vault_indexer.vault import IgnoreRules, VaultWatcher, scan

LIMIT = 5 * 1024 * 1024


def storm(vault: Path, watcher: VaultWatcher, files: int, folders: int) -> dict[str, float]:
    started = time.perf_counter()
    for number in range(files):
        folder = vault / f"d{number % folders}"
        folder.mkdir(exist_ok=True)
        (folder / f"n{number}.md").write_text("text", encoding="utf-8")
    done, found, scans = time.perf_counter(), 0, 0
    while found < files:
        if watcher.next_batch(10.0) is not None:
            found, scans = len(scan(vault, IgnoreRules(), max_file_bytes=LIMIT).files), scans + 1
    return {"write_s": done - started, "all_found_after_s": time.perf_counter() - done, "scans": scans}


def lone_saves(vault: Path, watcher: VaultWatcher, times: int = 5) -> float:
    waits: list[float] = []
    for number in range(times):
        while watcher.next_batch(1.0) is not None:
            continue
        started = time.perf_counter()
        (vault / "lone.md").write_text(str(number), encoding="utf-8")
        while (batch := watcher.next_batch(10.0)) is None or "lone.md" not in batch.dirty:
            continue
        waits.append(time.perf_counter() - started)
    return statistics.median(waits)


def main() -> None:
    files, folders = (int(word) for word in (*sys.argv[1:3], "10000", "100")[:2])
    with tempfile.TemporaryDirectory() as place:
        vault = Path(place)
        watcher = VaultWatcher(vault, IgnoreRules(), WatchSettings())
        watcher.start()
        result = storm(vault, watcher, files, folders)
        result["lone_save_s"] = lone_saves(vault, watcher)
        result["scan_s"] = scan(vault, IgnoreRules(), max_file_bytes=LIMIT).seconds
        watcher.stop()
    print(json.dumps({name: round(value, 3) for name, value in result.items()}))


if __name__ == "__main__":
    main()
