"""The table of strategies, and the choice of one for a note. `config.tables.chunking_options` contains their
options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict, Unpack

from pydantic import ValidationError

from vault_indexer.chunk.contextual import ContextualChunker
from vault_indexer.chunk.cutting.assemble import Draft, assemble
from vault_indexer.chunk.cutting.spans import trim
from vault_indexer.chunk.cutting.tokenizer_choice import tokenizer_for
from vault_indexer.chunk.llm_client import Asker
from vault_indexer.chunk.strategies.agentic import AgenticChunker
from vault_indexer.chunk.strategies.code import CodeChunker
from vault_indexer.chunk.strategies.custom import CustomChunker
from vault_indexer.chunk.strategies.llm import LlmChunker
from vault_indexer.chunk.strategies.paragraphs import DiscourseChunker, ParagraphChunker
from vault_indexer.chunk.strategies.sections import (
    HeaderBasedChunker,
    HierarchicalChunker,
    MarkdownChunker,
    ParentChildChunker,
    WholeNoteChunker,
)
from vault_indexer.chunk.strategies.semantic import SemanticChunker
from vault_indexer.chunk.strategies.windows import (
    BoundaryChunker,
    RecursiveChunker,
    TokenChunker,
    WordChunker,
)
from vault_indexer.config.fields import DisagreementError
from vault_indexer.config.schema import USER_STRATEGIES, refused_in_note
from vault_indexer.config.tables.chunking import (
    ChunkingSettings,
    normalize_strategy_options,
    without_overruled,
)
from vault_indexer.config.values import first_mistake
from vault_indexer.errors import UsageError
from vault_indexer.model import Chunk, Diagnostic, JsonValue, Note
from vault_indexer.patterns import GitignorePatterns
from vault_indexer.ports import Chunker, Embedder, Llm, Tokenizer
from vault_indexer.system import record
from vault_indexer.text.scripts import letters


class Models(TypedDict, total=False):
    """The models of an index, if any. `llm_cache` is the folder that stores answers of the language model
    (None: not stored)."""

    embedder: Embedder | None
    tokenizer: Tokenizer | None
    llm: Llm | None
    llm_cache: Path | None


@record
class ChunkerContext:
    """The inputs of a strategy: the settings, and the models (see `Models`)."""

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


def chunker_for(settings: ChunkingSettings, **models: Unpack[Models]) -> Chunker:
    """The chunker that the settings choose, apart from their rules, with preambles if `contextual` requires
    them.

    Raises UsageError if it needs a model that is not given, ProviderError if one cannot be loaded.
    """
    given = ChunkerContext(settings, **models)
    options = getattr(settings, settings.strategy, settings)
    if name := getattr(options, "tokenizer", ""):
        given = replace(given, tokenizer=tokenizer_for(f"chunking.{settings.strategy}.tokenizer", name))
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
    """The chunks of a note; there is at least one. Raises the errors of the chunker."""
    links = note.written_links
    chunks = [
        replace(chunk, embed=False) if chunk.embed and letters(chunk.content) < LEAST_LETTERS else chunk
        for chunk in chunker.chunk(note)
    ]
    chunks = chunks or [_properties_chunk(note, chunker.strategy)]
    return tuple(chunk.with_links(links) for chunk in chunks)


def _letters_of(value: JsonValue) -> int:
    if isinstance(value, str):
        return letters(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_letters_of, parts))


def _properties_chunk(note: Note, strategy: str) -> Chunk:
    """The properties of a note without a body, as written; they may be empty."""
    fenced = note.text[: note.body_start].splitlines(keepends=True) or ["", ""]
    start, end = trim(note.text, len(fenced[0]), note.body_start - len(fenced[-1]))
    has_words = _letters_of(dict(note.frontmatter)) >= LEAST_LETTERS
    draft = Draft(start, end, extra={PROPERTIES: True}, embed=has_words)
    return assemble(note, strategy, [draft])[0]


# Selects the strategy and options of a note: from its own frontmatter, else a rule, else the settings.
#
# Notes are untrusted: a note may choose among built-in strategies and set sizes. It may not choose a
# strategy that runs code or calls a model, name a tokenizer, or give a regular expression.
# `config.schema` derives the allowed strategies and options from the settings.


FRONTMATTER_KEY = "chunking"

_Overlay = Mapping[str, object]


@record
class Choice:
    """The effective settings for one note (without rules), and the problems of its own choice."""

    settings: ChunkingSettings
    diagnostics: tuple[Diagnostic, ...] = ()


class Chooser:
    """Selects settings for many notes; the globs of the rules are compiled once."""

    def __init__(self, settings: ChunkingSettings) -> None:
        self._settings = settings.model_copy(update={"rules": ()})
        # Globs without a slash match in any folder, as in .gitignore.
        self._rules = [
            (GitignorePatterns(rule.paths).selects, _overlay(self._settings, rule.choice))
            for rule in settings.rules
        ]

    def choice(self, path: str, frontmatter: Mapping[str, JsonValue]) -> Choice:
        """The effective settings for the note; an invalid choice in its frontmatter is reported and
        ignored."""
        ruled = next((settings for matches, settings in self._rules if matches(path)), self._settings)
        own = frontmatter.get(FRONTMATTER_KEY)
        if own is None:
            return Choice(ruled)
        try:
            chosen = _read_choice(own)
            left_out = without_overruled(normalize_strategy_options(chosen))[1]
            said = tuple(
                Diagnostic("chunking", f"{FRONTMATTER_KEY}.{one} in the frontmatter {why}; ignored", 1)
                for one, why in left_out.items()
            )
            return Choice(_overlay(ruled, chosen), said)
        except ValueError as error:
            detail = str(error)
            if isinstance(error, ValidationError):
                detail = first_mistake(ChunkingSettings, error)
            ignored = f"{FRONTMATTER_KEY} in the frontmatter is ignored: {detail}"
            return Choice(ruled, (Diagnostic("chunking", ignored, 1),))


class ChoosingChunker:
    """A chunker that splits each note as the note itself, a rule or the settings choose.

    Raises UsageError or ProviderError at the first note that requires a missing model. Only one thread may
    use it.
    """

    def __init__(self, settings: ChunkingSettings, **models: Unpack[Models]) -> None:
        self._chooser = Chooser(settings)
        self._build = partial(chunker_for, **models)
        self._chunkers: dict[ChunkingSettings, Chunker] = {}
        self.strategy: str = settings.strategy

    def chunk(self, note: Note) -> list[Chunk]:
        settings = self._chooser.choice(note.path, note.frontmatter).settings
        chunker = self._chunkers.get(settings)
        if chunker is None:
            chunker = self._chunkers[settings] = self._build(settings)
        return chunker.chunk(note)

    def diagnostics(self, note: Note) -> tuple[Diagnostic, ...]:
        return self._chooser.choice(note.path, note.frontmatter).diagnostics


def _read_choice(own: JsonValue) -> dict[str, object]:
    """A note's choice as a table. Raises ValueError for options that a note may not set."""
    if not isinstance(own, str | dict):
        raise ValueError("must be the name of a strategy or a table of options")
    table: dict[str, object] = {"strategy": own} if isinstance(own, str) else dict(own)
    if str(table.get("strategy")) in USER_STRATEGIES:
        raise ValueError(f"strategy {table['strategy']}: only your own configuration can choose it")
    refused = refused_in_note(table)
    if refused:
        raise ValueError(f"{refused[0]}: only your own configuration can set it")
    return table


def _overlay(base: ChunkingSettings, overlay: _Overlay) -> ChunkingSettings:
    """The settings, overridden by a choice. Raises ValidationError.

    If a size of the choice contradicts one of the base, the one of the base is adjusted.
    """
    named = normalize_strategy_options(overlay)
    choice = normalize_strategy_options({"strategy": base.strategy, **named})
    table = base.model_dump(exclude_unset=True)
    try:
        return ChunkingSettings.model_validate(_merge(table, choice))
    except ValidationError as error:
        keys = _contradicting_keys(error)
        return ChunkingSettings.model_validate(_merge(_without(table, keys), choice))


def _merge(table: _Overlay, choice: _Overlay) -> dict[str, object]:
    merged = {**table, **choice}
    for key, value in choice.items():
        below = table.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _merge(below, value)
    return merged


def _contradicting_keys(error: ValidationError) -> frozenset[str]:
    causes = (details.get("ctx", {}).get("error") for details in error.errors(include_url=False))
    return frozenset(key for cause in causes if isinstance(cause, DisagreementError) for key in cause.keys)


def _without(table: _Overlay, keys: frozenset[str]) -> dict[str, object]:
    return {
        key: _without(value, keys) if isinstance(value, Mapping) else value
        for key, value in table.items()
        if key not in keys
    }
