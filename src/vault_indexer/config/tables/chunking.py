"""The table `[chunking]`: which strategy splits the notes, its options, and rules for some of the notes.

The options of the default strategy stand in `[chunking]` itself, those of any other in
`[chunking.<strategy>]`, or in `[chunking]`, too, where that strategy is the one chosen there.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from types import MappingProxyType
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, model_validator

from vault_indexer.config.fields import Allowed, DisagreementError, Glob, Trust, Unit
from vault_indexer.config.tables.chunking_options import (
    OPTION_TABLES,
    Calls,
    Options,
    Seconds,
    StrategyName,
    StrategyTables,
)


def _template(value: str) -> str:
    try:
        names = {name for _, name, _, _ in Formatter().parse(value) if name is not None}
    except ValueError as error:
        raise ValueError(f"a template whose braces match: {error}") from error
    if value and (names - {"document_text", "chunk_text"} or "chunk_text" not in names):
        raise ValueError("a template with {chunk_text}, optionally {document_text}, and no other name")
    return value


class ContextualOptions(Options):
    """A language model writes what a chunk is about within its note, for any strategy. This preamble is
    embedded with the text and stored apart from it. `contextual = true` in [chunking] is short for
    `granularity = "chunk"`.
    """

    granularity: Literal["none", "section", "paragraph", "chunk"] = "none"
    """Which part of a note gets its own preamble; none calls no model."""
    group_by: Annotated[str, Field(max_length=500)] = ""
    """"module:function", or an entry point of the group vault_indexer.groupers, that returns a key for a
    chunk: chunks with equal keys share a preamble, and the key None means none."""
    system_prompt: Annotated[str, Field(max_length=4000)] = ""
    """Instructions at the very beginning of each prompt."""
    user_template: Annotated[str, Field(max_length=4000), AfterValidator(_template)] = ""
    """Prompt that replaces the built-in one, with {document_text} (best first, as providers cache equal
    beginnings) and {chunk_text}."""
    max_document_chars: Annotated[int, Field(ge=0, le=10_000_000), Unit("characters")] = 4000
    """A note up to this size is sent whole in the prompt, a longer one in part."""
    max_tokens: Annotated[int, Field(ge=1, le=10_000), Unit("tokens")] = 160
    """Largest number of tokens in an answer."""
    max_workers: Annotated[int, Field(ge=1, le=64), Unit("requests")] = 8
    """Largest number of questions at once, of all processes together."""
    num_retries: Annotated[int, Field(ge=0, le=10), Unit("requests")] = 2
    """How often a question is repeated after a transient error."""
    keep_on_failure: bool = True
    """Keep a chunk without a preamble if the model does not answer; with false it is left out of the
    index."""
    max_api_calls: Calls = 50
    """Largest number of preambles per note; further chunks have none."""
    timeout_s: Seconds = 60.0
    """Time after which a question is cancelled."""

    @model_validator(mode="after")
    def _groups_need_preambles(self) -> Self:
        if self.group_by and self.granularity == "none":
            raise DisagreementError("group_by needs a granularity other than none", "group_by", "granularity")
        return self


class ChunkingRule(Options):
    """`[[chunking.rules]]`: notes whose path matches a glob are split another way.

    Beside `paths` and `strategy` stand the options of that strategy; what a rule does not name is as
    `[chunking]` has it.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    paths: Annotated[tuple[Glob, ...], Field(min_length=1), Trust.VAULT]
    """Glob patterns of vault paths: "Journal/**", "*.canvas"."""
    strategy: Annotated[StrategyName | None, Trust.NAME] = None
    """Strategy for these notes."""

    @property
    def choice(self) -> dict[str, object]:
        """The rule as a note would write it in its frontmatter."""
        named: dict[str, object] = {} if self.strategy is None else {"strategy": self.strategy}
        return {**named, **(self.__pydantic_extra__ or {})}

    @model_validator(mode="before")
    @classmethod
    def _has_our_name(cls, data: object) -> object:
        return _with_our_name(data) if isinstance(data, Mapping) else data

    @model_validator(mode="after")
    def _options_exist(self) -> Self:
        if "rules" in self.choice:
            raise ValueError("a rule cannot have rules")
        # Options of the strategy that `[chunking]` chooses can be checked only together with that choice.
        if self.strategy is not None or not self._has_foreign_options():
            ChunkingSettings.model_validate(self.choice)
        return self

    def _has_foreign_options(self) -> bool:
        """Whether the rule names options of a strategy that it does not name itself."""
        options_set = self.choice.keys() - _SHORTHAND
        return any(options_set & options.model_fields.keys() for options in OPTION_TABLES.values())


class ChunkingSettings(StrategyTables):
    """How notes are split into chunks. After a change here, the index is rebuilt automatically."""

    contextual: ContextualOptions = ContextualOptions.defaults()
    rules: Annotated[
        tuple[ChunkingRule, ...],
        Allowed("a list; each a table with paths, and a strategy, options of a strategy, or both"),
        Trust.NAME,
    ] = ()
    """Other strategies or options for some notes, as tables "[[chunking.rules]]"; the first matching rule
    applies."""

    @property
    def asks_model(self) -> bool:
        """Whether some note is split with the help of a language model."""
        strategies = {self.strategy, *(rule.strategy for rule in self.rules)}
        needs_llm = any(options.needs_llm for name, options in OPTION_TABLES.items() if name in strategies)
        return needs_llm or self.is_contextual

    @property
    def is_contextual(self) -> bool:
        """Whether the chunks of some note get preambles."""
        return self.contextual.granularity != "none" or any(
            "contextual" in rule.choice for rule in self.rules
        )

    @model_validator(mode="before")
    @classmethod
    def _flat_options_go_home(cls, data: object) -> object:
        return without_overruled(normalize_strategy_options(data))[0] if isinstance(data, Mapping) else data

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
                    is_unknown = found["type"] == "extra_forbidden"
                    wrong_value = f"does not accept {found['input']!r} as {key}"
                    fault = f"has no option {key}" if is_unknown else wrong_value
                    reason = f"the rule for {rule.paths[0]} names no strategy, and the chosen one {fault}"
                    raise DisagreementError(reason, "rules", "strategy") from error
        return self


_SHORTHAND = frozenset({"chunk_size", "chunk_overlap"})

_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "header": "header_based",
        "headers": "header_based",
        "markdown_header": "header_based",
        "fixed": "word",
        "fixed_size": "word",
        "sliding_window": "word",
        "words": "word",
        "tokens": "token",
        "paragraphs": "paragraph",
        "recursive_character": "recursive",
        "heuristic": "discourse",
        "parent-child": "parent_child",
        "whole_note": "none",
    }
)
"""What other systems call a strategy that we have under another name."""


def _with_our_name(table: Mapping[str, object]) -> dict[str, object]:
    name = table.get("strategy")
    return {**table, "strategy": _OTHER_NAMES.get(name, name)} if isinstance(name, str) else dict(table)


def normalize_strategy_options(table: Mapping[str, object]) -> dict[str, object]:
    """The table `[chunking]` with every option in the table of its strategy.

    Options may stand flat where the same table names their strategy; `chunk_size` and `chunk_overlap`
    without a strategy mean `word`. A key that is in both places, or belongs to no table, stays
    where it is and is a mistake there. Names that other systems give to a strategy become ours.
    `contextual = true` asks for a preamble a chunk.
    """
    moved = _with_our_name(table)
    if isinstance(moved.get("contextual"), bool):
        moved["contextual"] = {"granularity": "chunk" if moved["contextual"] else "none"}
    if "strategy" not in moved and _SHORTHAND & moved.keys():
        moved["strategy"] = "word"
    name = moved.get("strategy")
    options = OPTION_TABLES.get(name) if isinstance(name, str) else None
    own = moved.get(str(name), {})
    if options is None or not isinstance(own, Mapping):
        return moved
    flat = [key for key in moved if key in options.model_fields]
    home = {**own, **{key: moved.pop(key) for key in flat if key not in own}}
    return {**moved, str(name): home} if home else moved


def without_overruled(table: Mapping[str, object]) -> tuple[dict[str, object], dict[str, str]]:
    """A normalized table without `chunk_size` and `chunk_overlap` where it names a strategy that has no such
    options, and for each of these why it is left out: the name of the strategy counts."""
    strategy = table.get("strategy")
    left_out = [key for key in table if key in _SHORTHAND] if strategy in get_args(StrategyName) else []
    reason = f'is an option of "word", and the strategy is "{strategy}"'
    return {key: table[key] for key in table if key not in left_out}, dict.fromkeys(left_out, reason)
