"""What a person grades: notes for a question, without ranks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PooledNote:
    """A note to be graded: its path, its title, and what the search shows of it, or its beginning."""

    path: str
    title: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class JudgingPool:
    """The notes of a question without a grade, in an order that tells no ranks.

    `judged` counts those with a grade, `grades` are the meanings of the grades from 0 on, `questions` are all
    that are known, `folder` is where the grades are kept.
    """

    question: str
    notes: tuple[PooledNote, ...]
    judged: int
    grades: tuple[str, ...]
    questions: tuple[str, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class KeptClick:
    """The click is in the file."""

    file: Path


@dataclass(frozen=True, slots=True)
class KeptGrade:
    """The grade of a note for a question is on disk; `judged` notes of the question have one."""

    question: str
    path: str
    grade: int
    judged: int
