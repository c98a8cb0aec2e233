"""What search does with whole collections of notes: how many visible phrases it finds, and at their place.

    python benchmarks/vault_collections.py VAULT… [--work DIR] [--phrases N] [--seed S] [--misses]
                                           [--broken N]

Each VAULT is a folder; its index is built in the work folder and used again. A phrase is a run of 3 to 12
words (of 6 to 20 characters without spaces) of one block, as the page shows it (`parse.reading_view`). It
is found if the note is among the hits of `"…"` or their copies, and its place is right if a hit has the line
of one of its occurrences, or one in whose source, and the ten lines below it, its words follow each other.
Prints a row of Markdown for each vault, with the time to build or open the index;
with `--misses` the phrases that fail, too, and with `--broken N` a sample of the links that lead nowhere.
The file is not called `collections.py`, since the scripts beside it would import that instead of the
standard library.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from vault_indexer.api import Vault, open_vault
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import JsonValue, LinkStyle, SearchRequest
from vault_indexer.parse import detect_style, parse_note
from vault_indexer.parse.reading_view import reading_view
from vault_indexer.text.scripts import SPACELESS

_BREAK = "\0"
"""Where another thing stands in the middle of a text: no phrase goes over it."""

_SOFT = "\v"
_PAGE = 200
_SUFFIXES = (".md", ".markdown")
_RUN = re.compile(rf"[{SPACELESS}]{{6,}}")
_IMAGE = re.compile(
    r"\.(?:avif|bmp|gif|jpe?g|png|svg|webp|pdf|mp4|canvas|excalidraw)(?:$|[|#])", re.IGNORECASE
)
_INLINE = frozenset(
    {"em", "strong", "del", "mark", "u", "kbd", "code", "sub", "sup", "small", "span", "a", "note"}
)


class Block(NamedTuple):
    """A block as a reader sees it, and the line of the file in which it begins. A line of text ends with a
    line feed or, where that may be an element of HTML in the line, with `_SOFT`."""

    line: int
    text: str


class Measure(NamedTuple):
    """The figures of one vault. `seconds` is the time of all queries."""

    notes: int
    skipped: int
    links: int
    broken: int
    phrases: int
    found: int
    placed: int
    seconds: float


def blocks_of(note: bytes, style: LinkStyle) -> Iterator[Block]:
    """The blocks of a note that have text of their own."""
    parsed = parse_note("", note, style)
    view = reading_view(parsed.text, parsed.body_start, lambda _: None)
    for node in view.blocks:
        yield from _blocks(node, 0)


def _blocks(node: dict[str, JsonValue], line: int) -> Iterator[Block]:
    line = node["l"] if isinstance(node.get("l"), int) else line  # type: ignore[assignment]
    for key in ("title", "c"):
        children = node.get(key)
        if isinstance(children, list) and (text := "".join(map(_text, children)).strip("\n")):
            yield Block(line, text)
    if "title" in node and isinstance(node.get("c"), list):  # the first paragraph began with the title
        first = next(iter(node["c"]), None)  # type: ignore[arg-type]
        if isinstance(first, dict) and first.get("l") == line:
            first["l"] = line + 1
    for child in node.get("c") or () if isinstance(node.get("c"), list) else ():  # type: ignore[union-attr]
        if isinstance(child, dict) and child["t"] not in {*_INLINE, "embed", "img"}:
            yield from _blocks(child, line)


def _text(node: JsonValue) -> str:
    if isinstance(node, str):
        return node
    assert isinstance(node, dict)
    match node["t"]:
        case "br":
            return _SOFT
        case "footnote_ref":
            return ""
        case "tag":
            return f"#{node['text']}"
        case "code":
            return str(node["text"] if "text" in node else "".join(map(_text, node["c"])))  # type: ignore[arg-type]
        case kind if kind in _INLINE:
            children = node.get("c")
            return "".join(map(_text, children)) if isinstance(children, list) else _BREAK
    return _BREAK


def phrases_of(blocks: Sequence[Block], number: int, chance: random.Random) -> Iterator[str]:
    """Runs of words of the blocks, taken by chance."""
    whole = [part for block in blocks for part in re.split(f"[{_BREAK}{_SOFT}\n]", block.text)]
    parts = [part for part in whole if len(part.split()) >= 3 or _RUN.search(part)]
    for part in chance.sample(parts, min(number, len(parts))):
        if run := _RUN.search(part):
            start = chance.randrange(run.start(), run.end() - 5)
            yield part[start : start + chance.randint(6, min(20, run.end() - start))]
            continue
        words = part.split()
        start = chance.randrange(len(words) - 2)
        phrase = " ".join(words[start : start + chance.randint(3, 12)])
        if any(map(str.isalpha, phrase)):
            yield phrase


def measure(
    vault: Vault, folder: Path, number: int, chance: random.Random, *, misses: bool, sample: int
) -> Measure:
    """Ask for phrases of the notes of a vault, at most `number` in all."""
    files: list[str] = []
    total = vault.notes(limit=1).count
    for offset in range(0, total, _PAGE):
        files += (one.path for one in vault.notes(limit=_PAGE, offset=offset).notes)
    files = sorted(path for path in files if path.endswith(_SUFFIXES))
    tops = sorted(one.name for one in folder.iterdir() if one.is_dir())
    style = detect_style(lambda name: (folder / name).exists(), tops)
    asked = found = placed = 0
    seconds = 0.0
    for path in chance.sample(files, len(files)):
        if asked >= number:
            break
        note = (folder / path).read_bytes()
        blocks, source = list(blocks_of(note, style)), note.decode("utf-8", "replace").splitlines()
        for phrase in phrases_of(blocks, 3, chance):
            query = '"{}"'.format(phrase.replace("\\", "\\\\").replace('"', '\\"'))
            start = time.perf_counter()
            hits = vault.search(SearchRequest(query, 200)).results
            seconds += time.perf_counter() - start
            lines = [hit.line for hit in hits if path in (hit.path, *hit.copies)]
            wanted = _lines(blocks, phrase)
            right = any(line in wanted or _begins_at(source, line, phrase) for line in lines)
            asked, found, placed = asked + 1, found + bool(lines), placed + right
            if misses and not right:
                what = f"line {lines[:3]} for {wanted[:3]}" if lines else "not found"
                print(f"{path}: {phrase!r}: {what}", file=sys.stderr)
    own = [vault.links(path) for path in files]
    if sample:
        lost = [(link, one.path) for one in own for link in one.unresolved]
        for link, path in chance.sample(lost, min(sample, len(lost))):
            print(f"{path}:{link.line}: {link.target}", file=sys.stderr)
    links, broken = sum(one.outgoing_count for one in own), sum(one.unresolved_count for one in own)
    on_disk = sum(
        1
        for path in folder.rglob("*.m*")
        if path.name.endswith(_SUFFIXES) and "/." not in f"/{path.relative_to(folder)}"
    )
    return Measure(total, on_disk - len(files), links, broken, asked, found, placed, seconds)


def _lines(blocks: Sequence[Block], phrase: str) -> list[int]:
    """The lines in which the phrase begins, wherever it is in the blocks."""
    wanted = re.compile(r"\s+".join(map(re.escape, phrase.split())), re.IGNORECASE)
    found: list[int] = []
    for block in blocks:
        for match in wanted.finditer(block.text):
            line = block.line + block.text.count("\n", 0, match.start())
            found += range(line, line + block.text.count(_SOFT, 0, match.start()) + 1)
    return found


def _begins_at(source: Sequence[str], line: int, phrase: str) -> bool:
    """Whether the first word of the phrase is in a line of the source, and the others behind it in order."""
    first, *others = re.findall(r"\w+", phrase.lower())
    position = source[line - 1].lower().find(first)
    rest = "\n".join((source[line - 1][position:], *source[line : line + 10])).lower()
    words = re.compile(".{0,300}?".join((first, *others)), re.DOTALL)
    return position >= 0 and words.match(rest) is not None


def main() -> int:
    """Measure the vaults and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vaults", type=Path, nargs="+")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "vault-collections")
    parser.add_argument("--phrases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--broken", type=int, default=0, metavar="N")
    options = parser.parse_args()
    print(
        "| vault | notes | skipped | links | broken | phrases | found | place right | index, s | query, ms |"
    )
    print(f"| --- |{' --: |' * 9}")
    for folder in options.vaults:
        chance = random.Random(options.seed)
        start = time.perf_counter()
        try:
            vault = open_vault(folder, options.work / folder.name, embedding={"provider": "wordllama"})
        except VaultIndexerError as error:
            print(f"vault_collections: {folder}: {error}", file=sys.stderr)
            return 1
        opened = time.perf_counter() - start
        with closing(vault):
            row = measure(
                vault, folder, options.phrases, chance, misses=options.misses, sample=options.broken
            )
        shares = [
            f"{100 * part / max(whole, 1):.1f}%"
            for part, whole in ((row.broken, row.links), (row.found, row.phrases), (row.placed, row.phrases))
        ]
        times = (f"{opened:.1f}", round(1000 * row.seconds / max(row.phrases, 1)))
        cells = [folder.name, row.notes, row.skipped, row.links, shares[0], row.phrases, *shares[1:], *times]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
