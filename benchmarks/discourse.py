"""Whether `discourse` ranks better than `paragraph`: nDCG@10 by language, with 95% intervals.

    python benchmarks/discourse.py DATA [--sizes 400,800] [--squad pt=faquad/data/dataset.json]

DATA holds `xquad/` (articles and questions in several languages) and `chunking/` (English: Wikipedia, a
speech, chat logs). `--squad` adds another file in the format of SQuAD, such as FaQuAD
(github.com/liafacom/faquad, CC BY 4.0: Portuguese, on universities). The paragraphs of an article are one
note. Both strategies are tuned to the same
mean number of characters, because a longer chunk holds an answer more easily. Chunks are ranked by the
cosine of the model for 16 languages alone; a chunk is relevant if it holds a part of the answer. The
interval of the difference is bootstrapped over the questions.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chunking import interval, load
from vault_indexer.chunk import chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.model import Chunk, Note
from vault_indexer.parse import parse_note
from vault_indexer.providers import WordLlamaTokenizer
from vault_indexer.providers.multilingual import MultilingualEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Embedder

LANGUAGES = ("en", "es")
DEPTH = 10


@dataclass(frozen=True)
class Asked:
    """A question, its note, and where (characters) the answer stands there."""

    text: str
    note: int
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Corpus:
    """Notes in one language and what is asked of them."""

    name: str
    language: str
    notes: tuple[Note, ...]
    questions: tuple[Asked, ...]


def squad(name: str, file: Path, language: str) -> Corpus:
    notes: list[Note] = []
    questions: list[Asked] = []
    for number, article in enumerate(json.loads(file.read_text("utf-8"))["data"]):
        text = ""
        for paragraph in article["paragraphs"]:
            for one in paragraph["qas"]:
                start = len(text) + one["answers"][0]["answer_start"]
                span = start, start + len(one["answers"][0]["text"])
                questions.append(Asked(one["question"], number, (span,)))
            text += paragraph["context"] + "\n\n"
        notes.append(parse_note(f"{number}.md", text.encode()))
    return Corpus(f"{name} {language}", language, tuple(notes), tuple(questions))


def narrative(folder: Path) -> Corpus:
    corpora, questions = load(folder, WordLlamaTokenizer())
    names = list(corpora)
    asked = [Asked(one.text, names.index(one.corpus), one.references) for one in questions]
    return Corpus("narrative en", "en", tuple(one.note for one in corpora.values()), tuple(asked))


def split(corpus: Corpus, strategy: str, size: int) -> list[tuple[int, Chunk]]:
    options = {"max_chars": size, "min_chars": size // 2}
    own = {"language": corpus.language} if strategy == "discourse" else {}
    chunker = chunker_for(ChunkingSettings.model_validate({"strategy": strategy, **options, **own}))
    return [(number, chunk) for number, note in enumerate(corpus.notes) for chunk in chunker.chunk(note)]


def tuned(corpus: Corpus, strategy: str, target: int) -> list[tuple[int, Chunk]]:
    """The chunks whose mean length is nearest to the target."""
    cuts = [split(corpus, strategy, size) for size in range(target // 2, 3 * target, max(target // 16, 1))]
    return min(cuts, key=lambda cut: abs(mean_size(cut) - target))


def mean_size(cut: Sequence[tuple[int, Chunk]]) -> float:
    return float(np.mean([len(chunk.body) for _, chunk in cut]))


def scores(corpus: Corpus, cut: Sequence[tuple[int, Chunk]], embedder: Embedder) -> NDArray[np.float64]:
    """nDCG@10 of each question."""
    chunks = embedder.embed([chunk.embedding_text for _, chunk in cut])
    queries = embedder.embed([one.text for one in corpus.questions])
    found = np.argsort(-(queries @ chunks.T), axis=1, kind="stable")[:, :DEPTH]
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    gained = []
    for asked, ranked in zip(corpus.questions, found, strict=True):
        relevant = [
            note == asked.note and any(chunk.start_pos < b and a < chunk.end_pos for a, b in asked.spans)
            for note, chunk in cut
        ]
        best = discounts[: min(DEPTH, sum(relevant))].sum()
        gained.append(discounts[[relevant[at] for at in ranked]].sum() / best if best else 0.0)
    return np.array(gained)


def rows(corpora: Sequence[Corpus], sizes: Sequence[int], embedder: Embedder) -> Iterator[str]:
    titles = (
        "corpus",
        "questions",
        "characters",
        "paragraph",
        "discourse",
        "difference",
        "joined by a marker",
    )
    yield f"| {' | '.join(titles)} |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for corpus in corpora:
        for size in sizes:
            cuts = [tuned(corpus, strategy, size) for strategy in ("paragraph", "discourse")]
            plain, marked = (scores(corpus, cut, embedder) for cut in cuts)
            mean, low, high = interval(marked - plain)
            joined = np.mean([chunk.extra["merge_reason"] == "continuation_marker" for _, chunk in cuts[1]])
            cells = (
                corpus.name,
                str(len(corpus.questions)),
                " / ".join(f"{mean_size(cut):.0f}" for cut in cuts),
                f"{plain.mean():.3f}",
                f"{marked.mean():.3f}",
                f"{mean:+.3f} ({low:+.3f} to {high:+.3f})",
                f"{joined:.0%}",
            )
            yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", default="400,800")
    parser.add_argument("--squad", action="append", default=[], metavar="LANGUAGE=FILE")
    given = parser.parse_args()
    corpora = [squad("XQuAD", given.data / "xquad" / f"xquad.{one}.json", one) for one in LANGUAGES]
    corpora.append(narrative(given.data / "chunking"))
    for language, _, file in (one.partition("=") for one in given.squad):
        corpora.append(squad(Path(file).stem, Path(file), language))
    for row in rows(corpora, [int(size) for size in given.sizes.split(",")], MultilingualEmbedder()):
        print(row, flush=True)


if __name__ == "__main__":
    main()
