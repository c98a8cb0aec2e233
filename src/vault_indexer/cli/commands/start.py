"""`indexer start` and `indexer stop`: the daemon in the background; `indexer open`: its page."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.connection.connect import in_process_module, known_daemon_folder
from vault_indexer.cli.connection.daemon_command import indexer_command, place_options
from vault_indexer.cli.known_vaults import recorded_vaults
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import AllVaults, Strategy, TakeOver, VaultSelection, Yes, one_command
from vault_indexer.cli.vault_folder import asks_all, config_of, keeps_all, names_one, vaults_in_config
from vault_indexer.daemon.discovery import (
    OPEN_FILE,
    DaemonInfo,
    announced_daemon,
    is_listening,
    read_daemon,
    read_index_pointer,
    remove_daemon,
    shared_daemon_dir,
    write_open_file,
)
from vault_indexer.errors import DaemonError, IndexUnusableError, UsageError
from vault_indexer.serve.api.endpoints import STATUS, VAULTS
from vault_indexer.serve.client import DaemonClient
from vault_indexer.system import ask_to_end, open_to_append, quoted_word, start_in_background

if TYPE_CHECKING:
    from vault_indexer.daemon.assembly import Target

LOG_FILE = "daemon.log"

_LOOK_EVERY_S = 0.05
_OPEN_WAIT_S = 30.0


def start(
    selection: VaultSelection,
    wait: Annotated[
        float, typer.Option("--wait", min=0.1, metavar="SECONDS", help="Wait at most SECONDS for the daemon.")
    ] = 30.0,
    all_vaults: AllVaults = False,
    strategy: Strategy = "",
    take_over: TakeOver = False,
    yes: Yes = False,
) -> None:
    """Keep the index up to date in the background while you write.

    The log is `daemon.log` in the folder that it prints.
    """
    is_shared = all_vaults or keeps_all(selection, os.environ)
    folder, target = daemon_place(selection, is_shared=is_shared)
    running = read_daemon(folder)
    # The callback of --strategy has set the variable that a new daemon reads.
    ignored = "--take-over" if take_over else "--strategy" if strategy else ""
    if running and ignored:
        raise UsageError(f'{ignored}: the daemon is running; run "indexer stop" first')
    if running:
        note(f"The daemon is already running at {running.url} (process {running.pid}).")
    else:
        start_daemon(selection, folder, target, wait, take_over=take_over, yes=yes)


def daemon_place(selection: VaultSelection, *, is_shared: bool) -> tuple[Path, Target | None]:
    """Returns the folder of the `daemon.json` and the vault of the daemon, None if that is the shared one."""
    if is_shared:
        return shared_daemon_dir(config_of(selection, os.environ)), None
    target = in_process_module().target_of(selection)
    return target.index_dir, target


def start_daemon(
    selection: VaultSelection,
    index_dir: Path,
    target: Target | None,
    wait: float,
    *,
    take_over: bool = False,
    yes: bool = False,
) -> DaemonInfo:
    """Starts the daemon of `daemon_place`, prints a line about it, and returns once it answers. Asks as
    `confirm_first_index` does. Raises VaultIndexerError with the output of the daemon if it exits, or if it
    does not answer within `wait` seconds."""
    if target is not None:
        in_process_module().confirm_first_index(target, yes)
    log, before = _log_file(index_dir), announced_daemon(index_dir)
    until = time.monotonic() + wait
    vault = None if target is None else target.vault
    info = _wait_for(_spawn(selection, log, vault, take_over), index_dir, before, log, wait)
    # Commands for one vault find the daemon only once that vault is open.
    while target is None and time.monotonic() < until and _is_opening(info):
        time.sleep(_LOOK_EVERY_S)
    where = f"log in {log}" if target is None else f"index in {index_dir}"
    note(f"Started the daemon at {info.url} (process {info.pid}, {where}).")
    if target is not None and (found := DaemonClient(info).ask(STATUS))["generation"] and found["detail"]:
        note(found["detail"])
    return info


def _is_opening(info: DaemonInfo) -> bool:
    return any(vault["state"] == "opening" for vault in DaemonClient(info).ask(VAULTS)["vaults"])


def _log_file(index_dir: Path) -> Path:
    log = index_dir / LOG_FILE
    try:
        index_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(open_to_append(log))
    except OSError as error:
        raise IndexUnusableError(f"cannot write {log}: {error.strerror}") from error
    return log


def _spawn(
    selection: VaultSelection, log: Path, vault: Path | None, take_over: bool
) -> subprocess.Popen[bytes]:
    options = place_options(selection, vault, os.environ)
    options += ["--take-over"] if take_over else []
    options += ["--all-vaults"] if vault is None else ["--yes"]  # it was asked before
    command = indexer_command("serve", "--log-file", str(log.absolute()), *options)
    # Its output before logging starts, and its last error, come through a pipe, because the disk may be full.
    return start_in_background(command, log.parent)


def _wait_for(
    process: subprocess.Popen[bytes], index_dir: Path, before: DaemonInfo | None, log: Path, wait: float
) -> DaemonInfo:
    """Waits until the daemon answers. `before` is the announcement that a killed daemon has left. Raises
    DaemonError with its output if it exits first."""
    until = time.monotonic() + wait
    while time.monotonic() < until:
        if process.poll() is not None:
            raise DaemonError(f"the daemon did not start: {_last_words(process, log)}")
        if announced_daemon(index_dir) != before and (info := read_daemon(index_dir)):
            return info
        time.sleep(_LOOK_EVERY_S)
    raise DaemonError(f"the daemon (process {process.pid}) did not answer within {wait:g} s; see {log}")


def _last_words(process: subprocess.Popen[bytes], log: Path) -> str:
    """The last lines of standard error without the prefix `indexer: `; several lines start on a new line."""
    said = process.stderr.read().decode("utf-8", "replace") if process.stderr else ""
    lines = [line.removeprefix("indexer: ") for line in said.splitlines()[-5:]]
    return "\n".join(lines if len(lines) < 2 else ["", *lines]) or f"no reason given; see {log}"


_END_S = 60.0
_LOOK_FOR_END_EVERY_S = 0.02
_SILENT_S = 5.0
"""A daemon whose address has been free for this time was killed, as each one is on Windows, and has left its
announcement."""
_IN_ADDRESS = "/vault/"


def stop(selection: VaultSelection, all_vaults: AllVaults = False) -> None:
    """Stop the daemon and wait for it to exit.

    If no vault is named and you are in none, all daemons of your vaults are stopped.
    """
    if all_vaults or asks_all(selection, os.environ):
        folders = _folders_of_all(selection)
    else:
        found = known_daemon_folder(selection, is_shared=False)
        if found is None or read_daemon(found) is None:
            found = in_process_module().target_of(selection).index_dir
        folders = [found]
        _refuse_to_stop_others(selection, read_daemon(found))
    running = _running_in(folders, selection)
    if not running:
        note("No daemon is running.")
    for info, folder in running:
        kept = _vaults_of(info)
        end_daemon(info, folder)
        note(f"Stopped the daemon of {_listed(kept or [info.vault])} (process {info.pid}).")


def daemons_of_all(selection: VaultSelection) -> list[tuple[DaemonInfo, Path]]:
    """The running daemons of all vaults, each with the folder that `end_daemon` waits for."""
    return _running_in(_folders_of_all(selection), selection)


def _running_in(folders: Iterable[Path], selection: VaultSelection) -> list[tuple[DaemonInfo, Path]]:
    shared = shared_daemon_dir(config_of(selection, os.environ))
    running = {
        info.pid: (info, shared if _IN_ADDRESS in info.url else folder)
        for folder in folders
        if (info := read_daemon(folder))
    }
    return list(running.values())


def _folders_of_all(selection: VaultSelection) -> list[Path]:
    """The folders where daemons may be announced, that of the shared daemon first."""
    pointers = (read_index_pointer(folder) for folder in vaults_in_config(selection, os.environ).values())
    recorded = (Path(known.index_dir) for known in recorded_vaults())
    shared = shared_daemon_dir(config_of(selection, os.environ))
    return list(dict.fromkeys(folder for folder in (shared, *pointers, *recorded) if folder))


def _refuse_to_stop_others(selection: VaultSelection, info: DaemonInfo | None) -> None:
    """Raises UsageError if one vault is named but its daemon also serves others."""
    if info is None or not names_one(selection, os.environ):
        return
    kept = _vaults_of(info)
    if len(kept) > 1:
        name = info.url.rpartition(_IN_ADDRESS)[2]
        others = _listed(one for one in kept if one != name)
        raise UsageError(
            f"This daemon also serves {others}. To stop it for all: indexer stop --all-vaults. "
            f"To remove only {name}: indexer vault remove {quoted_word(name)}"
        )


def _vaults_of(info: DaemonInfo) -> list[str]:
    """The names of the vaults of a shared daemon; empty for the daemon of one vault."""
    base, _, name = info.url.partition(_IN_ADDRESS)
    if info.vault and not name:
        return []
    try:
        return [one["name"] for one in DaemonClient(replace(info, url=base)).ask(VAULTS)["vaults"]]
    except DaemonError:
        return []


def _listed(names: Iterable[str]) -> str:
    *others, last = sorted(filter(None, names)) or ["no vault"]
    return f"{', '.join(others)} and {last}" if others else last


def end_daemon(info: DaemonInfo, index_dir: Path) -> None:
    """Tells a daemon found by `read_daemon` to exit, and waits until its announcement in this folder is gone.

    A daemon removes it last, unless the folder is one of several vaults. Raises DaemonError on a timeout.
    """
    with suppress(ProcessLookupError):
        ask_to_end(info.pid)
    until = time.monotonic() + _END_S
    heard = time.monotonic()
    while (left := announced_daemon(index_dir)) and (left.pid, left.started) == (info.pid, info.started):
        now = time.monotonic()
        if is_listening(info):
            heard = now
        elif now - heard > _SILENT_S:
            remove_daemon(index_dir, info.pid)
            return
        if now > until:
            raise DaemonError(f"process {info.pid} did not exit within {_END_S:g} s")
        time.sleep(_LOOK_FOR_END_EVERY_S)


def open_page(
    selection: VaultSelection,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the address instead of opening it.")
    ] = False,
    direct: Annotated[
        bool,
        typer.Option(
            "--direct",
            help="For Snap and Flatpak browsers. Other users of this computer may then see the token.",
        ),
    ] = False,
) -> None:
    """Open the web page of your notes. The daemon is started if it is not running."""
    is_shared = asks_all(selection, os.environ)
    folder, target = daemon_place(selection, is_shared=is_shared)
    info = read_daemon(folder) or start_daemon(selection, folder, target, _OPEN_WAIT_S)
    # In the fragment, the token is not sent over the network, and the page removes it.
    address = f"{info.url}/#token={info.token}"
    if only_print or not _opens_in_browser(address if direct else _file_for(folder, address)):
        typer.echo(address)
        return
    hint = "" if direct else " (if nothing appears, add --direct)"
    note(f"Opened {info.url} in your browser{hint}.")


def _file_for(index_dir: Path, address: str) -> str:
    """The address of a private file that redirects to the page."""
    try:
        return write_open_file(index_dir, address).absolute().as_uri()
    except OSError as error:
        raise IndexUnusableError(f"cannot write {index_dir / OPEN_FILE}: {error.strerror}") from error


def _opens_in_browser(address: str) -> bool:
    import webbrowser

    try:
        return webbrowser.get().open(address)
    except webbrowser.Error:
        note("No browser was found. Open this address:")
        return False


app = one_command(start)
stop_app = one_command(stop)
open_app = one_command(open_page)
