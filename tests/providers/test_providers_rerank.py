from __future__ import annotations

from pathlib import Path

import pytest

from vault_indexer.errors import ProviderError
from vault_indexer.ports import Reranker
from vault_indexer.providers import CrossEncoderReranker

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "tea", "boat", "sea", "the", "a"]


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder of one layer with fixed random weights: scores without sense, but scores."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("cross-encoder")
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        num_labels=1,
        initializer_range=1.0,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_scores_belong_to_pairs(tiny_model: Path) -> None:
    pytest.importorskip("sentence_transformers")
    reranker: Reranker = CrossEncoderReranker(str(tiny_model))
    texts = ["the sea", "a boat", "tea tea tea"]
    scores = reranker.score("the boat", texts)
    assert len(set(scores)) == 3
    assert reranker.score("the boat", texts[::-1]) == pytest.approx(scores[::-1], abs=1e-5)
    assert reranker.score("the boat", []) == []
    assert reranker.name == f"cross-encoder/{tiny_model}"


def test_a_folder_without_a_model_is_one_clear_line(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(ProviderError, match="cross-encoder model") as raised:
        CrossEncoderReranker(str(tmp_path))
    assert "\n" not in str(raised.value)
