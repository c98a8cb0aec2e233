"""Child processes of the indexer. Each runs one function of this package, and ends with its parent.

Only the connections of `multiprocessing` are used here: its processes import the caller's script again, need
an additional helper process, and are waited for without limit if they end while they start.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any, cast

from vault_indexer.errors import ProcessError
from vault_indexer.system import python_command

_ENTRY = Path(__file__).with_name("process_entry.py")


def _identity() -> tuple[int, int] | None:
    try:
        found = _ENTRY.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


_STARTED_FROM = _identity()
_END_S = 10.0
_MESSAGE_S = 60
"""A process that sends or receives no byte of a message for this long is stopped or broken."""

_SAID_BYTES = 1 << 16


class ChildProcess:
    """A Python process that calls `run` with its end of a connection.

    WorkerPool and BuilderProcess own them for work that may crash or take much memory. `run` is pickled, and
    the process imports the modules that it needs by the import path of this process. It ends with its parent,
    no matter how the parent ends. One thread at a time may call; every wait is limited. Raises ProcessError
    if no process can be started, OSError if the system has no room for one.
    """

    def __init__(self, run: Callable[[Connection], None]) -> None:
        pickled = pickle.dumps(run)
        self._popen, self.connection, self._private = _start()
        with suppress(OSError):  # it has ended, which `receive` reports
            # Before the pickle: loading it imports modules by this path.
            self.connection.send(list(sys.path))
            self.connection.send_bytes(pickled)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def is_alive(self) -> bool:
        """Whether the process runs. Data that it sent before it ended can still be received."""
        return self._popen.poll() is None

    def send(self, message: object) -> None:
        """Raises OSError if the process has ended, or takes nothing."""
        self.connection.send(message)

    def receive(self) -> Any:
        """Returns the next message. Raises EOFError or OSError if the process has ended without one, and
        ProcessError with the error that ended it."""
        if not self.is_alive() and not self.connection.poll():  # others may have its end open
            raise EOFError
        message = self.connection.recv()
        if isinstance(message, RuntimeError):
            raise ProcessError(f"a process of the indexer ended: {message}")
        return message

    def close_early_errors(self) -> None:
        """Stops reading the standard error of the process, because it has begun its work."""
        self._private.close_errors()

    def end(self) -> str:
        """Ends the process now. Returns how it ended (by itself or by a signal) and its last line of standard
        error, unless `close_early_errors` was called."""
        self.connection.close()
        # Before the kill: the status then shows how the process ended by itself.
        ended = self._popen.poll()
        self._popen.kill()
        with suppress(subprocess.TimeoutExpired):  # it is blocked in the kernel and cannot be ended
            self._popen.wait(_END_S)
        status = ended if ended is not None else self._popen.returncode
        said = self._private.last_line()
        self._private.close()
        return f"the process {_exit_text(status)}{f': {said}' if said else ''}"

    def join(self) -> None:
        """Gives the process a moment to end by itself, then ends it by `end`."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_END_S)
        self.end()


def _exit_text(status: int | None) -> str:
    if status is None:
        return "does not end"
    return f"ended by signal {-status}" if status < 0 else f"ended with status {status}"


class _PrivateEnds:
    """Pipe ends that only the parent has. The process ends once `lifeline` is closed. `errors` receives the
    standard error of the process before it has begun its work."""

    def __init__(self, lifeline: int = -1, errors: int = -1) -> None:
        self._lifeline = lifeline
        self._errors = errors

    def last_line(self) -> str:
        """Returns the last line of the errors, "" if there is none."""
        if self._errors < 0:
            return ""
        try:
            lines = os.read(self._errors, _SAID_BYTES).decode(errors="replace").splitlines()
        except BlockingIOError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close_errors(self) -> None:
        self._errors = _close(self._errors)

    def close(self) -> None:
        self._lifeline = _close(self._lifeline)
        self.close_errors()

    def __del__(self) -> None:
        self.close()


def _close(descriptor: int) -> int:
    if descriptor >= 0:
        os.close(descriptor)
    return -1


def _command(*arguments: int) -> list[str]:
    if _identity() != _STARTED_FROM:  # a process would run the code of another version
        raise ProcessError(
            "vault-indexer was upgraded or removed while this process ran: restart it (indexer stop, then "
            "indexer start)"
        )
    executable = os.fsdecode(get_executable() or b"")
    if not executable:
        raise ProcessError("no process can be started: sys.executable does not name a Python interpreter")
    # Such as -O and -W, as `multiprocessing` passes them on.
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return python_command(*flags, str(_ENTRY), *map(str, arguments), program=executable)


if sys.platform == "win32":

    def _start() -> tuple[subprocess.Popen[bytes], Connection, _PrivateEnds]:
        """Starts the process. A handle is inherited only by the process whose list contains it."""
        from multiprocessing.connection import Pipe

        ours, theirs = Pipe()
        environ = dict(os.environ)
        if get_executable() != sys.executable:  # a virtual environment's program only starts another
            environ["__PYVENV_LAUNCHER__"] = sys.executable
        try:
            handle = theirs.fileno()
            os.set_handle_inheritable(handle, True)
            popen = subprocess.Popen(
                _command(handle, os.getpid()),
                stdin=subprocess.DEVNULL,
                env=environ,
                startupinfo=subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]}),
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return popen, cast("Connection", ours), _PrivateEnds()

else:

    def _start() -> tuple[subprocess.Popen[bytes], Connection, _PrivateEnds]:
        """Starts the process. The numbers of inherited files must be above the standard streams: if the
        caller has closed a standard stream, the system gives its number to the next file."""
        import signal
        import socket

        ours, theirs = socket.socketpair()
        opened = [_above_streams(theirs.detach())]
        try:
            # A stopped process must not block its parent for ever.
            for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
                ours.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", _MESSAGE_S, 0))
            opened += map(_above_streams, os.pipe())
            opened += map(_above_streams, os.pipe())
            opened.append(_standard_error())
            connection, lifeline, ours_lifeline, errors, their_errors, stderr = opened
            # The errors are read when the process ends; by then they may be empty.
            os.set_blocking(errors, False)
            os.set_blocking(their_errors, False)  # a process with much output must not block
            # Inherited: Ctrl-C must not end the process before it can ignore the signal.
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            try:
                popen = subprocess.Popen(
                    _command(connection, os.getpid(), lifeline, stderr),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=their_errors,
                    pass_fds=(connection, lifeline, stderr),
                )
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        except BaseException:
            ours.close()
            for descriptor in opened:
                os.close(descriptor)
            raise
        for descriptor in (connection, lifeline, their_errors, stderr):
            os.close(descriptor)
        return popen, Connection(ours.detach()), _PrivateEnds(ours_lifeline, errors)

    def _above_streams(descriptor: int) -> int:
        import fcntl

        if descriptor > 2:
            return descriptor
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
        os.close(descriptor)
        return moved

    def _standard_error() -> int:
        """Returns a copy of standard error. If there is none, its output is lost."""
        import fcntl

        try:
            return fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, 3)
        except OSError:
            return _above_streams(os.open(os.devnull, os.O_WRONLY))
