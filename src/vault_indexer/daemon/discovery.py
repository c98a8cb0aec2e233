"""`daemon.json`: how a client finds the daemon of an index, and the token that lets it in.

Light on purpose: a command that only asks the daemon imports this and little else. Beside it stands the
signpost: a client that was told of no index folder finds it by the vault, without reading any configuration.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

DAEMON_FILE = "daemon.json"
_URL_PREFIX = "http://127.0.0.1:"


@dataclass(frozen=True, slots=True)
class DaemonInfo:
    """A running daemon. `started` is UTC, ISO 8601; `token` goes into the Authorization header only."""

    pid: int
    url: str
    token: str
    vault: str
    started: str


def write_daemon(index_dir: Path, info: DaemonInfo) -> None:
    """Announce the daemon of this index; the file is readable by its owner alone from the first byte."""
    _write_private(index_dir / DAEMON_FILE, json.dumps(asdict(info)).encode())


def read_daemon(index_dir: Path) -> DaemonInfo | None:
    """The live daemon of an index; None where no file is, or it is damaged, or its process is gone."""
    info = _parse(index_dir / DAEMON_FILE)
    return info if info is not None and _is_alive(info.pid) else None


def remove_daemon(index_dir: Path, pid: int) -> None:
    """Take back what `write_daemon` of this process announced; another one's file stays."""
    path = index_dir / DAEMON_FILE
    info = _parse(path)
    if info is not None and info.pid == pid:
        path.unlink(missing_ok=True)


def write_signpost(vault: Path, index_dir: Path) -> None:
    """Note where the index of a vault is, for clients that only know the vault."""
    path = _signpost(vault)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write_private(path, os.fsencode(index_dir.resolve()))


def read_signpost(vault: Path) -> Path | None:
    """The index folder that the last daemon of this vault named; whether one runs, `read_daemon` tells."""
    try:
        named = Path(os.fsdecode(_signpost(vault).read_bytes()))
        return named if named.is_absolute() else None
    except (OSError, ValueError):
        return None


def _signpost(vault: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(vault.resolve())).hexdigest()[:16]
    return platformdirs.user_state_path("vault-indexer") / "daemons" / digest


def _write_private(path: Path, data: bytes) -> None:
    """New temporary file (never someone else's, never through a link), then renamed."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    temporary.replace(path)


def _parse(path: Path) -> DaemonInfo | None:
    try:
        found = json.loads(path.read_bytes())
        pid, texts = found["pid"], [found[name] for name in ("url", "token", "vault", "started")]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(pid, int) or pid <= 0 or not all(isinstance(text, str) for text in texts):
        return None
    url, token, vault, started = texts
    # A token is sent to nobody but this machine, whatever the file says.
    return DaemonInfo(pid, url, token, vault, started) if url.startswith(_URL_PREFIX) else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
