"""The script that each process of the indexer runs first; `index.workers.process` starts it by its path.

It imports only the standard library until it has its parent's import path, because this package may not be
importable otherwise. It never imports the caller's script, which so needs no `if __name__ == "__main__":`.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import cast

_LOOK_FOR_PARENT_S = 5.0

_VICTIM_SCORE = "500"
"""Of 1000, a thousandth of the memory each (proc(5)). A rule of thumb."""


def main(arguments: list[str]) -> None:
    """`arguments`: the handle of the connection, the id of the parent, and, on POSIX, the read end of a pipe
    whose other end only the parent has, and the standard error to use once the process has begun.

    The connection brings the import path and the pickled function to call with it. An uncaught error is
    returned as a RuntimeError, without a traceback. If the parent ends, this process ends without a message.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    handle, parent, *others = map(int, arguments)
    _be_ended_first()
    connection = _end_with_parent(handle, parent, others)
    sys.excepthook = partial(_tell_parent, connection)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the parent has ended
        sys.path[:] = connection.recv()
        gc.disable()  # this imports hundreds of modules, none of which is garbage
        run: Callable[[Connection], None] = pickle.loads(connection.recv_bytes())
        gc.freeze()
        gc.enable()
        _use_standard_error(others)
        run(connection)


def _be_ended_first() -> None:
    """If memory runs out, Linux ends this process, which is started again, rather than its parent."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_VICTIM_SCORE, "ascii")


def _tell_parent(
    connection: Connection, kind: type[BaseException], error: BaseException, _: TracebackType | None
) -> None:
    with suppress(OSError):
        connection.send(RuntimeError(" ".join(f"{kind.__name__}: {error}".split())))


def _use_standard_error(others: list[int]) -> None:
    """Replaces standard error, from which the parent reads until then why the process could not begin. The
    output of libraries goes there as well: the standard output is the parent's, and may be JSON."""
    if others:
        os.dup2(others[1], 2)
        os.close(others[1])
    with suppress(OSError):
        os.dup2(2, 1)


if sys.platform == "win32":

    def _end_with_parent(handle: int, parent: int, _others: list[int]) -> Connection:
        import _winapi
        from multiprocessing.connection import PipeConnection

        synchronize = 0x100000
        process = _winapi.OpenProcess(synchronize, False, parent)

        def watch() -> None:
            wait([process])
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()
        return cast("Connection", PipeConnection(handle))

else:

    def _end_with_parent(handle: int, parent: int, others: list[int]) -> Connection:
        """Ends this process when the parent ends in any way: otherwise it would go on writing files that the
        next owner of the index treats as its own."""
        import fcntl

        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        lifeline = others[0]

        def watch() -> None:
            # A process forked from the parent without an exec also holds the pipe: hence the check.
            while not wait([lifeline], _LOOK_FOR_PARENT_S) and os.getppid() == parent:
                pass
            os._exit(1)

        if hasattr(os, "O_ASYNC"):
            # The kernel ends the process by SIGIO, also where native code does not let the thread run.
            with suppress(OSError):
                signal.signal(signal.SIGIO, signal.SIG_DFL)
                fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
                fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
        threading.Thread(target=watch, daemon=True).start()
        return Connection(handle)


if __name__ == "__main__":
    main(sys.argv[1:])
