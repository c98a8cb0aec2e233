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
TokenizerName = Annotated[
    str,
    Field(
        description='the path of a tokenizer.json, "tiktoken:NAME", or "module:function"; empty means the'
        " tokenizer of the embedding model"
    ),
]

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

    min_chunk_chars: Annotated[int, Field(ge=0, le=1_000_000), Unit("characters")] = Field(
        default=200,
        description="smaller neighbouring sections are merged until they have this size. A heading with "
        "one line is hard to find by meaning",
    )
    max_chunk_chars: Annotated[int, Field(ge=50, le=1_000_000), Unit("characters")] = Field(
        default=1500,
        description="longer sections are split, between blocks where possible. A long text has no clear "
        "meaning",
    )
    overlap_chars: Annotated[int, Field(ge=0, le=10_000), Unit("characters")] = Field(
        default=50,
        description="length of the text that each piece of a split section repeats from the piece before it",
    )
    include_parent_headers: bool = Field(
        default=True, description="write the headings above a chunk in front of its text"
    )

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

    max_chunk_size: Size = Field(default=250, description="longer sections are split between blocks")
    min_chunk_size: Share = Field(default=30, description="smaller neighbouring chunks are joined")
    size_unit: SizeUnit = Field(default="words", description="what the sizes count")
    header_levels: tuple[Annotated[int, Field(ge=1, le=6)], ...] = Field(
        default=(1, 2, 3, 4, 5, 6),
        description="levels of the headings that begin a chunk; an empty list means all",
    )
    respect_code_blocks: bool = Field(
        default=True, description="split a code block only if it is longer than a chunk"
    )
    respect_lists: bool = Field(default=True, description="split a list only if it is longer than a chunk")
    respect_tables: bool = Field(default=True, description="split a table only if it is longer than a chunk")
    respect_blockquotes: bool = Field(
        default=True, description="split a quote only if it is longer than a chunk"
    )
    include_header_context: bool = Field(
        default=True, description="write the headings above a chunk into the chunk"
    )
    header_context_format: Literal["full", "breadcrumb", "prefix"] = Field(
        default="breadcrumb",
        description="how headings are written: full as Markdown, breadcrumb in one line, prefix in "
        "the metadata only",
    )
    overlap: Share = Field(
        default=0,
        description="length of the text that each piece of a split section repeats from the piece before it",
    )


class ParagraphOptions(VaultOptions):
    """Keep paragraphs whole. For prose with few headings, such as journals and letters."""

    below = (("min_chars", "max_chars"),)

    max_chars: Chars = Field(default=1500, description="longer paragraphs are split at sentences")
    min_chars: SomeChars = Field(
        default=80,
        description="shorter paragraphs are joined until they have this length and end with a sentence",
    )
    size_unit: SizeUnit = Field(default="characters", description="what the sizes count")


class WordOptions(VaultOptions):
    """Move a window over the words. For text without structure, such as transcripts."""

    overlaps = (("chunk_overlap", "chunk_size"),)

    chunk_size: Words = Field(default=200, description="size of a chunk, including the overlap")
    chunk_overlap: SomeWords = Field(
        default=40, description="length of the text repeated from the chunk before"
    )
    word_pattern: Pattern = Field(default=r"\S+", description="regular expression that matches one word")


class TokenOptions(VaultOptions):
    """Move a window over the tokens of a model. For a model with a hard limit on tokens."""

    overlaps = (("overlap_tokens", "max_tokens"),)

    max_tokens: Tokens = Field(default=512, description="size of a chunk, including the overlap")
    overlap_tokens: SomeTokens = Field(
        default=50, description="length of the text repeated from the chunk before"
    )
    tokenizer: TokenizerName = ""
    overflow: Literal["split", "truncate"] = Field(
        default="split",
        description="what happens to a longer note: split keeps all of it, truncate keeps the first "
        "max_tokens and drops the rest",
    )
    preserve_sentences: bool = Field(
        default=True, description="end chunks at the end of a sentence where possible"
    )


class RecursiveOptions(VaultOptions):
    """Split at the coarsest separator that makes the parts small enough, as most other tools do."""

    overlaps = (("chunk_overlap", "chunk_size"),)

    chunk_size: Chars = Field(default=1000, description="size of a chunk, including the overlap")
    chunk_overlap: SomeChars = Field(
        default=200, description="largest length of the text repeated from the chunk before"
    )
    size_unit: SizeUnit = Field(default="characters", description="what the sizes count")
    separators: Annotated[
        tuple[Annotated[str, Field(max_length=100)], ...], Field(min_length=1), Trust.VAULT
    ] = Field(
        default=("\n\n", "\n", ". ", "! ", "? ", " ", ""),
        description="texts to split at, in the order in which they are tried; an empty one splits anywhere",
    )
    keep_separator: bool = Field(
        default=True, description="keep the separator at a split; with false it belongs to no chunk"
    )
    separator_position: Literal["start", "end"] = Field(
        default="end",
        description="where a separator goes: start, to the text after it; end, to the text before it",
    )


class OverlapOptions(VaultOptions):
    """How much a chunk repeats from the chunk before."""

    mode: Literal["sentence", "words", "characters", "tokens", "percentage"] = Field(
        default="sentence",
        description="what value counts: sentences, words, characters, tokens, or percent of the chunk before",
    )
    value: Annotated[int, Field(ge=0, le=1000), Unit("mode")] = Field(
        default=0, description="how much of the chunk before is repeated; 0 repeats nothing"
    )

    @model_validator(mode="after")
    def _percentage_is_one(self) -> Self:
        if self.mode == "percentage" and self.value > 99:
            raise DisagreementError("an overlap in percent must be from 0 to 99", "value", "mode")
        return self


class BoundaryOptions(VaultOptions):
    """Split at paragraphs, sentences or sections, and at lines that match a pattern. For logs and minutes."""

    below = (("min_chunk_size", "max_chunk_size"),)

    split_on: Literal["paragraph", "sentence", "section"] = Field(
        default="paragraph", description="what begins a unit"
    )
    max_chunk_size: Size = Field(
        default=1000, description="units are packed up to this size; longer ones are split into smaller units"
    )
    min_chunk_size: Share = Field(
        default=200, description="smaller chunks are joined to a neighbour if merge_small_chunks is true"
    )
    size_unit: SizeUnit = Field(default="characters", description="what the sizes count")
    overlap: OverlapOptions = OverlapOptions()
    merge_small_chunks: bool = Field(
        default=True,
        description="pack units up to max_chunk_size. With false each unit, such as a line of a log, is its "
        "own chunk",
    )
    patterns: Annotated[tuple[Pattern, ...], Field(max_length=20)] = Field(
        default=(), description="regular expressions; a line that matches also begins a unit"
    )
    replace_patterns: bool = Field(
        default=False, description="only lines that match patterns begin units, and split_on does not count"
    )

    @model_validator(mode="after")
    def _patterns_replace(self) -> Self:
        if self.replace_patterns and not self.patterns:
            raise DisagreementError("replace_patterns needs patterns", "replace_patterns", "patterns")
        return self


class DiscourseOptions(VaultOptions):
    """Keep paragraphs together that words such as "however" or "therefore" connect. For essays."""

    below = (("min_chars", "max_chars"),)

    max_chars: Chars = Field(default=1500, description="largest size of a chunk")
    min_chars: SomeChars = Field(
        default=300, description="a conclusion ends a chunk that has at least this size"
    )
    continuation_overflow: Annotated[float, Field(ge=0, le=1), Unit("share")] = Field(
        default=0.30, description="share of max_chars by which a continuation may make a chunk longer"
    )
    max_continuation_merges: Annotated[int, Field(ge=0, le=100), Unit("paragraphs")] = Field(
        default=2,
        description="largest number of continuations joined in a row; the next one begins a chunk, whatever "
        "its size",
    )
    language: Annotated[str, Field(pattern=r"^(auto|[a-z]{2,3})$"), Trust.VAULT] = Field(
        default="auto",
        description="two-letter code of the language; auto takes it from the note or detects it",
    )
    markers_dir: Annotated[str, Field(max_length=500)] = Field(
        default="",
        description="a folder of files such as en.toml, each with the lists continuation, conclusion and "
        "common; they add languages, or replace those that are built in",
    )
    size_unit: SizeUnit = Field(default="characters", description="what the sizes count")


class SemanticOptions(VaultOptions):
    """Split where the topic changes, measured by the embedding model. For long notes on many topics."""

    below = (("min_chunk_size", "max_chunk_size"),)

    mode: Literal["breakpoint", "cluster"] = Field(
        default="cluster",
        description="how splits are found: breakpoint splits where neighbours differ most, cluster finds "
        "the best division of the whole note",
    )
    max_chunk_size: Chars = Field(
        default=1200, description="largest size of a chunk; the mean is about half of it"
    )
    min_chunk_size: SomeChars = Field(default=100, description="smaller chunks are joined (mode breakpoint)")
    size_unit: SizeUnit = Field(default="characters", description="what the sizes count")
    threshold: Annotated[float, Field(ge=0, le=100), Unit("percentile")] = Field(
        default=90.0, description="a distance between neighbours above this begins a chunk (mode breakpoint)"
    )
    buffer_sentences: Annotated[int, Field(ge=0, le=10), Unit("sentences")] = Field(
        default=1,
        description="number of sentences on each side that are embedded with a sentence (mode breakpoint)",
    )
    segment_chars: Annotated[int, Field(ge=20, le=10_000), Unit("size_unit")] = Field(
        default=150,
        description="short sentences are joined up to this size, at most a third of max_chunk_size "
        "(mode cluster)",
    )


class HierarchicalOptions(VaultOptions):
    """Small child chunks are searched, and each knows its large parent chunk. For answers that need
    context.
    """

    overlaps = (("parent_overlap", "parent_size"), ("child_overlap", "child_size"))

    parent_size: Size = Field(default=400, description="size of a parent, including the overlap")
    child_size: Size = Field(default=100, description="size of a child, including the overlap")
    child_overlap: Share = Field(default=0, description="length of the text repeated from the child before")
    parent_overlap: Share = Field(default=0, description="length of the text repeated from the parent before")
    size_unit: SizeUnit = Field(default="words", description="what the sizes count")
    embed_both: bool = Field(
        default=False,
        description="find parents, too; with false they take part in no ranking, neither by meaning nor by "
        "word, and are only read beside their children",
    )

    @model_validator(mode="after")
    def _children_fit(self) -> Self:
        if self.child_size > self.parent_size:
            raise DisagreementError("child_size must not exceed parent_size", "child_size", "parent_size")
        return self


class ParentChildOptions(VaultOptions):
    """Paragraphs are children of their section and list their sentences. For exact citations."""

    below = (("min_child_tokens", "max_child_tokens"),)

    max_child_tokens: Tokens = Field(default=400, description="longer paragraphs are split at sentences")
    min_child_tokens: SomeTokens = Field(
        default=0, description="smaller paragraphs are joined to the next paragraph of their section"
    )
    size_unit: SizeUnit = Field(
        default="tokens", description="what the sizes count, whatever their names say"
    )
    tokenizer: TokenizerName = ""


class CodeOptions(VaultOptions):
    """Split code blocks and source files at functions and classes. For notes that are mostly code."""

    below = (("min_chunk_size", "max_chunk_size"),)

    max_chunk_size: Chars = Field(default=1500, description="longer functions are split between lines")
    min_chunk_size: SomeChars = Field(default=100, description="smaller neighbouring chunks are joined")
    size_unit: SizeUnit = Field(default="characters", description="what the sizes count")
    language: Annotated[str, Field(pattern=r"^[a-z+#]{1,20}$"), Trust.VAULT] = Field(
        default="auto",
        description="language of code blocks that name none; auto guesses it, and takes that of a source "
        "file from its suffix",
    )
    split_on_functions: bool = Field(
        default=True, description="begin a chunk at each function; with false only the size counts"
    )
    split_on_classes: bool = Field(
        default=True, description="begin a chunk at each class; with false only the size counts"
    )
    include_imports: bool = Field(default=False, description="write the imports in front of every chunk")
    include_class_context: bool = Field(
        default=True, description="write the first line of a class in front of its parts"
    )
    include_docstrings: bool = Field(
        default=True, description="keep the comments above a function in the chunk of the function"
    )
    preserve_code_blocks: bool = Field(
        default=True, description="keep a fenced block as one chunk if it is not too long"
    )


class LlmChunkingOptions(Options):
    """A language model (see [llm]) splits and merges the chunks of "discourse". It never writes text."""

    needs_llm: ClassVar[bool] = True
    starts_from: ClassVar[str | None] = "discourse"

    strict: bool = Field(
        default=False,
        description="skip a note if an answer cannot be used, and report it; with false it is split by "
        "discourse alone",
    )
    max_api_calls: Calls = Field(
        default=8,
        description="largest number of questions per note; the rest of the note is split by discourse alone",
    )
    timeout_s: Seconds = Field(default=60.0, description="time after which a question is cancelled")


class AgenticOptions(Options):
    """A language model sets the boundaries, or writes a summary of each chunk, or both. The summary is stored
    beside the text.
    """

    needs_llm: ClassVar[bool] = True

    mode: Annotated[Literal["split", "summarize", "hybrid"], Trust.VAULT] = Field(
        default="split",
        description="what the model does: split sets boundaries, summarize writes summaries, hybrid "
        "does both",
    )
    target_chunk_size: Annotated[int, Field(ge=100, le=1_000_000), Unit("characters"), Trust.VAULT] = Field(
        default=1000,
        description="chunk size that the model is asked for; no chunk is more than twice as long",
    )
    max_api_calls: Calls = Field(
        default=8,
        description="largest number of questions per note; the rest of the note is split by boundary",
    )
    timeout_s: Seconds = Field(default=60.0, description="time after which a question is cancelled")
    prompt: Annotated[str, Field(max_length=4000)] = Field(
        default="",
        description="instructions that replace the built-in ones; the text and the answer format are "
        "added to them",
    )


class CustomOptions(Options):
    """Your own function splits the notes: it gets the parsed note and yields spans of its text."""

    function: Annotated[str, Field(max_length=500)] = Field(
        default="",
        description='"module:function", or the name of an entry point that an installed package has in '
        "the group vault_indexer.chunkers",
    )


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

    strategy: Annotated[StrategyName, Trust.NAME] = Field(
        default="header_based",
        description="how notes are split into chunks; none keeps each note whole. The options of a "
        "strategy are in its own table below, or here beside its name",
    )
    markdown: MarkdownOptions = MarkdownOptions()
    paragraph: ParagraphOptions = ParagraphOptions()
    word: WordOptions = WordOptions()
    token: TokenOptions = TokenOptions()
    recursive: RecursiveOptions = RecursiveOptions()
    boundary: BoundaryOptions = BoundaryOptions()
    discourse: DiscourseOptions = DiscourseOptions()
    semantic: SemanticOptions = SemanticOptions()
    hierarchical: HierarchicalOptions = HierarchicalOptions()
    parent_child: ParentChildOptions = ParentChildOptions()
    code: CodeOptions = CodeOptions()
    llm: LlmChunkingOptions = LlmChunkingOptions()
    agentic: AgenticOptions = AgenticOptions()
    custom: CustomOptions = CustomOptions()


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
