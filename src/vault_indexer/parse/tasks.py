"""Tasks: list items with a box, as in `- [ ] call`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TASK = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<state>[^\]\n])\](?=[ \t]|$)", re.MULTILINE)
_TASK_END = re.compile(r"\n(?=[ \t>]*(?:\n|\Z|(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}[ \t]|```|~~~))")
_FENCE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)|\Z)", re.MULTILINE | re.DOTALL
)
_OPEN_STATES = " "


class Task(NamedTuple):
    """A task's span in the note's text. It is done if its box holds anything but a space."""

    start: int
    end: int
    is_done: bool


def find_tasks(text: str, body_start: int) -> Iterator[Task]:
    """The tasks of a note in order, without those in fenced code."""
    code: list[tuple[int, int]] | None = None
    for task in _TASK.finditer(text, body_start):
        if code is None:
            code = [match.span() for match in _FENCE.finditer(text)]
        if any(first <= task.start() < last for first, last in code):
            continue
        end = _TASK_END.search(text, task.end())
        yield Task(task.start(), end.start() if end else len(text), task["state"] not in _OPEN_STATES)
