"""How a command reaches the index: through the daemon if one runs, else in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from vault_indexer.cli.parameters import Place
from vault_indexer.daemon.state import read_daemon, read_signpost
from vault_indexer.serve.client import DaemonClient


def daemon_of(place: Place, environ: Mapping[str, str] = os.environ) -> DaemonClient | None:
    """The running daemon, if it can be found without reading any configuration.

    Where an index folder is named, by its `daemon.json`; where only the vault is, by the signpost that
    its daemon left. A command that names a configuration has to read it first.
    """
    index_dir = place.index_dir or _path(environ.get("INDEXER_INDEX_DIR"))
    vault = place.vault or _path(environ.get("INDEXER_VAULT")) or Path.cwd()
    if index_dir is None and not is_pinned(place, environ):
        index_dir = read_signpost(vault)
    info = read_daemon(index_dir) if index_dir else None
    return DaemonClient(info) if info else None


def is_pinned(place: Place, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether an index folder or a configuration was named for this command alone."""
    named = (environ.get("INDEXER_INDEX_DIR"), environ.get("INDEXER_CONFIG"))
    return any((place.index_dir, place.config, *named))


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None
