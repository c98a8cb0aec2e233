"""Asks a language model for strategies: bounded prompts, few failures, answers cached on disk."""

from __future__ import annotations

from vault_indexer.chunk.llm_client.call_limit import LimitedLlm
from vault_indexer.chunk.llm_client.client import (
    MODEL_UNREACHED,
    PROMPT_CHARS,
    Asker,
    Question,
    UnusableAnswerError,
    batches,
    excerpt,
    is_index,
    json_list,
    json_table,
    one_line,
    reason_of,
    return_value,
    unreached_by,
    without_thoughts,
)
from vault_indexer.chunk.llm_client.switch import LlmSwitch

__all__ = [
    "MODEL_UNREACHED",
    "PROMPT_CHARS",
    "Asker",
    "LimitedLlm",
    "LlmSwitch",
    "Question",
    "UnusableAnswerError",
    "batches",
    "excerpt",
    "is_index",
    "json_list",
    "json_table",
    "one_line",
    "reason_of",
    "return_value",
    "unreached_by",
    "without_thoughts",
]
