"""A daemon of `held_build` in a process of its own: `python -m held_daemon VAULT INDEX GATES`."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from held_build import Gates, held_assembly

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.serve.app import Site
from vault_indexer.serve.server import Announcements, bind, daemon_info, ended_by_signals, run
from vault_indexer.service import VaultService
from vault_indexer.vaults import Vaults


def main(vault: Path, index_dir: Path, gates: Path) -> None:
    target = resolve_target(vault, index_dir, None, environ={}, options={"index.workers": 1})
    settings = target.config.settings.server

    def ready(info: DaemonInfo) -> None:
        announced.add(index_dir, info)
        print("ready", flush=True)

    with (
        ended_by_signals(),
        closing(bind(0)) as listener,
        closing(Announcements()) as announced,
        closing(VaultService(DaemonSession(held_assembly(target, Gates(gates))))) as service,
    ):
        info = daemon_info(listener, str(vault), settings)
        run(Site(Vaults.of(service), info, settings, announce_again=announced.again), listener, ready)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
