"""`indexer serve` in this process, which its signals reach; what a test does meanwhile runs in a thread."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import TypeVar

from cli_sandbox import Ran
from command_here import CommandHere
from waiting import wait_until

from vault_indexer.daemon.discovery import DaemonInfo, read_daemon

T = TypeVar("T")


def while_serving(
    here: CommandHere, announced: Path, meanwhile: Callable[[DaemonInfo], T], *arguments: str
) -> tuple[Ran, T]:
    """How `indexer serve` ended, and what came of `meanwhile`, after which the daemon gets SIGTERM.
    `announced` is the folder in which it says that it runs."""
    ended = Event()

    def act() -> T:
        wait_until(lambda: ended.is_set() or read_daemon(announced) is not None)
        info = read_daemon(announced)
        assert info is not None and not ended.is_set(), "it ended before it ran"
        try:
            return meanwhile(info)
        finally:
            if not ended.is_set():
                os.kill(os.getpid(), signal.SIGTERM)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(act)
        try:
            ran = here.run("serve", *arguments)
        finally:
            ended.set()
        return ran, done.result()
