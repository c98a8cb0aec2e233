"""Answers questions with sentences quoted from notes, or written by a model and checked against the notes."""

from __future__ import annotations

from vault_indexer.answer.answerer import Answerer, AskEvent, PassageSource, whole_answer, with_notices

__all__ = ["Answerer", "AskEvent", "PassageSource", "whole_answer", "with_notices"]
