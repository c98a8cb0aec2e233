"""Other processes: starting one that outlives us, asking one to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def python_command(*arguments: str, program: str = sys.executable) -> list[str]:
    """The command that runs this Python with the arguments. Every command of the package that starts Python
    comes from here: `-P` keeps it from importing what lies in its working folder or next to its script, which
    may be files of a stranger's vault."""
    return [program, "-P", *arguments]


if sys.platform == "win32":

    def ask_to_end(pid: int) -> None:
        """End the process at once. Only a process of the same console could be asked (Ctrl-Break), and a
        daemon has none. Raises OSError."""
        os.kill(pid, signal.SIGTERM)

    def start_in_background(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
        """Start a program in a folder. It outlives this one; only its standard error is connected. It has a
        console without a window, which what it starts shares: with DETACHED_PROCESS each of those would open
        one."""
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            creationflags=subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP,
        )

    ENDING_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGTERM, signal.SIGBREAK)
    """What asks this process to end, other than Ctrl-C."""

else:

    def ask_to_end(pid: int) -> None:
        """Send SIGTERM. Raises OSError."""
        os.kill(pid, signal.SIGTERM)

    def start_in_background(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
        """Start a program in a folder. It outlives this one and its terminal; only its standard error is
        connected."""
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    ENDING_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGTERM,)
    """What asks this process to end, other than Ctrl-C."""
