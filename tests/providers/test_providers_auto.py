"""Which model `embedding.provider = "auto"` stands for, and what it advises."""

from __future__ import annotations

import pytest

from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import better_model_advice, choose_provider, languages_of


def everything(_package: str) -> bool:
    return True


def nothing(_package: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("notes", "current", "expected"),
    [
        ({}, "", "wordllama"),
        ({"en": 9, "es": 1}, "", "wordllama"),
        ({"en": 6, "es": 4}, "", "wordllama"),
        ({"en": 4, "es": 6}, "", "multilingual"),
        ({"": 90, "ru": 6, "zh": 3, "en": 1}, "", "multilingual"),
        ({"vi": 10}, "", "wordllama"),  # which the multilingual model does not know either
        ({"en": 6, "es": 4}, "multilingual", "multilingual"),  # the choice is stable around a half
        ({"en": 6, "es": 4}, "wordllama", "wordllama"),
        ({"en": 8, "es": 2}, "multilingual", "wordllama"),
    ],
)
def test_the_model_knows_the_languages_of_the_vault(
    notes: dict[str, int], current: str, expected: str
) -> None:
    assert choose_provider(notes, current=current, installed=everything) == expected
    assert choose_provider(notes, current=current, installed=nothing) == "wordllama"


def test_the_advice_names_what_to_install() -> None:
    advice = better_model_advice({"ru": 8, "en": 2}, "wordllama", installed=nothing)
    assert "(ru)" in advice
    assert "`pip install 'vault-indexer[multilingual]'`, then run `indexer rebuild`" in advice


def test_the_advice_for_an_installed_model_is_a_rebuild() -> None:
    advice = better_model_advice({"ru": 8, "en": 2}, "wordllama", installed=everything)
    assert "run `indexer rebuild`" in advice
    assert "pip" not in advice


def test_e5_is_advised_for_languages_that_only_it_knows() -> None:
    advice = better_model_advice({"vi": 8, "en": 2}, "wordllama", installed=nothing)
    assert "vault-indexer[e5]" in advice
    assert 'set embedding.provider = "e5"' in advice


@pytest.mark.parametrize(
    ("notes", "current"),
    [
        ({"ru": 10}, "multilingual"),
        ({"en": 5, "ru": 5}, "wordllama"),  # a build of a sample could choose either
        ({"": 10}, "wordllama"),
        ({"ru": 10}, "ollama"),
    ],
)
def test_no_advice_where_none_helps(notes: dict[str, int], current: str) -> None:
    assert better_model_advice(notes, current, installed=nothing) == ""


def test_a_build_follows_the_advice() -> None:
    for share in range(101):
        notes = {"ru": share, "en": 100 - share}
        if better_model_advice(notes, "wordllama", installed=everything):
            assert choose_provider(notes, current="wordllama", installed=everything) == "multilingual"


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
