"""How strategies ask a language model: prompts with a bounded answer, retries, and answers kept on disk."""

from __future__ import annotations

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
    one_line,
    reason_of,
    unreached_by,
)

__all__ = [
    "MODEL_UNREACHED",
    "PROMPT_CHARS",
    "Asker",
    "Question",
    "UnusableAnswerError",
    "batches",
    "excerpt",
    "is_index",
    "json_list",
    "one_line",
    "reason_of",
    "unreached_by",
]
