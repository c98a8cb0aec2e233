"""Answers to questions: sentences quoted from notes, or written by a model and checked against them."""

from __future__ import annotations

from vault_indexer.answer.answerer import Answerer, AskEvent
from vault_indexer.answer.source import FoundPassages, OneVault, PassageSource

__all__ = ["Answerer", "AskEvent", "FoundPassages", "OneVault", "PassageSource"]
