"""How fast a search is: ours in five situations, and other engines over the same chunks and vectors.

    python benchmarks/search_speed.py VAULT [--index-dir DIR] [--machine "2 shared cores"] > speed.md

Needs nothing beside the package. The peers come with `pip install -e '.[bench]'` and (as its demand for an
old PyStemmer must be overruled) `pip install --no-deps llama-index-retrievers-bm25`. One that is missing is
named in the table.

The vault is copied, and only the copy is written to. The index is built in, or reused from, `--index-dir`.
Progress goes to standard error, one Markdown page to standard output. In this order:

1. The index in this process, kept as a daemon keeps it: the first pass over the queries after opening; idle
   and warm; 16 clients at once; under a rebuild; under a storm of edits. Between two queries nobody waits.
2. The same through a daemon over HTTP, each client with one connection; commands as processes; its memory.
3. Engines side by side, each in a process of its own: our search and its parts, Whoosh's own searcher,
   SQLite's FTS5 with sqlite-vec, LlamaIndex, tantivy.
4. The targets, and whether they are kept.

`--limit` bounds every rebuild and every engine, so that nothing hangs for ever; `--parts` does a part of it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from speed.commands import with_daemon, without_daemon
from speed.material import Material, silent
from speed.questions import Question, from_file, questions
from speed.report import Results, machine, report, vault_name
from speed.scenarios import Bounds, Observed, all_scenarios
from speed.sides import in_process, over_http
from speed.trials import Plan, engines, measured
from vault_indexer.bootstrap import open_index
from vault_indexer.errors import VaultIndexerError

PARTS = ("process", "http", "engines")
_QUERIES = Path(__file__).parent / "queries"


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="search-speed-", ignore_cleanup_errors=True) as place:
        material = _material(options, Path(place))
        results, asked = _prepared(options, material)
        try:
            if "process" in options.parts:
                _measure_in_process(results, material, asked, options)
            if "http" in options.parts:
                _measure_http(results, material, asked, options)
            if "engines" in options.parts:
                _measure_engines(results, material, asked, options)
        finally:  # broken off by hand too: what was measured is worth telling
            print(report(results), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--index-dir", type=Path, help="where the index is or shall be (default: temporary)")
    parser.add_argument("--queries", type=int, default=100, metavar="N", help="queries from notes (100)")
    parser.add_argument(
        "--query-file", type=Path, help="queries of a file too (default: queries/<name of the vault>.txt)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="warm passes over the queries (3)")
    parser.add_argument("--storm", type=float, default=20, metavar="S", help="seconds of the storm (20)")
    parser.add_argument("--edits", type=float, default=50, metavar="N", help="edits a second in it (50)")
    parser.add_argument(
        "--limit", type=float, default=600, metavar="S", help="longest time of one part (600)"
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what is measured (all)")
    parser.add_argument("--no-peers", action="store_true", help="only our own engines")
    parser.add_argument("--machine", help="what the page says of the machine")
    options = parser.parse_args()
    if not options.vault.is_dir():
        parser.error(f"{options.vault} is not a folder")
    if min(options.queries, options.rounds) < 1:
        parser.error("--queries and --rounds must be at least 1")
    return options


def _material(options: argparse.Namespace, place: Path) -> Material:
    """A copy of the vault to work on; states and configuration of the user are out of reach."""
    vault = place / "vault" / vault_name(options.vault)
    _say(f"copying {options.vault}")
    shutil.copytree(options.vault, vault, symlinks=True)
    vault.chmod(0o755)
    environ = {name: str(place / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    folder = place / "work"
    folder.mkdir()
    return Material(vault, (options.index_dir or place / "index").absolute(), folder, environ)


def _prepared(options: argparse.Namespace, material: Material) -> tuple[Results, list[Question]]:
    """An index in step with the vault, and what is asked of it."""
    _say("building the index, or bringing it in step")
    started = time.monotonic()
    open_index(material.target, silent).close()
    seconds = time.monotonic() - started
    default = _QUERIES / f"{vault_name(options.vault)}.txt"
    file = options.query_file or (default if default.exists() else None)
    written = len(list(from_file(file))) if file else 0
    with material.catalog() as catalog:
        asked = questions(catalog, options.queries, file)
        counts = catalog.counts()
    results = Results(
        vault=vault_name(options.vault),
        machine=machine(options.machine),
        counts=counts,
        dimension=material.embedder().model.dimension,
        queries=(len(asked) - written, written),
        index_note=f"index built or brought in step in {seconds:.1f} s",
    )
    if not asked:
        raise SystemExit("the vault has no note long enough to take a query from; give --query-file")
    _say(f"{counts.notes} notes, {counts.chunks} chunks, {len(asked)} queries")
    return results, asked


def _bounds(options: argparse.Namespace) -> Bounds:
    return Bounds(options.rounds, options.storm, options.edits, options.limit)


def _measure_in_process(
    results: Results, material: Material, asked: Sequence[Question], options: argparse.Namespace
) -> None:
    try:
        with in_process(material) as side:
            for observed in all_scenarios(side, _texts(asked), material.vault, _bounds(options)):
                _keep(results, observed)
    except (VaultIndexerError, OSError) as error:
        results.observed.append(Observed("in process", "broken off", notes=[str(error)]))


def _measure_http(
    results: Results, material: Material, asked: Sequence[Question], options: argparse.Namespace
) -> None:
    try:
        with over_http(material) as side:
            for observed in all_scenarios(side, _texts(asked), material.vault, _bounds(options)):
                _keep(results, observed)
            _say("commands as processes")
            results.commands.extend(with_daemon(material, _texts(asked)))
            results.memory = side.memory()
        results.commands.extend(without_daemon(material, _texts(asked)))
    except (VaultIndexerError, OSError) as error:
        results.observed.append(Observed("daemon, HTTP", "broken off", notes=[str(error)]))


def _measure_engines(
    results: Results, material: Material, asked: Sequence[Question], options: argparse.Namespace
) -> None:
    open_index(material.target, silent).close()  # without what the storm may have left
    plan = Plan(options.rounds, options.limit)
    for engine in engines():
        if engine.is_peer and options.no_peers:
            continue
        _say(f"engine: {engine.name}")
        trial = measured(engine, material, asked, plan)
        results.trials.append((engine, trial))
        _say(f"  {trial.note or 'done'}, p50 {trial.warm.p50:.2f} ms")


def _keep(results: Results, observed: Observed) -> None:
    results.observed.append(observed)
    times = observed.times
    _say(
        f"{observed.side}, {observed.scenario}: p50 {times.p50:.2f} p95 {times.p95:.2f} ms of {len(times.ms)}"
    )


def _texts(asked: Sequence[Question]) -> list[str]:
    return [question.text for question in asked]


def _say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
