"""`indexer gateway`, `indexer gateway token` and `indexer gateway unpublish`."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from vault_indexer.cli.commands.unpublish import unpublish
from vault_indexer.cli.output.terminal import note, print_json
from vault_indexer.cli.parameters import Output, Place, one_command
from vault_indexer.daemon.log import logging_to
from vault_indexer.errors import UsageError
from vault_indexer.gateway.server import GatewayFile, run_gateway
from vault_indexer.gateway.users import NewToken
from vault_indexer.serve.server import bind, ended_by_signals
from vault_indexer.system import keep_to_one_thread


def gateway(
    place: Place,
    output: Output,
    action: Annotated[
        Literal["serve", "token", "unpublish"],
        typer.Argument(
            metavar="[serve|token|unpublish]",
            help="serve: answer searches. token: make a token for a user. unpublish: remove a vault from the "
            "Milvus server; its notes and its index stay.",
        ),
    ] = "serve",
    log_file: Annotated[
        Path | None,
        typer.Option("--log-file", metavar="FILE", help="Log to this file, 3 x 5 MB at most."),
    ] = None,
) -> None:
    """Search the vaults of many daemons, for many users, by the configuration of --config FILE."""
    if action == "token":
        _print_token(output)
        return
    if action == "unpublish":
        unpublish(place)
        return
    if place.config is None:
        raise UsageError("--config FILE is missing: the gateway has a configuration of its own")
    with logging_to(log_file):
        _serve(place.config)


def _print_token(output: Output) -> None:
    made = NewToken.make()
    if output.json:
        print_json({"token": made.token, "token_sha256": made.sha256})
        return
    typer.echo(f'{made.token}\ntoken_sha256 = "{made.sha256}"')
    note("The first line is for the user, the second for [[users]] in the configuration.")


def _serve(config: Path) -> None:
    keep_to_one_thread()
    file = GatewayFile.read(config)
    settings = file.settings
    server = settings.server
    with ended_by_signals(), closing(bind(server.port, server.host)) as listener:
        port = listener.getsockname()[1]
        host = f"[{server.host}]" if ":" in server.host else server.host

        def ready() -> None:
            note(
                f"gateway: http://{host}:{port}, {len(settings.users)} users, Milvus at {settings.milvus.uri}"
            )

        run_gateway(file, listener, os.environ, ready)


app = one_command(gateway)
