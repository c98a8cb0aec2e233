"""`indexer serve`."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from vault_indexer.bootstrap import named_target, named_vaults, open_daemon
from vault_indexer.cli.connection.daemon_command import indexer_command, place_options
from vault_indexer.cli.connection.in_process import NO_VAULTS, confirm_first_index, target_of
from vault_indexer.cli.known_vaults import remember_vault
from vault_indexer.cli.output.columns import from_home
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import (
    AllVaults,
    LogFile,
    Strategy,
    TakeOver,
    VaultSelection,
    Yes,
    one_command,
)
from vault_indexer.cli.vault_folder import config_of, is_pinned, keeps_all
from vault_indexer.config import NamedVault, StrategyInFile, config_files, load_own
from vault_indexer.daemon.assembly import LLM_CALLS, SharedBudget, Target, llm_cache_folder
from vault_indexer.daemon.config_watch import ConfigWatch
from vault_indexer.daemon.discovery import (
    DaemonInfo,
    forget_start,
    read_address,
    shared_daemon_dir,
    write_index_pointer,
)
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.log import logging_to
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.extensions import offered, package_of
from vault_indexer.serve.api.respond import AgentActions
from vault_indexer.serve.app import Site
from vault_indexer.serve.http.vault_choice import vault_url
from vault_indexer.serve.mcp.views import extension_tools
from vault_indexer.serve.server import (
    Announcements,
    address_to_keep,
    bind_again,
    daemon_info,
    ended_by_signals,
    run,
)
from vault_indexer.service import VaultService
from vault_indexer.system import keep_to_one_thread, limit_malloc_arenas, missing_limits
from vault_indexer.text.phrases import quantity
from vault_indexer.vaults import ManagedVault, Vaults, VaultSupervisor, VaultTable


def serve(
    selection: VaultSelection,
    log_file: LogFile = None,
    all_vaults: AllVaults = False,
    strategy: Strategy = "",
    take_over: TakeOver = False,
    yes: Yes = False,
) -> None:
    """Run the daemon in the foreground: watch the notes, index changes, answer over HTTP on this computer.

    It serves the vault that you name or that you are in, otherwise all your vaults.
    """
    del strategy  # its callback has put it where the configuration is read
    missing = missing_limits()
    if missing:
        raise UnavailableError(missing)
    with logging_to(log_file):
        limit_malloc_arenas()
        keep_to_one_thread()
        is_shared = all_vaults or keeps_all(selection, os.environ)
        if take_over:
            take_over_for(selection, is_shared=is_shared)
        if is_shared:
            _serve_all(selection)
        else:
            _serve_one(selection, yes)


def take_over_for(selection: VaultSelection, *, is_shared: bool) -> None:
    """Performs --take-over before the daemon starts. Raises UsageError unless a single vault is selected."""
    if is_shared:
        raise UsageError("--take-over: name one vault with --vault")
    target, steps = target_of(selection), offered("take_over")
    if not steps:
        package = package_of(table="milvus")
        raise UsageError(f"--take-over needs the package {package}, which is not installed")
    for step in steps:
        if told := step(target, os.environ):
            note(told)


def _serve_one(selection: VaultSelection, yes: bool) -> None:
    target = target_of(selection)
    confirm_first_index(target, yes)
    settings = target.config.settings.server
    kept = read_address(target.index_dir)

    def ready(info: DaemonInfo) -> None:
        announced.add(target.index_dir, info)
        announced.keep(target.index_dir, address_to_keep(info, settings))
        if not is_pinned(selection):
            write_index_pointer(target.vault, target.index_dir)
            remember_vault(target.vault, target.index_dir)
        notes = service.status().counts.notes
        count = f" ({quantity(notes, 'note')})" if notes else ""  # none while it is built for the first time
        note(f"Watching {from_home(str(target.vault))}{count} at {info.url}. Ctrl-C stops.")

    with (
        ended_by_signals(),
        closing(bind_again(settings, kept)) as listener,
        closing(Announcements()) as announced,
        closing(open_daemon(target)) as service,
    ):
        # An index folder or a configuration is named only if this daemon was given one.
        command = indexer_command("start", *place_options(selection, target.vault, os.environ))
        info = daemon_info(listener, str(target.vault), settings, command, kept)
        actions = agent_actions(target, service)
        site = Site(
            Vaults.of(service), info, settings, lambda _: actions, announced.again, lambda: service.failure
        )
        run(site, listener, ready)


def _serve_all(selection: VaultSelection) -> None:
    config_file = config_of(selection, os.environ)
    watch = ConfigWatch(file.path for file in config_files(None, config_file, os.environ))
    table = _read_table(config_file)
    if not table.named:
        raise UsageError(NO_VAULTS)
    settings = table.settings
    folder = shared_daemon_dir(config_file)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = read_address(folder)
    with (
        ended_by_signals(),
        closing(bind_again(settings.server, kept)) as listener,
        closing(Announcements()) as announced,
        IndexLock(folder, "the daemon", of="folder"),
    ):
        command = indexer_command(
            "start", *place_options(VaultSelection(config=config_file), None, {}), "--all-vaults"
        )
        info = daemon_info(listener, "", settings.server, command, kept)
        budget = SharedBudget(settings.index, folder / LLM_CALLS)
        shared = _SharedDaemon(config_file, info, announced, budget, is_pinned(selection))
        supervisor = VaultSupervisor(
            table, partial(_read_table, config_file), shared.keep, watch, llm_cache_folder(settings, folder)
        )
        shared.vaults = supervisor.vaults

        def ready(info: DaemonInfo) -> None:
            announced.add(folder, info)
            announced.keep(folder, address_to_keep(info, settings.server))
            note(f"Watching {', '.join(supervisor.vaults.names)} at {info.url}. Ctrl-C stops.")

        site = Site(supervisor.vaults, info, settings.server, shared.actions, announced.again)
        with supervisor:
            run(site, listener, ready)


def _read_table(config_file: Path | None) -> VaultTable:
    """The vaults of the configuration. Raises ConfigError, and UsageError if two vaults would share a folder
    or if the configuration file is missing: its absence does not mean that the vaults were removed."""
    file = config_files(None, config_file, os.environ)[-1].path
    if not file.exists():
        raise UsageError(f"{NO_VAULTS} ({file} does not exist)")
    named = named_vaults(config_file, os.environ)
    return VaultTable(named, load_own(config_file, os.environ).settings)


@dataclass(eq=False)
class _SharedDaemon:
    """Opens and announces the vaults of one daemon."""

    config_file: Path | None
    info: DaemonInfo
    announced: Announcements
    budget: SharedBudget
    pinned: bool
    vaults: Vaults = field(default_factory=lambda: Vaults(()))
    _actions: dict[str, AgentActions] = field(default_factory=dict)

    def keep(self, named: NamedVault) -> ManagedVault:
        """Creates the vault without opening it."""
        index_dirs: list[Path] = []
        own_actions = _OFFERED

        def open_service() -> VaultService:
            nonlocal own_actions
            target = named_target(named, self.config_file, os.environ)
            service = open_daemon(target, self.budget)
            own_actions = self._actions[named.name] = agent_actions(target, service)
            index_dirs[:] = [target.index_dir]
            return service

        def opened(service: VaultService) -> None:
            url = vault_url(self.info.url, named.name)
            self.announced.add(index_dirs[0], replace(self.info, url=url, vault=str(service.vault)))
            if not self.pinned:
                write_index_pointer(service.vault, index_dirs[0])
                remember_vault(service.vault, index_dirs[0])
            note(f"{named.name}: {service.vault}, index in {index_dirs[0]}")

        def closed() -> None:
            self.announced.remove(index_dirs[0])
            if self._actions.get(named.name) is own_actions:
                del self._actions[named.name]
            if all(one.path != named.path for one in self.vaults.holders()):
                forget_start(index_dirs[0])  # this daemon, started again, would not keep it

        return ManagedVault(named.name, named.path, open_service, opened, closed)

    def actions(self, name: str) -> AgentActions:
        """What is offered for a vault beyond asking it, once it has been opened."""
        return self._actions.get(name, _OFFERED)


_UNNAMED = "Which vault? Name one."


def _refuse(*_: object) -> NoReturn:
    raise UsageError(_UNNAMED)


class _AnyStrategy:
    """Implements StrategySetting for several vaults: the choices, of which one is made in one vault."""

    choices = StrategyInFile.choices
    current = check = choose = staticmethod(_refuse)


_OFFERED = AgentActions(_AnyStrategy(), {tool.view.name: _refuse for tool in extension_tools()})
"""What is offered for each of several vaults, before one is named."""


def agent_actions(target: Target, service: VaultService) -> AgentActions:
    """What tools of agents may do to this vault beyond asking its index."""
    return AgentActions(
        StrategyInFile(target.files[-1], target.reload),
        {tool.view.name: partial(tool.call, target, service) for tool in extension_tools()},
    )


app = one_command(serve)
