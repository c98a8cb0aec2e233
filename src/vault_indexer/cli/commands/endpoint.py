"""A command made of a row of the table of endpoints, for those without a module of their own."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vault_indexer.cli.completed_names import complete_strategy
from vault_indexer.cli.connection.connect import with_connection
from vault_indexer.cli.output.columns import print_rows
from vault_indexer.cli.output.query_words import QueryCommand
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.cli.vault_folder import note_in_vault
from vault_indexer.contract.parameters import Parameter, Value
from vault_indexer.serve.api.endpoints import Endpoint

if TYPE_CHECKING:
    from rich.text import Text

_METAVARS = {"note": "NOTE", "query": "QUERY"}


def command_of(endpoint: Endpoint[Any]) -> typer.Typer:
    """The `app` of the command. Required parameters are its arguments, the others its options.

    It prints the answer as JSON with `--json`, else each key of it with its value or its rows.
    """

    def run(selection: VaultSelection, output: Output, **given: object) -> None:
        answer = with_connection(
            selection,
            lambda connection: connection.index.ask(endpoint, **_values(endpoint, given, connection.vault)),
        )
        if output.json:
            print_json(answer)
        else:
            print_answer(answer)

    run.__doc__ = endpoint.help
    own = [_command_parameter(parameter) for parameter in endpoint.parameters]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
        for name, kind in (("selection", VaultSelection), ("output", Output))
    ]
    # typer and `one_command` read both.
    run.__signature__ = inspect.Signature([*shared, *own])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*shared, *own)}
    takes_query = any(parameter.holds == "query" for parameter in endpoint.parameters)
    return one_command(run, QueryCommand if takes_query else None)


def print_answer(answer: Mapping[str, object]) -> None:
    """An answer for a person: a line for each value, and a heading and rows for each list."""
    console = out()
    for name, value in answer.items():
        if isinstance(value, list):
            console.print(text((f"{_words(name)}: ", ""), (f"{len(value):,}", "bold")))
            print_rows(console, _rows(value), head=2)
        else:
            console.print(text((f"{_words(name)}  ", "dim"), (_cell(value), "")))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _rows(entries: Sequence[object]) -> list[tuple[Text, ...]]:
    rows = [list(one.values()) if isinstance(one, dict) else [one] for one in entries]
    return [(text((" ", "")), *(text((_cell(value), "")) for value in row)) for row in rows]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name or 'unknown'} {_cell(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    return "" if value is None else str(value)


def _command_parameter(parameter: Parameter) -> inspect.Parameter:
    kind = _kind(parameter)
    default: object = parameter.default or None if parameter.choices else parameter.default
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if parameter.required else default,
        annotation=Annotated[
            kind if parameter.required or default is not None else kind | None, _argument(parameter)
        ],
    )


def _kind(parameter: Parameter) -> Any:
    if parameter.holds == "query":
        return list[str]
    if parameter.choices:  # an empty one is chosen by leaving the option out
        make: Any = StrEnum
        return make(parameter.name, [(choice.upper(), choice) for choice in parameter.choices if choice])
    return parameter.kind


def _argument(parameter: Parameter) -> Any:
    bounds: Mapping[str, Any] = {"help": parameter.help, "min": parameter.minimum, "max": parameter.maximum}
    if parameter.required:
        return typer.Argument(metavar=_METAVARS.get(parameter.holds, parameter.name.upper()), **bounds)
    completion = complete_strategy if parameter.holds == "strategy" else None
    return typer.Option(f"--{parameter.name.replace('_', '-')}", autocompletion=completion, **bounds)


def _values(endpoint: Endpoint[Any], given: Mapping[str, object], vault: Path) -> dict[str, Value]:
    values = {one.name: _value(one, given[one.name], vault) for one in endpoint.parameters}
    return {name: value for name, value in values.items() if value is not None}


def _value(parameter: Parameter, given: object, vault: Path) -> Value:
    """The value of the endpoint: words become a query, the note that a person names its path in the vault."""
    if isinstance(given, list):
        return " ".join(given)
    if isinstance(given, StrEnum):
        return given.value
    if isinstance(given, str):
        return note_in_vault(given, vault) if parameter.holds == "note" and given else given
    return given if isinstance(given, int | float) else None
