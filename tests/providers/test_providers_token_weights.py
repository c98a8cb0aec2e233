import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.errors import ProviderError
from vault_indexer.providers import TokenWeights, WordLlamaEmbedder

EMBEDDER = WordLlamaEmbedder()
TEXTS = ["the boat and the sea", "the harbour of the town", "the tea of the mountain"]

some_texts = st.lists(st.text(alphabet="abc the", max_size=20), max_size=6)


@given(some_texts, some_texts)
def test_counts_of_two_parts_merge_to_the_counts_of_the_whole(left: list[str], right: list[str]) -> None:
    parts = EMBEDDER.count(left), EMBEDDER.count(right)
    whole = EMBEDDER.count(left + right).occurrences
    assert np.array_equal(pickle.loads(pickle.dumps(parts[0])).merge(parts[1]).occurrences, whole)
    assert np.array_equal(parts[1].merge(parts[0]).occurrences, whole)


def test_a_token_counts_less_the_more_often_it_stands() -> None:
    counts = EMBEDDER.count(TEXTS * 1000)
    values = TokenWeights.fit(counts).values
    order = np.argsort(counts.occurrences)
    assert (np.diff(values[order]) <= 0).all()
    assert 0 < values.min() < 0.1 < 0.9 < values.max() <= 1


def test_a_few_texts_hardly_move_the_weights() -> None:
    values = TokenWeights.fit(EMBEDDER.count(TEXTS)).values
    assert values.min() > 0.5


def test_no_texts_give_equal_weights_and_usable_vectors() -> None:
    weights = TokenWeights.fit(EMBEDDER.count([]))
    assert np.ptp(weights.values) == 0
    assert np.linalg.norm(WordLlamaEmbedder(weights).embed_query("boat")) == pytest.approx(1.0, abs=1e-5)


def test_bytes_bring_back_the_same_weights() -> None:
    weights = TokenWeights.fit(EMBEDDER.count(TEXTS))
    again = TokenWeights.from_bytes(weights.to_bytes())
    assert again.name == weights.name != TokenWeights.fit(EMBEDDER.count(TEXTS[:2])).name
    assert np.array_equal(again.values, weights.values)


@pytest.mark.parametrize("data", [b"", b"x" * 128_000, bytes(128_000), b"\xff" * 128_000])
def test_damaged_bytes_are_an_error(data: bytes) -> None:
    with pytest.raises(ProviderError, match="rebuild"):
        TokenWeights.from_bytes(data)


def test_a_word_that_every_text_has_no_longer_decides() -> None:
    """Plain, the filler makes two notes on different subjects alike; weighted, much less so."""
    filler = "in this note we are going to talk a little about the subject of "
    subjects = ["tea", "compilers", "sailing", "bees", "volcanoes", "chess", "bread", "bridges"]
    notes = [filler + subject for subject in subjects] * 200
    weighted = WordLlamaEmbedder(TokenWeights.fit(EMBEDDER.count(notes)))
    plain_tea, plain_bees = EMBEDDER.embed([filler + "tea", filler + "bees"])
    tea, bees, query = weighted.embed([filler + "tea", filler + "bees", "tea"])
    assert tea @ bees < 0.5 < plain_tea @ plain_bees
    assert query @ tea > query @ bees
    assert tea.dtype == np.float32
    assert weighted.model.name.startswith("l2_supercat_256+sif-")
