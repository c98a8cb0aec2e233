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
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from vault_indexer.bootstrap import Assembly, open_index, resolve_target
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import SearchRequest
from vault_indexer.search.reader import IndexReader
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
PLACES = ("line", "block", "section", "content", "heading", "task", "path", "file")
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
    costs = sorted(
        ((_cost(opened, query)[0], query) for query in _random_queries(options.random, options.seed)),
        reverse=True,
    )
    if costs:
        middle, high = costs[len(costs) // 2][0], costs[len(costs) // 20][0]
        print(
            f"\n{len(costs)} random queries: p50 {middle * 1000:.0f} ms, p95 {high * 1000:.0f} ms. The"
            " dearest:\n"
        )
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


def _random_queries(count: int, seed: int) -> Iterator[str]:
    choose = random.Random(seed)

    def word() -> str:
        return choose.choice(WORDS)

    def phrase() -> str:
        return f'"{" ".join(word() for _ in range(choose.choice((1, 1, 2, 3, 8))))}"'

    def short() -> str:
        return f'"{choose.choice(SHORT)}"'

    def cased() -> str:
        return f'match-case:"{choose.choice(("The", "tHE", "É", "OF the", "Docker Image", "iN"))}"'

    def expression() -> str:
        return choose.choice(EXPRESSIONS)

    def tree(depth: int, leaf: Callable[[], str]) -> str:
        kind = choose.random() if depth else 0.0
        if kind < 0.3:
            return leaf()
        parts = [tree(depth - 1, leaf) for _ in range(choose.choice((2, 2, 3, 6)))]
        return (
            f"({' '.join(parts)})"
            if kind < 0.6
            else f"({' OR '.join(parts)})"
            if kind < 0.9
            else f"-{leaf()}"
        )

    def text() -> str:
        return choose.choice((word, phrase))()

    def any_text() -> str:
        return choose.choice((word, phrase, short, cased, expression))()

    def place(leaf: Callable[[], str] = text, depth: int = 2) -> str:
        return f"{choose.choice(('', '-'))}{choose.choice(PLACES)}:({tree(depth, leaf)})"

    def denied() -> str:
        """A place that must hold words and must not hold words of the same kind."""
        wanted, unwanted = any_text(), any_text()
        return f"{choose.choice(PLACES[:6])}:({wanted} -{unwanted})"

    def nested() -> str:
        found = any_text()
        for _ in range(choose.randint(3, 12)):
            joint = choose.choice((" ", " OR "))
            found = f"{choose.choice(('', '-'))}({any_text()}{joint}{found})"
        return found

    def many() -> str:
        """Alternatives by the dozen, in a place or not."""
        parts = " OR ".join(choose.choice((word, phrase, short))() for _ in range(choose.choice((12, 30))))
        return choose.choice((f"({parts})", f"-({parts})", f"line:({parts})", f"-section:({parts})"))

    def classic() -> str:
        parts = (
            choose.choice((text, place, lambda: tree(3, place)))() for _ in range(choose.choice((1, 2, 3)))
        )
        return " ".join(parts)

    def common() -> str:
        """What a user might write: common words as phrases, in one place, negated or not."""
        return f"{choose.choice(('', '', '-'))}{choose.choice((phrase, short, cased, expression, denied))()}"

    def mixed() -> str:
        parts = (
            choose.choice((any_text, lambda: place(any_text, 3), denied, nested, many))()
            for _ in range(choose.choice((1, 2, 3)))
        )
        return " ".join(parts)

    for _ in range(count):
        yield choose.choice((classic, common, mixed))()[:4000]


if __name__ == "__main__":
    main()
