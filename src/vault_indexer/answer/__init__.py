"""Answers questions with sentences quoted from notes, or written by a model and checked against the notes.

Modules that read notes are loaded when first used: a search does not need them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from vault_indexer.answer.events import AskEvent, whole_answer, with_notices

if TYPE_CHECKING:
    from vault_indexer.answer.answerer import Answerer, PassageSource
    from vault_indexer.answer.sentences import SentenceReader

__all__ = ["Answerer", "AskEvent", "PassageSource", "SentenceReader", "whole_answer", "with_notices"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module("vault_indexer.answer.answerer"), name)
    return value
