"""Which model an index of `embedding.provider = "auto"` has, and which one it changes to."""

from __future__ import annotations

import pytest

from vault_indexer.config import Settings
from vault_indexer.index.compatibility.auto_model import settings_for_index, upgraded_settings
from vault_indexer.ports import EmbeddingModel


def settings(provider: str, max_upgrade_hours: float = 3.0) -> Settings:
    return Settings.model_validate(
        {"embedding": {"provider": provider, "max_upgrade_hours": max_upgrade_hours}}
    )


def built_with(provider: str) -> EmbeddingModel:
    return EmbeddingModel(provider, "a model", 8)


@pytest.mark.parametrize(
    ("configured", "built", "better"),
    [
        (settings("auto"), "wordllama", "multilingual"),
        (settings("auto"), "multilingual", None),
        (settings("auto"), "minilm", None),
        (settings("auto", 0.0), "wordllama", None),
        (settings("wordllama"), "wordllama", None),
    ],
)
def test_an_index_changes_to_a_better_model_only_where_auto_chose_another(
    configured: Settings, built: str, better: str | None
) -> None:
    upgraded = upgraded_settings(configured, built_with(built))
    assert (upgraded.embedding.provider if upgraded else None) == better


@pytest.mark.parametrize(
    ("configured", "built", "used"),
    [
        ("auto", "wordllama", "wordllama"),
        ("auto", "multilingual", "multilingual"),
        ("auto", "minilm", "auto"),
        ("wordllama", "multilingual", "wordllama"),
    ],
)
def test_an_index_keeps_the_model_that_auto_chose(configured: str, built: str, used: str) -> None:
    assert settings_for_index(settings(configured), built_with(built)).embedding.provider == used
