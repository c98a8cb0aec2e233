"""`indexer gateway` and the administration of a gateway: tokens, vaults, rights."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli
import typer

from vault_gateway.access import digest_of
from vault_gateway.milvus import MilvusVaults, VaultState
from vault_gateway.server import GatewayFile, gateway_listener, run_gateway, server_connection
from vault_gateway.settings import MAX_GATEWAY_BYTES, VAULT_ID, gateway_settings, load_gateway
from vault_gateway.unpublish import drop_publication
from vault_indexer.cli.connection.in_process import target_of
from vault_indexer.cli.output.terminal import note, print_json
from vault_indexer.cli.parameters import LogFile, Output, VaultSelection, one_command
from vault_indexer.config.edits import changed_for_sure, config_text, parsed_config, replace_config
from vault_indexer.config.values import toml_text
from vault_indexer.daemon.log import logging_to
from vault_indexer.errors import ConfigError, UnknownVaultError, UsageError, VaultError
from vault_indexer.serve.server import ended_by_signals
from vault_indexer.system import keep_to_one_thread
from vault_indexer.text.phrases import quantity

# Changes the rights in a gateway's configuration and preserves everything else in the file.


_GROUP = "group:"


def add_right(file: Path, user: str, vault: str) -> bool:
    """Gives a user, or `group:NAME`, the right to the vault with an id. Returns False if it exists. Raises
    UsageError for a user or a group that is not in the file, and for a file that cannot be changed safely;
    VaultError if it cannot be written."""
    table, kind = ("groups", "group") if user.startswith(_GROUP) else ("users", "user")
    name = user.removeprefix(_GROUP)

    def add(document: Any) -> bool:
        holders = document.get(table, [])
        chosen = [holder for holder in holders if holder.get("name") == name]
        if not chosen:
            known = ", ".join(str(one.get("name")) for one in holders[:20]) or "none"
            raise UsageError(f"{file} has no {kind} {name[:60]!r}; it has {known}")
        rights = chosen[0].setdefault("vaults", [])
        if vault in rights:
            return False
        rights.append(vault)
        return True

    return _change(file, f"{table}.vaults", add)


def add_withdrawn(file: Path, vault: str) -> bool:
    """Hides the vault with an id from all users. Returns False if it already is. Raises as `add_right`."""

    def add(document: Any) -> bool:
        if vault in document.setdefault("withdrawn", []):
            return False
        document["withdrawn"].append(vault)
        return True

    return _change(file, "withdrawn", add)


def _change(file: Path, key: str, change: Callable[[Any], bool]) -> bool:
    import tomlkit

    text = config_text(file, key, follow_links=True, most_bytes=MAX_GATEWAY_BYTES)
    if text is None:
        raise VaultError(f"{file} does not exist")
    wanted = parsed_config(text, file)
    has_key = key in wanted
    if not change(wanted):
        return False

    def edit() -> str:
        if not has_key and "." not in key:  # a key of the whole file must precede its tables
            return f"{key} = {toml_text(wanted[key])}\n{text}"
        document = tomlkit.parse(text)
        change(document)
        return tomlkit.dumps(document)

    changed = changed_for_sure(edit, lambda found: found == wanted, key, file)
    if new := _mistakes(changed, file) - _mistakes(text, file):
        raise UsageError(f"{sorted(new)[0]}; {file} was not changed")
    replace_config(file, changed)
    return True


def _mistakes(text: str, file: Path) -> set[str]:
    try:
        gateway_settings(tomli.loads(text), str(file))
    except ConfigError as error:
        return set(str(error).splitlines())
    return set()


# The administration of the server: list published vaults, grant rights, unpublish.


def _published(vaults: MilvusVaults) -> list[VaultState]:
    return sorted(vaults.all().values(), key=lambda one: (one.keeper, one.name, one.vault))


def resolve(vaults: MilvusVaults, written: str) -> VaultState:
    """The vault that an id or `keeper/name` refers to. Raises UnknownVaultError if there is none, or more
    than one, or if only a name is given."""
    states = _published(vaults)
    found = [state for state in states if written in (state.vault, state.full_name)]
    if len(found) == 1:
        return found[0]
    same_name = [one for one in states if one.name == written]
    if found:
        raise UnknownVaultError(f"several vaults are called {written}: {_listed(found)}")
    if same_name:
        raise UnknownVaultError(f"a name without a keeper is not enough; did you mean {_listed(same_name)}?")
    raise UnknownVaultError(f'no vault {written} is published: "indexer gateway vaults" lists them')


def _listed(states: Iterable[VaultState]) -> str:
    return ", ".join(f"{state.full_name} ({state.vault})" for state in states)


def gateway(
    selection: VaultSelection,
    output: Output,
    action: Annotated[
        Literal["serve", "token", "vaults", "grant", "unpublish"],
        typer.Argument(
            metavar="[serve|token|vaults|grant|unpublish]",
            help="serve: answer searches. token: create a token for a user. vaults: list the published "
            "vaults. grant USER VAULT: let a user or group:NAME read a vault, given by its id or as "
            "KEEPER/NAME. unpublish VAULT: remove a vault from the Milvus server; its notes and its index "
            "stay.",
        ),
    ] = "serve",
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[USER VAULT|VAULT]", help="The arguments of grant and unpublish."),
    ] = None,
    log_file: LogFile = None,
) -> None:
    """Search the vaults of many daemons for many users, with the configuration --config FILE."""
    given, config = tuple(arguments or ()), selection.config
    counts, takes = _TAKES.get(action, ((0,), "no arguments"))
    if len(given) not in counts:
        raise UsageError(f"gateway {action} takes {takes}")
    if action == "token":
        _print_token(output)
    elif action == "unpublish" and not given:
        _unpublish_own(selection)
    elif config is None:
        raise UsageError("--config FILE is missing: the gateway has its own configuration")
    elif action == "serve":
        with logging_to(log_file):
            _serve(config)
    else:
        milvus = load_gateway(config).milvus
        with closing(server_connection(milvus, os.environ)) as connection:
            vaults = MilvusVaults(connection, milvus.collection_prefix)
            if action == "vaults":
                print_vaults(vaults, output)
            elif action == "grant":
                grant(vaults, config, *given)
            else:
                unpublish(vaults, config, *given)


_TAKES = {"grant": ((2,), "a user and a vault"), "unpublish": ((0, 1), "a vault")}
"""The numbers of arguments that an action takes, and how its error names them."""


def print_vaults(vaults: MilvusVaults, output: Output) -> None:
    published = _published(vaults)
    if output.json:
        keys = ("name", "keeper", "notes", "chunks", "published_at", "seen_at")
        rows = [{"id": one.vault, **{key: getattr(one, key) for key in keys}} for one in published]
        print_json({"vaults": rows})
        return
    for one in published:
        typer.echo(
            f"{one.vault}  {one.full_name}  {quantity(one.notes, 'note')}  {quantity(one.chunks, 'chunk')}  "
            f"published {one.published_at}  seen {one.seen_at}"
        )
    if not published:
        note("No vault is published.")


def grant(vaults: MilvusVaults, config: Path, user: str, written: str) -> None:
    state = resolve(vaults, written)
    shown = f"{state.full_name} ({state.vault})"
    if add_right(config, user, state.vault):
        note(f"{user} may read {shown}.")
    else:
        note(f"{user} may already read {shown}.")


def unpublish(vaults: MilvusVaults, config: Path, written: str) -> None:
    """Removes a vault, given by its id or as `keeper/name`, from the server, blocks it in the configuration,
    and prints a line about it. An id that is not published is only blocked. Raises UnknownVaultError,
    UsageError. If its keeper publishes again, it gets an error that the vault was unpublished."""
    is_id = VAULT_ID.fullmatch(written) is not None
    vault = written if is_id else resolve(vaults, written).vault
    add_withdrawn(config, vault)
    removed = vaults.drop(vault, time.time_ns() // 1_000_000)
    if removed is None:
        note(f"Vault {vault} is not published. {config} now blocks it.")
    else:
        note(f"Removed {removed.full_name} ({vault}). {config} now blocks it.")


def _unpublish_own(selection: VaultSelection) -> None:
    """Unpublishes the vault of a local index. Its keeper may lack a gateway's file, so another person has to
    add the id there."""
    target = target_of(selection)
    uri = target.config.settings.table("milvus").uri
    vault = drop_publication(target, os.environ)
    if not vault:
        note(f"{target.vault} is not published on {uri}.")
    else:
        note(f"Removed {target.vault} from {uri}; its id was {vault}.")
        note(
            "A server restored from an older backup contains the vault again. To keep it hidden, the "
            f"administrator of the gateways runs: indexer gateway --config FILE unpublish {vault}"
        )


def _print_token(output: Output) -> None:
    token = secrets.token_urlsafe(32)
    if output.json:
        print_json({"token": token, "token_sha256": digest_of(token)})
        return
    typer.echo(f'{token}\ntoken_sha256 = "{digest_of(token)}"')
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
    return f"[{host}]:{listener.getsockname()[1]}" if ":" in host else f"{host}:{listener.getsockname()[1]}"


app = one_command(gateway)
