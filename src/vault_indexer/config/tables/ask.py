"""The options of answers to questions."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from vault_indexer.config.fields import Glob, Table, Trust, Tuned


class AskSettings(Table):
    """How `indexer ask` answers. With a model in the table llm, that model writes the answer; without one,
    the answer quotes sentences of your notes.
    """

    trust: ClassVar[Trust] = Trust.VAULT

    limit: Tuned[int] = 10  # passages that are read
    sentences: Tuned[int] = 3  # sentences that an answer quotes
    max_tokens: Tuned[int] = 4000  # tokens of notes that one question sends to the language model
    min_relevance: Tuned[float] = 0.3  # relevance; passages below are not sent to the language model
    never_send: Annotated[tuple[Glob, ...], Trust.USER] = Field(
        default=(),
        description="notes that no question sends to a language model: patterns of paths as in .gitignore, "
        'and properties, as "[private]" or "[status:secret]". Such notes are still searched and quoted. '
        'Examples: "Private/", "[private]"',
    )
    timeout_s: Tuned[float] = 60.0  # seconds for a whole answer; the model is asked once more after that
    judge: Annotated[bool, Trust.USER] = Field(
        default=False,
        description="have the language model look at each sentence of its answer once more, after the "
        "checks that need none: one more request for each sentence",
    )
