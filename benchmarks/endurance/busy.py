"""Search while the index is rebuilt, and while notes are saved one after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence

from endurance.editing import Editor, editing
from endurance.ground import Figure, Running, daemon, figure
from endurance.people import people, searched_for
from speed.figures import Times
from speed.material import Material
from speed.questions import from_notes
from speed.sides import await_ready

TARGET_RATIO = 3.0
PEOPLE = 4
_QUERIES = 100
_IDLE_S = 30.0
_STORM_S = 30.0
_STORM_PER_S = 50.0
_SETTLE_S = 300.0


def rebuild_p95(ground: Material) -> list[Figure]:
    """The 95th percentile of what four people wait, idle, under a rebuild, under a storm, and idle again."""
    with ground.catalog() as catalog:
        queries = from_notes(catalog, _QUERIES)
    with daemon(ground) as running:
        searched_for(_IDLE_S / 3, running, queries, PEOPLE)  # what is asked first is loaded first
        idle = searched_for(_IDLE_S, running, queries, PEOPLE)
        figures = [figure(f"search by {PEOPLE} people, idle", _told(idle))]
        with people(running, queries, PEOPLE) as answers:
            began = time.perf_counter()
            running.side.rebuild()
            seconds = time.perf_counter() - began
        figures.append(_compared(f"under a rebuild ({seconds:.0f} s)", answers.times(), idle))
        figures.append(_storm(ground, running, queries, idle))
        figures.append(figure("idle again", _told(searched_for(_IDLE_S / 2, running, queries, PEOPLE))))
    return figures


def _storm(ground: Material, running: Running, queries: Sequence[str], idle: Times) -> Figure:
    editor = Editor(ground.vault, seed=1)
    try:
        with people(running, queries, PEOPLE) as answers, editing(editor, _STORM_PER_S):
            time.sleep(_STORM_S)
        times = answers.times()
        ended = time.perf_counter()
        time.sleep(1)  # the debounce: until then nothing is known to be pending
        await_ready(running.side, _SETTLE_S)
        behind = time.perf_counter() - ended
    finally:
        editor.restore()
    time.sleep(1)
    await_ready(running.side, _SETTLE_S)
    what = f"under {editor.done / _STORM_S:.0f} saves a second (in step {behind:.1f} s after the last)"
    return _compared(what, times, idle)


def _compared(what: str, times: Times, idle: Times) -> Figure:
    ratio = times.p95 / idle.p95
    return figure(what, f"{_told(times)}; p95 {ratio:.1f} x idle", f"p95 {TARGET_RATIO:.0f} x idle")


def _told(times: Times) -> str:
    ends = f"p50 {times.p50:.1f}, p95 {times.p95:.1f}, max {times.at(1.0):.0f} ms"
    return f"{ends} of {len(times.ms)}"
