"""The files by which a client finds the daemon of an index and authenticates to it.

`daemon.json` contains the address of the running daemon and its access token.

`start.json` contains the command that starts the daemon. It remains after the daemon has ended: a GUI program
has a different PATH from a shell and cannot look the command up.

`address.json` contains the port and the token for the next daemon of the index, so that bookmarks and open
tabs survive a restart.

The index pointer maps a vault to its index folder, for clients without a configuration.

This module imports little on purpose: a command that only queries the daemon needs hardly any other module.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
from contextlib import closing, suppress
from dataclasses import asdict
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from vault_indexer.errors import DaemonError, IndexUnusableError
from vault_indexer.system import (
    folder_digest,
    owner_fault,
    read_own,
    record,
    resolved,
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
"""A daemon that is shutting down is silent for two seconds, a busy daemon for less."""

_LEADS_ON = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>vault-indexer</title>
<p><a href="{address}">Open the page of the vault</a></p>
"""


@record
class DaemonInfo:
    """A running daemon. `started` is UTC in ISO 8601; `token` is sent only in the Authorization header.

    `command` starts such a daemon in the background. It consists of the absolute path of a program and its
    arguments. Daemons of earlier versions wrote none, and it is then empty.
    """

    pid: int
    url: str
    token: str
    vault: str
    started: str
    command: tuple[str, ...] = ()


class KeptAddress(NamedTuple):
    """The address at which the last daemon of an index listened. `token` is "" if the daemon did not choose
    it."""

    port: int
    token: str


class LocalConnection(HTTPConnection):
    """A connection to a daemon. The host is a numeric address, so no name resolution is loaded (3 ms)."""

    def connect(self) -> None:
        self.sock = socket.socket()
        self.sock.settimeout(self.timeout)
        self.sock.connect((self.host, self.port))
        # As HTTPConnection does: otherwise a body waits until its headers are acknowledged.
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def write_daemon(index_dir: Path, info: DaemonInfo) -> None:
    """Writes `daemon.json` for the daemon of this index, and `start.json` for the next one. Only their owner
    can read the files, from the first byte on."""
    if info.command:
        start = {"vault": info.vault, "command": info.command}
        write_atomically(index_dir / START_FILE, json.dumps(start).encode())
    write_atomically(index_dir / DAEMON_FILE, json.dumps(asdict(info)).encode())


def write_open_file(index_dir: Path, address: str) -> Path:
    """Writes a page that redirects a browser to the address, and returns its path. Only its owner can read
    it. Other users may read the command line of a browser, which then contains no token. The daemon removes
    the page when it ends. Raises OSError."""
    import html  # 2 ms that a search does not need

    path = index_dir / OPEN_FILE
    write_atomically(path, _LEADS_ON.format(address=html.escape(address)).encode())
    return path


def write_address(index_dir: Path, address: KeptAddress) -> None:
    """Stores the address for the next daemon in a file that only its owner can read. Raises OSError."""
    if read_address(index_dir) != address:
        write_atomically(index_dir / ADDRESS_FILE, json.dumps(address._asdict()).encode())


def read_address(index_dir: Path) -> KeptAddress | None:
    """Returns the address that the last daemon stored, or None if the file is missing or damaged."""
    try:
        found = json.loads((index_dir / ADDRESS_FILE).read_bytes())
        port, token = found["port"], found["token"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if not (isinstance(port, int) and 0 < port < 65_536 and isinstance(token, str)):
        return None
    return KeptAddress(port, token)


def read_daemon(index_dir: Path) -> DaemonInfo | None:
    """Returns the running daemon of an index, or None if no daemon is announced, nothing listens at its
    address, or the process there does not have its token. Raises IndexUnusableError as `refuse_foreign`
    does, and DaemonError if that process does not answer in time.
    """
    info = announced_daemon(index_dir)
    return info if info is not None and _proves_token(info) else None


def announced_daemon(index_dir: Path) -> DaemonInfo | None:
    """Returns the contents of `daemon.json`, or None if the file is missing or damaged. The file remains
    after a crash, so its process id may by now belong to another program. Raises as `refuse_foreign` does."""
    refuse_foreign(index_dir)
    return _parse(index_dir / DAEMON_FILE)


def _proves_token(info: DaemonInfo) -> bool:
    """Returns whether this daemon answers at its address, with a proof that it has the token
    (`GET /v1/proof`). The token is not sent, because another program may listen there by now. A later daemon
    with the same token has a different process id. Raises DaemonError if no answer comes in time."""
    # Random, so that an earlier proof cannot be replayed.
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
    # The port is part of the message: a program that relays the challenge to the daemon listens at another
    # one.
    message = f"{address.rpartition(':')[2]}:{challenge}".encode()
    wanted = hmac.digest(info.token.encode(), message, "sha256").hex()
    return bool(pid == info.pid and proof == wanted)


def is_listening(info: DaemonInfo) -> bool:
    """Returns whether any process accepts connections at the address. A daemon accepts them until it ends,
    even if it does not answer."""
    address = urlsplit(info.url)
    try:
        socket.create_connection((address.hostname, address.port or 0), _ANSWER_S).close()
    except (OSError, ValueError):
        return False
    return True


def refuse_foreign(index_dir: Path) -> None:
    """Raises IndexUnusableError if another user owns the index folder or may have written its `daemon.json`:
    queries would go to that user. The user's own folder becomes private when it is used."""
    announced = os.path.lexists(index_dir / DAEMON_FILE)  # Path.exists follows links
    fault = owner_fault(index_dir) or (write_fault(index_dir) if announced else "")
    if fault:
        raise IndexUnusableError(
            f"index folder {index_dir} is not used: {fault}; make sure that only you can write it (chown, "
            "chmod go-w), or name another with --index-dir"
        )


def remove_daemon(index_dir: Path, pid: int) -> None:
    """Removes the `daemon.json` and the page that this process wrote, not those of another process."""
    path = index_dir / DAEMON_FILE
    info = _parse(path)
    if info is not None and info.pid == pid:
        path.unlink(missing_ok=True)
        (index_dir / OPEN_FILE).unlink(missing_ok=True)


def forget_start(index_dir: Path) -> None:
    """Removes the command that starts a daemon of this index."""
    with suppress(OSError):
        (index_dir / START_FILE).unlink(missing_ok=True)


def write_index_pointer(vault: Path, index_dir: Path) -> None:
    """Records the index folder of a vault, for clients that only have the path of the vault."""
    path = _index_pointer(vault)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(path, os.fsencode(resolved(index_dir)))


def read_index_pointer(vault: Path) -> Path | None:
    """Returns the index folder that the last daemon of this vault recorded. It may have ended since."""
    try:
        named = Path(os.fsdecode(read_own(_index_pointer(vault))))
        return named if named.is_absolute() else None
    except (OSError, ValueError):
        return None


def shared_daemon_dir(config_file: Path | None) -> Path:
    """Returns the folder with the `daemon.json` and the log of a daemon for all vaults of a configuration.
    Clients that name no vault, or all vaults, use it. `config_file` is the file that was given explicitly;
    None means the user's own."""
    digest = hashlib.sha256(os.fsencode(resolved(config_file))).hexdigest()[:16] if config_file else ""
    return _daemons() / (f"all-{digest}" if digest else "all")


def _daemons() -> Path:
    return state_folder() / "daemons"


def _index_pointer(vault: Path) -> Path:
    return _daemons() / folder_digest(vault)


def _parse(path: Path) -> DaemonInfo | None:
    try:
        found = json.loads(read_own(path))
        pid, texts = found["pid"], [found[name] for name in ("url", "token", "vault", "started")]
        command = found.get("command")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not isinstance(pid, int) or pid <= 0 or not all(isinstance(text, str) for text in texts):
        return None
    is_known = isinstance(command, list) and all(isinstance(one, str) for one in command)
    url, token, vault, started = texts
    info = DaemonInfo(pid, url, token, vault, started, tuple(command) if is_known else ())
    # A token is sent only to this machine, even if the file names another host.
    return info if url.startswith(_URL_PREFIX) else None
