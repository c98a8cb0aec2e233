"""Vector searches for very many vectors: exact, codes of two bits as they ship, IVF and HNSW of FAISS.

    python benchmarks/vector_indexes.py VAULT --index-dir DIR [--queries 200] [--vectors N]
        [--only exact,codes,ivf,hnsw]

Reads the vectors of an index that is there (N of them, spread evenly) and queries of three to six words
from its notes. For each kind and setting: recall of the ten best against the exact search (another vector
that is as near counts, too), processor time of a query in one thread, seconds of processor time to build, and
memory. IVF and HNSW hold float16, as the exact index does. Prints Markdown.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from speed.figures import table
from speed.material import HITS, Material
from speed.questions import from_notes
from vault_indexer.store.vectors.codes import CodedVectors, encode
from vault_indexer.store.vectors.rule import RULE

_BATCH = 8192
_LINKS = 16
"""Neighbours of a vector in the upper layers of HNSW; the lowest has twice as many."""

_CONSTRUCTION = 80
"""Candidates while a vector is linked (`efConstruction`)."""

_BEAMS = (64, 256, 1024, 4096, 8192)
"""Candidates while HNSW is searched (`efSearch`)."""

_LISTS = 4096
_PROBES = (64, 256, 1024, 2048)
"""Clusters that IVF looks into (`nprobe`)."""

_CLUSTERED = 40 * _LISTS
"""Vectors of which the clusters are made, spread evenly: FAISS asks for 39 a cluster at least."""

Search = Callable[[Any], Any]
"""From a query, shape (dimension,), to the positions that were found."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One kind of index in one setting."""

    kind: str
    setting: str
    build_s: float
    bytes_each: float
    search: Search


def main() -> None:
    """Build each, ask all, print."""
    given = _options()
    faiss.omp_set_num_threads(1)
    ground = Material(given.vault, given.index_dir, given.index_dir.parent, {})
    vectors, queries = _read(ground, given.vectors, given.queries)
    exact = _exact(vectors)
    best = [exact.search(query[None, :], HITS)[0][0] for query in queries]
    rows = []
    for trial in _trials(vectors, exact, set(given.only.split(","))):
        began = time.process_time()
        found = [trial.search(query) for query in queries]
        each_ms = 1000 * (time.process_time() - began) / len(queries)
        recall = np.mean(
            [
                _recall(vectors, query, rows_found, nearest)
                for query, rows_found, nearest in zip(queries, found, best, strict=True)
            ]
        )
        rows.append(
            (
                trial.kind,
                trial.setting,
                f"{recall:.3f}",
                f"{each_ms:.1f}",
                f"{trial.build_s:,.0f}",
                f"{trial.bytes_each * len(vectors) / 1e6:,.0f}",
            )
        )
        print(rows[-1], flush=True)
    print(f"\n{len(vectors):,} vectors of {vectors.shape[1]} numbers, {len(queries)} queries\n")
    print(table(("index", "setting", "recall@10", "ms a query", "build, s", "memory, MB"), rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--index-dir", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--vectors", type=int, default=0, help="0: all")
    parser.add_argument("--only", default="exact,codes,ivf,hnsw")
    return parser.parse_args()


def _read(ground: Material, count: int, queries: int) -> tuple[Any, list[Any]]:
    """The vectors as float16, shape (count, dimension), and those of the queries."""
    embedder = ground.embedder()
    with ground.catalog() as catalog:
        most = catalog.embedded_count()
        step = max(1, most // count) if count else 1
        rows = (vector for _, vector in islice(catalog.all_chunk_vectors(embedder.model.key), 0, None, step))
        vectors = np.stack([np.frombuffer(vector, np.float16) for vector in rows])
        texts = from_notes(catalog, queries)
    return vectors, [embedder.embed_query(text) for text in texts]


def _exact(vectors: Any) -> Any:
    index = faiss.IndexScalarQuantizer(
        vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    _add(index, vectors)
    return index


def _add(index: Any, vectors: Any) -> None:
    for start in range(0, len(vectors), _BATCH):
        index.add(vectors[start : start + _BATCH].astype(np.float32))


def _trials(vectors: Any, exact: Any, kinds: set[str]) -> Iterator[Trial]:
    dimension = vectors.shape[1]
    halves = 2.0 * dimension
    if "exact" in kinds:
        yield Trial("exact", "all", 0.0, halves, partial(_plain, exact))
    if "codes" in kinds:
        coded, build_s = _clocked(lambda: CodedVectors(exact, encode(vectors), RULE))
        setting = f"{RULE.fewest} looked at exactly"
        yield Trial("codes of 2 bits", setting, build_s, halves + dimension / 4, partial(_coded, coded))
    if "ivf" in kinds:
        clusters, build_s = _clocked(lambda: _ivf(vectors))
        for probes in _PROBES:
            search = partial(_probed, clusters, probes)
            yield Trial("IVF", f"{probes} of {_LISTS} clusters", build_s, halves + 8, search)
    if "hnsw" in kinds:
        graph, build_s = _clocked(lambda: _hnsw(vectors))
        for beam in _BEAMS:
            search = partial(_walked, graph, beam)
            links = 4.0 * (2 * _LINKS + 3)
            yield Trial("HNSW", f"efSearch {beam}", build_s, halves + links, search)


def _ivf(vectors: Any) -> Any:
    coarse = faiss.IndexFlatIP(vectors.shape[1])
    index = faiss.IndexIVFScalarQuantizer(
        coarse,
        vectors.shape[1],
        _LISTS,
        faiss.ScalarQuantizer.QT_fp16,
        faiss.METRIC_INNER_PRODUCT,
        False,  # whole vectors, not their distance from the middle of the cluster
    )
    index.train(vectors[:: max(1, len(vectors) // _CLUSTERED)].astype(np.float32))
    _add(index, vectors)
    return index


def _hnsw(vectors: Any) -> Any:
    index = faiss.IndexHNSWSQ(
        vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, _LINKS, faiss.METRIC_INNER_PRODUCT
    )
    index.train(vectors[:1].astype(np.float32))
    index.hnsw.efConstruction = _CONSTRUCTION
    faiss.omp_set_num_threads(2)
    _add(index, vectors)
    faiss.omp_set_num_threads(1)
    return index


def _clocked(build: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return build(), time.process_time() - began


def _plain(index: Any, query: Any) -> Any:
    return index.search(query[None, :], HITS)[1][0]


def _coded(index: CodedVectors, query: Any) -> Any:
    found = index.search(query, HITS)
    assert found is not None
    positions, scores = found
    return positions[np.argsort(-scores)[:HITS]]


def _probed(index: Any, probes: int, query: Any) -> Any:
    index.nprobe = probes
    return _plain(index, query)


def _walked(index: Any, beam: int, query: Any) -> Any:
    index.hnsw.efSearch = beam
    return _plain(index, query)


def _recall(vectors: Any, query: Any, found: Any, best: Any) -> float:
    reached = vectors[found[found >= 0]].astype(np.float32) @ query
    return float(np.count_nonzero(reached >= best[-1] - 1e-6) / HITS)


if __name__ == "__main__":
    main()
