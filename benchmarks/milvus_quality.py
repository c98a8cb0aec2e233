"""How good the rankings of Milvus are beside the embedded ones, on the judged sets.

    PYTHONPATH=tests/support python benchmarks/milvus_quality.py DATA [--large DIR] [--work DIR]
        [--sets NAME,…] [--uri URL] [--provider NAME] [--sample N]

DATA, DIR, the sets and the work folder are those of `search_quality.py`. Each vault is published to the
server (Milvus Lite, unless `--uri` names another), then each query is asked of both backends through the same
port: by words, by meaning, and both joined by reciprocal rank fusion, one hit a note where notes are judged.
Prints nDCG@10 of both and the mean difference with its 95% bootstrap interval; `full` is the daemon's whole
search, which also uses links, whole notes and spelling, and which both ports leave to their caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from embedded_retriever import EmbeddedRetriever

from milvus_lite_server import lite_server
from quality.engine import FULL, VARIANTS, OpenSet, opened, plain
from quality.measures import MEASURES, Mean, measured
from quality.queries import Query
from quality.runs import identified, sampled
from quality.sets import QuerySet, all_sets
from search_quality import folder, is_wanted, options
from vault_indexer.index.publication_owner import PublishedVault
from vault_indexer.index.publishing import CatalogPublisher
from vault_indexer.store import SnapshotHolder
from vault_indexer.store.milvus import MilvusConnection, MilvusPublisher, MilvusRetriever, MilvusVaults
from vault_indexer.store.retrieval import ChunkRetriever, FoundChunk, Fusion, Selection, VaultScope
from vault_indexer.text.query import analyze_query

_NDCG = MEASURES.index("nDCG@10")
_SETS = "XQuAD ??,chunking,obsidian-help,titles obsidian-help,properties*,mixed*,large*"
Ask = Callable[[ChunkRetriever, VaultScope, Query], Sequence[FoundChunk]]


def kinds(of: OpenSet) -> dict[str, Ask]:
    """The kinds of question, each as a function of the backend."""
    selection = Selection(limit=10, per_note=1 if of.by_note else 0)
    languages = of.snapshot.languages

    def words(retriever: ChunkRetriever, scope: VaultScope, query: Query) -> Sequence[FoundChunk]:
        return retriever.best(scope, analyze_query(plain(query.text), languages), selection)

    def meaning(retriever: ChunkRetriever, scope: VaultScope, query: Query) -> Sequence[FoundChunk]:
        return retriever.nearest(scope, of.searcher.embedder.embed_query(plain(query.text)), selection)

    def both(retriever: ChunkRetriever, scope: VaultScope, query: Query) -> Sequence[FoundChunk]:
        text = plain(query.text)
        vector = of.searcher.embedder.embed_query(text)
        return retriever.hybrid(scope, vector, analyze_query(text, languages), selection, Fusion())

    return {"words": words, "meaning": meaning, "both, RRF": both}


def publish(of: OpenSet, vaults: MilvusVaults, vault: str) -> MilvusRetriever:
    """The vault on the server."""
    model = of.searcher.embedder.model
    publisher = MilvusPublisher(vaults, vault, model, store_bodies=False)
    identity = PublishedVault(vault, vault, "benchmark", vault, "owner")
    catalog = CatalogPublisher(vaults, publisher, identity, of.snapshot.generation, model.key)
    state = catalog.publish_all(of.snapshot.catalog).state
    return MilvusRetriever(vaults, state.collection)


def ndcg(of: OpenSet, ask: Ask, retriever: ChunkRetriever, scope: VaultScope) -> list[float]:
    """nDCG@10 of each query."""
    found = []
    for query in of.queries:
        hits = ask(retriever, scope, query)
        ranking = [hit.path if of.by_note else f"{hit.path}:{hit.start_pos}" for hit in hits]
        found.append(measured(ranking, query.grades)[_NDCG])
    return found


def report(one: QuerySet, of: OpenSet, vaults: MilvusVaults) -> Iterator[str]:
    """The rows of a set."""
    vault = one.vault.name
    scope = VaultScope.of([vault])
    holder = SnapshotHolder()
    holder.publish(of.snapshot)
    embedded, milvus = EmbeddedRetriever(vault, holder), publish(of, vaults, vault)
    full = Mean.of([values[_NDCG] for values in of.run(VARIANTS[FULL])])
    for kind, ask in kinds(of).items():
        here, there = (ndcg(of, ask, retriever, scope) for retriever in (embedded, milvus))
        change = Mean.of([new - old for old, new in zip(here, there, strict=True)])
        yield (
            f"| {one.name} | {len(of.queries)} | {kind} | {Mean.of(here).value:.3f} |"
            f" {Mean.of(there).value:.3f} | {change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}] |"
            f" {full.value:.3f} |"
        )


def main() -> None:
    """Print a table row for each set and kind of question."""
    parser = options(__doc__, chosen=_SETS)
    parser.add_argument("--uri", default="")
    parser.add_argument("--provider", default="wordllama")
    parser.add_argument("--sample", type=int, default=0)
    given = parser.parse_args()
    if given.data is None:
        parser.error("give DATA")
    print("| set | queries | ranking | embedded | Milvus | change | full |")
    print("| --- | ---: | --- | ---: | ---: | --- | ---: |")
    with folder(given.work) as work, lite_server(given.uri) as server:
        vaults = MilvusVaults(MilvusConnection(server.uri, timeout_s=60), "quality")
        for one in all_sets(given.data, given.large, work):
            if not is_wanted(one.name, given.sets):
                continue
            with opened(one, work, given.provider) as of:
                chosen = sampled(identified(of.queries), given.sample or len(of.queries))
                part = replace(of, queries=tuple(of.queries[at] for at in chosen))
                for line in report(one, part, vaults):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
