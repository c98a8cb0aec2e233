"""`daemon.json`: how a client finds the daemon of an index, and the token that lets it in.

`start.json` next to it holds the command that starts the daemon, and stays when the daemon has ended: a GUI
program has another PATH than a shell, and cannot look the command up.

`address.json` holds the port and the token for the next daemon of the index, so that bookmarks and open tabs
survive a restart.

Light on purpose: a command that only asks the daemon imports this and little else. Beside it stands the
index pointer: a client that was told of no index folder finds it by the vault, without any configuration.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from vault_indexer.errors import DaemonError, IndexUnusableError
from vault_indexer.system import (
    folder_digest,
    owner_fault,
    read_own,
    state_folder,
    write_atomically,
    write_fault,
)

DAEMON_FILE = "daemon.json"
START_FILE = "start.json"
OPEN_FILE = "open.html"
ADDRESS_FILE = "address.json"
_URL_PREFIX = "http://127.0.0.1:"
_PROOF_BYTES = 1024
_ANSWER_S = 10.0
"""A daemon that is ending is silent for two seconds, one at work for less."""

_LEADS_ON = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>vault-indexer</title>
<p><a href="{address}">Open the page of the vault</a></p>
"""


@dataclass(frozen=True, slots=True)
class DaemonInfo:
    """A running daemon. `started` is UTC, ISO 8601; `token` goes into the Authorization header only.

    `command` starts such a daemon in the background: an absolute program and its arguments. It is empty in
    the file of a daemon of an earlier version.
    """

    pid: int
    url: str
    token: str
    vault: str
    started: str
    command: tuple[str, ...] = ()


class KeptAddress(NamedTuple):
    """Where the last daemon of an index listened. `token` is "" where the daemon did not choose it."""

    port: int
    token: str


class LocalConnection(HTTPConnection):
    """A connection to a daemon: its host is a number, so nothing that looks up names is loaded (3 ms)."""

    def connect(self) -> None:
        self.sock = socket.socket()
        self.sock.settimeout(self.timeout)
        self.sock.connect((self.host, self.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def write_daemon(index_dir: Path, info: DaemonInfo) -> None:
    """Announce the daemon of this index, and how to start the next one; both files are readable by their
    owner alone from the first byte."""
    if info.command:
        start = {"vault": info.vault, "command": info.command}
        write_atomically(index_dir / START_FILE, json.dumps(start).encode())
    write_atomically(index_dir / DAEMON_FILE, json.dumps(asdict(info)).encode())


def write_open_file(index_dir: Path, address: str) -> Path:
    """A page that leads a browser to the address, readable by its owner alone: the command line of a browser,
    which others may read, then holds no token. The daemon removes it at its end. Raises OSError."""
    import html  # 2 ms that a search does not need

    path = index_dir / OPEN_FILE
    write_atomically(path, _LEADS_ON.format(address=html.escape(address)).encode())
    return path


def write_address(index_dir: Path, address: KeptAddress) -> None:
    """Keep the address for the next daemon, in a file that its owner alone can read. Raises OSError."""
    if read_address(index_dir) != address:
        write_atomically(index_dir / ADDRESS_FILE, json.dumps(address._asdict()).encode())


def read_address(index_dir: Path) -> KeptAddress | None:
    """The address that the last daemon kept; None where no file is, or it is damaged."""
    try:
        found = json.loads((index_dir / ADDRESS_FILE).read_bytes())
        port, token = found["port"], found["token"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if not (isinstance(port, int) and 0 < port < 65_536 and isinstance(token, str)):
        return None
    return KeptAddress(port, token)


def read_daemon(index_dir: Path) -> DaemonInfo | None:
    """The daemon of an index that runs now; None where none is announced, or what listens at its address does
    not know its token. Raises IndexUnusableError as `refuse_foreign` does, DaemonError where nothing is said.
    """
    info = announced_daemon(index_dir)
    return info if info is not None and _proves_token(info) else None


def announced_daemon(index_dir: Path) -> DaemonInfo | None:
    """What `daemon.json` says, which stays after a crash; None where no file is, or it is damaged. Its
    process id says nothing: it may be another program's by now. Raises as `refuse_foreign`."""
    refuse_foreign(index_dir)
    return _parse(index_dir / DAEMON_FILE)


def _proves_token(info: DaemonInfo) -> bool:
    """Whether the address answers as this daemon, with a proof that it knows the token (`GET /v1/proof`). The
    token is not sent: another program may listen there by now. Another daemon with the same token, the next
    one, has another process id. Raises DaemonError if the address is silent."""
    challenge = os.urandom(16).hex()
    address = urlsplit(info.url).netloc
    try:
        with closing(LocalConnection(address, timeout=_ANSWER_S)) as connection:
            connection.request("GET", f"/v1/proof?challenge={challenge}")
            found = json.loads(connection.getresponse().read(_PROOF_BYTES))
            proof, pid = found["proof"], found.get("pid", info.pid)
    except TimeoutError as error:
        raise DaemonError(
            f"the daemon (process {info.pid}) at {info.url} does not answer: nothing for {_ANSWER_S:g} s"
        ) from error
    except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    message = f"{address.rpartition(':')[2]}:{challenge}".encode()
    wanted = hmac.digest(info.token.encode(), message, "sha256").hex()
    return bool(pid == info.pid and proof == wanted)


def is_listening(info: DaemonInfo) -> bool:
    """Whether anything takes connections at the address: a daemon does until it ends, whether it answers or
    not."""
    address = urlsplit(info.url)
    try:
        socket.create_connection((address.hostname, address.port or 0), _ANSWER_S).close()
    except (OSError, ValueError):
        return False
    return True


def refuse_foreign(index_dir: Path) -> None:
    """Raises IndexUnusableError for an index folder that another user owns, or whose `daemon.json` that user
    may have written: queries would go to that user. A folder of one's own becomes private when it is used."""
    announced = os.path.lexists(index_dir / DAEMON_FILE)  # Path.exists follows links
    fault = owner_fault(index_dir) or (write_fault(index_dir) if announced else "")
    if fault:
        raise IndexUnusableError(
            f"index folder {index_dir} is not used: {fault}; make it yours alone (chown, chmod go-w), or "
            "name another with --index-dir"
        )


def remove_daemon(index_dir: Path, pid: int) -> None:
    """Take back what `write_daemon` of this process announced; another one's file stays."""
    path = index_dir / DAEMON_FILE
    info = _parse(path)
    if info is not None and info.pid == pid:
        path.unlink(missing_ok=True)
        (index_dir / OPEN_FILE).unlink(missing_ok=True)


def forget_start(index_dir: Path) -> None:
    """No command is known any more that starts a daemon of this index."""
    with suppress(OSError):
        (index_dir / START_FILE).unlink(missing_ok=True)


def write_index_pointer(vault: Path, index_dir: Path) -> None:
    """Note where the index of a vault is, for clients that only know the vault."""
    path = _index_pointer(vault)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(path, os.fsencode(index_dir.resolve()))


def read_index_pointer(vault: Path) -> Path | None:
    """The index folder that the last daemon of this vault named; whether one runs, `read_daemon` tells."""
    try:
        named = Path(os.fsdecode(read_own(_index_pointer(vault))))
        return named if named.is_absolute() else None
    except (OSError, ValueError):
        return None


def shared_daemon_dir(config_file: Path | None) -> Path:
    """The folder with the `daemon.json` and the log of a daemon that keeps all vaults of a configuration: for
    clients that mean no vault, or all. `config_file` is the one that was named, None for the user's own."""
    digest = hashlib.sha256(os.fsencode(config_file.resolve())).hexdigest()[:16] if config_file else ""
    return _daemons() / (f"all-{digest}" if digest else "all")


def _daemons() -> Path:
    return state_folder() / "daemons"


def _index_pointer(vault: Path) -> Path:
    return _daemons() / folder_digest(vault)


def _parse(path: Path) -> DaemonInfo | None:
    try:
        found = json.loads(read_own(path))
        pid, texts = found["pid"], [found[name] for name in ("url", "token", "vault", "started")]
        command = found.get("command", ())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not isinstance(pid, int) or pid <= 0 or not all(isinstance(text, str) for text in texts):
        return None
    url, token, vault, started = texts
    # A token is sent only to this machine, whatever the file says.
    return (
        DaemonInfo(pid, url, token, vault, started, _texts(command)) if url.startswith(_URL_PREFIX) else None
    )


def _texts(value: object) -> tuple[str, ...]:
    """A list of texts as a tuple; empty for anything else."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return ()
