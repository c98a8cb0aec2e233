"""The standard streams, where a program may have been started without them."""

from __future__ import annotations

import os
import sys


def open_missing_streams() -> None:
    """Give a process that lacks a standard stream one that leads nowhere. `pythonw.exe`, which has no window,
    has none of the three; a parent on POSIX may have closed them. The next file would else get its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        nothing = os.open(os.devnull, os.O_RDWR)
        if nothing != number:
            os.dup2(nothing, number)
            os.close(nothing)
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


if sys.platform == "win32":

    def is_read(file: int) -> bool:  # noqa: ARG001 - the other systems look at it
        """True: Windows tells of a pipe that nobody reads only when it is written to."""
        return True

else:

    def is_read(file: int) -> bool:
        """False for a pipe whose other end is closed: writing to it would be an error."""
        import select

        poll = select.poll()
        poll.register(file, select.POLLOUT)
        return not any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))
