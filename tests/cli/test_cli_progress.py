"""What a build says of itself where no terminal shows a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from vault_indexer.cli.output.progress import Lines, duration

if TYPE_CHECKING:
    from vault_indexer.serve.api.shapes import ProgressJson


def progress(stage: str, notes: int, seconds: float) -> ProgressJson:
    found = {"stage": stage, "notes": notes, "total": 173, "chunks": 9 * notes, "seconds": seconds}
    return cast("ProgressJson", found)


def test_a_short_build_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for stage, notes, seconds in (("notes", 1, 0.1), ("notes", 173, 1.2), ("keywords", 173, 1.9)):
        lines.show(progress(stage, notes, seconds))
    assert capsys.readouterr().err == ""


def test_a_long_build_says_every_two_seconds_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for stage, notes, seconds in (
        ("notes", 50, 2.0),
        ("notes", 60, 2.5),
        ("notes", 100, 4.0),
        ("keywords", 173, 7.0),
        ("vectors", 173, 9.5),
    ):
        lines.show(progress(stage, notes, seconds))
    assert capsys.readouterr().err.splitlines() == [
        "Reading notes: 50 of 173 (25 notes/s, 4.9 s left)",
        "Reading notes: 100 of 173 (25 notes/s, 2.9 s left)",
        "Indexing words: 173 of 173",
        "Indexing meaning: 173 of 173",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.44, "0.4 s"),
        (9.94, "9.9 s"),
        (10, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (3900, "1 h 5 min"),
    ],
)
def test_seconds_as_a_person_says_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words
