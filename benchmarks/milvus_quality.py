"""How good a gateway's search is beside that of the daemon, on the judged sets, and how long it takes.

    python benchmarks/milvus_quality.py DATA [--large DIR] [--work DIR] [--sets NAME,…] [--uri URL]
        [--provider NAME] [--sample N]

DATA, DIR, the sets and the work folder are those of `search_quality.py`. Each vault is published to the
server (Milvus Lite, unless `--uri` names another), then each query is asked of the index in this process and
of a gateway in this process, ten hits, one a note where notes are judged. Prints nDCG@10 of both, the mean
difference with its 95% bootstrap interval, and the median time of both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from milvus_lite_server import lite_server
from quality.engine import FULL, VARIANTS, OpenSet, opened, plain
from quality.measures import MEASURES, Mean, measured
from quality.runs import identified, sampled
from quality.sets import QuerySet, all_sets
from search_quality import folder, is_wanted, options
from vault_indexer.config.gateway import GatewayUser
from vault_indexer.gateway.search import GatewaySearch, SearchOrder
from vault_indexer.gateway.server import GatewayFile, gateway_parts
from vault_indexer.index.publication_owner import PublishedVault
from vault_indexer.index.published_notes import PublishingWorker
from vault_indexer.index.publishing import CatalogPublisher
from vault_indexer.model import Hit
from vault_indexer.store import IndexDir
from vault_indexer.store.milvus import MilvusConnection, MilvusPublisher, MilvusVaults
from vault_indexer.system import ProcessLimits

_NDCG = MEASURES.index("nDCG@10")
_SETS = "XQuAD ??,chunking,obsidian-help,titles obsidian-help,properties*,mixed*,large*"
_USER = GatewayUser(name="benchmark", token_sha256="0" * 64, vaults=("*",))


@contextmanager
def gateway(uri: str, work: Path, prefix: str) -> Iterator[GatewaySearch]:
    """The search of a gateway over what is published under a prefix."""
    config = work / "gateway.toml"
    config.write_text(
        f'states_s = 0\nmax_chunks_per_note = 10\n[milvus]\nuri = "{uri}"\ncollection_prefix = "{prefix}"\n'
        f'consistency = "session"\ntimeout_s = 60\n[server]\ntimeout_s = 120\n'
        f'[[users]]\nname = "{_USER.name}"\n'
        f'token_sha256 = "{_USER.token_sha256}"\nvaults = ["*"]\n'
    )
    with gateway_parts(GatewayFile.read(config), {}) as parts:
        parts.search.search_settings = parts.search.search_settings.model_copy(
            update={"recency": VARIANTS[FULL].recency}
        )
        yield parts.search


def publish(one: QuerySet, of: OpenSet, vaults: MilvusVaults, index: Path) -> None:
    """The vault on the server, under its name."""
    model = of.searcher.embedder.model
    generation = IndexDir(index).current()
    assert generation is not None
    name = one.vault.name
    publisher = MilvusPublisher(vaults, name, model, store_bodies=True)
    identity = PublishedVault(name, name, "benchmark", name, "owner")
    source = PublishingWorker(generation, ProcessLimits())
    catalog = CatalogPublisher(vaults, publisher, identity, generation.number, model, source)
    catalog.publish_all(of.snapshot.catalog)
    catalog.rest()


def timed(of: OpenSet, answers: Iterator[Sequence[Hit]]) -> tuple[list[float], float]:
    """nDCG@10 of each query, and the median time of an answer, in milliseconds."""
    values, times = [], []
    for query in of.queries:
        began = time.perf_counter()
        hits = next(answers)
        times.append(1000 * (time.perf_counter() - began))
        if of.by_note:
            found = [path for hit in hits for path in (hit.path, *hit.copies)]
        else:
            found = [f"{hit.path}:{hit.start_pos}" for hit in hits]
        values.append(measured(found[:10], query.grades)[_NDCG])
    return values, statistics.median(times)


def report(one: QuerySet, of: OpenSet, search: GatewaySearch) -> str:
    """The row of a set."""
    searcher = of.searcher.with_settings(VARIANTS[FULL])

    def there() -> Iterator[Sequence[Hit]]:
        for query in of.queries:
            order = SearchOrder(plain(query.text), 10, by_note=of.by_note, vault=one.vault.name)
            yield search.search(_USER, order).results

    here, here_ms = timed(of, (of.answer(searcher, query.text).hits for query in of.queries))
    far, far_ms = timed(of, there())
    change = Mean.of([new - old for old, new in zip(here, far, strict=True)])
    return (
        f"| {one.name} | {len(of.queries)} | {Mean.of(here).value:.3f} | {Mean.of(far).value:.3f} |"
        f" {change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}] | {here_ms:.0f} | {far_ms:.0f} |"
    )


def main() -> None:
    """Print a table row for each set."""
    parser = options(__doc__, chosen=_SETS)
    parser.add_argument("--uri", default="")
    parser.add_argument("--provider", default="wordllama")
    parser.add_argument("--sample", type=int, default=0)
    given = parser.parse_args()
    if given.data is None:
        parser.error("give DATA")
    print("| set | queries | daemon | gateway | change | daemon, ms | gateway, ms |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: |")
    with folder(given.work) as work, lite_server(given.uri) as server:
        vaults = MilvusVaults(MilvusConnection(server.uri, timeout_s=60), "quality")
        with gateway(server.uri, work, "quality") as search:
            for one in all_sets(given.data, given.large, work):
                if not is_wanted(one.name, given.sets):
                    continue
                with opened(one, work, given.provider) as of:
                    publish(one, of, vaults, work / f"index-{given.provider}-{one.vault.name}")
                    chosen = sampled(identified(of.queries), given.sample or len(of.queries))
                    part = replace(of, queries=tuple(of.queries[at] for at in chosen))
                    print(report(one, part, search), flush=True)


if __name__ == "__main__":
    main()
