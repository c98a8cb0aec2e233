"""What the options of chunking strategies share: their base class and their types of numbers and patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from vault_indexer.config.fields import DisagreementError, Table, Trust, Unit

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
