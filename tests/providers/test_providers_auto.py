"""Which model `embedding.provider = "auto"` stands for, and what it advises."""

import pytest

from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import IndexedTexts, better_model_advice, choose_provider, languages_of
from vault_indexer.providers.choose import AT_ONCE_BYTES

SMALL, LARGE = AT_ONCE_BYTES, AT_ONCE_BYTES + 1


@pytest.mark.parametrize(
    ("text_bytes", "indexed", "expected"),
    [
        (0, None, "multilingual"),
        (SMALL, None, "multilingual"),
        (LARGE, None, "wordllama"),
        (LARGE, IndexedTexts("wordllama", 5_000, 0), "multilingual"),  # all better vectors are there
        (LARGE, IndexedTexts("wordllama", 5_000, 1_000), "multilingual"),  # or soon made
        (LARGE, IndexedTexts("wordllama", 5_000, 1_001), "wordllama"),
        (LARGE, IndexedTexts("wordllama", 10, 10), "wordllama"),  # a folder that was nearly empty
        (LARGE, IndexedTexts("multilingual", 5_000, 2_000), "multilingual"),  # never worse than before
        (LARGE, IndexedTexts("multilingual", 5_000, 3_000), "wordllama"),  # which searches by words so far
    ],
)
def test_the_better_model_is_taken_where_its_vectors_are_soon_there(
    text_bytes: int, indexed: IndexedTexts | None, expected: str
) -> None:
    assert choose_provider(text_bytes, indexed, installed=lambda _: True) == expected
    assert choose_provider(text_bytes, indexed, installed=lambda _: False) == "wordllama"


def test_e5_is_advised_for_languages_that_only_it_knows() -> None:
    advice = better_model_advice({"vi": 8, "en": 2}, "wordllama", installed=lambda _: False)
    assert "vault-indexer[e5]" in advice
    assert 'set embedding.provider = "e5"' in advice


@pytest.mark.parametrize(
    ("notes", "current"),
    [
        ({"ru": 10}, "multilingual"),
        ({"ru": 10}, "wordllama"),  # its better vectors come by themselves
        ({"en": 5, "vi": 5}, "multilingual"),
        ({"": 10}, "multilingual"),
        ({"vi": 10}, "ollama"),
    ],
)
def test_no_advice_where_none_helps(notes: dict[str, int], current: str) -> None:
    assert better_model_advice(notes, current, installed=lambda _: False) == ""


@pytest.mark.parametrize(
    ("provider", "known", "unknown"),
    [
        ("wordllama", {"en"}, {"es", "zh"}),
        ("minilm", {"en"}, {"es", "zh"}),
        ("multilingual", {"en", "es", "ru", "zh", "ja"}, {"vi", "uk"}),
        ("e5", {"en", "es", "ru", "zh", "vi", "uk", "nb"}, {"xx"}),
    ],
)
def test_the_languages_of_a_model(provider: str, known: set[str], unknown: set[str]) -> None:
    languages = languages_of(EmbeddingModel(provider, "any", 8))
    assert languages is not None
    assert known <= languages
    assert not unknown & languages


def test_the_languages_of_a_model_that_the_user_names_are_unknown() -> None:
    assert languages_of(EmbeddingModel("ollama", "any", 8)) is None
