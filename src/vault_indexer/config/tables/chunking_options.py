"""The options of every chunking strategy, and the table of the strategies' names.

A strategy is declared here with a class of options, its name in `StrategyName`, and a field of its name in
`StrategyTables`. `chunk.registry` says which code implements it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from vault_indexer.config.fields import DisagreementError, Table, Trust, Unit

# What the options of chunking strategies share: their base class and their types of numbers and patterns.


SizeUnit = Literal["words", "tokens", "characters"]

# The upper bounds only keep a slip of the pen from being taken for a size.
Size = Annotated[int, Field(ge=1, le=1_000_000), Unit("size_unit")]
Share = Annotated[int, Field(ge=0, le=1_000_000), Unit("size_unit")]
Chars = Annotated[int, Field(ge=50, le=1_000_000), Unit("size_unit")]
SomeChars = Annotated[int, Field(ge=0, le=1_000_000), Unit("size_unit")]
Tokens = Annotated[int, Field(ge=8, le=1_000_000), Unit("tokens")]
SomeTokens = Annotated[int, Field(ge=0, le=1_000_000), Unit("tokens")]
Words = Annotated[int, Field(ge=1, le=1_000_000), Unit("words")]
SomeWords = Annotated[int, Field(ge=0, le=1_000_000), Unit("words")]
Seconds = Annotated[float, Field(gt=0, le=3600), Unit("seconds")]
Calls = Annotated[int, Field(ge=1, le=100_000), Unit("calls")]


def _pattern(value: str) -> str:
    try:
        found = re.compile(value).match("")
    except re.error as error:
        raise ValueError(f"a regular expression: {error}") from error
    if found:
        raise ValueError("a regular expression that does not match an empty text")
    return value


Pattern = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_pattern), Trust.PATTERN]


class Options(Table):
    """Base of all strategies' options.

    `below` names pairs (a, b) where a may not exceed half of b, `overlaps` those where a must be below b; a
    default of a that exceeds half of b gives way, so that only what someone wrote down can be a
    contradiction. `needs_llm` says that the strategy needs a
    language model, `starts_from` which other strategy's chunks it changes, so that the options of that one
    count, too.
    """

    below: ClassVar[tuple[tuple[str, str], ...]] = ()
    overlaps: ClassVar[tuple[tuple[str, str], ...]] = ()
    needs_llm: ClassVar[bool] = False
    starts_from: ClassVar[str | None] = None

    @model_validator(mode="before")
    @classmethod
    def _smaller_defaults_give_way(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        options = dict(data)
        for smaller, larger in (*cls.below, *cls.overlaps):
            largest = options.get(larger)
            if smaller not in options and isinstance(largest, int):
                options[smaller] = min(cls.model_fields[smaller].default, max(largest // 2, 0))
        return options

    @model_validator(mode="after")
    def _smaller_is_smaller(self) -> Self:
        for smaller, larger in self.below:
            if 2 * getattr(self, smaller) > getattr(self, larger):
                raise DisagreementError(f"{smaller} must not exceed half of {larger}", smaller, larger)
        for overlap, size in self.overlaps:
            if getattr(self, overlap) >= getattr(self, size):
                raise DisagreementError(f"{overlap} must be smaller than {size}", overlap, size)
        return self


class VaultOptions(Options):
    """Options that the file inside the vault may set, too."""

    trust: ClassVar[Trust] = Trust.VAULT


class HeaderBasedOptions(VaultOptions):
    """Chunks begin at headings.

    Only sizes that someone wrote down can contradict each other: where `max_chunk_chars` is set below
    the default of another size, that default gives way.
    """

    min_chunk_chars: Annotated[int, Field(ge=0, le=1_000_000), Unit("characters")] = 200
    """Smaller neighbouring sections are merged until they have this size."""
    max_chunk_chars: Annotated[int, Field(ge=50, le=1_000_000), Unit("characters")] = 1500
    """Longer sections are split, between blocks where possible."""
    overlap_chars: Annotated[int, Field(ge=0, le=10_000), Unit("characters")] = 50
    """Length of the text that a piece of a section repeats from the piece before."""
    include_parent_headers: bool = True
    """Write the headings above a chunk in front of its text."""

    @model_validator(mode="before")
    @classmethod
    def _defaults_give_way(cls, data: object) -> object:
        if not isinstance(data, Mapping) or not isinstance(data.get("max_chunk_chars"), int):
            return data
        largest = data["max_chunk_chars"]
        fields = HeaderBasedOptions.model_fields
        return {
            "min_chunk_chars": min(fields["min_chunk_chars"].default, largest),
            "overlap_chars": min(fields["overlap_chars"].default, max(largest - 1, 0)),
            **data,
        }

    @model_validator(mode="after")
    def _sizes_agree(self) -> HeaderBasedOptions:
        if self.min_chunk_chars > self.max_chunk_chars:
            raise DisagreementError(
                "min_chunk_chars must not exceed max_chunk_chars", "min_chunk_chars", "max_chunk_chars"
            )
        if self.overlap_chars >= self.max_chunk_chars:
            raise DisagreementError(
                "overlap_chars must be smaller than max_chunk_chars", "overlap_chars", "max_chunk_chars"
            )
        return self


class MarkdownOptions(VaultOptions):
    """Split by the structure of the note, with sizes in words, tokens or characters. For long, well
    structured notes.
    """

    below = (("min_chunk_size", "max_chunk_size"),)
    overlaps = (("overlap", "max_chunk_size"),)

    max_chunk_size: Size = 250
    """Longer sections are split between blocks."""
    min_chunk_size: Share = 30
    """Smaller neighbouring chunks are joined."""
    size_unit: SizeUnit = "words"
    """Unit of the sizes."""
    header_levels: tuple[Annotated[int, Field(ge=1, le=6)], ...] = (1, 2, 3, 4, 5, 6)
    """Levels of the headings that begin a chunk; empty means all."""
    respect_code_blocks: bool = True
    """Split a code block only if it is longer than a chunk."""
    respect_lists: bool = True
    """Split a list only if it is longer than a chunk."""
    respect_tables: bool = True
    """Split a table only if it is longer than a chunk."""
    respect_blockquotes: bool = True
    """Split a quote only if it is longer than a chunk."""
    include_header_context: bool = True
    """Write the headings above a chunk into the chunk."""
    header_context_format: Literal["full", "breadcrumb", "prefix"] = "breadcrumb"
    """Form of the headings: full as Markdown, breadcrumb in one line, prefix in the metadata only."""
    overlap: Share = 0
    """Length of the text that a piece of a section repeats from the piece before."""


class ParagraphOptions(VaultOptions):
    """Keep paragraphs whole. For prose with few headings, such as journals and letters."""

    below = (("min_chars", "max_chars"),)

    max_chars: Chars = 1500
    """Longer paragraphs are split at sentences."""
    min_chars: SomeChars = 80
    """Shorter paragraphs are joined until they have this length and end with a sentence."""
    size_unit: SizeUnit = "characters"
    """Unit of the sizes."""


class WordOptions(VaultOptions):
    """Move a window over the words. For text without structure, such as transcripts."""

    overlaps = (("chunk_overlap", "chunk_size"),)

    chunk_size: Words = 200
    """Size of a chunk, including the overlap."""
    chunk_overlap: SomeWords = 40
    """Length of the text repeated from the chunk before."""
    word_pattern: Pattern = r"\S+"
    """Regular expression that matches one word."""


class TokenOptions(VaultOptions):
    """Move a window over the tokens of a model. For a model with a hard limit on tokens."""

    overlaps = (("overlap_tokens", "max_tokens"),)

    max_tokens: Tokens = 512
    """Size of a chunk, including the overlap."""
    overlap_tokens: SomeTokens = 50
    """Length of the text repeated from the chunk before."""
    tokenizer: str = ""
    """Path of a tokenizer.json, "tiktoken:NAME" or "module:function"; empty means that of the embedding
    model."""
    overflow: Literal["split", "truncate"] = "split"
    """For a longer note, split keeps all of it, truncate only the first max_tokens."""
    preserve_sentences: bool = True
    """End chunks at the end of a sentence where possible."""


class RecursiveOptions(VaultOptions):
    """Split at the coarsest separator that makes the parts small enough, as most other tools do."""

    overlaps = (("chunk_overlap", "chunk_size"),)

    chunk_size: Chars = 1000
    """Size of a chunk, including the overlap."""
    chunk_overlap: SomeChars = 200
    """Largest length of the text repeated from the chunk before."""
    size_unit: SizeUnit = "characters"
    """Unit of the sizes."""
    separators: Annotated[
        tuple[Annotated[str, Field(max_length=100)], ...], Field(min_length=1), Trust.VAULT
    ] = ("\n\n", "\n", ". ", "! ", "? ", " ", "")
    """Texts to split at, in the order of trial; an empty one splits anywhere."""
    keep_separator: bool = True
    """Keep the separator at a split."""
    separator_position: Literal["start", "end"] = "end"
    """start puts a separator at the start of the text after it, end at the end of the text before it."""


class OverlapOptions(VaultOptions):
    """How much a chunk repeats from the chunk before."""

    mode: Literal["sentence", "words", "characters", "tokens", "percentage"] = "sentence"
    """Unit of value; percentage is of the chunk before."""
    value: Annotated[int, Field(ge=0, le=1000), Unit("mode")] = 0
    """How much of the chunk before is repeated."""

    @model_validator(mode="after")
    def _percentage_is_one(self) -> Self:
        if self.mode == "percentage" and self.value > 99:
            raise DisagreementError("an overlap in percent must be from 0 to 99", "value", "mode")
        return self


class BoundaryOptions(VaultOptions):
    """Split at paragraphs, sentences or sections, and at lines that match a pattern. For logs and minutes."""

    below = (("min_chunk_size", "max_chunk_size"),)

    split_on: Literal["paragraph", "sentence", "section"] = "paragraph"
    """What begins a unit."""
    max_chunk_size: Size = 1000
    """Units are packed up to this size; longer ones are split into smaller units."""
    min_chunk_size: Share = 200
    """Smaller chunks are joined to a neighbour, with merge_small_chunks."""
    size_unit: SizeUnit = "characters"
    """Unit of the sizes."""
    overlap: OverlapOptions = OverlapOptions.defaults()
    merge_small_chunks: bool = True
    """Pack units up to max_chunk_size; with false each unit, such as a line of a log, is a chunk."""
    patterns: Annotated[tuple[Pattern, ...], Field(max_length=20)] = ()
    """Regular expressions of lines that also begin a unit."""
    replace_patterns: bool = False
    """Only lines that match patterns begin units."""

    @model_validator(mode="after")
    def _patterns_replace(self) -> Self:
        if self.replace_patterns and not self.patterns:
            raise DisagreementError("replace_patterns needs patterns", "replace_patterns", "patterns")
        return self


class DiscourseOptions(VaultOptions):
    """Keep paragraphs together that words such as "however" or "therefore" connect. For essays."""

    below = (("min_chars", "max_chars"),)

    max_chars: Chars = 1500
    """Largest size of a chunk."""
    min_chars: SomeChars = 300
    """A conclusion ends a chunk that has at least this size."""
    continuation_overflow: Annotated[float, Field(ge=0, le=1), Unit("share")] = 0.30
    """Share of max_chars by which a continuation may extend a chunk."""
    max_continuation_merges: Annotated[int, Field(ge=0, le=100), Unit("paragraphs")] = 2
    """Largest number of continuations joined in a row."""
    language: Annotated[str, Field(pattern=r"^(auto|[a-z]{2,3})$"), Trust.VAULT] = "auto"
    """Two-letter code of the language; auto uses that of the note or detects it."""
    markers_dir: Annotated[str, Field(max_length=500)] = ""
    """Folder of files such as fi.toml that add or replace languages."""
    size_unit: SizeUnit = "characters"
    """Unit of the sizes."""


class SemanticOptions(VaultOptions):
    """Split where the topic changes, measured by the embedding model. For long notes on many topics."""

    below = (("min_chunk_size", "max_chunk_size"),)

    mode: Literal["breakpoint", "cluster"] = "cluster"
    """breakpoint splits where neighbours differ most, cluster finds the best division of the whole note."""
    max_chunk_size: Chars = 1200
    """Largest size of a chunk; the mean is about half of it."""
    min_chunk_size: SomeChars = 100
    """Smaller chunks are joined (mode breakpoint)."""
    size_unit: SizeUnit = "characters"
    """Unit of the sizes."""
    threshold: Annotated[float, Field(ge=0, le=100), Unit("percentile")] = 90.0
    """A distance between neighbours above this begins a chunk (mode breakpoint)."""
    buffer_sentences: Annotated[int, Field(ge=0, le=10), Unit("sentences")] = 1
    """Sentences on each side that are embedded with a sentence (mode breakpoint)."""
    segment_chars: Annotated[int, Field(ge=20, le=10_000), Unit("size_unit")] = 150
    """Short sentences are joined up to this size, at most a third of max_chunk_size (mode cluster)."""


class HierarchicalOptions(VaultOptions):
    """Small child chunks are searched, and each belongs to a large parent chunk. For answers that need
    context.
    """

    overlaps = (("parent_overlap", "parent_size"), ("child_overlap", "child_size"))

    parent_size: Size = 400
    """Size of a parent, including the overlap."""
    child_size: Size = 100
    """Size of a child, including the overlap."""
    child_overlap: Share = 0
    """Length of the text repeated from the previous child."""
    parent_overlap: Share = 0
    """Length of the text repeated from the parent before."""
    size_unit: SizeUnit = "words"
    """Unit of the sizes."""
    embed_both: bool = False
    """Also find parents; with false they are only read together with their children."""

    @model_validator(mode="after")
    def _children_fit(self) -> Self:
        if self.child_size > self.parent_size:
            raise DisagreementError("child_size must not exceed parent_size", "child_size", "parent_size")
        return self


class ParentChildOptions(VaultOptions):
    """Paragraphs are children of their section and list their sentences. For exact citations."""

    below = (("min_child_tokens", "max_child_tokens"),)

    max_child_tokens: Tokens = 400
    """Longer paragraphs are split at sentences."""
    min_child_tokens: SomeTokens = 0
    """Smaller paragraphs are joined to the next of their section."""
    size_unit: SizeUnit = "tokens"
    """Unit of the sizes, whatever their names say."""
    tokenizer: str = ""
    """Path of a tokenizer.json, "tiktoken:NAME" or "module:function"; empty means that of the embedding
    model."""


class CodeOptions(VaultOptions):
    """Split code blocks and source files at functions and classes. For notes that are mostly code."""

    below = (("min_chunk_size", "max_chunk_size"),)

    max_chunk_size: Chars = 1500
    """Longer functions are split between lines."""
    min_chunk_size: SomeChars = 100
    """Smaller neighbouring chunks are joined."""
    size_unit: SizeUnit = "characters"
    """Unit of the sizes."""
    language: Annotated[str, Field(pattern=r"^[a-z+#]{1,20}$"), Trust.VAULT] = "auto"
    """Language of code blocks that name none; auto guesses it."""
    split_on_functions: bool = True
    """Begin a chunk at each function."""
    split_on_classes: bool = True
    """Begin a chunk at each class."""
    include_imports: bool = False
    """Write the imports in front of every chunk."""
    include_class_context: bool = True
    """Write the first line of a class in front of its parts."""
    include_docstrings: bool = True
    """Keep the comments above a function with it."""
    preserve_code_blocks: bool = True
    """Keep a fenced block as one chunk if it is not too long."""


class LlmChunkingOptions(Options):
    """A language model (see [llm]) splits and merges the chunks of "discourse". It never writes text."""

    needs_llm: ClassVar[bool] = True
    starts_from: ClassVar[str | None] = "discourse"

    strict: bool = False
    """Skip and report a note if an answer cannot be used; with false, discourse splits it."""
    max_api_calls: Calls = 8
    """Largest number of questions per note; discourse splits the rest."""
    timeout_s: Seconds = 60.0
    """Time after which a question is cancelled."""


class AgenticOptions(Options):
    """A language model sets the boundaries, or writes a summary of each chunk, or both. The summary is stored
    beside the text.
    """

    needs_llm: ClassVar[bool] = True

    mode: Annotated[Literal["split", "summarize", "hybrid"], Trust.VAULT] = "split"
    """split sets boundaries, summarize writes summaries, hybrid does both."""
    target_chunk_size: Annotated[int, Field(ge=100, le=1_000_000), Unit("characters"), Trust.VAULT] = 1000
    """Chunk size requested from the model; no chunk is over twice as long."""
    max_api_calls: Calls = 8
    """Largest number of questions per note; boundary splits the rest."""
    timeout_s: Seconds = 60.0
    """Time after which a question is cancelled."""
    prompt: Annotated[str, Field(max_length=4000)] = ""
    """Instructions that replace the built-in ones; text and answer format are added."""


class CustomOptions(Options):
    """Your own function splits the notes: it gets the parsed note and yields spans of its text."""

    function: Annotated[str, Field(max_length=500)] = ""
    """"module:function", or an entry point of the group vault_indexer.chunkers."""


StrategyName = Literal[
    "header_based",
    "none",
    "markdown",
    "paragraph",
    "word",
    "token",
    "recursive",
    "boundary",
    "discourse",
    "semantic",
    "hierarchical",
    "parent_child",
    "code",
    "llm",
    "agentic",
    "custom",
]


class StrategyTables(HeaderBasedOptions):
    """The strategy, and a table of options for each strategy but the default one, which has none."""

    strategy: Annotated[StrategyName, Trust.NAME] = "header_based"
    """How notes are split into chunks; none keeps each note whole."""
    markdown: MarkdownOptions = MarkdownOptions.defaults()
    paragraph: ParagraphOptions = ParagraphOptions.defaults()
    word: WordOptions = WordOptions.defaults()
    token: TokenOptions = TokenOptions.defaults()
    recursive: RecursiveOptions = RecursiveOptions.defaults()
    boundary: BoundaryOptions = BoundaryOptions.defaults()
    discourse: DiscourseOptions = DiscourseOptions.defaults()
    semantic: SemanticOptions = SemanticOptions.defaults()
    hierarchical: HierarchicalOptions = HierarchicalOptions.defaults()
    parent_child: ParentChildOptions = ParentChildOptions.defaults()
    code: CodeOptions = CodeOptions.defaults()
    llm: LlmChunkingOptions = LlmChunkingOptions.defaults()
    agentic: AgenticOptions = AgenticOptions.defaults()
    custom: CustomOptions = CustomOptions.defaults()


OPTION_TABLES: Mapping[str, type[Options]] = MappingProxyType(
    {
        name: field.annotation
        for name, field in StrategyTables.model_fields.items()
        if name in get_args(StrategyName)
        and isinstance(field.annotation, type)
        and issubclass(field.annotation, Options)
    }
)
"""The strategies that have a table of their own, and what may stand in it."""
