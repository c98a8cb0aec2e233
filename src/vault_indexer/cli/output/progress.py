"""Shows the progress of a build on standard error: a bar on a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_indexer.cli.output.terminal import err, note, styled
from vault_indexer.text.control_characters import clean
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import ProgressJson

Show = Callable[["ProgressJson"], None]

_LINE_EVERY_S = 2.0
_NOTES_TO_JUDGE = 20
_STAGES = {
    "notes": "Reading notes",
    "keywords": "Indexing words",
    "vectors": "Indexing meaning",
    "verify catalog": "Checking the index",
    "verify vault": "Checking the notes",
    "verify indices": "Checking the index",
}


@contextmanager
def showing() -> Iterator[Show]:
    """Yields the function to call with each progress. The first one draws a bar, until the block ends."""
    if not sys.stderr.isatty():
        yield Lines().show
        return
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        TextColumn("[dim]{task.fields[rate]}[/]"),
        console=err(),
        transient=True,
    )
    task = bar.add_task("", rate="")

    def show(progress: ProgressJson) -> None:
        stage, total = stage_in_words(progress["stage"]), max(progress["total"], 1)
        bar.update(task, description=stage, completed=progress["notes"], total=total, rate=_rate(progress))
        bar.start()

    try:
        yield show
    finally:
        bar.stop()


class Lines:
    """Prints a line every two seconds, so a short build prints none."""

    def __init__(self) -> None:
        self._next = _LINE_EVERY_S

    def show(self, progress: ProgressJson) -> None:
        if progress["seconds"] < self._next:
            return
        self._next = progress["seconds"] + _LINE_EVERY_S
        rate = _rate(progress)
        done = f"{stage_in_words(progress['stage'])}: {progress['notes']:,} of {progress['total']:,}"
        note(done + (f" ({rate})" if rate else ""))


class CaseProgress:
    """Shows the progress of a run of golden cases on standard error: a line every two seconds, none for a
    short run.

    On a terminal the line is overwritten.
    """

    def __init__(self, every_s: float = _LINE_EVERY_S) -> None:
        self._started = time.monotonic()
        self._every_s = every_s
        self._next = every_s
        self._in_place = sys.stderr.isatty()
        self._drawn = False

    def __enter__(self) -> CaseProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn and self._in_place:
            styled(sys.stderr).write("\r\x1b[K")

    def show(self, done: int, total: int, case: str) -> None:
        seconds = time.monotonic() - self._started
        if seconds < self._next:
            return
        self._next = seconds + self._every_s
        self._drawn = True
        line = f"{done}/{quantity(total, 'case')}, {duration(seconds)}: {case}"
        if self._in_place:
            styled(sys.stderr).write(f"\r\x1b[K{clean(line)}")
            sys.stderr.flush()
        else:
            note(line)


def stage_in_words(stage: str) -> str:
    return _STAGES.get(stage, stage)


def _rate(progress: ProgressJson) -> str:
    """Notes per second and the remaining time, once enough notes are done for an estimate."""
    notes, total, seconds = progress["notes"], progress["total"], progress["seconds"]
    if notes < _NOTES_TO_JUDGE or seconds < 1 or notes >= total:
        return ""
    left = (total - notes) * seconds / notes
    rate = f"{quantity(round(notes / seconds), 'note')}/s"
    return f"{rate}, {duration(left)} left"


def duration(seconds: float) -> str:
    """Formats seconds for a person: 0.4 s, 12 s, 3 min 20 s, 1 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
