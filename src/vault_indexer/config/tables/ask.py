"""The options of answers to questions."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from vault_indexer.config.fields import TUNING, Glob, Table, Trust, Unit


class AskSettings(Table):
    """How `indexer ask` answers. With a model in the table llm, that model writes the answer; without one,
    the answer quotes sentences of your notes.
    """

    trust: ClassVar[Trust] = Trust.VAULT

    limit: Annotated[int, Field(ge=1, le=50), Unit("passages"), TUNING] = Field(
        default=10, description="number of passages that are read, unless a question asks for another number"
    )
    sentences: Annotated[int, Field(ge=1, le=20), Unit("sentences"), TUNING] = Field(
        default=3, description="largest number of sentences that an answer quotes"
    )
    max_tokens: Annotated[int, Field(ge=200, le=1_000_000), Unit("tokens"), Trust.USER, TUNING] = Field(
        default=4000,
        description="largest amount of text of your notes that one question sends to the language "
        "model; what llm.context_window leaves is a bound, too",
    )
    min_relevance: Annotated[float, Field(ge=0, le=1), Unit("relevance"), Trust.USER, TUNING] = Field(
        default=0.3,
        description="passages with a lower relevance are not sent to the language model",
    )
    never_send: Annotated[tuple[Glob, ...], Trust.USER] = Field(
        default=(),
        description="notes that no question sends to a language model: patterns of paths as in .gitignore, "
        'and properties, as "[private]" or "[status:secret]". Such notes are still searched and quoted. '
        'Examples: "Private/", "[private]"',
    )
    timeout_s: Annotated[float, Field(gt=0, le=600), Unit("seconds"), Trust.USER, TUNING] = Field(
        default=60.0,
        description="longest wait for a whole answer of the language model; it is asked once more after that",
    )
    judge: Annotated[bool, Trust.USER] = Field(
        default=False,
        description="have the language model look at each sentence of its answer once more, after the "
        "checks that need none: one more request for each sentence",
    )
