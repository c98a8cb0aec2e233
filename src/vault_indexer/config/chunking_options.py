"""The options of every chunking strategy but the default one, whose options stand in `[chunking]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from vault_indexer.config.fields import DisagreementError, Unit

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


_Pattern = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_pattern)]


class Options(BaseModel):
    """Base of all strategies' options.

    `below` names pairs (a, b) where a may not exceed half of b; a default that would, gives way, so
    that only what someone wrote down can be a contradiction.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    below: ClassVar[tuple[tuple[str, str], ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _smaller_defaults_give_way(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        given = dict(data)
        for smaller, larger in cls.below:
            largest = given.get(larger)
            if smaller not in given and isinstance(largest, int):
                given[smaller] = min(cls.model_fields[smaller].default, max(largest // 2, 0))
        return given

    @model_validator(mode="after")
    def _smaller_is_smaller(self) -> Self:
        for smaller, larger in self.below:
            if 2 * getattr(self, smaller) > getattr(self, larger):
                raise DisagreementError(f"{smaller} must not exceed half of {larger}", smaller, larger)
        return self


class MarkdownOptions(Options):
    """`markdown`: the structure of the note decides."""

    below = (("min_chunk_size", "max_chunk_size"), ("overlap", "max_chunk_size"))

    max_chunk_size: _Size = Field(default=250, description="longer sections are split between blocks")
    min_chunk_size: _Share = Field(default=30, description="smaller neighbours are joined")
    size_unit: SizeUnit = Field(default="words", description="what the sizes count")
    header_levels: tuple[Annotated[int, Field(ge=1, le=6)], ...] = Field(
        default=(1, 2, 3, 4, 5, 6), description="levels of headings that begin a chunk"
    )
    respect_code_blocks: bool = Field(default=True, description="cut code only if it alone is too long")
    respect_lists: bool = Field(default=True, description="cut a list only if it alone is too long")
    respect_tables: bool = Field(default=True, description="cut a table only if it alone is too long")
    respect_blockquotes: bool = Field(default=True, description="cut a quote only if it alone is too long")
    include_header_context: bool = Field(default=True, description="put the headings above into the chunk")
    header_context_format: Literal["full", "breadcrumb", "prefix"] = Field(
        default="breadcrumb",
        description="full: as Markdown headings; breadcrumb: one line; prefix: in the metadata only",
    )
    overlap: _Share = Field(default=0, description="text repeated between the pieces of one split section")


class ParagraphOptions(Options):
    """`paragraph`: whole paragraphs."""

    below = (("min_chars", "max_chars"),)

    max_chars: _Chars = Field(default=1500, description="longer paragraphs are split at sentences")
    min_chars: _SomeChars = Field(
        default=80, description="shorter paragraphs are gathered until they are this long and end a sentence"
    )


class WordOptions(Options):
    """`word`: a window slides over the words."""

    below = (("chunk_overlap", "chunk_size"),)

    chunk_size: _Words = Field(default=200, description="size of a chunk, overlap included")
    chunk_overlap: _SomeWords = Field(default=40, description="text repeated from the chunk before")
    word_pattern: _Pattern = Field(default=r"\S+", description="regular expression of one word")


class TokenOptions(Options):
    """`token`: a window slides over a model's tokens."""

    below = (("overlap_tokens", "max_tokens"),)

    max_tokens: _Tokens = Field(default=512, description="size of a chunk, overlap included")
    overlap_tokens: _SomeTokens = Field(default=50, description="text repeated from the chunk before")
    tokenizer: str = Field(
        default="",
        description="empty: the embedding model's; a tokenizer.json; tiktoken:NAME; or module:function",
    )
    overflow: Literal["split", "truncate"] = Field(
        default="split", description="truncate keeps the first max_tokens of a note and drops the rest"
    )
    preserve_sentences: bool = Field(default=True, description="end chunks at sentences where one ends")


class RecursiveOptions(Options):
    """`recursive`: at the coarsest separator that makes the parts small enough."""

    below = (("chunk_overlap", "chunk_size"),)

    chunk_size: _Chars = Field(default=1000, description="size of a chunk, overlap included")
    chunk_overlap: _SomeChars = Field(default=200, description="text repeated from the chunk before, at most")
    separators: Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(min_length=1)] = Field(
        default=("\n\n", "\n", ". ", "! ", "? ", " ", ""),
        description="tried in order; an empty one cuts anywhere",
    )
    keep_separator: bool = Field(
        default=True, description="false: blank separators at a cut belong to no chunk"
    )
    separator_position: Literal["start", "end"] = Field(
        default="end", description="whether a separator stays with the text after it or before it"
    )


class OverlapOptions(Options):
    """`[chunking.boundary.overlap]`: what a chunk repeats of the one before."""

    mode: Literal["sentence", "words", "percentage"] = Field(
        default="sentence", description="what value counts: sentences, words, percent of the chunk before"
    )
    value: Annotated[int, Field(ge=0, le=1000), Unit("mode")] = Field(
        default=0, description="how much of the chunk before is repeated"
    )

    @model_validator(mode="after")
    def _percentage_is_one(self) -> Self:
        if self.mode == "percentage" and self.value > 50:
            raise DisagreementError("an overlap in percent must be from 0 to 50", "value", "mode")
        return self


class BoundaryOptions(Options):
    """`boundary`: natural boundaries."""

    below = (("min_chunk_size", "max_chunk_size"),)

    split_on: Literal["paragraph", "sentence", "section"] = Field(
        default="paragraph", description="what a chunk is made of"
    )
    max_chunk_size: _Size = Field(default=1000, description="longer units are split at the next finer ones")
    min_chunk_size: _Share = Field(default=200, description="smaller units are joined, if merge_small_chunks")
    size_unit: SizeUnit = Field(default="characters", description="what the sizes count")
    overlap: OverlapOptions = OverlapOptions()
    merge_small_chunks: bool = Field(default=True, description="join units below the minimum")
    patterns: Annotated[tuple[_Pattern, ...], Field(max_length=20)] = Field(
        default=(), description="regular expressions of lines that begin a unit, too"
    )


class DiscourseOptions(Options):
    """`discourse`: the words that join paragraphs decide."""

    below = (("min_chars", "max_chars"),)

    max_chars: _Chars = Field(default=1500, description="a chunk grows up to this")
    min_chars: _SomeChars = Field(default=300, description="from here on a conclusion closes a chunk")
    continuation_overflow: Annotated[float, Field(ge=0, le=1), Unit("share")] = Field(
        default=0.30, description="share by which a continuation may exceed max_chars"
    )
    max_continuation_merges: Annotated[int, Field(ge=0, le=100), Unit("paragraphs")] = Field(
        default=2, description="continuations joined in a row"
    )
    language: Annotated[str, Field(pattern=r"^(auto|[a-z]{2,3})$")] = Field(
        default="auto", description="two-letter code; auto: the note's own, or detected"
    )


class SemanticOptions(Options):
    """`semantic`: where the meaning turns."""

    below = (("min_chunk_size", "max_chunk_size"),)

    mode: Literal["breakpoint", "cluster"] = Field(
        default="cluster",
        description="breakpoint: where neighbours differ most; cluster: the best division of the whole note",
    )
    max_chunk_size: _Chars = Field(default=1200, description="no chunk is longer; the mean is about half")
    min_chunk_size: _SomeChars = Field(default=100, description="breakpoint: smaller chunks are joined")
    threshold: Annotated[float, Field(ge=0, le=100), Unit("percentile")] = Field(
        default=90.0, description="breakpoint: distances between neighbours above this begin a chunk"
    )
    buffer_sentences: Annotated[int, Field(ge=0, le=10), Unit("sentences")] = Field(
        default=1, description="breakpoint: sentences on both sides that are embedded with each"
    )
    segment_chars: Annotated[int, Field(ge=20, le=10_000), Unit("characters")] = Field(
        default=150,
        description="cluster: sentences are gathered up to this (a third of the maximum at most)",
    )


class HierarchicalOptions(Options):
    """`hierarchical`: parents and their children."""

    below = (("parent_overlap", "parent_size"), ("child_overlap", "child_size"))

    parent_size: _Size = Field(default=400, description="size of a parent, overlap included")
    child_size: _Size = Field(default=100, description="size of a child, overlap included")
    child_overlap: _Share = Field(default=0, description="text repeated from the child before")
    parent_overlap: _Share = Field(default=0, description="text repeated from the parent before")
    size_unit: SizeUnit = Field(default="words", description="what the sizes count")
    embed_both: bool = Field(default=False, description="true: parents are found by meaning, too")

    @model_validator(mode="after")
    def _children_fit(self) -> Self:
        if self.child_size > self.parent_size:
            raise DisagreementError("child_size must not exceed parent_size", "child_size", "parent_size")
        return self


class ParentChildOptions(Options):
    """`parent_child`: paragraphs as children of their section."""

    below = (("min_child_tokens", "max_child_tokens"),)

    max_child_tokens: _Tokens = Field(default=400, description="longer paragraphs are split at sentences")
    min_child_tokens: _SomeTokens = Field(
        default=0, description="smaller paragraphs are joined to the next of their section"
    )


class CodeOptions(Options):
    """`code`: functions and classes of fenced code and of source files."""

    below = (("min_chunk_size", "max_chunk_size"),)

    max_chunk_size: _Chars = Field(default=1500, description="longer functions are split between lines")
    min_chunk_size: _SomeChars = Field(default=100, description="smaller neighbours are joined")
    language: Annotated[str, Field(pattern=r"^[a-z+#]{1,20}$")] = Field(
        default="auto", description="language of code that names none; auto: by the file's ending"
    )
    split_on_functions: bool = Field(default=True, description="a function begins a chunk")
    split_on_classes: bool = Field(default=True, description="a class begins a chunk")
    include_imports: bool = Field(default=False, description="put the imports in front of every chunk")
    include_class_context: bool = Field(
        default=True, description="put the line of the class in front of its parts"
    )
    include_docstrings: bool = Field(
        default=True, description="comments above a function belong to it, not to what is before"
    )
    preserve_code_blocks: bool = Field(
        default=True, description="a fenced block that fits stays one chunk, whatever it holds"
    )
