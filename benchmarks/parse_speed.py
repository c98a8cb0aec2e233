"""Parse speed of `parse_note` against bare tree-sitter, and the time to resolve every link.

    python benchmarks/parse_speed.py VAULT [--notes N]

Bare tree-sitter is the block grammar over each file and the inline grammar over each of its inline
nodes, trees built and thrown away: what the two grammars cost before anyone looks at a tree.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import tree_sitter_markdown
from tree_sitter import Language, Node, Parser

from vault_indexer.errors import NoteError
from vault_indexer.model import Note
from vault_indexer.parse import VaultPaths, parse_any, resolve


def inline_nodes(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        for child in stack.pop().named_children:
            if child.type == "inline":
                yield child
            else:
                stack.append(child)


def bare(files: list[bytes]) -> tuple[float, float]:
    """Seconds for the block grammar and for the inline grammar."""
    block = Parser(Language(tree_sitter_markdown.language()))
    inline = Parser(Language(tree_sitter_markdown.inline_language()))
    block_seconds = inline_seconds = 0.0
    for data in files:
        start = time.process_time()
        tree = block.parse(data)
        block_seconds += time.process_time() - start
        pieces = [data[node.start_byte : node.end_byte] for node in inline_nodes(tree.root_node)]
        start = time.process_time()
        for piece in pieces:
            inline.parse(piece)
        inline_seconds += time.process_time() - start
    return block_seconds, inline_seconds


def ours(files: list[tuple[str, bytes]]) -> tuple[float, list[Note]]:
    """Seconds for `parse_any`, and the notes."""
    notes = []
    seconds = 0.0
    for path, data in files:
        start = time.process_time()
        try:
            notes.append(parse_any(path, data))
        except NoteError as error:
            print(f"skipped: {error}")
        seconds += time.process_time() - start
    return seconds, notes


def resolution(paths: list[str], notes: list[Note]) -> tuple[float, float, int, int]:
    """Seconds to build the paths and to resolve all links; how many links, how many unresolved."""
    start = time.process_time()
    vault = VaultPaths(paths)
    built = time.process_time()
    found = [resolve(link.target, note.path, vault).path for note in notes for link in note.links]
    done = time.process_time()
    return built - start, done - built, len(found), found.count(None)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("vault", type=Path)
    arguments.add_argument("--notes", type=int, default=None, help="only the first N notes")
    options = arguments.parse_args()
    every = sorted(path for path in options.vault.rglob("*") if path.is_file())
    paths = [path.relative_to(options.vault).as_posix() for path in every]
    chosen = [path for path in paths if path.lower().endswith(".md")][: options.notes]
    files = [(path, (options.vault / path).read_bytes()) for path in chosen]
    megabytes = sum(len(data) for _, data in files) / 1e6
    block, inline = bare([data for _, data in files])
    seconds, notes = ours(files)
    print(f"{len(files)} notes, {megabytes:.1f} MB")
    print(f"tree-sitter block        {block:7.2f} s  {megabytes / block:6.2f} MB/s")
    print(f"tree-sitter inline       {inline:7.2f} s  {megabytes / inline:6.2f} MB/s")
    print(f"tree-sitter both         {block + inline:7.2f} s  {megabytes / (block + inline):6.2f} MB/s")
    ratio = seconds / (block + inline)
    print(f"parse_note               {seconds:7.2f} s  {megabytes / seconds:6.2f} MB/s  x{ratio:.2f} of both")
    building, resolving, links, unresolved = resolution(paths, notes)
    print(f"paths {building:.2f} s, {links} links resolved in {resolving:.2f} s, {unresolved} unresolved")


if __name__ == "__main__":
    main()
