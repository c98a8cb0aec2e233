"""The table `[chunking]`: which strategy splits the notes, its options, and rules for some of the notes.

The options of the default strategy stand in `[chunking]` itself, those of any other in
`[chunking.<strategy>]`, or in `[chunking]`, too, where that strategy is the one chosen there.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field, ValidationError, model_validator

from vault_indexer.config.chunking_models import (
    AgenticOptions,
    ContextualOptions,
    CustomOptions,
    LlmChunkingOptions,
)
from vault_indexer.config.chunking_options import (
    BoundaryOptions,
    CodeOptions,
    DiscourseOptions,
    HierarchicalOptions,
    MarkdownOptions,
    Options,
    ParagraphOptions,
    ParentChildOptions,
    RecursiveOptions,
    SemanticOptions,
    TokenOptions,
    WordOptions,
)
from vault_indexer.config.fields import Allowed, DisagreementError, Trust, Unit

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


class HeaderBasedOptions(Options):
    """Chunks begin at headings.

    Only sizes that someone wrote down can contradict each other: where `max_chunk_chars` is set below
    the default of another size, that default gives way.
    """

    trust: ClassVar[Trust] = Trust.VAULT

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


class ChunkingRule(Options):
    """`[[chunking.rules]]`: notes whose path matches a glob are split another way.

    Beside `paths` and `strategy` stand the options of that strategy; what a rule does not name is as
    `[chunking]` has it.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    paths: Annotated[tuple[str, ...], Field(min_length=1), Trust.VAULT] = Field(
        description='glob patterns of vault paths: "Journal/**", "*.canvas"'
    )
    strategy: Annotated[StrategyName | None, Trust.NAME] = Field(
        default=None, description="strategy for these notes"
    )

    @property
    def choice(self) -> dict[str, object]:
        """The rule as a note would write it in its frontmatter."""
        named: dict[str, object] = {} if self.strategy is None else {"strategy": self.strategy}
        return {**named, **(self.__pydantic_extra__ or {})}

    @model_validator(mode="after")
    def _options_exist(self) -> Self:
        if "rules" in self.choice:
            raise ValueError("a rule cannot have rules")
        # Options of the strategy that `[chunking]` chooses can be judged only beside that choice.
        if self.strategy is not None or not self._borrowed():
            ChunkingSettings.model_validate(self.choice)
        return self

    def _borrowed(self) -> bool:
        """Whether the rule names options of a strategy that it does not name itself."""
        options_set = self.choice.keys() - _SHORTHAND
        return any(options_set & options.model_fields.keys() for options in OPTION_TABLES.values())


class ChunkingSettings(HeaderBasedOptions):
    """How notes are split into chunks. After a change here, the index is rebuilt automatically."""

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
    contextual: ContextualOptions = ContextualOptions()
    rules: Annotated[
        tuple[ChunkingRule, ...],
        Allowed("a list; each a table with paths, and a strategy, options of a strategy, or both"),
        Trust.NAME,
    ] = Field(
        default=(),
        description="other strategies or options for some notes; the first rule that matches counts. "
        "Write them as one list, such as \"[{ paths = ['Journal/**'], strategy = 'paragraph', "
        'max_chars = 1000 }]", or as tables "[[chunking.rules]]"',
    )

    @property
    def asks_model(self) -> bool:
        """Whether some note is split with the help of a language model."""
        strategies = {self.strategy, *(rule.strategy for rule in self.rules)}
        asked = not strategies.isdisjoint(("llm", "agentic")) or self.contextual.granularity != "none"
        return asked or any("contextual" in rule.choice for rule in self.rules)

    @model_validator(mode="before")
    @classmethod
    def _flat_options_go_home(cls, data: object) -> object:
        return normalize_strategy_options(data) if isinstance(data, Mapping) else data

    @model_validator(mode="after")
    def _rules_set_options_of_this_strategy(self) -> Self:
        for rule in self.rules:
            if rule.strategy is None and rule.choice:
                try:
                    ChunkingSettings.model_validate(
                        normalize_strategy_options(
                            {"strategy": self.strategy, **normalize_strategy_options(rule.choice)}
                        )
                    )
                except ValidationError as error:
                    found = error.errors(include_url=False)[0]
                    key = ".".join(str(part) for part in found["loc"])
                    reason = f"the rule for {rule.paths[0]} without a strategy: {key}: {found['msg']}"
                    raise DisagreementError(reason, "rules", "strategy") from error
        return self


OPTION_TABLES: Mapping[str, type[Options]] = MappingProxyType(
    {
        name: field.annotation
        for name, field in ChunkingSettings.model_fields.items()
        if name in get_args(StrategyName)
        and isinstance(field.annotation, type)
        and issubclass(field.annotation, Options)
    }
)
"""The strategies that have a table of their own, and what may stand in it."""

_SHORTHAND = frozenset({"chunk_size", "chunk_overlap"})


def normalize_strategy_options(table: Mapping[str, object]) -> dict[str, object]:
    """The table `[chunking]` with every option in the table of its strategy.

    Options may stand flat where the same table names their strategy; `chunk_size` and `chunk_overlap`
    without a strategy mean `word`. A key that is in both places, or belongs to no table, stays
    where it is and is a mistake there. `contextual = true` asks for a preamble a chunk.
    """
    moved = dict(table)
    if isinstance(moved.get("contextual"), bool):
        moved["contextual"] = {"granularity": "chunk" if moved["contextual"] else "none"}
    if "strategy" not in moved and _SHORTHAND & moved.keys():
        moved["strategy"] = "word"
    name = moved.get("strategy")
    options = OPTION_TABLES.get(name) if isinstance(name, str) else None
    own = moved.get(str(name), {})
    if options is None or not isinstance(own, Mapping):
        return moved
    flat = [key for key in moved if key in options.model_fields and key not in ChunkingSettings.model_fields]
    home = {**own, **{key: moved.pop(key) for key in flat if key not in own}}
    return {**moved, str(name): home} if home else moved
