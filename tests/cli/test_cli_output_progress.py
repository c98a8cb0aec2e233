"""What a build says of itself where no terminal shows a bar."""

from __future__ import annotations

import re
from contextlib import redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from command_here import TerminalText, set_terminal
from golden_cases import check_golden, of_parts

from vault_indexer.cli.output.progress import CaseProgress, Lines, duration, showing

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import ProgressJson


def progress(stage: str, notes: int, seconds: float) -> ProgressJson:
    found = {"stage": stage, "notes": notes, "total": 173, "chunks": 9 * notes, "seconds": seconds}
    return cast("ProgressJson", found)


def test_a_long_build_says_every_two_seconds_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for stage, notes, seconds in (
        ("notes", 50, 2.0),
        ("notes", 60, 3.9),
        ("notes", 100, 4.0),
        ("keywords", 173, 7.0),
        ("vectors", 172, 8.9),  # the next line is two seconds behind the last
        ("vectors", 173, 9.0),
    ):
        lines.show(progress(stage, notes, seconds))
    assert capsys.readouterr().err.splitlines() == [
        "Reading notes: 50 of 173 (25 notes/s, 4.9 s left)",
        "Reading notes: 100 of 173 (25 notes/s, 2.9 s left)",
        "Indexing words: 173 of 173",
        "Indexing meaning: 173 of 173",
    ]


def test_seconds_and_rates_as_a_person_says_them(capsys: pytest.CaptureFixture[str]) -> None:
    def told(notes: str, seconds: str) -> str:
        Lines().show(progress("notes", int(notes), float(seconds)))
        return capsys.readouterr().err.removesuffix("\n")

    check_golden(
        Path(__file__).parent / "fixtures" / "words.md",
        {
            "Seconds": lambda seconds: duration(float(seconds)),
            "A rate is told once there is something to judge by": of_parts(told),
        },
    )


def test_at_a_terminal_a_build_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    set_terminal(monkeypatch, 100)
    shown = TerminalText()
    with redirect_stderr(shown), showing() as show:
        show(progress("notes", 50, 2.0))
        show(progress("keywords", 173, 7.0))
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.getvalue())
    assert "Reading notes" in text
    assert "50 of 173" in text
    assert "25 notes/s, 4.9 s left" in text
    last = text[text.rindex("Indexing words") :]
    assert "173 of 173" in last


def test_at_a_terminal_cases_are_counted_in_place_and_the_line_is_removed() -> None:
    shown = TerminalText()
    with redirect_stderr(shown), CaseProgress(every_s=0) as counted:
        counted.show(0, 2, "one\x1b[2J")
        counted.show(1, 2, "two")
    first, second, end = shown.getvalue().split("\r\x1b[K")[1:]
    assert re.fullmatch(r"0/2 cases, \d+\.\d s: one \[2J", first)
    assert "\x1b" not in first
    assert re.fullmatch(r"1/2 cases, \d+\.\d s: two", second)
    assert end == ""
    quiet = TerminalText()
    with redirect_stderr(quiet), CaseProgress(every_s=3600) as counted:
        counted.show(0, 2, "one")
    assert quiet.getvalue() == ""


def test_elsewhere_a_case_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with CaseProgress(every_s=0) as counted:
        counted.show(1, 1, "only")
    assert re.fullmatch(r"1/1 case, \d+\.\d s: only\n", capsys.readouterr().err)
