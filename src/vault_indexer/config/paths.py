"""Where configuration and index live on this machine."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from vault_indexer.system import canonical_folder

APP = "vault-indexer"
VAULT_CONFIG_NAME = ".indexer.toml"


def user_config_file(environ: Mapping[str, str]) -> Path:
    """The user's own configuration, whether or not it exists."""
    return _base(environ, "XDG_CONFIG_HOME", platformdirs.user_config_dir(APP)) / "config.toml"


def vault_config_file(vault: Path) -> Path:
    """The configuration that travels with a vault, whether or not it exists."""
    return vault / VAULT_CONFIG_NAME


def default_index_dir(vault: Path, environ: Mapping[str, str]) -> Path:
    """The index folder of a vault: outside of it, since sync tools would copy it along.

    Named after the vault for people, and by a hash of its resolved path (16 hex digits of SHA-256), so that
    two vaults of one name never share an index and one vault reached by two paths has one.
    """
    resolved = canonical_folder(vault)
    name = re.sub(r"[^\w.-]+", "-", resolved.name).strip("-.")[:60] or "vault"
    digest = hashlib.sha256(os.fsencode(resolved)).hexdigest()[:16]
    return _base(environ, "XDG_STATE_HOME", platformdirs.user_state_dir(APP)) / f"{name}-{digest}"


def log_dir(environ: Mapping[str, str]) -> Path:
    """Where a service logs on a system that keeps no journal."""
    return _base(environ, "XDG_STATE_HOME", platformdirs.user_state_dir(APP)) / "logs"


def with_home(path: str | Path) -> Path:
    """The path with a leading `~` resolved; of an unknown user it stays, and then is no existing path."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser raises there)


def _base(environ: Mapping[str, str], variable: str, system: str) -> Path:
    """The XDG variable's folder where it holds an absolute path, else the system's own."""
    chosen = Path(environ.get(variable, ""))
    return chosen / APP if chosen.is_absolute() else Path(system)
