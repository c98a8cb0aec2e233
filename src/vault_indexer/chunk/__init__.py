"""Splits a parsed note into chunks: one protocol, and a table of all strategies."""

from vault_indexer.chunk.cutting import CodeReader, NoteSentences, import_function
from vault_indexer.chunk.llm_client import (
    Asker,
    Question,
    UnusableAnswerError,
    json_list,
    return_value,
    without_thoughts,
)
from vault_indexer.chunk.registry import PROPERTIES, STRATEGIES, chunker_for, chunks_of
from vault_indexer.chunk.selection import Choice, ChoosingChunker, options_for

__all__ = [
    "PROPERTIES",
    "STRATEGIES",
    "Asker",
    "Choice",
    "ChoosingChunker",
    "CodeReader",
    "NoteSentences",
    "Question",
    "UnusableAnswerError",
    "chunker_for",
    "chunks_of",
    "import_function",
    "json_list",
    "options_for",
    "return_value",
    "without_thoughts",
]
