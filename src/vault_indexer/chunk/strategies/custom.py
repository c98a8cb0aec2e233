"""`custom`: a user function splits the note; its chunks are checked against the contract.

It gets a `model.Note` and yields `(start, end)` spans of `note.text`, or `model.Chunk`s. Of these, the span,
`overlap`, `context`, `preamble`, `extra` and `embed` are used; ids, lines and header paths are set here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import cast

from vault_indexer.chunk.cutting.assemble import Draft, assemble
from vault_indexer.chunk.cutting.spans import trim
from vault_indexer.chunk.cutting.tokenizer_choice import import_function
from vault_indexer.config.tables.chunking_options import CustomOptions
from vault_indexer.errors import NoteError, UsageError
from vault_indexer.model import Chunk, JsonValue, Note

STRATEGY = "custom"
GROUP = "vault_indexer.chunkers"
"""Entry points of this group may be named in `chunking.custom.function`."""

SplitFunction = Callable[[Note], Iterable[object]]


class _ContractError(ValueError):
    """The function's result is not a valid division of the note."""


class CustomChunker:
    """Chunks from a user function.

    Its module is imported: callers must not pass a name from a note or a vault. Raises UsageError for an
    invalid name, ProviderError for one that cannot be imported.
    """

    strategy = STRATEGY

    def __init__(self, options: CustomOptions) -> None:
        if not options.function:
            raise UsageError(
                "chunking.custom.function is empty: name module:function, or an entry point of the group "
                + GROUP
            )
        self._name = options.function
        function = import_function("chunking.custom.function", options.function, GROUP)
        self._function = cast("SplitFunction", function)

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note. Raises NoteError, which names the function and its mistake."""
        try:
            items = self._call(note)
            read = (_read_item(note, number, item) for number, item in enumerate(items))
            drafts = [draft for draft in read if draft]
            _check_order(drafts)
            _check_cover(note, drafts)
        except _ContractError as broken:
            raise NoteError(f"{note.path}: chunking.custom.function {self._name}: {broken}") from broken
        return assemble(note, STRATEGY, drafts)

    def _call(self, note: Note) -> list[object]:
        """All items of the function. More chunks than characters indicate that it would never end."""
        most = len(note.text) + 1
        try:
            items = list(islice(self._function(note), most + 1))
        except Exception as error:  # user code: whatever it raises, the other notes go on
            raise _ContractError(f"raised {type(error).__name__}: {' '.join(str(error).split())}") from error
        if len(items) > most:
            raise _ContractError(f"yields more than {most} chunks for {len(note.text)} characters")
        return items


def _read_item(note: Note, number: int, item: object) -> Draft | None:
    """The checked item without surrounding blank lines; None for a blank one."""
    start, end = _span(number, item)
    if not note.body_start <= start <= end <= len(note.text):
        raise _ContractError(
            f"chunk {number} is {start} to {end}, outside the body of the note,"
            f" {note.body_start} to {len(note.text)}"
        )
    bare_start, bare_end = trim(note.text, start, end)
    if bare_end <= bare_start:
        return None
    if not isinstance(item, Chunk):
        return Draft(bare_start, bare_end)
    if item.body != note.text[start:end]:
        raise _ContractError(f"the body of chunk {number} is not the note's text from {start} to {end}")
    if item.overlap and not note.text.endswith(item.overlap, 0, start):
        raise _ContractError(f"the overlap of chunk {number} is not the text right before {start}")
    return Draft(
        bare_start,
        bare_end,
        overlap=item.overlap,
        context=item.context,
        preamble=item.preamble,
        extra=_json_only(number, item.extra),
        embed=item.embed,
    )


def _span(number: int, item: object) -> tuple[int, int]:
    match item:
        case Chunk(start_pos=int(start), end_pos=int(end)) | (int(start), int(end)):
            return start, end
    raise _ContractError(f"chunk {number} is neither (start, end) nor a Chunk: {item!r:.80}")


def _json_only(number: int, extra: object) -> dict[str, JsonValue]:
    try:
        read = json.loads(json.dumps(extra))
    except (TypeError, ValueError, RecursionError) as error:
        raise _ContractError(f"the extra of chunk {number} is not JSON: {error}") from error
    level = read.get("level", 0) if isinstance(read, dict) else None
    if not isinstance(read, dict) or not isinstance(level, int):
        raise _ContractError(f"the extra of chunk {number} must be a table, and its level a whole number")
    return read


def _check_order(drafts: Sequence[Draft]) -> None:
    """Checks that the chunks of each level are in order and repeat only text of the previous one."""
    before: dict[JsonValue, Draft] = {}
    for draft in drafts:
        level = draft.extra.get("level", 0)
        last = before.get(level)
        if last and draft.start < last.end:
            spans = f"{last.start} to {last.end} and {draft.start} to {draft.end}"
            raise _ContractError(f"the chunks {spans} overlap or are out of order")
        begin = draft.start - len(draft.overlap)
        if draft.overlap and (last is None or begin < last.start - len(last.overlap)):
            raise _ContractError(
                f"the overlap of the chunk at {draft.start} is not the end of the chunk before"
            )
        before[level] = draft


def _check_cover(note: Note, drafts: Sequence[Draft]) -> None:
    """Checks that every non-blank character is in a chunk."""
    pos = note.body_start
    for draft in [*sorted(drafts, key=lambda draft: draft.start), None]:
        end = draft.start if draft else len(note.text)
        if pos < end and (missed := note.text[pos:end].strip()):
            where = note.text.index(missed[0], pos)
            line = note.text.count("\n", 0, where) + 1
            raise _ContractError(f"leaves out text at {where} (line {line}): {missed[:40]!r}")
        pos = max(pos, draft.end if draft else end)
