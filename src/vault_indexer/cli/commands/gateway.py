"""`indexer gateway` and what whoever runs one needs: tokens, vaults, rights."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated, Literal

import typer

from vault_indexer.cli.commands.unpublish import remove_publication
from vault_indexer.cli.output.terminal import note, print_json
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.config.edits.gateway import add_right, add_withdrawn
from vault_indexer.config.gateway import load_gateway
from vault_indexer.daemon.log import logging_to
from vault_indexer.errors import UsageError
from vault_indexer.gateway.administration import GatewayAdministration
from vault_indexer.gateway.server import GatewayFile, gateway_listener, run_gateway
from vault_indexer.gateway.users import NewToken, full_name
from vault_indexer.serve.server import ended_by_signals
from vault_indexer.system import keep_to_one_thread
from vault_indexer.text.phrases import quantity


def gateway(
    selection: VaultSelection,
    output: Output,
    action: Annotated[
        Literal["serve", "token", "vaults", "grant", "unpublish"],
        typer.Argument(
            metavar="[serve|token|vaults|grant|unpublish]",
            help="serve: answer searches. token: make a token for a user. vaults: list what is published. "
            "grant USER VAULT: let a user, or group:NAME, read the vault of an id or of KEEPER/NAME. "
            "unpublish ID: remove a vault from the Milvus server; its notes and its index stay.",
        ),
    ] = "serve",
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[USER VAULT|ID]", help="Of grant and unpublish.")
    ] = None,
    log_file: Annotated[
        Path | None,
        typer.Option("--log-file", metavar="FILE", help="Log to this file, 3 x 5 MB at most."),
    ] = None,
) -> None:
    """Search the vaults of many daemons, for many users, by the configuration of --config FILE."""
    given = tuple(arguments or ())
    wanted = {"grant": (2,), "unpublish": (0, 1)}.get(action, (0,))
    if len(given) not in wanted:
        raise UsageError(f"gateway {action} takes {_TAKES.get(action, 'no more words')}")
    if action == "token":
        _print_token(output)
    elif action == "unpublish" and not given:
        _unpublish_own(selection)
    else:
        _with_configuration(selection, output, action, given, log_file)


_TAKES = {"grant": "a user and a vault", "unpublish": "the id of a vault"}


def _with_configuration(
    selection: VaultSelection, output: Output, action: str, given: tuple[str, ...], log_file: Path | None
) -> None:
    if selection.config is None:
        raise UsageError("--config FILE is missing: the gateway has a configuration of its own")
    if action == "serve":
        with logging_to(log_file):
            _serve(selection.config)
        return
    with GatewayAdministration.of(load_gateway(selection.config), os.environ) as administration:
        if action == "vaults":
            print_vaults(administration, output)
        elif action == "grant":
            grant(administration, selection.config, *given)
        else:
            unpublish(administration, selection.config, *given)


def print_vaults(administration: GatewayAdministration, output: Output) -> None:
    """Print what is published, for a person or as JSON."""
    published = administration.published()
    rows = [
        {
            "id": one.vault,
            "name": one.name,
            "keeper": one.keeper,
            "notes": one.notes,
            "chunks": one.chunks,
            "published_at": one.published_at,
            "seen_at": one.seen_at,
        }
        for one in published
    ]
    if output.json:
        print_json({"vaults": rows})
        return
    for one in published:
        typer.echo(
            f"{one.vault}  {full_name(one)}  {quantity(one.notes, 'note')}  {quantity(one.chunks, 'chunk')}  "
            f"published {one.published_at}  seen {one.seen_at}"
        )
    if not published:
        note("No vault is published.")


def grant(administration: GatewayAdministration, config: Path, user: str, written: str) -> None:
    """Give a user or a group the right to a vault, and say so. Raises UsageError, UnknownVaultError."""
    state = administration.resolve(written)
    shown = f"{full_name(state)} ({state.vault})"
    if add_right(config, user, state.vault):
        note(f"{user} may read {shown}.")
    else:
        note(f"{user} may read {shown} already.")


def unpublish(administration: GatewayAdministration, config: Path, vault: str) -> None:
    """Remove the vault of an id from the server, keep it from coming back, and say so."""
    removed = administration.unpublish(vault)
    add_withdrawn(config, vault)
    if removed is None:
        note(f"Nothing of {vault} is published. {config} keeps it from coming back.")
    else:
        note(f"Removed {full_name(removed)} ({vault}). {config} keeps it from coming back.")


def _unpublish_own(selection: VaultSelection) -> None:
    """Remove the vault of an index here. Its keeper may have no file of a gateway, so another person has to
    write the id down there."""
    vault = remove_publication(selection)
    if vault:
        note(
            "A server that is restored from an older copy has the vault again. To keep it hidden then, "
            f"whoever runs the gateways runs: indexer gateway --config FILE unpublish {vault}"
        )


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
    with ended_by_signals(), gateway_listener(server) as listener:
        where = f"unix:{server.socket}" if server.socket else f"http://{authority(listener, server.host)}"

        def ready() -> None:
            note(f"gateway: {where}, {len(settings.users)} users, Milvus at {settings.milvus.uri}")

        run_gateway(file, listener, os.environ, ready)


def authority(listener: socket.socket, host: str) -> str:
    """Host and port of an address of HTTP."""
    return f"[{host}]:{listener.getsockname()[1]}" if ":" in host else f"{host}:{listener.getsockname()[1]}"


app = one_command(gateway)
