"""The laws that hold for the chunks of every strategy, and the notes they are tried on."""

from __future__ import annotations

import random
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import strategies as st

from vault_indexer.chunk import STRATEGIES, chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.model import HEADER_SEPARATOR, Chunk, Note
from vault_indexer.parse import parse_note
from vault_indexer.ports import Chunker, EmbeddingModel

if TYPE_CHECKING:
    from vault_indexer.arrays import Vectors

_OF_EACH_KIND = ("header_based", "token", "hierarchical", "semantic")
"""By headings, by size, in levels, by meaning."""

EVERY_STRATEGY = [
    pytest.param(name, marks=() if name in _OF_EACH_KIND else pytest.mark.long) for name in sorted(STRATEGIES)
]
"""For a test whose repetition for all of them is dear; `test_chunk_contract.py` has all in `make test`."""


def note_of(text: str, path: str = "Folder/Note.md") -> Note:
    return parse_note(path, text.encode("utf-8"))


class Words:
    """A tokenizer for tests: words, long ones in parts of four characters."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w{1,4}|[^\w\s]", text)]


class Letters:
    """An embedder for tests: how often each letter occurs, so like texts have like vectors."""

    model = EmbeddingModel("test", "letters", 32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), 32), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            np.add.at(row, np.frombuffer(text.encode("utf-8"), dtype=np.uint8) % 32, 1.0)
            row /= max(float(np.linalg.norm(row)), 1e-9)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector


class Oracle:
    """A language model for tests: right, wrong, malformed or silent, but always alike to the same prompt."""

    name = "test/oracle"

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:  # noqa: ARG002 - the port's signature
        lots = random.Random(zlib.crc32(prompt.encode("utf-8", "surrogatepass")))
        pick = [lots.randint(-1, 12) for _ in range(12)]
        if lots.random() < 0.1:
            raise ProviderError("the oracle is silent")
        split = ", ".join(
            f'{{"split": {a}, "after": {b}}}' for a, b in zip(pick[::2], pick[1::2], strict=True)
        )
        merge = ", ".join(f'{{"merge": [{a}, {a + lots.choice([1, 1, 1, 2])}]}}' for a in pick)
        summaries = ", ".join(['"A word on it."'] * prompt.count("\nChunk "))
        answers = [
            f'{{"actions": [{split}]}}',
            f'```json\n{{"actions": [{merge}, {split}]}}\n```',
            f'{{"actions": [{merge}], "starts": {pick}, "summaries": [{summaries}]}}',
            f'{{"actions": [], "starts": {pick}, "summaries": [{summaries}]}}',
            f'{{"starts": {sorted(pick)}, "summaries": ["", 3]}}',
            '{"actions": [7, {"split": true, "after": "x"}, {"drop": 1}, null], "starts": ["a", null, [0]]}',
            '{"actions": {}, "starts": "all", "summaries": {}}',
            "No.",
            "{" * 2000,
        ]
        return lots.choice(answers)


def by_lines(note: Note) -> Iterator[tuple[int, int]]:
    """A function for `custom`: ten lines a chunk, blank ones too."""
    ends = [match.end() for match in re.finditer("\n", note.text) if match.end() > note.body_start]
    borders = [note.body_start, *ends[9::10], len(note.text)]
    yield from pairwise(borders)


NEEDED: Mapping[str, Mapping[str, object]] = {"custom": {"function": f"{__name__}:by_lines"}}
"""Options without which a strategy can do nothing."""


def build(strategy: str, **options: object) -> Chunker:
    """The chunker of a strategy with its options flat, as a user writes them."""
    settings = ChunkingSettings.model_validate({"strategy": strategy, **NEEDED.get(strategy, {}), **options})
    return chunker_for(settings, embedder=Letters(), tokenizer=Words(), llm=Oracle())


# Limits low enough for short notes to be split and joined. Every strategy needs a row: a new one is
# told so by the contract suite.
SMALL: Mapping[str, Mapping[str, object]] = {
    "header_based": {"min_chunk_chars": 40, "max_chunk_chars": 120, "overlap_chars": 20},
    "none": {},
    "markdown": {"max_chunk_size": 20, "min_chunk_size": 5, "overlap": 3, "respect_lists": False},
    "paragraph": {"max_chars": 120, "min_chars": 30},
    "word": {"chunk_size": 12, "chunk_overlap": 4},
    "token": {"max_tokens": 24, "overlap_tokens": 6},
    "recursive": {"chunk_size": 100, "chunk_overlap": 30},
    "boundary": {"max_chunk_size": 120, "min_chunk_size": 30, "overlap": {"mode": "words", "value": 3}},
    "discourse": {"max_chars": 120, "min_chars": 30, "language": "en"},
    "semantic": {"max_chunk_size": 120, "min_chunk_size": 20, "segment_chars": 40},
    "hierarchical": {"parent_size": 40, "child_size": 12, "child_overlap": 3, "parent_overlap": 4},
    "parent_child": {"max_child_tokens": 24, "min_child_tokens": 6},
    "code": {"max_chunk_size": 120, "min_chunk_size": 20},
    "llm": {"discourse": {"max_chars": 120, "min_chars": 30, "language": "en"}},
    "agentic": {"mode": "hybrid", "target_chunk_size": 100},
    "custom": {},
}


def cut(strategy: str, text: str, **options: object) -> list[Chunk]:
    """The chunks of the note `N.md`."""
    return build(strategy, **options).chunk(note_of(text, "N.md"))


def check_laws(note: Note, chunks: Sequence[Chunk]) -> None:
    """Everything that is true of any strategy's chunks."""
    check_bodies(note, chunks)
    check_cover(note, chunks)
    check_names(note, chunks)
    check_headers(note, chunks)
    check_overlaps(note, chunks)


def check_bodies(note: Note, chunks: Sequence[Chunk]) -> None:
    breaks = [match.end() for match in re.finditer("\n", note.text)]
    for chunk in chunks:
        assert note.body_start <= chunk.start_pos < chunk.end_pos <= len(note.text)
        assert chunk.body == note.text[chunk.start_pos : chunk.end_pos]
        assert chunk.body.strip()
        assert chunk.start_line == bisect_right(breaks, chunk.start_pos) + 1
        assert chunk.end_line == chunk.start_line + chunk.body.rstrip().count("\n")
        assert chunk.content.endswith(chunk.overlap + chunk.body)
        assert chunk.content in chunk.embedding_text("")


def check_cover(note: Note, chunks: Sequence[Chunk]) -> None:
    covered = bytearray(len(note.text))
    for chunk in chunks:
        covered[chunk.start_pos : chunk.end_pos] = b"\x01" * (chunk.end_pos - chunk.start_pos)
    missed = [i for i, seen in enumerate(covered) if not seen and not note.text[i].isspace()]
    missed = [i for i in missed if i >= note.body_start]
    assert not missed, repr(note.text[missed[0] : missed[0] + 40])


def check_names(note: Note, chunks: Sequence[Chunk]) -> None:
    assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))
    ids = [chunk.chunk_id for chunk in chunks]
    assert len(set(ids)) == len(ids)
    for chunk in chunks:
        stem, _, sub = chunk.chunk_id.rpartition("_sub_")
        if stem:
            assert stem == f"{note.doc_id}_chunk_{chunk.chunk_index - int(sub)}"
        else:
            assert chunk.chunk_id == f"{note.doc_id}_chunk_{chunk.chunk_index}"


def check_headers(note: Note, chunks: Sequence[Chunk]) -> None:
    in_force: list[tuple[int, str]] = []
    headings = [heading for heading in note.headings if not heading.nested][::-1]
    for chunk in sorted(chunks, key=lambda chunk: chunk.start_pos):
        while headings and headings[-1].start <= chunk.start_pos:
            heading = headings.pop()
            in_force = [entry for entry in in_force if entry[0] < heading.level]
            in_force.append((heading.level, heading.text))
        assert chunk.header_path == HEADER_SEPARATOR.join(text for _, text in in_force)


def check_overlaps(note: Note, chunks: Sequence[Chunk]) -> None:
    """What is repeated stands right before the body, and in the chunk before on the same level."""
    previous: dict[object, Chunk] = {}
    for chunk in chunks:
        level = chunk.extra.get("level", 0)
        if chunk.overlap:
            assert note.text[: chunk.start_pos].rstrip().endswith(chunk.overlap.rstrip())
            before = previous[level]
            assert chunk.start_pos - len(chunk.overlap) >= before.start_pos - len(before.overlap)
        previous[level] = chunk
    for before, chunk in pairwise(chunks):
        assert (
            chunk.extra.get("level", 0) != before.extra.get("level", 0) or before.end_pos <= chunk.start_pos
        )


EDGE_NOTES = {
    "empty": "",
    "blank": " \n\n\t\n",
    "one line": "just one line",
    "only frontmatter": "---\ntags: [a]\n---\n",
    "frontmatter": "---\ntitle: T\n---\n\n# A\n\ntext.\n",
    "crlf": "# A\r\n\r\nOne line. Two.\r\n\r\n## B\r\n\r\n- item\r\n- item two\r\n" + "Text here.\r\n" * 400,
    "all code": "```python\n" + "def f(x):\n    return x + 1\n\n" * 300 + "```\n",
    "unclosed code": "```\n" + "# not a heading\n" * 300,
    "many headings": "".join(f"{'#' * (i % 6 + 1)} Heading {i}\n\ntext {i}\n\n" for i in range(1000)),
    "headings only": "".join(f"{'#' * (i % 6 + 1)} H{i}\n" for i in range(300)),
    "cjk": "# 標題\n\n" + "這是一個很長的句子沒有空格，但是有標點。下一句在這裡！" * 200,
    "cjk without stops": "漢字" * 4000,
    "emoji": "👩‍👩‍👧‍👦🇩🇪👍🏽é" * 500,
    "combining": "e\u0301\u0323" * 3000,
    "long word": "x" * 10_000,
    "long words": ("y" * 700 + " ") * 20,
    "setext": "Title\n=====\n\nfirst\n\nSecond\n------\n\n" + "Some words in a sentence. " * 200,
    "nested heading": "> # Quoted\n> text\n\n- # In item\n\n# Real\n\ntext\n",
    "indented start": "    code block\n    more\n\nParagraph.\n",
    "definitions": "# A\n\n[ref]: https://example.org 'T'\n\n[^1]: A note.\n",
    "table": "| a | b |\n| --- | --- |\n" + "| cell one | cell two |\n" * 200,
    "long list": "".join(f"- item {i} with some text\n  - nested {i}\n" for i in range(200)),
    "spread": "a" + "\n" * 4000 + "b" + " " * 4000 + "c",
    "callout": "> [!note] Title\n" + "> Line of the callout with words. Another sentence.\n" * 80,
    "title above long": "# Title\n\n## Chapter\n\n" + "A sentence of the chapter.\n\n" * 200,
    "control": "a\x0bb\x0cc\x1cd\x85e\u2028f g. Hi",
}

_VOCABULARY = (
    "alpha Beta gamma. Delta! e.g. 3.14 Dr. Müller 漢字。 かな！ 👍🏽 é 🇫🇷 - * `code` [[Link|x]] #tag"
)
_WORDS = st.sampled_from(_VOCABULARY.split())
_LINES = st.one_of(
    st.lists(_WORDS, min_size=1, max_size=30).map(" ".join),
    st.tuples(st.integers(1, 6), _WORDS).map(lambda pair: "#" * pair[0] + " " + pair[1]),
    st.sampled_from(
        ["", "", "```", "- item", "  - nested", "> quote", "| a | b |", "| - | - |", "===", "---"]
    ),
    st.sampled_from(["    indented", "$$", "<div>", "</div>", "%%", "1. one", "![[Embed]]", "x" * 90]),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40),
)
NOTES = st.lists(_LINES, max_size=60).map("\n".join)
