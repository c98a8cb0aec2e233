"""Compares the text of PDFs with that of poppler's `pdftotext`: `python benchmarks/documents_pdf.py FILE...`.

Recall: of the words that pdftotext finds, the share that is found here as well, each as often. Headers and
footers are left out here after their first page, so those of pdftotext count once as well: lines that most
pages have, but for their numbers. The second figure counts each word once. Order: of the pairs of words that
follow each other there, the share that do so here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

from vault_indexer.documents.markdown import to_markdown
from vault_indexer.documents.pdf import read_pdf
from vault_indexer.errors import NoteError

_WORD = re.compile(r"\w{2,}")
_NUMBER = re.compile(r"\b(?:\d+|[ivxl]+)\b")
_CJK = re.compile(r"([\u2e80-\u9fff])")
_SYNTAX = re.compile(r"(?sm)\]\([^)\s]*\)|\\(?=[^\w\s]|_)|^> (?:Highlight|Comment):|^---$.*?^---$")


def words_of(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).translate({0xAD: None, 0x200B: None}).casefold()
    return _WORD.findall(_CJK.sub(r" \1\1 ", re.sub(r"(?<=\w)-\n(?=\w)", "", plain)))


def share(wanted: Counter[object], found: Counter[object]) -> float:
    return 1 - sum((wanted - found).values()) / max(1, sum(wanted.values()))


def without_repeated(text: str) -> str:
    """Leave out the lines that most pages have, but for their first time."""
    pages = [
        [(_NUMBER.sub("#", line.strip()), line) for line in page.split("\n")] for page in text.split("\f")
    ]
    counts = Counter(key for page in pages for key in {key for key, _ in page} if key)
    repeated = {key for key, count in counts.items() if count >= max(3, (len(pages) - 1) / 2)}
    known: set[str] = set()
    kept: list[str] = []
    for key, line in (pair for page in pages for pair in page):
        if key not in repeated or key not in known:
            kept.append(line)
        known.add(key)
    return "\n".join(kept)


def compare(path: Path) -> tuple[int, float, float, float, float, float]:
    data = path.read_bytes()
    began = time.process_time()
    document = read_pdf(data)
    spent = time.process_time() - began
    text = _SYNTAX.sub("", to_markdown(document))
    there = subprocess.run(["pdftotext", path, "-"], capture_output=True, timeout=300).stdout
    here, wanted = (
        words_of(text.replace("\f", "")),
        words_of(without_repeated(there.decode("utf-8", "replace"))),
    )
    recall = share(Counter(wanted), Counter(here))
    kinds = share(Counter(set(wanted)), Counter(set(here)))
    order = share(Counter(pairwise(wanted)), Counter(pairwise(here)))
    return len(document.parts), len(wanted), recall, kinds, order, spent / max(1, len(document.parts)) * 1000


def main(paths: list[str]) -> None:
    print("| file | pages | words | recall | recall of different words | order | ms a page |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for path in map(Path, paths):
        try:
            pages, words, recall, kinds, order, spent = compare(path)
        except NoteError as error:
            print(f"| {path.name} | {error} | | | | | |")
            continue
        shares = f"{recall:.3f} | {kinds:.3f} | {order:.3f}"
        print(f"| {path.name} | {pages} | {words} | {shares} | {spent:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
