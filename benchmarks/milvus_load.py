"""How Milvus holds many vaults: time to publish, freshness, searches by several clients, memory.

    python benchmarks/milvus_load.py VAULT [--vaults N] [--queries N] [--clients 1,4,16] [--work DIR]
        [--uri URL]

The folder is indexed once; its chunks are then published as N vaults with ids of their own. After each, ten
searches by one client show how the answers grow slower. Freshness is the
time from sending a change of one note until the server answers with it (median and largest of 20). Each
client is a process with a connection of its own; it asks for one vault by words, by meaning, and for the
notes of what was found. Without `--uri` the server is Milvus Lite. Prints Markdown.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from milvus_lite_server import LiteServer, lite_server, resident_mb
from search_quality import folder
from vault_gateway.milvus import MilvusConnection, MilvusPublisher, MilvusRetriever, MilvusVaults, VaultState
from vault_gateway.milvus.retrieval import Selection, VaultScope
from vault_gateway.publication import Change, published_notes
from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.model import Progress
from vault_indexer.ports import EmbeddingModel
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.text.query import analyze_query

_PREFIX = "load"
_EDITS = 20
_ASKED_BETWEEN = 10
"""Searches after each vault that was published."""


@dataclass(frozen=True, slots=True)
class Source:
    """The index whose chunks are published."""

    catalog: CatalogReader
    model: EmbeddingModel
    queries: list[tuple[str, np.ndarray]]


@contextmanager
def source(vault: Path, work: Path, queries: int) -> Iterator[Source]:
    """The index of the vault, built in `work` if need be, and queries: headings spread over it."""
    options = {"embedding.provider": "wordllama"}
    target = resolve_target(vault, work / f"index-load-{vault.name}", None, environ={}, options=options)
    open_index(target, _ignore).close()
    assembly = Assembly.of(target)
    generation = assembly.index_dir.current()
    assert generation is not None
    embedder = assembly.open_to_read(generation).searcher.embedder
    catalog = CatalogReader(generation.catalog)
    texts = [row[0] for row in catalog.rows("SELECT DISTINCT text FROM headings WHERE length(text) > 8")]
    chosen = texts[:: max(1, len(texts) // queries)][:queries]
    yield Source(catalog, embedder.model, [(text, embedder.embed_query(text)) for text in chosen])
    catalog.close()


def _ignore(_progress: Progress) -> None:
    """Nobody looks."""


def publish(of: Source, vaults: MilvusVaults, names: Sequence[str], server: LiteServer) -> str:
    """Publish the vaults and print how that went. The collection."""
    keys, notes = of.catalog.chunk_keys(), of.catalog.note_ids()
    collection = ""
    print("| vaults | chunks | seconds | chunks a second | server, MB | search p50 / slowest, ms |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    seconds = 0.0
    for number, name in enumerate(names, start=1):
        started = time.perf_counter()
        publisher = MilvusPublisher(vaults, name, of.model, store_bodies=False)
        fresh = VaultState(name, name, "load", "", of.model.key, "", ("en",), 0, 1, 1, len(keys), len(notes))
        publisher.replace(vaults.state(name), fresh, published_notes(of.catalog, of.model.key, notes))
        collection = publisher.collection
        taken_s = time.perf_counter() - started
        seconds += taken_s
        rate, held = len(keys) / taken_s, resident_mb(server.pid)
        alone = ask(server.uri, collection, names[:number], of.queries[: _ASKED_BETWEEN + 1])
        p50, slowest = statistics.median(alone), max(alone)
        print(
            f"| {number} | {number * len(keys):,} | {seconds:.0f} | {rate:,.0f} | {held:,.0f} "
            f"| {p50:,.0f} / {slowest:,.0f} |",
            flush=True,
        )
    return collection


def freshness(of: Source, vaults: MilvusVaults, name: str) -> None:
    """Print how long a change of one note takes until the server answers with it."""
    publisher = MilvusPublisher(vaults, name, of.model, store_bodies=False)
    state = vaults.state(name)
    assert state is not None
    notes = [row[0] for row in of.catalog.rows("SELECT note_id FROM notes LIMIT ?", (_EDITS,))]
    seconds = []
    for number, note in enumerate(notes, start=2):
        (changed,) = published_notes(of.catalog, of.model.key, [note])
        started = time.perf_counter()
        before, state = state, replace(state, seq=number)
        publisher.apply(before, state, changed.keys, (), [changed])
        change = Change(state, changed.keys)
        while not publisher.shows(change.state, present=change.present, absent=()):
            time.sleep(0.01)
        seconds.append(time.perf_counter() - started)
    print(f"\nfreshness: {statistics.median(seconds) * 1000:.0f} ms, at most {max(seconds) * 1000:.0f} ms\n")


def ask(
    uri: str, collection: str, names: Sequence[str], queries: Sequence[tuple[str, np.ndarray]]
) -> list[float]:
    """A client: the milliseconds of each query."""
    vaults = MilvusVaults(MilvusConnection(uri, timeout_s=120), _PREFIX)
    taken = []
    for number, (text, vector) in enumerate(queries):
        name = names[number % len(names)]
        scope, selection = VaultScope.of([name]), Selection(60)
        started = time.perf_counter()
        state = vaults.state(name)
        assert state is not None
        retriever = MilvusRetriever(vaults.connection, collection, [state])
        near = retriever.nearest(scope, vector, selection)
        said = retriever.best(scope, analyze_query(text, ("en",)), selection)
        vaults.notes(state, {one.note_id for one in (*near, *said)})
        taken.append(1000 * (time.perf_counter() - started))
    return taken[1:]


def searches(uri: str, collection: str, names: Sequence[str], of: Source, clients: int) -> None:
    """Print what searches take while so many clients ask at once."""
    started = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(clients) as pool:
        rounds = [(uri, collection, names, of.queries) for _ in range(clients)]
        taken = [one for each in pool.starmap(ask, rounds) for one in each]
    seconds = time.perf_counter() - started
    p50, p95 = np.percentile(taken, (50, 95))
    print(f"| {clients} | {len(taken)} | {p50:.0f} | {p95:.0f} | {len(taken) / seconds:.1f} |")


def main() -> None:
    """Publish, edit, search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--vaults", type=int, default=3)
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--clients", default="1,4,16")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--uri", default="")
    given = parser.parse_args()
    names = [f"vault-{number}" for number in range(given.vaults)]
    with (
        folder(given.work) as work,
        source(given.vault, work, given.queries) as of,
        lite_server(given.uri) as server,
    ):
        vaults = MilvusVaults(MilvusConnection(server.uri, timeout_s=600), _PREFIX)
        collection = publish(of, vaults, names, server)
        freshness(of, vaults, names[0])
        print("| clients | queries | p50, ms | p95, ms | queries a second |")
        print("| ---: | ---: | ---: | ---: | ---: |")
        for clients in map(int, given.clients.split(",")):
            searches(server.uri, collection, names, of, clients)
        print(f"\nserver: {resident_mb(server.pid):,.0f} MB")


if __name__ == "__main__":
    main()
