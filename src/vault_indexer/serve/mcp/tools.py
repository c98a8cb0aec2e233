"""The answer of each tool, as a page of JSON. No SDK here: `server` makes results of these answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from vault_indexer.contract.bounds import MAX_LIMIT
from vault_indexer.contract.codec import encode, schema_of
from vault_indexer.contract.parameters import Parameter, Value, WrongRequestError, validate
from vault_indexer.errors import UsageError
from vault_indexer.model import JsonValue, NoteText, StrategyChange
from vault_indexer.serve.api.endpoints import NOTE
from vault_indexer.serve.api.openapi import answer_type
from vault_indexer.serve.api.respond import AnswerContext, answer
from vault_indexer.serve.mcp.actions import AgentActions, EvalRequest
from vault_indexer.serve.mcp.budget import page
from vault_indexer.serve.mcp.projection import Schema, kept_schema, merged_schema, project
from vault_indexer.serve.mcp.reading import lines_of, part_of, section_of
from vault_indexer.serve.mcp.views import ToolView
from vault_indexer.vault import resolve_in_vault

_LAYERS = re.compile(r"[123](,[123])*")
Object = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool answers from."""

    answers: AnswerContext
    actions: AgentActions
    actions_of: Callable[[str], AgentActions] | None = None

    @property
    def vault_names(self) -> tuple[str, ...]:
        """What the vaults are called that it answers for."""
        return self.answers.vaults.names

    def on(self, vault: str, is_cancelled: Callable[[], bool]) -> ToolContext:
        """The same for one call: about the vault of this name ("": none is named)."""
        answers = replace(self.answers, vault=vault, is_cancelled=is_cancelled)
        own = self.actions_of(vault) if self.actions_of and vault else self.actions
        return replace(self, answers=answers, actions=own)


def input_schema(view: ToolView) -> Schema:
    """The schema of a tool's arguments."""
    parameters = view.endpoint.parameters
    required = [one.name for one in parameters if one.required]
    return {
        "type": "object",
        "properties": {
            one.name: _list_schema(view) if one.name == view.listed else _parameter_schema(one)
            for one in parameters
        },
        **({"required": cast("JsonValue", required)} if required else {}),
    }


def _list_schema(view: ToolView) -> Schema:
    return {"type": "array", "items": {"enum": list(view.listed_values)}}


def _parameter_schema(parameter: Parameter) -> Schema:
    """The JSON schema of one parameter, as short as it can be: bounds in bytes and defaults that stand for
    "none" are left out."""
    short = ("type", "exclusiveMinimum", "maximum")  # nobody asks for fewer than one
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
    schema = merged_schema([kept_schema(one, view.keep, view.described) for one in members])
    if view.lists:
        cast("Object", schema["properties"])["next_offset"] = {"type": "integer"}
    return schema


def checked_arguments(view: ToolView, given: Mapping[str, object]) -> dict[str, Value]:
    """A value for each parameter. Raises UsageError, in the words of the HTTP API, for one that is wrong,
    missing or unknown; null counts as not given."""
    values = {name: value for name, value in given.items() if value is not None}
    listed = values.get(view.listed)
    if isinstance(listed, list):
        values[view.listed] = ",".join(str(one) for one in listed)
    try:
        return validate(view.endpoint.parameters, values, is_strict=not view.is_read_only)
    except WrongRequestError as error:
        raise UsageError(str(error)) from error


def answer_of(view: ToolView, context: ToolContext, arguments: Mapping[str, Value]) -> Object:
    """The page that the arguments ask for. Raises VaultIndexerError."""
    own = _OWN.get(view.name)
    found = own(context, arguments) if own else _row_answer(view, context, arguments)
    if not view.lists:
        return found
    limit = cast("int | None", arguments.get("limit"))
    return page(
        cast("Object", project(found, view.keep)), view.lists, cast("int", arguments["offset"]), limit
    )


def _row_answer(view: ToolView, context: ToolContext, arguments: Mapping[str, Value]) -> Object:
    names = {one.name for one in view.row.parameters}
    values = {name: value for name, value in arguments.items() if name in names and name != "limit"}
    if "limit" in arguments and not (view.has_all and arguments.get("view") != "mentions"):
        # A search for few hits looks at fewer candidates, so only equal limits give pages of one ranking.
        values["limit"] = MAX_LIMIT
    return encode(answer(view.row, context.answers, view.row.all_arguments(values)))


def _read_note(context: ToolContext, arguments: Mapping[str, Value]) -> Object:
    path, heading = str(arguments["path"]), str(arguments["heading"])
    first, last = cast("int | None", arguments["start_line"]), cast("int | None", arguments["end_line"])
    note = note_text(context, path)
    if heading.strip():
        if first is not None or last is not None:
            raise UsageError("heading and lines are both given: give one of them")
        # Headings have their places in the text that was indexed, so that is the text to cut.
        outline = context.answers.service.outline(note.path)
        indexed = replace(note, text=outline.text)
        found = part_of(indexed, section_of(outline, heading), cast("int", arguments["offset"]))
    else:
        span = lines_of(note.text, first or 1, last)
        found = part_of(note, span, cast("int", arguments["offset"]))
    return encode(found)


def note_text(context: ToolContext, path: str) -> NoteText:
    """A note of the index, as it is in the vault now. Raises VaultIndexerError."""
    found = answer(NOTE, context.answers, NOTE.all_arguments({"path": path}))
    assert isinstance(found, NoteText)
    return found


def _run_eval(context: ToolContext, arguments: Mapping[str, Value]) -> Object:
    run = context.actions.run_evals
    assert run is not None
    layers = str(arguments["layers"]).replace(" ", "")
    if not _LAYERS.fullmatch(layers):
        raise UsageError(f"layers = {layers[:40]!r}: allowed are 1, 2 and 3, separated by commas")
    cases = _folder(context, arguments, "cases_root")
    report = run(
        EvalRequest(
            cases,
            _folder(context, arguments, "snapshots_root") if arguments["snapshots_root"] else None,
            tuple(sorted({int(layer) for layer in layers.split(",")})),
            live=bool(arguments["live"]),
            agent=str(arguments["agent"]),
        )
    )
    return {name: report[name] for name in _REPORT_KEYS if report.get(name) is not None}


def _folder(context: ToolContext, arguments: Mapping[str, Value], name: str) -> Path:
    """The folder of the vault that an argument names. Raises VaultIndexerError for any other."""
    given = str(arguments[name])
    vault = Path(context.answers.service.status().vault)
    folder = resolve_in_vault(vault, given.strip().rstrip("/"))
    if not folder.is_dir():
        raise UsageError(f"{name} = {given[:200]!r}: no such folder in the vault")
    return folder


_REPORT_KEYS = ("layers_run", "summary", "results")
_OWN: Mapping[str, Callable[[ToolContext, Mapping[str, Value]], Object]] = {
    "read_note": _read_note,
    "run_eval": _run_eval,
}


def strategy_change(context: ToolContext, strategy: str) -> StrategyChange:
    """What `set_chunker` would change, and in words what that means: the question to the user."""
    setting = context.actions.strategy
    assert setting is not None
    current = setting.current()
    notes = context.answers.service.status().counts.notes
    message = (
        f"The strategy is {current} already; nothing is changed."
        if current == strategy
        else f"Split notes by {strategy} instead of {current}? This writes [chunking] strategy into the "
        f"configuration of the vault, and the index of {notes} notes is rebuilt; searches go on meanwhile."
    )
    return StrategyChange(strategy, current, changed=False, message=message)


def change_strategy(context: ToolContext, change: StrategyChange) -> StrategyChange:
    """Write the strategy that the user agreed to. Raises VaultIndexerError."""
    setting = context.actions.strategy
    assert setting is not None
    setting.choose(change.strategy)
    message = "The strategy is written, and the index is being rebuilt: status shows the progress."
    return replace(change, changed=True, message=message)
