"""Splits a parsed note into chunks: one protocol, and a table of all strategies."""

from vault_indexer.chunk.cutting.grammars import CodeReader
from vault_indexer.chunk.cutting.spans import NoteSentences, Span, trim
from vault_indexer.chunk.cutting.tokenizer_choice import import_function, tokenizer_from
from vault_indexer.chunk.llm_client import (
    Asker,
    Question,
    UnusableAnswerError,
    json_list,
    return_value,
    without_thoughts,
)
from vault_indexer.chunk.registry import (
    PROPERTIES,
    STRATEGIES,
    Choice,
    Chooser,
    ChoosingChunker,
    chunker_for,
    chunks_of,
)

__all__ = [
    "PROPERTIES",
    "STRATEGIES",
    "Asker",
    "Choice",
    "Chooser",
    "ChoosingChunker",
    "CodeReader",
    "NoteSentences",
    "Question",
    "Span",
    "UnusableAnswerError",
    "chunker_for",
    "chunks_of",
    "import_function",
    "json_list",
    "return_value",
    "tokenizer_from",
    "trim",
    "without_thoughts",
]
