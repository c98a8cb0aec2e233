"""How well each chunking strategy serves retrieval, and how fast it is.

    python benchmarks/chunking.py DATA [--minilm] [--sizes 50,100,200,400] [--vault VAULT]

DATA holds corpora (`*.md`) and `questions.csv` (question, references with character offsets, corpus).
The measures are those of Chroma's report "Evaluating Chunking Strategies for Retrieval" (2024), counted in
tokens of the wordllama model. For each question the five nearest chunks are retrieved from all corpora
together; r is what the question refers to and c the chunks retrieved from its corpus:

    recall = |r ∩ c| / |r|      precision = |r ∩ c| / |c|      IoU = |r ∩ c| / (|c| + |r not in c|)

where |c| counts what is retrieved twice twice. Precision Ω is the precision if just the chunks that hold a
part of the references were retrieved. Every splitter is tuned, by its own size option, to the same mean
chunk size, because recall grows with size and precision falls: at unequal sizes nothing is compared.
Intervals are 95%, bootstrapped over questions.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.chunk import STRATEGIES, chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.model import Note
from vault_indexer.parse import parse_note
from vault_indexer.ports import Embedder, EmbeddingModel, Tokenizer
from vault_indexer.providers import WordLlamaEmbedder, WordLlamaTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.arrays import Vectors

    Floats = NDArray[np.float64]
    Vector = NDArray[np.float32]

Piece = tuple[int, int, str]
Cut = Callable[[Note, int], list[Piece]]

RETRIEVED = 5
RESAMPLES = 2000
# Their time is that of a model server, or of code of someone's own.
ELSEWHERE = ("llm", "agentic", "custom")
MEASURES = ("recall", "precision", "precision Ω", "IoU")

# For each strategy the options that set it to a size of about so many characters. Overlap is none: it
# repeats text, which costs precision and IoU alike everywhere.
SIZED: Mapping[str, Callable[[int], Mapping[str, object]]] = {
    "header_based": lambda n: {"max_chunk_chars": n, "min_chunk_chars": n // 4, "overlap_chars": 0},
    "markdown": lambda n: {
        "max_chunk_size": n, "min_chunk_size": n // 4, "size_unit": "characters", "overlap": 0,
    },
    "paragraph": lambda n: {"max_chars": n, "min_chars": n // 2},
    "word": lambda n: {"chunk_size": max(n // 6, 1), "chunk_overlap": 0},
    "token": lambda n: {"max_tokens": max(n // 4, 8), "overlap_tokens": 0},
    "recursive": lambda n: {"chunk_size": n, "chunk_overlap": 0},
    "boundary": lambda n: {"max_chunk_size": n, "min_chunk_size": n // 2, "split_on": "sentence"},
    "discourse": lambda n: {"max_chars": n, "min_chars": n // 2, "language": "en"},
    "semantic breakpoint": lambda n: {
        "max_chunk_size": n, "min_chunk_size": n // 4, "mode": "breakpoint",
    },
    "semantic cluster": lambda n: {"max_chunk_size": n, "mode": "cluster"},
    "parent_child": lambda n: {"max_child_tokens": max(n // 4, 8), "min_child_tokens": n // 8},
    "hierarchical": lambda n: {
        "parent_size": 4 * n, "child_size": n, "size_unit": "characters", "child_overlap": 0,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """What is asked of which corpus, and where (characters) the answer stands."""

    text: str
    corpus: str
    references: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Corpus:
    """A text, as a note, with the starts of its tokens."""

    note: Note
    tokens: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span in tokens instead of characters."""
        return bisect_left(self.tokens, start), bisect_left(self.tokens, end)


@dataclass(frozen=True)
class Result:
    """The measures of every question, shape (questions, 4), and what the chunks were like."""

    name: str
    option: int
    chunks: int
    mean_tokens: float
    scores: Floats


def load(folder: Path, tokenizer: Tokenizer) -> tuple[dict[str, Corpus], list[Question]]:
    corpora = {}
    for file in sorted(folder.glob("*.md")):
        note = parse_note(file.name, file.read_bytes())
        corpora[file.stem] = Corpus(note, tuple(start for start, _ in tokenizer.offsets(note.text)))
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    questions = [
        Question(
            row["question"],
            row["corpus_id"],
            tuple((r["start_index"], r["end_index"]) for r in json.loads(row["references"])),
        )
        for row in rows
    ]
    return corpora, questions


def ours(strategy: str, embedder: Embedder, tokenizer: Tokenizer) -> Cut:
    """One of our strategies as a function of note and size."""

    def cut(note: Note, size: int) -> list[Piece]:
        table = {"strategy": strategy.split()[0], **SIZED[strategy](size)}
        settings = ChunkingSettings.model_validate(table)
        chunks = chunker_for(settings, embedder=embedder, tokenizer=tokenizer).chunk(note)
        return [
            (chunk.start_pos - len(chunk.overlap), chunk.end_pos, chunk.embedding_text(note.title))
            for chunk in chunks
            if chunk.embed
        ]

    return cut


def covered(spans: Sequence[tuple[int, int]], within: Sequence[tuple[int, int]]) -> int:
    """How much of `within` the spans cover together."""
    inside = {t for a, b in within for t in range(a, b)}
    return len({t for a, b in spans for t in inside.intersection(range(a, b))})


def measure(
    spans: Sequence[tuple[int, int]], found: Sequence[tuple[int, int]], references: Sequence[tuple[int, int]]
) -> tuple[float, float, float, float]:
    """The four measures of one question; all spans are of its corpus, in tokens."""
    wanted = len({t for a, b in references for t in range(a, b)})
    hit = covered(found, references)
    size = sum(b - a for a, b in found)
    best = [(a, b) for a, b in spans if any(a < d and c < b for c, d in references)]
    best_size = sum(b - a for a, b in best)
    omega = covered(best, references) / best_size if best_size else 0.0
    return hit / wanted, hit / size if size else 0.0, omega, hit / (size + wanted - hit)


def evaluate(
    cut: Cut, size: int, corpora: Mapping[str, Corpus], questions: Sequence[Question], embedder: Embedder
) -> tuple[int, float, Floats]:
    """Chunks, their mean size in tokens, and the scores of every question."""
    owners: list[str] = []
    spans: list[tuple[int, int]] = []
    texts: list[str] = []
    for name, corpus in corpora.items():
        for start, end, text in cut(corpus.note, size):
            owners.append(name)
            spans.append(corpus.span(start, end))
            texts.append(text)
    vectors = embedder.embed(texts)
    queries = embedder.embed([question.text for question in questions])
    nearest = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :RETRIEVED]
    scores = []
    for question, hits in zip(questions, nearest, strict=True):
        references = [corpora[question.corpus].span(a, b) for a, b in question.references]
        own = [span for span, owner in zip(spans, owners, strict=True) if owner == question.corpus]
        found = [spans[i] for i in hits if owners[i] == question.corpus]
        scores.append(measure(own, found, references))
    return len(spans), float(np.mean([b - a for a, b in spans])), np.asarray(scores)


def mean_tokens(cut: Cut, size: int, corpora: Mapping[str, Corpus]) -> float:
    sizes: list[int] = []
    for corpus in corpora.values():
        spans = (corpus.span(start, end) for start, end, _ in cut(corpus.note, size))
        sizes.extend(b - a for a, b in spans)
    return float(np.mean(sizes))


def tuned(cut: Cut, target: float, corpora: Mapping[str, Corpus]) -> int | None:
    """The size option whose mean chunk is nearest to `target` tokens; None if none comes within 10%."""
    low, high = 50, 20_000
    tried: dict[int, float] = {}
    while high - low > 1 and len(tried) < 14:
        middle = int((low * high) ** 0.5)
        if middle in tried:
            break
        tried[middle] = mean_tokens(cut, middle, corpora)
        low, high = (middle, high) if tried[middle] < target else (low, middle)
    option = min(tried, key=lambda size: abs(tried[size] - target))
    return option if abs(tried[option] - target) <= 0.1 * target else None


def interval(values: Floats) -> tuple[float, float, float]:
    """Mean, and the bounds of its 95% interval."""
    draws = np.random.default_rng(1).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return float(values.mean()), float(low), float(high)


def cell(values: Floats) -> str:
    mean, low, high = interval(values)
    return f"{100 * mean:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def table(results: Sequence[Result]) -> Iterator[str]:
    yield "| splitter | chunks | mean tokens | " + " | ".join(f"{name} %" for name in MEASURES) + " |"
    yield "| --- | ---: | ---: |" + " ---: |" * len(MEASURES)
    for result in sorted(results, key=lambda r: -r.scores[:, 3].mean()):
        cells = " | ".join(cell(result.scores[:, i]) for i in range(len(MEASURES)))
        yield f"| {result.name} | {result.chunks} | {result.mean_tokens:.0f} | {cells} |"


def speed(notes: Sequence[Note], embedder: Embedder, tokenizer: Tokenizer) -> Iterator[str]:
    """Megabytes of text cut in a second, embedding included where the strategy embeds."""
    total = sum(len(note.text.encode()) for note in notes) / 1e6
    yield "| strategy | MB/s | chunks |"
    yield "| --- | ---: | ---: |"
    for strategy in (name for name in STRATEGIES if name not in ELSEWHERE):
        settings = ChunkingSettings.model_validate({"strategy": strategy})
        chunker = chunker_for(settings, embedder=embedder, tokenizer=tokenizer)
        best, chunks = float("inf"), 0
        for _ in range(3):
            start = time.process_time()
            chunks = sum(len(chunker.chunk(note)) for note in notes)
            best = min(best, time.process_time() - start)
        yield f"| `{strategy}` | {total / best:.1f} | {chunks} |"


class Remembering:
    """An embedder that embeds no text twice: tuning asks for the same sentences again and again."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    @property
    def model(self) -> EmbeddingModel:
        """The embedder's own."""
        return self._embedder.model

    @property
    def words(self) -> None:
        """None: strategies ask for vectors of texts only."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text."""
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Not remembered."""
        return self._embedder.embed_query(text)


def minilm() -> Embedder:
    from vault_indexer.config.settings import EmbeddingSettings
    from vault_indexer.providers import embedder_for

    return embedder_for(EmbeddingSettings(provider="minilm"))


def vault_notes(vault: Path) -> list[Note]:
    files = [(file.relative_to(vault).as_posix(), file.read_bytes()) for file in sorted(vault.rglob("*.md"))]
    start = time.process_time()
    notes = [parse_note(path, data) for path, data in files]
    seconds = time.process_time() - start
    print(f"parsing, for comparison: {sum(len(data) for _, data in files) / 1e6 / seconds:.1f} MB/s\n")
    return notes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minilm", action="store_true", help="embed by all-MiniLM-L6-v2, not wordllama")
    parser.add_argument(
        "--sizes", default="50,100,200,400", help="mean tokens a chunk to compare at; empty: none"
    )
    parser.add_argument("--vault", type=Path, help="measures MB/s on its notes")
    arguments = parser.parse_args()

    tokenizer = WordLlamaTokenizer()
    embedder: Embedder = minilm() if arguments.minilm else WordLlamaEmbedder()
    if arguments.vault:
        print("\n".join(speed(vault_notes(arguments.vault), embedder, tokenizer)), end="\n\n")
    corpora, questions = load(arguments.data, tokenizer)
    embedder = Remembering(embedder)
    cuts = {name: ours(name, embedder, tokenizer) for name in SIZED}
    for target in [int(size) for size in arguments.sizes.split(",") if size]:
        results = []
        for name, cut in cuts.items():
            option = tuned(cut, target, corpora)
            if option is not None:
                found = evaluate(cut, option, corpora, questions, embedder)
                results.append(Result(name, option, *found))
        print(f"### {target} tokens\n", *table(results), "", sep="\n", flush=True)


if __name__ == "__main__":
    main()
