"""What the dearest queries cost: processor time of searches over common words, places and negations, and of
random queries that combine them.

    python benchmarks/query_cost.py VAULT --index-dir DIR [--random N] [--seed S] > cost.md

The index is built in, or reused from, `--index-dir`. Times are of the process, not of the clock, so a busy
machine matters little. The same `--seed` gives the same random queries.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import permutations
from pathlib import Path

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import SearchRequest
from vault_indexer.search.index_reader import IndexReader
from vault_indexer.search.warm_up import load_caches

QUERIES = (
    '"the"',
    '"of the"',
    '"in order to"',
    '"the of"',
    '"docker image"',
    '"."',
    '"->"',
    '"q"',
    '-"the"',
    '-"of the"',
    '-"."',
    "line:the",
    "line:(the of)",
    "line:(the -the)",
    "block:the",
    "block:(docker image)",
    "block:(the -the)",
    "section:(the -x)",
    "section:(the -the)",
    "heading:the",
    "heading:install",
    'task:""',
    "task-todo:the",
    "tag:#err",
    "path:docs",
    "[title:install]",
    "after:2020",
    "meeting OR work",
    '"a" OR "b" OR "c"',
    r"/docker (image|run)/",
    r"/\d{4}-\d{2}-\d{2}/",
    r"-/\d{4}-\d{2}-\d{2}/",
    "/zzqq9/",
    "/[aeiou]{9}/",
    "-/e/",
    "line:/^the /",
    "line:/^zz.*q$/",
    "line:(/the$/ -the)",
    "block:/docker$/",
    r"path:/\d{4}/",
    "[title:/^inst/]",
    "match-case:Docker",
    'match-case:"tHE"',
    "/(?:x+x+)+y/",
    "/.*a.{500}9/",
    "/[^]*a.{500}Ω/",
    " ".join(f"w{number}" for number in range(700)),
    " OR ".join(f'"the w{number}"' for number in range(100)),
)
WORDS = (
    *("the", "of", "a", "to", "in", "is", "and", "docker", "q", "x", "é", "日本", "这", "на"),
    *("C++", "a.b", "->", ".", "``", "zebra", "install", "https://", "(?:a+)+$", "not"),
    *(r"/\bthe\b/", "/docker$/", r"/\w+ing (of|to)/", "/x{3}/", "match-case:The"),
)
COMMON = ("the", "of", "a", "to", "in", "is", "and", "for", "on", "with", "this", "that", "you", "not", "as")
PLACES = ("line", "block", "section", "content", "heading", "task", "path", "file")
CASED = ("The", "tHE", "É", "OF the", "Docker Image", "iN")
SHORT = ("a", "e", "1", "é", "日", "の", "и", ".", "-", "|", "#", "``", "->", "…")
EXPRESSIONS = (
    *(r"/the$/", r"/^the/", r"/^\s*[-*]/", r"/\d{4}/", "/e/", r"/[aeiou]{9}/", "/.*/", r"/^$/", r"/[^]*zq/"),
    *(r"/(?:x+x+)+y/", r"/docker|kube/", r"/[^a-z]{40}/", r"/日本|中国/", r"/\bof\W+the\b/"),
)


def main() -> None:
    options = _options()
    target = resolve_target(options.vault, options.index_dir, None, environ={}, options={})
    with closing(open_index(target, lambda _: None)):
        assembly = Assembly.of(target)
    generation = assembly.index_dir.current()
    if generation is None:
        sys.exit("there is no index")
    opened = assembly.open_to_read(generation)
    load_caches(opened)
    print("| query | hits | ms of processor time | notice |\n| --- | ---: | ---: | --- |")
    for query in QUERIES:
        _cost(opened, query)
        seconds, hits, notice = _cost(opened, query)
        print(f"| `{_short(query)}` | {hits} | {seconds * 1000:.1f} | {notice} |", flush=True)
    _print_dearest(opened, "phrases and places over common words", over_common_words())
    _print_dearest(opened, "random queries", RandomQueries(options.seed).queries(options.random))


def over_common_words() -> Iterator[str]:
    """Phrases and places of the words that nearly every English note holds, alone, together and denied."""
    pairs = list(permutations(COMMON[:6], 2))
    yield from (f'"{word}"' for word in COMMON)
    yield from (f'"{one} {other}"' for one, other in pairs)
    yield from (f'"{one} {other} {one}"' for one, other in pairs[::5])
    yield from (f'-"{word}"' for word in COMMON[:6])
    for place in PLACES[:6]:
        yield from (f"{place}:{word}" for word in COMMON)
        yield from (f"{place}:({one} {other})" for one, other in pairs[::5])
        yield from (f'{place}:("{one} {other}" -{other})' for one, other in pairs[::10])
        yield from (f"{place}:({one} -{other})" for one, other in pairs[::5])


def _print_dearest(opened: IndexReader, kind: str, queries: Iterable[str]) -> None:
    costs = sorted(((_cost(opened, query)[0], query) for query in queries), reverse=True)
    if not costs:
        return
    middle, high = costs[len(costs) // 2][0], costs[len(costs) // 20][0]
    print(f"\n{len(costs)} {kind}: p50 {middle * 1000:.0f} ms, p95 {high * 1000:.0f} ms. The dearest:\n")
    for seconds, query in costs[:5]:
        print(f"- {seconds * 1000:.0f} ms: `{_short(query)}`")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--index-dir", type=Path, required=True, help="where the index is or shall be")
    parser.add_argument("--random", type=int, default=100, metavar="N", help="random queries (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the random queries (0)")
    options: argparse.Namespace = parser.parse_args()
    return options


def _cost(opened: IndexReader, query: str) -> tuple[float, int | str, str]:
    before = time.process_time()
    try:
        with opened.holder.lease() as snapshot:
            found = opened.searcher.search(snapshot, SearchRequest(query))
    except VaultIndexerError as error:
        return time.process_time() - before, "", str(error)
    return time.process_time() - before, len(found.hits), _short("; ".join(found.notices))


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99]}…"


class RandomQueries:
    """Queries of words, phrases, regular expressions and places, combined at random."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._choose = self._random.choice

    def queries(self, count: int) -> Iterator[str]:
        """So many, each short enough to be a query."""
        for _ in range(count):
            yield self._choose((self._classic, self._common, self._mixed))()[:4000]

    def _classic(self) -> str:
        """Words and places side by side, and trees of places."""
        kinds = (self._text, self._place, lambda: self._tree(3, self._place))
        return " ".join(self._choose(kinds)() for _ in range(self._choose((1, 2, 3))))

    def _common(self) -> str:
        """What a user might write: common words as a phrase or in one place, denied or not."""
        kinds = (self._phrase, self._short, self._cased, self._expression, self._contrast)
        return f"{self._choose(('', '', '-'))}{self._choose(kinds)()}"

    def _mixed(self) -> str:
        """Everything that can be written, deeply nested or dozens side by side."""
        kinds = (
            self._any_text,
            lambda: self._place(self._any_text, 3),
            self._contrast,
            self._nested,
            self._alternatives,
        )
        return " ".join(self._choose(kinds)() for _ in range(self._choose((1, 2, 3))))

    def _word(self) -> str:
        return self._choose(WORDS)

    def _phrase(self) -> str:
        return f'"{" ".join(self._word() for _ in range(self._choose((1, 1, 2, 3, 8))))}"'

    def _text(self) -> str:
        return self._choose((self._word, self._phrase))()

    def _short(self) -> str:
        return f'"{self._choose(SHORT)}"'

    def _cased(self) -> str:
        return f'match-case:"{self._choose(CASED)}"'

    def _expression(self) -> str:
        return self._choose(EXPRESSIONS)

    def _any_text(self) -> str:
        return self._choose((self._word, self._phrase, self._short, self._cased, self._expression))()

    def _tree(self, depth: int, leaf: Callable[[], str]) -> str:
        kind = self._random.random() if depth else 0.0
        if kind < 0.3:
            return leaf()
        parts = [self._tree(depth - 1, leaf) for _ in range(self._choose((2, 2, 3, 6)))]
        if kind < 0.9:
            return f"({(' ' if kind < 0.6 else ' OR ').join(parts)})"
        return f"-{leaf()}"

    def _place(self, leaf: Callable[[], str] | None = None, depth: int = 2) -> str:
        scope = f"{self._choose(('', '-'))}{self._choose(PLACES)}"
        return f"{scope}:({self._tree(depth, leaf or self._text)})"

    def _contrast(self) -> str:
        """A place that must hold something and must not hold something of the same kind."""
        wanted, unwanted = self._any_text(), self._any_text()
        return f"{self._choose(PLACES[:6])}:({wanted} -{unwanted})"

    def _nested(self) -> str:
        found = self._any_text()
        for _ in range(self._random.randint(3, 12)):
            joint = self._choose((" ", " OR "))
            found = f"{self._choose(('', '-'))}({self._any_text()}{joint}{found})"
        return found

    def _alternatives(self) -> str:
        """By the dozen, in a place or not."""
        kinds = (self._word, self._phrase, self._short)
        parts = " OR ".join(self._choose(kinds)() for _ in range(self._choose((12, 30))))
        return self._choose((f"({parts})", f"-({parts})", f"line:({parts})", f"-section:({parts})"))


if __name__ == "__main__":
    main()
