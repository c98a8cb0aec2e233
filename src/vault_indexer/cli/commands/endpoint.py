"""The old commands `health`, `chunks` and `clusters`, made of their rows of the table of endpoints."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vault_indexer.cli.completed_names import complete_strategy
from vault_indexer.cli.connection.connect import with_connection
from vault_indexer.cli.output.chunk_rows import print_chunk
from vault_indexer.cli.output.columns import print_row, print_rows
from vault_indexer.cli.output.query_words import QueryCommand
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.cli.vault_folder import note_in_vault
from vault_indexer.contract.parameters import Parameter, Value
from vault_indexer.serve.api.endpoints import CHUNKS, CLUSTERS, HEALTH, Endpoint
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from rich.console import Console

_METAVARS = {"note": "NOTE", "query": "QUERY"}


def command_of(endpoint: Endpoint[Any]) -> typer.Typer:
    """The `app` of the command. Required parameters are its arguments, the others its options.

    It prints the answer as JSON with `--json`, else as a person reads it.
    """

    def run(selection: VaultSelection, output: Output, **given: object) -> None:
        answer = with_connection(
            selection,
            lambda connection: connection.index.ask(endpoint, **_values(endpoint, given, connection.vault)),
        )
        if output.json:
            print_json(answer)
        else:
            print_answer(endpoint.name, answer)

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


def print_answer(name: str, answer: Mapping[str, Any]) -> None:
    """The answer of an endpoint for a person."""
    _VIEWS[name](out(), answer)


def _print_health(console: Console, health: Mapping[str, Any]) -> None:
    sizes = f"{health['median']:,} characters in the middle, {health['largest']:,} at most"
    print_row(console, quantity(health["notes"], "note"), "", "")
    print_row(console, quantity(health["chunks"], "chunk"), sizes, "")
    print_row(console, quantity(health["orphans"], "orphan"), "", "")
    wanted = ", ".join(f"{one['target']} {one['count']}" for one in health["wanted"])
    print_row(console, f"{quantity(health['wanted_count'], 'target')} of broken links", wanted, "")


def _print_chunks(console: Console, answer: Mapping[str, Any]) -> None:
    counts = f"  {quantity(len(answer['chunks']), 'chunk')}, {answer['strategy']}"
    console.print(text((answer["path"], "cyan"), (counts, "dim")))
    for one in answer["chunks"]:
        print_chunk(console, one["start_line"], one["end_line"], one["header_path"], one["content"])


def _print_clusters(console: Console, answer: Mapping[str, Any]) -> None:
    rows = [
        (
            text((one["name"], "cyan")),
            text((quantity(one["notes"], "note"), "")),
            text((f"{quantity(one['links'], 'link')} among them", "dim")),
        )
        for one in answer["clusters"]
    ]
    print_rows(console, rows, head=2)


_VIEWS: Mapping[str, Callable[[Console, Mapping[str, Any]], None]] = MappingProxyType(
    {HEALTH.name: _print_health, CHUNKS.name: _print_chunks, CLUSTERS.name: _print_clusters}
)
"""Each command of this module, by the name of its endpoint."""


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
