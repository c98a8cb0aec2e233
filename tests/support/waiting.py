"""Waiting for a condition: no longer than needed, and long enough for a machine busy with other work."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event

DEADLINE_S = 180.0
"""How long a test waits for what another thread or process does. Reaching it means that it never happens."""

PROCESS_S = 300.0
"""How long a command may run before the test gives it up."""


def wait_until(
    condition: Callable[[], object], what: str = "the condition", deadline_s: float = DEADLINE_S
) -> float:
    """Return the seconds until the condition holds; fail with `what` after the deadline."""
    start, pause, seconds = time.monotonic(), Event(), 0.02
    while not condition():
        assert time.monotonic() - start < deadline_s, f"not within {deadline_s:g} s: {what}"
        pause.wait(seconds)
        seconds = min(1.1 * seconds, 0.1)  # most conditions ask the process that is waited for
    return time.monotonic() - start
