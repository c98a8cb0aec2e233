"""People who search: each asks, reads for a moment, and asks again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from endurance.ground import Running
from speed.figures import Times, clocked

_READ_S = (0.1, 0.4)
"""Shorter than anybody reads, so that there are enough searches; the median pause is 0.25 s."""


class Answers:
    """Latencies as the clients saw them (milliseconds, the connection kept open)."""

    def __init__(self) -> None:
        self._taken: list[float] = []
        self._lock = threading.Lock()

    def add(self, ms: float) -> None:
        """Of one search. Any thread."""
        with self._lock:
            self._taken.append(ms)

    def times(self) -> Times:
        """Of all searches so far."""
        with self._lock:
            return Times.of(self._taken)


@contextmanager
def people(running: Running, queries: Sequence[str], count: int) -> Iterator[Answers]:
    """`count` clients, at it until the block ends. A search without an answer ends the benchmark."""
    answers, stop = Answers(), threading.Event()
    broken: list[Exception] = []

    def person(number: int) -> None:
        chooser = random.Random(number)
        with running.side.client() as ask:
            while not stop.wait(chooser.uniform(*_READ_S)):
                query = chooser.choice(queries)
                answers.add(clocked(lambda: ask(query))[0])  # noqa: B023 (called at once)

    def guarded(number: int) -> None:
        try:
            person(number)
        except Exception as error:  # noqa: BLE001 (told by the thread that waits)
            broken.append(error)

    threads = [threading.Thread(target=guarded, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if broken:
        raise broken[0]


def searched_for(seconds: float, running: Running, queries: Sequence[str], count: int) -> Times:
    """What people see who search for so long."""
    with people(running, queries, count) as answers:
        time.sleep(seconds)
    return answers.times()
