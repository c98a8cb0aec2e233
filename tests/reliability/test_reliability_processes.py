"""The list of processes that the tests of killed ones begin with."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from processes import processes_below

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")


def test_processes_are_listed_while_threads_come_and_go() -> None:
    done = threading.Event()

    def start_threads() -> None:
        while not done.is_set():
            short = [threading.Thread(target=Path.cwd) for _ in range(20)]
            for thread in short:
                thread.start()
            for thread in short:
                thread.join()

    starter = threading.Thread(target=start_threads)
    starter.start()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        try:
            assert all(child.pid in set(processes_below(os.getpid())) for _ in range(3000))
        finally:
            done.set()
            starter.join()
            child.communicate(b"\n")
