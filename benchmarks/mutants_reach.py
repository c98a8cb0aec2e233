"""A plugin of pytest for `mutants.py`, which copies it into the package of each of its trees.

It records which test reaches which place and how much processor time each test takes, and it ends a process
that uses much more than any test needs.
"""

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

RECORD, NOW = Path(__file__).with_suffix(".txt"), Path(__file__).with_suffix(".now")
TEST_CPU_S, PROCESS_CPU_S, PROCESS_BYTES = 30, 120, 8 << 30
_CURRENT_S = 0.02
_seen: set[tuple[int, str]] = set()


@dataclass
class Current:
    """The test that runs, as this process last heard: it may run in another one."""

    test: str = ""
    heard: float = 0.0

    def set(self, test: str) -> None:
        """Take this test from now on."""
        self.test, self.heard = test, time.monotonic()

    def look(self) -> str:
        """The test, read again after a moment."""
        if time.monotonic() - self.heard > _CURRENT_S:
            with suppress(OSError):
                self.set(NOW.read_text("utf-8"))
        return self.test


_current = Current()


def append(*fields: object) -> None:
    """Add a line. Any process of a test may: lines of this length are written at once."""
    with RECORD.open("a", encoding="utf-8") as file:
        file.write("\t".join(map(str, fields)) + "\n")


def reached(place: int) -> None:
    """Say that the present test executes the statement at this place, in whatever process."""
    test = _current.look()
    if (place, test) not in _seen:
        _seen.add((place, test))
        append("place", place, test)


def processor_time() -> float:
    """Seconds of this process and of its children that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def pytest_configure() -> None:
    """Limit this process and all that the tests start, unless it runs the whole suite."""
    if "MUTANT_LIMITS" in os.environ:
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESS_CPU_S, PROCESS_CPU_S + 5))
        resource.setrlimit(resource.RLIMIT_AS, (PROCESS_BYTES, PROCESS_BYTES))


def _begin(text: str) -> None:
    NOW.write_text(text, "utf-8")
    _current.set(text)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What is reached from now on may belong to a fixture that other tests of the file share."""
    _begin(f"{item.nodeid} (setup)")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """What is reached from now on belongs to this test."""
    _begin(f"{item.nodeid} (call)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process where a test takes too much processor time, and record what it takes."""
    signal.setitimer(signal.ITIMER_PROF, TEST_CPU_S)
    start = processor_time()
    try:
        return (yield)
    finally:
        append("cost", round(processor_time() - start, 3), item.nodeid)
