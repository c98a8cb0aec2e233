"""The answer of each tool, as a page of JSON. This module does not use the SDK: `server` converts the
answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast
from urllib.parse import quote

from vault_indexer.contract.codec import encode, schema_of
from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.contract.parameters import Parameter, Value, WrongRequestError, validate
from vault_indexer.errors import IndexUnusableError, NoteError, UnknownNoteError, UsageError
from vault_indexer.model import (
    FetchedMetadata,
    FetchedNote,
    FoundNote,
    FoundNotes,
    Hit,
    JsonValue,
    NoteList,
    NotesRead,
    NoteText,
    Progress,
    ReadNote,
    SearchAnswer,
    StrategyChange,
    count_in_notes,
)
from vault_indexer.serve.api.endpoints import NOTE, SEARCH, Endpoint
from vault_indexer.serve.api.openapi import answer_type
from vault_indexer.serve.api.respond import AnswerContext, answer
from vault_indexer.serve.mcp.budget import (
    Keep,
    Schema,
    as_text,
    kept_schema,
    likely_tokens,
    merged_schema,
    page,
    project,
    tokens_of,
)
from vault_indexer.serve.mcp.reading import (
    TEXT_TOKENS,
    around_marks,
    beginning_of,
    lines_of,
    part_of,
    section_of,
)
from vault_indexer.serve.mcp.views import ToolView

HIT_TOKENS = 84
"""The size of a hit with its snippet, by `likely_tokens`: ten hits have less than 1,000 tokens."""

_LEAST_SNIPPET = 12
_LOOK_AGAIN_S = 0.2

_MOST_NOTES = 20
_NOTE_TOKENS = 50
"""The overhead of a note in a list of notes, in addition to its text."""

_NAME_CHARS = 60
Object = dict[str, JsonValue]
CallWatch = Callable[[str], AbstractContextManager[object]]
"""A context manager around a call of the tool with a name; it gets the error of the call."""


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool that is an unmodified endpoint. `answer` takes a value for each of its parameters, and raises
    VaultIndexerError. An agent gets the keys `keep` of the answer (None: all)."""

    endpoint: Endpoint[Any]
    answer: Callable[[Mapping[str, Value]], Object]
    keep: Keep | None = None


def input_schema(view: ToolView) -> Schema:
    parameters = view.endpoint.parameters
    required = [parameter.name for parameter in parameters if parameter.required]
    return {
        "type": "object",
        "properties": {
            one.name: _list_schema(view) if one.name == view.listed else _parameter_schema(one)
            for one in parameters
        },
        **({"required": cast("JsonValue", required)} if required else {}),
    }


def _list_schema(view: ToolView) -> Schema:
    values = view.listed_values
    return {"type": "array", "items": {"enum": list(values)} if values else {"type": "string"}}


def _parameter_schema(parameter: Parameter) -> Schema:
    """The JSON schema of one parameter, as short as possible: bounds in bytes and defaults that mean "none"
    are omitted."""
    short = ("type", "exclusiveMinimum", "maximum")  # agents never request fewer than one
    schema = {name: value for name, value in parameter.schema.items() if name in short}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default not in (None, "", False):
        schema["default"] = parameter.default
    if parameter.help:
        schema["description"] = parameter.help
    return schema


def output_schema(view: ToolView) -> Schema:
    """The schema of a tool's structured content: an object, as the protocol requires."""
    whole = schema_of(answer_type(view.endpoint.answer))
    members = cast("list[Schema]", whole.get("anyOf", [whole]))
    schema = merged_schema([kept_schema(member, view.keep) for member in members])
    for name in view.lists if view.optional else ():
        entry = cast("Object", cast("dict[str, Schema]", schema["properties"])[name]["items"])
        entry["required"] = [one for one in cast("list[str]", entry["required"]) if one not in view.optional]
    if view.lists:
        cast("Object", schema["properties"])["next_offset"] = {"type": "integer"}
    return schema


def checked_arguments(view: ToolView, given: Mapping[str, object]) -> dict[str, Value]:
    """A value for each parameter. Raises UsageError, with the text of the HTTP API, for a wrong, missing or
    unknown one; null counts as not given."""
    values = {name: value for name, value in given.items() if value is not None}
    listed = values.get(view.listed)
    if isinstance(listed, list):
        values[view.listed] = view.separator.join(str(one) for one in listed)
    try:
        return validate(view.endpoint.parameters, values, is_strict=not view.is_read_only)
    except WrongRequestError as error:
        raise UsageError(str(error)) from error


def answer_of(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """The requested page. While an index is built for the first time, it waits for the first notes. Raises
    VaultIndexerError."""
    if added := context.actions.tools.get(view.name):
        found = _once_there(context, partial(added, arguments))
    else:
        found = _once_there(context, partial(_OWN.get(view.name, _row_answer), view, context, arguments))
    if not view.lists or view.pages_itself:
        return found
    offset, limit = cast("int", arguments["offset"]), cast("int | None", arguments.get("limit"))
    if view.counts_notes and limit is not None:
        (name,) = view.lists
        rest = cast("list[Object]", found[name])[offset:]
        limit = count_in_notes(((hit.get("vault"), hit["path"]) for hit in rest), limit)
    return page(cast("Object", project(found, view.keep)), view.lists, offset, limit)


def _once_there(context: AnswerContext, call: Callable[[], Object]) -> Object:
    """The answer as soon as there is an index. If there is none in time, raises an error that reports the
    progress."""
    deadline = time.monotonic() + context.first_notes_s
    while True:
        try:
            return call()
        except IndexUnusableError as error:
            if context.vaults.are_several and not context.vault:
                raise
            state = context.service.status()
            if state.state != "building":
                raise
            if context.is_cancelled() or time.monotonic() > deadline:
                raise IndexUnusableError(f"{error}{_progress(state.progress)}") from error
        threading.Event().wait(_LOOK_AGAIN_S)


def _progress(progress: Progress | None) -> str:
    read = f"; {progress.notes:,} of {progress.total:,} notes are read" if progress and progress.total else ""
    return f"{read}; call again in a few seconds (status shows the progress)"


def _row_answer(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    return encode(_asked(view.row, context, _row_values(view, arguments)))


def _asked(row: Endpoint[Any], context: AnswerContext, values: Mapping[str, Value]) -> Any:
    return answer(row, context, row.all_arguments(values))


def _row_values(view: ToolView, arguments: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the parameters of the row, under the row's names."""
    own = {parameter.field: parameter.name for parameter in view.row.parameters}
    values = {own[one.field]: arguments[one.name] for one in view.endpoint.parameters if one.field in own}
    if "limit" in arguments and not view.pages_itself:
        values.pop("limit", None)
        if not (view.has_all and arguments.get("view") != "mentions"):
            # A search with a small limit ranks fewer candidates, so pages belong to one ranking only if their
            # limits are equal.
            values["limit"] = MAX_LIMIT
    return values


_MOST_COPIES = 20


def _search(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    found: SearchAnswer = _asked(SEARCH, context, _row_values(view, arguments))
    is_full = arguments["detail"] == "full"
    hits = tuple(_found_note(context, result, is_full=is_full) for result in found.results)
    likely = max(0, found.likely - cast("int", arguments["offset"]))
    return encode(
        FoundNotes(found.verdict, likely, hits, found.missing_words, found.notices, found.corrections)
    )


def _found_note(context: AnswerContext, hit: Hit, *, is_full: bool) -> FoundNote:
    own_id = _id_of(context, hit.path, hit.vault or context.vault)
    found = FoundNote(
        id=own_id,
        title=hit.title,
        url=f"vault://{quote(own_id)}",
        path=hit.path,
        header_path=hit.header_path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        relevance=hit.relevance,
        vault=hit.vault,
        copies=hit.copies[:_MOST_COPIES],
    )
    if is_full:
        return replace(found, content=hit.content, modified_time=hit.modified_time, passage=hit.passage)
    room = max(_LEAST_SNIPPET, HIT_TOKENS - likely_tokens(as_text(encode(found))))
    chars = int(room * len(hit.snippet) / max(1.0, likely_tokens(hit.snippet)))
    return replace(found, snippet=around_marks(hit.snippet, hit.marks, chars), passage=hit.passage)


def _ask(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """The answer, with its passages if requested, or with places to look at if there is no answer."""
    found = _row_answer(view, context, arguments)
    wanted = bool(arguments["passages"])
    if not wanted and found["kind"] not in ("passages", "declined"):
        return {**found, "passages": []}
    unwanted = "snippet" if wanted else "content"
    passages = cast("list[Object]", found["passages"])
    return {
        **found,
        "passages": [
            {name: value for name, value in passage.items() if name != unwanted} for passage in passages
        ],
    }


def _read_note(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    path, heading = str(arguments["path"]), str(arguments["heading"])
    first, last = cast("int | None", arguments["start_line"]), cast("int | None", arguments["end_line"])
    offset = cast("int", arguments["offset"])
    note = note_text(context, path)
    outline = context.service.outline(note.path)
    if heading.strip():
        if first is not None or last is not None:
            raise UsageError("heading and lines are both given: give one of them")
        # The positions of headings refer to the indexed text, so that text is cut.
        note, span = replace(note, text=outline.text), section_of(outline, heading)
    else:
        span = lines_of(note.text, first or 1, last)
    return encode(part_of(note, span, offset) if offset else beginning_of(note, outline, span))


def _get_notes(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    """Each note has its share of a page; an unused part goes to the following notes."""
    paths = [path for path in dict.fromkeys(str(arguments["paths"]).split("\n")) if path.strip()]
    if not 0 < len(paths) <= _MOST_NOTES:
        raise UsageError(f"paths: {len(paths)} are given; allowed are 1 to {_MOST_NOTES}")
    room = TEXT_TOKENS - _NOTE_TOKENS * len(paths)
    found: list[ReadNote] = []
    for number, path in enumerate(paths):
        one = _note_within(context, path, room // (len(paths) - number))
        room -= tokens_of(one.text)
        found.append(one)
    return encode(NotesRead(tuple(found)))


def _note_within(context: AnswerContext, path: str, tokens: int) -> ReadNote:
    try:
        note = note_text(context, path)
    except (UsageError, NoteError) as error:
        return ReadNote(path, error=str(error))
    part = part_of(note, (0, len(note.text)), 0, tokens)
    return ReadNote(note.path, part.text, part.total_lines, note.modified_time, part.next_offset)


def _fetch(_view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    wanted = str(arguments["id"])
    own, name = in_its_vault(context, wanted)
    service = own.service
    try:
        path, heading = service.path_of(name), ""
    except UnknownNoteError:
        path, _, heading = name.partition("#")
        if not heading.strip():
            raise
    outline, note = service.outline(path), note_text(own, path)
    span = (0, len(note.text))
    if heading:
        note, span = replace(note, text=outline.text), section_of(outline, heading)
    part = beginning_of(note, outline, span)
    known = _id_of(own, note.path, own.vault)
    more = f"\n[…] The note goes on. An id of a section, such as {known}#Heading, gives more.\n"
    return encode(
        FetchedNote(
            id=wanted,
            title=outline.title,
            text=part.text + (more if part.next_offset else ""),
            url=outline.uri,
            metadata=FetchedMetadata(
                note.path, note.modified_time, tuple(one.heading for one in part.headings)
            ),
        )
    )


def _id_of(context: AnswerContext, path: str, vault: str) -> str:
    """The id of a note at the requested address: its path, after the name of its vault if there are several
    and the address covers all of them."""
    return path if context.address or not context.vaults.are_several else f"{vault}/{path}"


def in_its_vault(context: AnswerContext, name: str) -> tuple[AnswerContext, str]:
    """Splits an id or the path of a resource into its vault and the rest. Raises UnknownNoteError."""
    if context.vault or not context.vaults.are_several:
        return context, name
    vault, _, rest = name.partition("/")
    if vault not in context.vaults.names:
        known = ", ".join(context.vaults.names)
        raise UnknownNoteError(f"{name[:_NAME_CHARS]!r} does not begin with the name of a vault: {known}")
    return replace(context, vault=vault), rest


def _list_notes(view: ToolView, context: AnswerContext, arguments: Mapping[str, Value]) -> Object:
    offset = cast("int", arguments["offset"])
    found: NoteList = _asked(view.row, context, {**_row_values(view, arguments), "offset": offset})
    shown = page(encode(found), view.lists, 0)
    shown.pop("next_offset", None)
    end = offset + len(cast("list[JsonValue]", shown["notes"]))
    return {**shown, "next_offset": end} if end < found.count else shown


def note_text(context: AnswerContext, path: str) -> NoteText:
    """The current text of a note of the index. Raises VaultIndexerError."""
    note: NoteText = _asked(NOTE, context, {"path": path})
    return note


_OWN: Mapping[str, Callable[[ToolView, AnswerContext, Mapping[str, Value]], Object]] = {
    "search": _search,
    "ask": _ask,
    "read_note": _read_note,
    "get_notes": _get_notes,
    "fetch": _fetch,
    "list_notes": _list_notes,
    "recent_changes": _list_notes,
}


def strategy_change(context: AnswerContext, strategy: str) -> StrategyChange:
    """The change that `set_chunker` would make, with an explanation as the question to the user. Raises
    VaultIndexerError if it cannot be made."""
    setting = context.actions.strategy
    assert setting is not None
    current = setting.current()
    if strategy != current:
        setting.check(strategy)
    notes = context.service.status().counts.notes
    message = (
        f"The strategy is {current} already; nothing is changed."
        if current == strategy
        else f"Split notes by {strategy} instead of {current}? This writes [chunking] strategy into the "
        f"configuration of the vault, and the index of {notes} notes is rebuilt; searches go on meanwhile."
    )
    return StrategyChange(strategy, current, changed=False, message=message)


def change_strategy(context: AnswerContext, change: StrategyChange) -> StrategyChange:
    """Writes the strategy that the user agreed to. Raises VaultIndexerError."""
    setting = context.actions.strategy
    assert setting is not None
    setting.choose(change.strategy)
    message = "The strategy is written, and the index is being rebuilt: status shows the progress."
    return replace(change, changed=True, message=message)
