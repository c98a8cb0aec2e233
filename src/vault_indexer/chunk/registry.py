"""The table of strategies, with one file and row each; `config.tables.chunking_options` contains their
options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from vault_indexer.chunk.contextual import ContextualChunker
from vault_indexer.chunk.cutting import Draft, Outline, assemble, tokenizer_for, trim
from vault_indexer.chunk.llm_client import Asker
from vault_indexer.chunk.strategies.agentic import AgenticChunker
from vault_indexer.chunk.strategies.boundary import BoundaryChunker
from vault_indexer.chunk.strategies.code import CodeChunker
from vault_indexer.chunk.strategies.custom import CustomChunker
from vault_indexer.chunk.strategies.discourse import DiscourseChunker
from vault_indexer.chunk.strategies.header_based import HeaderBasedChunker
from vault_indexer.chunk.strategies.hierarchical import HierarchicalChunker
from vault_indexer.chunk.strategies.llm import LlmChunker
from vault_indexer.chunk.strategies.markdown import MarkdownChunker
from vault_indexer.chunk.strategies.paragraph import ParagraphChunker
from vault_indexer.chunk.strategies.parent_child import ParentChildChunker
from vault_indexer.chunk.strategies.recursive import RecursiveChunker
from vault_indexer.chunk.strategies.semantic import SemanticChunker
from vault_indexer.chunk.strategies.token import TokenChunker
from vault_indexer.chunk.strategies.whole_note import WholeNoteChunker
from vault_indexer.chunk.strategies.word import WordChunker
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import UsageError
from vault_indexer.model import Chunk, JsonValue, Note
from vault_indexer.ports import Chunker, Embedder, Llm, Tokenizer
from vault_indexer.text.scripts import letters


@dataclass(frozen=True, slots=True)
class ChunkerContext:
    """The inputs of a strategy: the settings, and the index's models, if any.

    `llm_cache` is the folder that stores answers of the language model (None: not stored).
    """

    settings: ChunkingSettings
    embedder: Embedder | None = None
    tokenizer: Tokenizer | None = None
    llm: Llm | None = None
    llm_cache: Path | None = None

    def needed_embedder(self) -> Embedder:
        """The embedder. Raises UsageError if there is none."""
        if self.embedder is None:
            raise UsageError(f"chunking.strategy = {self.settings.strategy}: needs an embedding model")
        return self.embedder

    def needed_tokenizer(self) -> Tokenizer:
        """The tokenizer that the options name, or that of the embedding model. Raises UsageError if there is
        none."""
        if self.tokenizer is None:
            strategy = self.settings.strategy
            names_one = hasattr(getattr(self.settings, strategy, None), "tokenizer")
            instead = f"set chunking.{strategy}.tokenizer" if names_one else "choose another strategy"
            raise UsageError(
                f"chunking.strategy = {strategy}: needs an embedding model with a tokenizer: set "
                f"embedding.provider to wordllama, or {instead}"
            )
        return self.tokenizer

    def asker(self) -> Asker:
        """The `Asker` for the language model. Raises UsageError if there is none."""
        if self.llm is None:
            contextual = self.settings.contextual.granularity != "none"
            key = "contextual" if contextual else f"strategy = {self.settings.strategy}"
            raise UsageError(f"chunking.{key}: needs a language model: set llm.provider and llm.model")
        return Asker(self.llm, self.llm_cache)


STRATEGIES: Mapping[str, Callable[[ChunkerContext], Chunker]] = MappingProxyType(
    {
        "header_based": lambda given: HeaderBasedChunker(given.settings),
        "none": lambda _: WholeNoteChunker(None),
        "markdown": lambda given: MarkdownChunker(given.settings.markdown, given.tokenizer),
        "paragraph": lambda given: ParagraphChunker(given.settings.paragraph, given.tokenizer),
        "word": lambda given: WordChunker(given.settings.word),
        "token": lambda given: TokenChunker(given.settings.token, given.needed_tokenizer()),
        "recursive": lambda given: RecursiveChunker(given.settings.recursive, given.tokenizer),
        "boundary": lambda given: BoundaryChunker(given.settings.boundary, given.tokenizer),
        "discourse": lambda given: DiscourseChunker(given.settings.discourse, given.tokenizer),
        "semantic": lambda given: SemanticChunker(
            given.settings.semantic, given.needed_embedder(), given.tokenizer
        ),
        "hierarchical": lambda given: HierarchicalChunker(given.settings.hierarchical, given.tokenizer),
        "parent_child": lambda given: ParentChildChunker(given.settings.parent_child, given.tokenizer),
        "code": lambda given: CodeChunker(given.settings.code, given.tokenizer),
        "llm": lambda given: LlmChunker(
            given.settings.llm, DiscourseChunker(given.settings.discourse, given.tokenizer), given.asker()
        ),
        "agentic": lambda given: AgenticChunker(given.settings.agentic, given.asker()),
        "custom": lambda given: CustomChunker(given.settings.custom),
    }
)


def chunker_for(
    settings: ChunkingSettings,
    *,
    embedder: Embedder | None = None,
    tokenizer: Tokenizer | None = None,
    llm: Llm | None = None,
    llm_cache: Path | None = None,
) -> Chunker:
    """The chunker that the settings choose, apart from their rules, with preambles if `contextual` requires
    them.

    Raises UsageError if it needs a model that is not given, ProviderError if one cannot be loaded.
    """
    options = getattr(settings, settings.strategy, settings)
    if name := getattr(options, "tokenizer", ""):
        tokenizer = tokenizer_for(f"chunking.{settings.strategy}.tokenizer", name)
    given = ChunkerContext(settings, embedder, tokenizer, llm, llm_cache)
    if getattr(options, "size_unit", "") == "tokens":
        given.needed_tokenizer()
    chunker = STRATEGIES[settings.strategy](given)
    if settings.contextual.granularity == "none":
        return chunker
    return ContextualChunker(chunker, settings.contextual, given.asker())


# Every note has at least one chunk: if a strategy finds no text, the chunk contains the note's properties.
#
# A chunk with hardly any text has no vector, because the model would place it near everything. It can still
# be found by its words.


PROPERTIES = "properties"
"""Marks, in a chunk's `extra`, the only chunk of a note without a body."""


LEAST_LETTERS = 20
"""A chunk of fewer letters has no vector."""


def chunks_of(chunker: Chunker, note: Note) -> tuple[Chunk, ...]:
    """The chunks of a note; there is at least one. Raises what the chunker raises."""
    links = note.written_links
    return tuple(chunk.with_links(links) for chunk in _chunks_of(chunker, note))


def _chunks_of(chunker: Chunker, note: Note) -> tuple[Chunk, ...]:
    chunks = tuple(chunker.chunk(note))
    if not chunks:
        chunk = _properties_chunk(note, chunker.strategy)
        return (replace(chunk, embed=_letters_of(dict(note.frontmatter)) >= LEAST_LETTERS),)
    return tuple(
        replace(one, embed=False) if one.embed and letters(one.content) < LEAST_LETTERS else one
        for one in chunks
    )


def _letters_of(value: JsonValue) -> int:
    match value:
        case str():
            return letters(value)
        case list():
            return sum(map(_letters_of, value))
        case dict():
            return sum(map(_letters_of, value.values()))
        case _:
            return 0


def _properties_chunk(note: Note, strategy: str) -> Chunk:
    """The properties of a note without a body, as written; they may be empty. The note's title is embedded
    with them, so that its meaning is searchable as well."""
    fenced = note.text[: note.body_start].splitlines(keepends=True) or ["", ""]
    start, end = trim(note.text, len(fenced[0]), note.body_start - len(fenced[-1]))
    draft = Draft(start, end, extra={PROPERTIES: True})
    return replace(assemble(note, strategy, [draft], Outline(note))[0], preamble=note.title)
