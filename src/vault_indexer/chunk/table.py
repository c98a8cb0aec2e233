"""The table of strategies: a strategy is one file, one options class, one row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vault_indexer.chunk.header_based import HeaderBasedChunker
from vault_indexer.chunk.whole_note import WholeNoteChunker
from vault_indexer.config.chunking import ChunkingSettings
from vault_indexer.ports import Chunker, Embedder, Tokenizer


@dataclass(frozen=True, slots=True)
class Needs:
    """What a strategy may be given besides its options; None where the caller has no model."""

    embedder: Embedder | None = None
    tokenizer: Tokenizer | None = None


Build = Callable[[ChunkingSettings, Needs], Chunker]

STRATEGIES: Mapping[str, Build] = MappingProxyType(
    {
        "header_based": lambda settings, _: HeaderBasedChunker(settings),
        "none": lambda _settings, _needs: WholeNoteChunker(),
    }
)


def chunker_for(
    settings: ChunkingSettings, *, embedder: Embedder | None = None, tokenizer: Tokenizer | None = None
) -> Chunker:
    """The chunker that the settings choose. Raises UsageError if it needs a model that is not given."""
    return STRATEGIES[settings.strategy](settings, Needs(embedder, tokenizer))
