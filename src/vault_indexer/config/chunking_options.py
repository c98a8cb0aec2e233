"""The options of every chunking strategy but the default one, whose options stand in `[chunking]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from vault_indexer.config.fields import DisagreementError, Table, Trust, Unit

SizeUnit = Literal["words", "tokens", "characters"]

# The upper bounds only keep a slip of the pen from being taken for a size.
_Size = Annotated[int, Field(ge=1, le=1_000_000), Unit("size_unit")]
_Share = Annotated[int, Field(ge=0, le=1_000_000), Unit("size_unit")]
_Chars = Annotated[int, Field(ge=50, le=1_000_000), Unit("characters")]
_SomeChars = Annotated[int, Field(ge=0, le=1_000_000), Unit("characters")]
_Tokens = Annotated[int, Field(ge=8, le=1_000_000), Unit("tokens")]
_SomeTokens = Annotated[int, Field(ge=0, le=1_000_000), Unit("tokens")]
_Words = Annotated[int, Field(ge=1, le=1_000_000), Unit("words")]
_SomeWords = Annotated[int, Field(ge=0, le=1_000_000), Unit("words")]


def _pattern(value: str) -> str:
    try:
        found = re.compile(value).match("")
    except re.error as error:
        raise ValueError(f"a regular expression: {error}") from error
    if found:
        raise ValueError("a regular expression that does not match an empty text")
    return value


_Pattern = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_pattern), Trust.PATTERN]


class Options(Table):
    """Base of all strategies' options.

    `below` names pairs (a, b) where a may not exceed half of b; a default that would, gives way, so
    that only what someone wrote down can be a contradiction.
    """

    below: ClassVar[tuple[tuple[str, str], ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _smaller_defaults_give_way(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        options = dict(data)
        for smaller, larger in cls.below:
            largest = options.get(larger)
            if smaller not in options and isinstance(largest, int):
                options[smaller] = min(cls.model_fields[smaller].default, max(largest // 2, 0))
        return options

    @model_validator(mode="after")
    def _smaller_is_smaller(self) -> Self:
        for smaller, larger in self.below:
            if 2 * getattr(self, smaller) > getattr(self, larger):
                raise DisagreementError(f"{smaller} must not exceed half of {larger}", smaller, larger)
        return self


class MarkdownOptions(Options):
    """Split by the structure of the note, with sizes in words, tokens or characters. For long, well
    structured notes.
    """

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("min_chunk_size", "max_chunk_size"), ("overlap", "max_chunk_size"))

    max_chunk_size: _Size = Field(default=250, description="longer sections are split between blocks")
    min_chunk_size: _Share = Field(default=30, description="smaller neighbouring chunks are joined")
    size_unit: SizeUnit = Field(default="words", description="what the sizes count")
    header_levels: tuple[Annotated[int, Field(ge=1, le=6)], ...] = Field(
        default=(1, 2, 3, 4, 5, 6), description="levels of the headings that begin a chunk"
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
    overlap: _Share = Field(
        default=0,
        description="length of the text that each piece of a split section repeats from the piece before it",
    )


class ParagraphOptions(Options):
    """Keep paragraphs whole. For prose with few headings, such as journals and letters."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("min_chars", "max_chars"),)

    max_chars: _Chars = Field(default=1500, description="longer paragraphs are split at sentences")
    min_chars: _SomeChars = Field(
        default=80,
        description="shorter paragraphs are joined until they have this length and end with a sentence",
    )


class WordOptions(Options):
    """Move a window over the words. For text without structure, such as transcripts."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("chunk_overlap", "chunk_size"),)

    chunk_size: _Words = Field(default=200, description="size of a chunk, including the overlap")
    chunk_overlap: _SomeWords = Field(
        default=40, description="length of the text repeated from the chunk before"
    )
    word_pattern: _Pattern = Field(default=r"\S+", description="regular expression that matches one word")


class TokenOptions(Options):
    """Move a window over the tokens of a model. For a model with a hard limit on tokens."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("overlap_tokens", "max_tokens"),)

    max_tokens: _Tokens = Field(default=512, description="size of a chunk, including the overlap")
    overlap_tokens: _SomeTokens = Field(
        default=50, description="length of the text repeated from the chunk before"
    )
    tokenizer: str = Field(
        default="",
        description='the path of a tokenizer.json, "tiktoken:NAME", or "module:function"; empty means the'
        " tokenizer of the embedding model",
    )
    overflow: Literal["split", "truncate"] = Field(
        default="split",
        description="what happens to a longer note: split keeps all of it, truncate keeps the first "
        "max_tokens and drops the rest",
    )
    preserve_sentences: bool = Field(
        default=True, description="end chunks at the end of a sentence where possible"
    )


class RecursiveOptions(Options):
    """Split at the coarsest separator that makes the parts small enough, as most other tools do."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("chunk_overlap", "chunk_size"),)

    chunk_size: _Chars = Field(default=1000, description="size of a chunk, including the overlap")
    chunk_overlap: _SomeChars = Field(
        default=200, description="largest length of the text repeated from the chunk before"
    )
    separators: Annotated[
        tuple[Annotated[str, Field(max_length=100)], ...], Field(min_length=1), Trust.VAULT
    ] = Field(
        default=("\n\n", "\n", ". ", "! ", "? ", " ", ""),
        description="texts to split at, in the order in which they are tried; an empty one splits anywhere",
    )
    keep_separator: bool = Field(
        default=True, description="keep blank separators at a split; with false they belong to no chunk"
    )
    separator_position: Literal["start", "end"] = Field(
        default="end",
        description="where a separator goes: start, to the text after it; end, to the text before it",
    )


class OverlapOptions(Options):
    """How much a chunk repeats from the chunk before."""

    trust: ClassVar[Trust] = Trust.VAULT

    mode: Literal["sentence", "words", "percentage"] = Field(
        default="sentence", description="what value counts: sentences, words, or percent of the chunk before"
    )
    value: Annotated[int, Field(ge=0, le=1000), Unit("mode")] = Field(
        default=0, description="how much of the chunk before is repeated; 0 repeats nothing"
    )

    @model_validator(mode="after")
    def _percentage_is_one(self) -> Self:
        if self.mode == "percentage" and self.value > 50:
            raise DisagreementError("an overlap in percent must be from 0 to 50", "value", "mode")
        return self


class BoundaryOptions(Options):
    """Split at paragraphs, sentences or sections, and at lines that match a pattern. For logs and minutes."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("min_chunk_size", "max_chunk_size"),)

    split_on: Literal["paragraph", "sentence", "section"] = Field(
        default="paragraph", description="what a chunk is made of"
    )
    max_chunk_size: _Size = Field(default=1000, description="longer units are split into smaller units")
    min_chunk_size: _Share = Field(
        default=200, description="smaller units are joined if merge_small_chunks is true"
    )
    size_unit: SizeUnit = Field(default="characters", description="what the sizes count")
    overlap: OverlapOptions = OverlapOptions()
    merge_small_chunks: bool = Field(
        default=True,
        description="join units that are smaller than min_chunk_size. With false each line of a log can "
        "be its own chunk",
    )
    patterns: Annotated[tuple[_Pattern, ...], Field(max_length=20)] = Field(
        default=(), description="regular expressions; a line that matches also begins a unit"
    )


class DiscourseOptions(Options):
    """Keep paragraphs together that words such as "however" or "therefore" connect. For essays."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("min_chars", "max_chars"),)

    max_chars: _Chars = Field(default=1500, description="largest size of a chunk")
    min_chars: _SomeChars = Field(
        default=300, description="a conclusion ends a chunk that has at least this size"
    )
    continuation_overflow: Annotated[float, Field(ge=0, le=1), Unit("share")] = Field(
        default=0.30, description="share of max_chars by which a continuation may make a chunk longer"
    )
    max_continuation_merges: Annotated[int, Field(ge=0, le=100), Unit("paragraphs")] = Field(
        default=2, description="largest number of continuations joined in a row"
    )
    language: Annotated[str, Field(pattern=r"^(auto|[a-z]{2,3})$"), Trust.VAULT] = Field(
        default="auto",
        description="two-letter code of the language; auto takes it from the note or detects it",
    )


class SemanticOptions(Options):
    """Split where the topic changes, measured by the embedding model. For long notes on many topics."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("min_chunk_size", "max_chunk_size"),)

    mode: Literal["breakpoint", "cluster"] = Field(
        default="cluster",
        description="how splits are found: breakpoint splits where neighbours differ most, cluster finds "
        "the best division of the whole note",
    )
    max_chunk_size: _Chars = Field(
        default=1200, description="largest size of a chunk; the mean is about half of it"
    )
    min_chunk_size: _SomeChars = Field(default=100, description="smaller chunks are joined (mode breakpoint)")
    threshold: Annotated[float, Field(ge=0, le=100), Unit("percentile")] = Field(
        default=90.0, description="a distance between neighbours above this begins a chunk (mode breakpoint)"
    )
    buffer_sentences: Annotated[int, Field(ge=0, le=10), Unit("sentences")] = Field(
        default=1,
        description="number of sentences on each side that are embedded with a sentence (mode breakpoint)",
    )
    segment_chars: Annotated[int, Field(ge=20, le=10_000), Unit("characters")] = Field(
        default=150,
        description="short sentences are joined up to this size, at most a third of max_chunk_size "
        "(mode cluster)",
    )


class HierarchicalOptions(Options):
    """Small child chunks are searched, and each knows its large parent chunk. For answers that need
    context.
    """

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("parent_overlap", "parent_size"), ("child_overlap", "child_size"))

    parent_size: _Size = Field(default=400, description="size of a parent, including the overlap")
    child_size: _Size = Field(default=100, description="size of a child, including the overlap")
    child_overlap: _Share = Field(default=0, description="length of the text repeated from the child before")
    parent_overlap: _Share = Field(
        default=0, description="length of the text repeated from the parent before"
    )
    size_unit: SizeUnit = Field(default="words", description="what the sizes count")
    embed_both: bool = Field(
        default=False, description="find parents by meaning, too, not only their children"
    )

    @model_validator(mode="after")
    def _children_fit(self) -> Self:
        if self.child_size > self.parent_size:
            raise DisagreementError("child_size must not exceed parent_size", "child_size", "parent_size")
        return self


class ParentChildOptions(Options):
    """Paragraphs are children of their section and list their sentences. For exact citations."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("min_child_tokens", "max_child_tokens"),)

    max_child_tokens: _Tokens = Field(default=400, description="longer paragraphs are split at sentences")
    min_child_tokens: _SomeTokens = Field(
        default=0, description="smaller paragraphs are joined to the next paragraph of their section"
    )


class CodeOptions(Options):
    """Split code blocks and source files at functions and classes. For notes that are mostly code."""

    trust: ClassVar[Trust] = Trust.VAULT

    below = (("min_chunk_size", "max_chunk_size"),)

    max_chunk_size: _Chars = Field(default=1500, description="longer functions are split between lines")
    min_chunk_size: _SomeChars = Field(default=100, description="smaller neighbouring chunks are joined")
    language: Annotated[str, Field(pattern=r"^[a-z+#]{1,20}$"), Trust.VAULT] = Field(
        default="auto",
        description="language of code blocks that name none; auto takes it from the file extension",
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
