"""Compares the words and the structure that documents give with those that pandoc reads.

usage: python benchmarks/documents_office.py FOLDER...
For each kind: files, files that one of the two refuses, and recall of pandoc's words, each counted as
often as it occurs. With kreuzberg installed, its recall as well. Needs `pandoc` on the path.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from vault_indexer.documents import extract
from vault_indexer.errors import NoteError
from vault_indexer.model import document_kind_of
from vault_indexer.parse import render_markdown

READERS = {**{name: name for name in ("docx", "odt", "rtf", "epub", "html", "ipynb", "csv")}}
LARGEST = 5_000_000
WORD = re.compile(r"\w+")


def words(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.casefold()))


def recall(found: Counter[str], expected: Counter[str]) -> float:
    return (found & expected).total() / max(1, expected.total())


def read_by_pandoc(path: Path, reader: str) -> str | None:
    command = ["pandoc", "--sandbox", "-f", reader, "-t", "plain", "--wrap=none", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def read_by_kreuzberg(path: Path) -> str | None:
    try:
        kreuzberg = importlib.import_module("kreuzberg")
    except ImportError:
        return None
    try:
        return str(kreuzberg.extract_file_sync(str(path)).content)
    except kreuzberg.KreuzbergError:
        return None


def read_here(path: Path) -> str | None:
    try:
        return render_markdown(extract(path.name, path.read_bytes())).text
    except NoteError as error:
        print(f"refused: {path}: {error}", file=sys.stderr)
        return None


def main(folders: list[str]) -> None:
    recalls: dict[str, list[tuple[float, float | None, Path]]] = defaultdict(list)
    refused: Counter[str] = Counter()
    paths = sorted({path for folder in folders for path in Path(folder).rglob("*.*") if path.is_file()})
    for path in paths:
        kind = document_kind_of(path.name)
        if kind is None or kind.name not in READERS or path.stat().st_size > LARGEST:
            continue
        reference, text = read_by_pandoc(path, READERS[kind.name]), read_here(path)
        if reference is None or text is None:
            refused[kind.name] += 1
        elif len(words(reference)) >= 5:
            other = read_by_kreuzberg(path)
            expected = words(reference)
            share = None if other is None else recall(words(other), expected)
            recalls[kind.name].append((recall(words(text), expected), share, path))
    print("| kind | files | refused by either | recall: mean | lowest | kreuzberg: mean | lowest |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, found in sorted(recalls.items()):
        own = [share for share, _, _ in found]
        others = [share for _, share, _ in found if share is not None]
        shown = [sum(own) / len(own), min(own)] + ([sum(others) / len(others), min(others)] if others else [])
        print(
            f"| {name} | {len(found)} | {refused[name]} | {' | '.join(f'{share:.3f}' for share in shown)} |"
        )
        for share, _, path in sorted(found)[:5]:
            if share < 0.95:
                print(f"{share:.3f} {path}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
