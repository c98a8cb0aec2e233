"""Builds a large vault, restarts it, searches it: time, rate, memory, size, latency.

    python benchmarks/large_vault.py VAULT [--index-dir DIR]

Prints a Markdown table. Beside the build stands, from the same run, the sum of the bare library calls on one
core over a sample of the same notes (tree-sitter's parse, the tokenizer and table of the embedding, Whoosh's
own writer), scaled to the whole vault.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.daemon.assembly import Target
from vault_indexer.index.reading import sample_texts
from vault_indexer.model import Progress, SearchRequest, SizeLimits
from vault_indexer.providers import WordLlamaEmbedder
from vault_indexer.service import VaultService
from vault_indexer.vault.ignore import load_ignore_rules
from vault_indexer.vault.walk import Scan, scan

SEARCHES = 100
SAMPLE_NOTES = 800


@dataclass(frozen=True)
class Timed:
    """What a call gave and how long it took (seconds)."""

    value: VaultService
    seconds: float


def timed(make: Callable[[], VaultService]) -> Timed:
    started = time.perf_counter()
    value = make()
    return Timed(value, time.perf_counter() - started)


def queries(vault: Path, found: Scan) -> list[str]:
    """Three words from notes all over the vault, always the same; no operators, which would filter."""
    texts = [re.findall(r"[^\W\d_]{3,}", text) for text in sample_texts(vault, found, SEARCHES * 2)]
    return [" ".join(words[6:9]).lower() for words in texts if len(words) > 12][:SEARCHES]


def latencies(service: VaultService, asked: list[str]) -> list[float]:
    """Milliseconds of each search, after one that warms the process."""
    service.search(SearchRequest(asked[0]))
    taken = []
    for query in asked:
        started = time.perf_counter()
        service.search(SearchRequest(query))
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)


def bare_library_seconds(vault: Path, found: Scan) -> float:
    """Parse, embed and keyword-index a sample by the libraries alone, on one core, scaled to all notes."""
    import tree_sitter_markdown
    from tree_sitter import Language, Parser
    from whoosh.fields import KEYWORD, TEXT, Schema
    from whoosh.index import create_in

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    pieces = list(sample_texts(vault, found, SAMPLE_NOTES))
    total = sum(file.stat.size for file in found.files)
    started = time.perf_counter()
    block = Parser(Language(tree_sitter_markdown.language()))
    inline = Parser(Language(tree_sitter_markdown.inline_language()))
    for piece in pieces:
        block.parse(piece.encode())
        inline.parse(piece.encode())
    WordLlamaEmbedder().embed(pieces)
    with tempfile.TemporaryDirectory() as folder:
        writer = create_in(folder, Schema(key=KEYWORD(stored=True), content=TEXT(phrase=False))).writer()
        for number, piece in enumerate(pieces):
            writer.add_document(key=str(number), content=piece)
        writer.commit()
    share = sum(len(piece.encode()) for piece in pieces) / total
    return (time.perf_counter() - started) / share


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def report(vault: Path, index_dir: Path) -> None:
    target = resolve_target(vault, index_dir, None, environ={}, options={})
    found = scan(vault, load_ignore_rules(vault, target.config.settings.files), limits=SizeLimits(5 << 20))
    text_bytes = sum(file.stat.size for file in found.files)
    built = timed(lambda: open_index(target, _silent))
    counts = built.value.status().counts
    taken = latencies(built.value, queries(vault, found))
    built.value.close()
    again = timed(lambda: open_index(target, _silent))
    again.value.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    size = size_of(generation_of(target))
    rows = [
        ("notes / chunks", f"{counts.notes:,} / {counts.chunks:,}"),
        ("text", f"{text_bytes / 1e6:.1f} MB"),
        ("build", f"{built.seconds:.1f} s, {counts.notes / built.seconds:.0f} notes/s"),
        ("restart with nothing changed", f"{again.seconds:.2f} s"),
        ("index on disk", f"{size / 1e6:.0f} MB, {size / text_bytes:.2f} x the text"),
        ("search p50 / p95 / max", f"{_at(taken, 0.5):.1f} / {_at(taken, 0.95):.1f} / {taken[-1]:.1f} ms"),
        ("peak memory, this process / largest worker", f"{memory:.0f} / {worker:.0f} MB"),
    ]
    bare = bare_library_seconds(vault, found)
    rows.append(
        ("bare library calls, one core", f"{bare:.0f} s; the build takes {built.seconds / bare:.2f} of it")
    )
    print("| what | measured |\n| --- | --- |")
    print("\n".join(f"| {name} | {value} |" for name, value in rows))
    print(f"\nmedian search {statistics.median(taken):.2f} ms over {len(taken)} queries")


def generation_of(target: Target) -> Path:
    return max((target.index_dir / "generations").iterdir())


def _at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _silent(_progress: Progress) -> None:
    """No progress is shown."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--index-dir", type=Path)
    options = parser.parse_args()
    folder = options.index_dir or Path(tempfile.mkdtemp())
    try:
        report(options.vault, folder)
    finally:
        if options.index_dir is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
