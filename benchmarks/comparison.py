"""Other engines beside ours: the same vault, the same judged queries, one process each.

    python benchmarks/comparison.py VAULT QUERIES [--minisearch FOLDER] > table.md

VAULT is a folder of notes, such as `vaults/obsidian-help`, QUERIES a file of `benchmarks/queries`. Only the
half of the queries is asked that weights were tuned on, so that the other half stays unseen. That favours
our own search, whose weights were fitted to it. Each engine ranks notes, and gets the same text. The two
peers with vectors have one for each section of a note, from our multilingual model; our own search has the
static model of a first index. The peers are installed by `pip install tantivy apsw sqlite-vec
llama-index-retrievers-bm25 llama-index-vector-stores-faiss`, and by `npm install minisearch` in FOLDER;
those missing are left out.

minisearch has the fields, boosts and conditions of Omnisearch with its default settings
(scambier/obsidian-omnisearch, `src/search` and `src/settings`, read on 2026-11-29), but its own tokenizer,
and no field for aliases. Times are those inside a running process, and depend on the machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import re
import resource
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from quality.engine import plain
from quality.measures import MEASURES, measured
from quality.queries import TUNE, Query, read_queries
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.ports import Embedder
from vault_indexer.providers import embedder_for

Ask = Callable[[str], list[str]]
"""A query in, paths of notes out, best first."""

Notes = Mapping[str, str]
LIMIT = 10
_DEPTH = 50
"""Sections that each of two fused rankings has."""

_NDCG = MEASURES.index("nDCG@10")
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^(#{1,3}) +(.+)$", re.MULTILINE)

_MINISEARCH = """
const MiniSearch = require("minisearch");
const lines = require("readline").createInterface({ input: process.stdin });
const boost = { basename: 10, directory: 7, headings1: 6, headings2: 5, headings3: 4 };
const plain = (term) => term.normalize("NFD").replace(/[\\u0300-\\u036f]/g, "").toLowerCase();
const fields = [...Object.keys(boost), "content"];
const engine = new MiniSearch({ idField: "path", fields, processTerm: plain });
const options = {
  boost, combineWith: "AND", prefix: true,
  fuzzy: (term) => (term.length <= 3 ? 0 : term.length <= 5 ? 0.05 : 0.1),
};
let isBuilt = false;
lines.on("line", (line) => {
  const given = JSON.parse(line);
  const found = isBuilt ? engine.search(given, options).slice(0, 10) : engine.addAll(given) || [];
  isBuilt = true;
  console.log(JSON.stringify(found.map((one) => one.id)));
});
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The measures of an engine: seconds until it can answer, milliseconds of each query, and the largest
    resident size of its process in MB."""

    first_index: float
    times: Sequence[float]
    memory: float
    scores: Mapping[str, Sequence[float]]


def ours(vault: Path, _notes: Notes, folder: Path, stack: ExitStack) -> Ask:
    from vault_indexer import open_vault

    opened = stack.enter_context(open_vault(vault, index_dir=folder / "index"))
    return lambda text: [hit.path for hit in opened.search(plain(text), limit=LIMIT).results]


def fts5(_vault: Path, notes: Notes, folder: Path, stack: ExitStack) -> Ask:
    database = sqlite3.connect(folder / "fts.db")
    stack.callback(database.close)
    database.execute(
        "CREATE VIRTUAL TABLE fts USING fts5(path UNINDEXED, title, content, tokenize='porter unicode61')"
    )
    rows = ((path, Path(path).stem, text) for path, text in notes.items())
    database.executemany("INSERT INTO fts VALUES (?, ?, ?)", rows)
    database.commit()
    sql = f"SELECT path FROM fts WHERE fts MATCH ? ORDER BY bm25(fts, 0, 3, 1) LIMIT {LIMIT}"

    def ask(text: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(text))
        return [path for (path,) in database.execute(sql, (words,))] if words else []

    return ask


def tantivy(_vault: Path, notes: Notes, folder: Path, _stack: ExitStack) -> Ask:
    import tantivy

    schema = tantivy.SchemaBuilder().add_text_field("path", stored=True, tokenizer_name="raw")
    for name in ("title", "content"):
        schema.add_text_field(name, tokenizer_name="en_stem")
    index = tantivy.Index(schema.build(), str(folder))
    writer = index.writer()
    for path, text in notes.items():
        writer.add_document(tantivy.Document(path=path, title=Path(path).stem, content=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ask(text: str) -> list[str]:
        query = index.parse_query(" ".join(_WORD.findall(text)), ["title", "content"], {"title": 3.0})
        return [searcher.doc(place)["path"][0] for _, place in searcher.search(query, LIMIT).hits]

    return ask


def _sections(text: str) -> list[str]:
    """Cut before each heading."""
    borders = [0, *(heading.start() for heading in _HEADING.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(borders) if text[start:end].strip()]


def _embedder() -> Embedder:
    return embedder_for(EmbeddingSettings(provider="multilingual"))


def sqlite_vec(_vault: Path, notes: Notes, folder: Path, stack: ExitStack) -> Ask:
    """FTS5 and vectors of sections, their ranks fused. The sqlite3 of many Pythons loads no extension."""
    import apsw
    import sqlite_vec

    embedder = _embedder()
    database = apsw.Connection(str(folder / "vectors.db"))
    stack.callback(database.close)
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    database.execute(
        "CREATE VIRTUAL TABLE fts USING fts5(path UNINDEXED, title, content, tokenize='porter unicode61');"
        f"CREATE VIRTUAL TABLE vec USING vec0"
        f"(vector float[{embedder.model.dimension}] distance_metric=cosine)"
    )
    parts = [(path, part) for path, text in notes.items() for part in _sections(text)]
    vectors = embedder.embed([f"{Path(path).stem}\n{part}" for path, part in parts])
    with database:
        rows = ((path, Path(path).stem, part) for path, part in parts)
        database.executemany("INSERT INTO fts VALUES (?, ?, ?)", rows)
        numbered = ((row, vector.tobytes()) for row, vector in enumerate(vectors, 1))
        database.executemany("INSERT INTO vec(rowid, vector) VALUES (?, ?)", numbered)
    by_words = f"SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY bm25(fts, 0, 3, 1) LIMIT {_DEPTH}"
    by_meaning = f"SELECT rowid FROM vec WHERE vector MATCH ? AND k = {_DEPTH} ORDER BY distance"

    def ask(text: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(text))
        legs = [database.execute(by_words, (words,))] if words else []
        legs.append(database.execute(by_meaning, (embedder.embed_query(text).tobytes(),)))
        scores: dict[str, float] = defaultdict(float)
        for leg in legs:
            paths = dict.fromkeys(parts[row - 1][0] for (row,) in leg)
            for rank, path in enumerate(paths):
                scores[path] += 1 / (60 + rank)
        return sorted(scores, key=lambda path: -scores[path])[:LIMIT]

    return ask


def llama_index(_vault: Path, notes: Notes, _folder: Path, _stack: ExitStack) -> Ask:
    """What LlamaIndex documents as hybrid search: its Markdown splitter, BM25 and FAISS, fused by rank."""
    import faiss
    from llama_index.core import Document, StorageContext, VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.node_parser import MarkdownNodeParser
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
    from llama_index.retrievers.bm25 import BM25Retriever
    from llama_index.vector_stores.faiss import FaissVectorStore

    embedder = _embedder()

    class Model(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            vectors: list[list[float]] = embedder.embed(texts).tolist()
            return vectors

        def _get_query_embedding(self, query: str) -> list[float]:
            vector: list[float] = embedder.embed_query(query).tolist()
            return vector

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    documents = [
        Document(text=text, metadata={"path": path, "title": Path(path).stem}) for path, text in notes.items()
    ]
    nodes = MarkdownNodeParser().get_nodes_from_documents(documents)
    store = FaissVectorStore(faiss.IndexFlatIP(embedder.model.dimension))
    index = VectorStoreIndex(
        nodes, storage_context=StorageContext.from_defaults(vector_store=store), embed_model=Model()
    )
    legs = [
        index.as_retriever(similarity_top_k=_DEPTH),
        BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=_DEPTH),
    ]
    fused = QueryFusionRetriever(
        legs,
        MockLLM(),
        mode=FUSION_MODES.RECIPROCAL_RANK,
        similarity_top_k=_DEPTH,
        num_queries=1,
        use_async=False,
    )

    def ask(text: str) -> list[str]:
        return [*dict.fromkeys(node.metadata["path"] for node in fused.retrieve(text))][:LIMIT]

    return ask


def minisearch(modules: Path, notes: Notes, _folder: Path, stack: ExitStack) -> Ask:
    command = ["node", "-e", _MINISEARCH]
    node = subprocess.Popen(command, cwd=modules, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    stack.enter_context(node)

    def ask(given: object) -> list[str]:
        assert node.stdin is not None and node.stdout is not None
        print(json.dumps(given), file=node.stdin, flush=True)
        found: list[str] = json.loads(node.stdout.readline())
        return found

    ask([_document(path, text) for path, text in notes.items()])
    return ask


def _document(path: str, text: str) -> dict[str, str]:
    headings: dict[int, list[str]] = defaultdict(list)
    for marks, heading in _HEADING.findall(text):
        headings[len(marks)].append(heading)
    by_level = {f"headings{level}": " ".join(headings[level]) for level in (1, 2, 3)}
    file = Path(path)
    return {"path": path, "basename": file.stem, "directory": str(file.parent), "content": text, **by_level}


Engine = Callable[[Path, Notes, Path, ExitStack], Ask]


def measure(engine: Engine, vault: Path, notes: Notes, queries: Sequence[Query]) -> Result:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        began = time.perf_counter()
        ask = engine(vault, notes, Path(folder), stack)
        first_index = time.perf_counter() - began
        times, scores = [], defaultdict(list)
        for query in queries:
            began = time.perf_counter()
            ranking = ask(query.text)
            times.append(1000 * (time.perf_counter() - began))
            scores[query.kind].append(measured(ranking, query.grades)[_NDCG])
    used = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Result(first_index, times, used / 1024, scores)


def _engines(minisearch_in: Path | None, vault: Path) -> Iterator[tuple[str, Engine, Path]]:
    yield "vault-indexer", ours, vault
    if minisearch_in:
        yield "minisearch as Omnisearch configures it", minisearch, minisearch_in
    yield "SQLite FTS5", fts5, vault
    if importlib.util.find_spec("tantivy"):
        yield "tantivy", tantivy, vault
    if importlib.util.find_spec("sqlite_vec") and importlib.util.find_spec("apsw"):
        yield "SQLite FTS5 and sqlite-vec, fused by rank", sqlite_vec, vault
    if importlib.util.find_spec("bm25s"):
        yield "LlamaIndex, BM25 and FAISS, fused by rank", llama_index, vault


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("vault", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--minisearch", type=Path)
    options = parser.parse_args()
    files = options.vault.rglob("*.md")
    notes = {file.relative_to(options.vault).as_posix(): file.read_text("utf-8") for file in files}
    queries = [query for query in read_queries(options.queries, notes) if query.split == TUNE]
    kinds = list(dict.fromkeys(query.kind for query in queries))
    counts = [f"{kind} ({sum(query.kind == kind for query in queries)})" for kind in kinds]
    print("|", " | ".join(["engine", "index s", "p50 ms", "p95 ms", "MB", "all", *counts]), "|")
    print("|", " | ".join(["---"] * (6 + len(kinds))), "|")
    for name, engine, place in _engines(options.minisearch, options.vault):
        # A process of its own, so that its memory is that of this engine.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(measure, (engine, place, notes, queries))
        times = statistics.quantiles(found.times, n=20)
        every = [score for scores in found.scores.values() for score in scores]
        means = [
            f"{statistics.mean(scores):.2f}" for scores in (every, *(found.scores[kind] for kind in kinds))
        ]
        figures = [f"{found.first_index:.1f}", f"{times[9]:.1f}", f"{times[18]:.1f}", f"{found.memory:.0f}"]
        print("|", " | ".join([name, *figures, *means]), "|", flush=True)


if __name__ == "__main__":
    main()
