"""How fast the keyword index writes and answers, against Whoosh's own searcher and tantivy on the same terms.

    python benchmarks/keyword_speed.py VAULT [--queries N] [--peers]

Notes are cut into pieces of 700 characters. Queries are 1 to 5 words drawn from headings of the vault. All
engines index the same term lists in the same fields and answer the same words over title, headers and
content; Whoosh gets an index written by its own writer with its own settings.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from speed.keyword_engines import Asked, tantivy_searcher, whoosh_searcher
from vault_indexer.store.keywords.index import KeywordIndex
from vault_indexer.store.keywords.schema import (
    KEY_COLUMN,
    FieldWeight,
    FieldWeights,
    KeywordDocument,
    keyword_schema,
)
from vault_indexer.store.keywords.segment_writer import SegmentBuilder
from vault_indexer.store.keywords.snapshot import KeywordSnapshot
from vault_indexer.text.language import detect
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import analyze

if TYPE_CHECKING:
    from whoosh.codec.whoosh3 import W3Segment

PIECE = 700
PEER_FIELDS = ("title", "headers", "content")
Answer = Callable[[Sequence[str]], object]


def pieces(root: Path, paths: Sequence[Path]) -> Iterator[KeywordDocument]:
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        language = detect(text)
        title, where = analyze(path.stem, language), analyze(path.relative_to(root).as_posix(), language)
        heading: list[str] = []
        for number, start in enumerate(range(0, len(text), PIECE)):
            body = text[start : start + PIECE]
            for line in body.splitlines():
                if line.startswith("#"):
                    heading = analyze(line, language)
            key = hash((path.as_posix(), number)) & 0x7FFFFFFFFFFFFFFF
            yield KeywordDocument(
                key, title=title, headers=heading, path=where, content=analyze(body, language)
            )


def build_part(root: Path, paths: Sequence[Path], folder: Path) -> tuple[list[W3Segment], int]:
    builder, count = SegmentBuilder(folder), 0
    for document in pieces(root, paths):
        builder.add(document)
        count += 1
    return builder.finish(), count


def built(root: Path, paths: Sequence[Path], folder: Path, processes: int) -> tuple[KeywordIndex, int]:
    index = KeywordIndex.create(folder)
    parts = [paths[number::processes] for number in range(processes)]
    if processes == 1:
        results = [build_part(root, paths, folder)]
    else:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            results = list(pool.map(build_part, [root] * processes, parts, [folder] * processes))
    index.adopt([segment for segments, _ in results for segment in segments], 1)
    return index, sum(count for _, count in results)


def headings(paths: Sequence[Path], count: int) -> list[str]:
    chooser = random.Random(5)
    found: list[str] = []
    while len(found) < count:
        text = chooser.choice(paths).read_text(encoding="utf-8", errors="replace")
        lines = [line.strip("# ") for line in text.splitlines() if line.startswith("#")]
        if lines:
            words = chooser.choice(lines).split()[: chooser.randint(1, 5)]
            found.append(" ".join(words))
    return found


def show(name: str, times: Sequence[float]) -> None:
    ordered = sorted(time * 1000 for time in times)
    p50, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    print(f"{name:44} p50 {p50:8.2f} ms   p95 {p95:8.2f} ms   max {ordered[-1]:8.2f} ms")


def timed(answer: Answer, queries: Sequence[Sequence[str]]) -> list[float]:
    times = []
    for query in queries:
        start = time.perf_counter()
        answer(query)
        times.append(time.perf_counter() - start)
    return times


def ours(snapshot: KeywordSnapshot) -> Answer:
    none = FieldWeight(0.0)
    weights = FieldWeights(aliases=none, tags=none, path=none)
    return lambda words: snapshot.search([QueryTerm.plain(word) for word in words], weights, 10)


def whoosh_peer(folder: Path, documents: Sequence[KeywordDocument]) -> Answer:
    from whoosh import index

    whoosh_index = index.create_in(str(folder), keyword_schema())
    start = time.perf_counter()
    writer = whoosh_index.writer(limitmb=512)
    for one in documents:
        fields = {"title": one.title, "headers": one.headers, "path": one.path, "content": one.content}
        writer.add_document(
            **{KEY_COLUMN: one.key}, **{name: value for name, value in fields.items() if value}
        )
    writer.commit()
    print(f"{'whoosh, its own writer':44} {len(documents) / (time.perf_counter() - start):8.0f} chunks/s")
    return whoosh_searcher(folder, Asked(PEER_FIELDS, 10))


def tantivy_peer(folder: Path, documents: Sequence[KeywordDocument]) -> Answer:
    start = time.perf_counter()
    answer = tantivy_searcher(folder, documents, Asked(PEER_FIELDS, 10))
    print(f"{'tantivy, two threads':44} {len(documents) / (time.perf_counter() - start):8.0f} chunks/s")
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--peers", action="store_true", help="measure Whoosh and tantivy too")
    options = parser.parse_args()
    paths = sorted(options.vault.rglob("*.md"))
    random.Random(1).shuffle(paths)
    with tempfile.TemporaryDirectory() as place:
        measure(options.vault, paths, Path(place), options.queries, peers=options.peers)


def measure(root: Path, paths: Sequence[Path], place: Path, queries: int, *, peers: bool) -> None:
    for processes in (1, 2):
        start = time.perf_counter()
        index, count = built(root, paths, place / f"ours{processes}", processes)
        rate = count / (time.perf_counter() - start)
        size = sum(file.stat().st_size for file in (place / f"ours{processes}").iterdir()) / 1e6
        label = f"ours, {processes} process(es), analysis included"
        print(
            f"{label:44} {rate:8.0f} chunks/s   {count} chunks, {size:.0f} MB, {index.segment_count} segments"
        )
    start = time.perf_counter()
    KeywordIndex.open(place / "ours2")
    print(f"{'open with all checksums':44} {time.perf_counter() - start:8.3f} s")
    texts = headings(paths, queries)
    words = [[term.word.casefold() for term in analyze_query(text, ["en"])] for text in texts]
    measure_queries(index.snapshot(), texts, words)
    measure_edits(index, list(pieces(root, paths[:300])))
    if peers:
        documents = list(pieces(root, paths))
        for name, peer in (("whoosh", whoosh_peer), ("tantivy", tantivy_peer)):
            (place / name).mkdir()
            answer = peer(place / name, documents)
            show(f"{name}, first time", timed(answer, words))
            show(f"{name}, again", timed(answer, words))


def measure_queries(snapshot: KeywordSnapshot, texts: Sequence[str], words: Sequence[Sequence[str]]) -> None:
    show("ours, plain words, first time", timed(ours(snapshot), words))
    show("ours, plain words, again", timed(ours(snapshot), words))
    weights = FieldWeights()

    def answer(text: Sequence[str]) -> object:
        return snapshot.search(analyze_query(text[0], ["en", "de"]), weights, 50)

    show("ours, 7 fields, 2 languages, first time", timed(answer, [[text] for text in texts]))
    show("ours, 7 fields, 2 languages, again", timed(answer, [[text] for text in texts]))
    start = time.perf_counter()
    snapshot.lexicon.load()
    print(f"{'reading the lexicon':44} {time.perf_counter() - start:8.3f} s")
    misspelt = [[word[:2] + word[3:]] for query in words for word in query if len(word) > 5]
    show("correcting a word", timed(lambda one: snapshot.lexicon.near(one[0]), misspelt))
    starts = [[word[:3]] for query in words for word in query if len(word) > 3]
    show("completing three letters", timed(lambda one: snapshot.lexicon.with_prefix(one[0], 64), starts))


def measure_edits(index: KeywordIndex, documents: Sequence[KeywordDocument]) -> None:
    times, number = [], 0
    for start in range(0, min(len(documents), 1_000) - 10, 10):
        number += 1
        batch = documents[start : start + 10]
        began = time.perf_counter()
        index.apply(batch, [], index.applied_seq + 1)
        times.append(time.perf_counter() - began)
    show(f"{number} edits of 10 chunks, commit ({index.segment_count} segments)", times)


if __name__ == "__main__":
    main()
