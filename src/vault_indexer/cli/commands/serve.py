"""`indexer serve`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from vault_indexer.bootstrap import Target, open_daemon
from vault_indexer.cli.in_process import target_of
from vault_indexer.cli.parameters import Place, one_command
from vault_indexer.cli.reach import is_pinned
from vault_indexer.cli.terminal import note
from vault_indexer.config import StrategyInFile
from vault_indexer.daemon.discovery import DaemonInfo, write_signpost
from vault_indexer.daemon.log import logging_to
from vault_indexer.evals import LAYERS, Layer, SuiteOptions, json_report, run_suite
from vault_indexer.evals.desk import FolderDesk
from vault_indexer.model import JsonValue
from vault_indexer.serve.http import ServerParts
from vault_indexer.serve.mcp.actions import AgentActions
from vault_indexer.serve.server import announce, announce_daemon, bind, ended_by_signals, run
from vault_indexer.service import VaultService
from vault_indexer.system import keep_little, keep_to_one_thread


def serve(
    place: Place,
    log_file: Annotated[
        Path | None,
        typer.Option("--log-file", metavar="FILE", help="Log to this file, 3 x 5 MB at most."),
    ] = None,
) -> None:
    """Run the daemon in the foreground: watch the vault, index changes, answer over HTTP on loopback."""
    with logging_to(log_file):
        _serve(place)


def _serve(place: Place) -> None:
    keep_little()
    keep_to_one_thread()
    target = target_of(place)
    settings = target.config.settings.server

    def ready(info: DaemonInfo) -> None:
        announce(target.index_dir, info)
        if not is_pinned(place):
            write_signpost(target.vault, target.index_dir)
        note(f"{target.vault}: {info.url}, index in {target.index_dir}")

    with (
        ended_by_signals(),
        closing(bind(settings.port)) as listener,
        announce_daemon(target.index_dir),
        closing(open_daemon(target)) as service,
    ):
        run(
            service,
            listener,
            settings,
            ready,
            ServerParts(agent_actions(target, service), FolderDesk(service)),
            start_command(place, target, os.environ),
        )


def agent_actions(target: Target, service: VaultService) -> AgentActions:
    """What tools of agents may do to this vault beyond asking its index."""
    return AgentActions(
        strategy=StrategyInFile(target.files[-1], target.reload),
        run_evals=partial(_run_evals, service, target),
    )


def _run_evals(
    service: VaultService, target: Target, cases: Path, layers: tuple[int, ...]
) -> Mapping[str, JsonValue]:
    options = SuiteOptions(files=target.config.settings.files)
    chosen: list[Layer] = [layer for layer in LAYERS if layer in layers]
    report: Mapping[str, JsonValue] = json.loads(
        json_report(run_suite(service, cases, layers=chosen, options=options))
    )
    return report


def start_command(place: Place, target: Target, environ: Mapping[str, str]) -> list[str]:
    """The command that starts this daemon in the background, whatever the PATH, folder and environment of
    who runs it. An index folder or a configuration is named only if this daemon was given one."""
    index_dir = target.index_dir if place.index_dir or environ.get("INDEXER_INDEX_DIR") else None
    config = place.config or _path(environ.get("INDEXER_CONFIG"))
    named = {"--vault": target.vault, "--index-dir": index_dir, "--config": config}
    options = [part for name, path in named.items() if path for part in (name, str(path.absolute()))]
    return [sys.executable, "-m", "vault_indexer.cli", "start", *options]


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None


app = one_command(serve)
