"""`custom`: a function of the user's own cuts the note; what it yields is held to the contract.

It gets a `model.Note` and yields `(start, end)` spans of `note.text`, or `model.Chunk`s, of which the span,
`overlap`, `context`, `preamble`, `extra` and `embed` count: ids, lines and header paths are made here.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import islice

from vault_indexer.chunk.assemble import Draft, assemble, trimmed
from vault_indexer.chunk.outline import Outline
from vault_indexer.chunk.spans import trim
from vault_indexer.config.chunking_models import CustomOptions
from vault_indexer.errors import NoteError, ProviderError, UsageError
from vault_indexer.model import Chunk, JsonValue, Note

STRATEGY = "custom"
GROUP = "vault_indexer.chunkers"
"""Entry points of this group may be named in `chunking.custom.function`."""

CutFunction = Callable[[Note], Iterable[object]]


class CustomChunker:
    """Chunks by a function from outside.

    Its module is imported: callers must not pass a name that a note or a vault chose. Raises UsageError for
    a name that means nothing, ProviderError for one that cannot be imported.
    """

    strategy = STRATEGY

    def __init__(self, options: CustomOptions) -> None:
        self._name = options.function
        self._function = _function(options.function)

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note. Raises NoteError, which names the function and what it did wrong."""
        try:
            drafts = [self._draft(note, number, item) for number, item in enumerate(self._called(note))]
            drafts = _checked(note, trimmed(note.text, [draft for draft, _ in drafts]))
        except _ContractError as broken:
            raise NoteError(f"{note.path}: chunking.custom.function {self._name}: {broken}") from broken
        return assemble(note, STRATEGY, drafts, Outline(note))
