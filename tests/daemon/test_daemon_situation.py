"""What a daemon says of itself at one moment, from all that the texts are made of."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from vault_indexer.daemon.situation import LoopState, Situation
from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.model import Progress

NOON = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)
OK = LoopState()
BUILDING = LoopState(building=True)
ODD = LoopState(building=True, vault_problem="the vault is gone", faults=("a fault",), reasons=("a reason",))
HALFWAY = Progress("chunks", 1200, 2400, 7000, 3.5)


@pytest.mark.parametrize(
    ("situation", "name"),
    [
        (Situation(OK), "ready"),
        (Situation(OK, is_indexing=True), "indexing"),
        (Situation(OK, pending=3), "ready"),
        (Situation(OK, has_index=False), "unusable"),
        (Situation(OK, has_index=False, is_indexing=True), "unusable"),
        (Situation(BUILDING), "rebuilding"),
        (Situation(BUILDING, has_index=False), "building"),
        (Situation(BUILDING, unread=UnreadNotes(0, 3)), "indexing"),
        (Situation(BUILDING, unread=UnreadNotes(1, 3), paused=True), "paused"),
        (Situation(LoopState(vault_problem="the vault is gone"), paused=True), "degraded"),
        (Situation(LoopState(unwritable=True), paused=True), "degraded"),
        (Situation(LoopState(faults=("a fault",), reasons=("a reason",))), "ready"),
    ],
)
def test_the_worst_gives_the_state_its_name(situation: Situation, name: str) -> None:
    assert situation.name == name


@pytest.mark.parametrize(
    ("situation", "detail", "wrong"),
    [
        (Situation(OK), "", ()),
        (Situation(OK, advice="use a smaller model"), "use a smaller model", ()),
        (
            Situation(
                LoopState(
                    vault_problem="the vault is gone",
                    reasons=("the model changed", "a fault"),
                    faults=("a fault", ""),
                    task_faults=("no disk",),
                ),
                pending=1,
                stalled_s=60.4,
                waits_for="the next try",
                advice="no disk",
            ),
            "the vault is gone; the model changed; a fault; no disk; "
            "1 change pending for 60 s without progress: waiting for the next try",
            ("a fault", "no disk", "1 change pending for 60 s without progress: waiting for the next try"),
        ),
        (Situation(ODD, unread=UnreadNotes(2, 3)), "the vault is gone; a fault", ("a fault",)),
        (Situation(OK, pending=2, waits_for="a worker"), "", ()),
        (Situation(OK, stalled_s=61.0, waits_for="a worker"), "", ()),
    ],
)
def test_all_that_is_wrong_is_said_once(situation: Situation, detail: str, wrong: tuple[str, ...]) -> None:
    assert (situation.detail, situation.wrong) == (detail, wrong)


@pytest.mark.parametrize(
    ("situation", "text"),
    [
        (Situation(OK, paused=True), "until `indexer resume`"),
        (Situation(OK, paused=True, pending=1), "until `indexer resume`: 1 change is not searched yet"),
        (
            Situation(OK, paused=True, paused_until=NOON, pending=2),
            "until 2026-03-01T12:00:05Z: 2 changes are not searched yet",
        ),
    ],
)
def test_a_pause_is_said_with_its_end_and_what_waits(situation: Situation, text: str) -> None:
    assert situation.under_way == (f"indexing is paused {text}",)
    assert situation.build_text == situation.pause_text == f"indexing is paused {text}"


@pytest.mark.parametrize(
    ("situation", "told"),
    [
        (Situation(OK), ()),
        (Situation(LoopState(progress=HALFWAY, reasons=("a reason",))), ()),
        (Situation(BUILDING), ("the index is being rebuilt: it starts",)),
        (
            Situation(LoopState(building=True, reasons=("one", "two"))),
            ("the index is being rebuilt: one; two",),
        ),
        (
            Situation(ODD),
            ("Warning: the vault is gone", "the index is being rebuilt: a fault"),
        ),
        (
            Situation(LoopState(building=True, faults=("a fault",), progress=HALFWAY)),
            ("the index is being rebuilt: 1,200 of 2,400 notes",),
        ),
        (
            Situation(ODD, unread=UnreadNotes(left=400, total=1000)),
            ("Warning: the vault is gone", "the index is being built: 600 of 1,000 notes can be searched"),
        ),
        (
            Situation(OK, unread=UnreadNotes(left=1, total=1)),
            ("the index is being built: 0 of 1 note can be searched",),
        ),
    ],
)
def test_a_build_is_said_with_how_far_it_is(situation: Situation, told: tuple[str, ...]) -> None:
    assert situation.under_way == told


def test_a_first_part_that_answers_is_as_far_as_its_notes() -> None:
    assert Situation(LoopState(progress=HALFWAY)).reading_progress is None
    unread = UnreadNotes(left=2, total=5)
    assert Situation(OK, unread=unread).reading_progress == Progress("notes", 3, 5, 0, 0.0)
    built = Situation(LoopState(progress=HALFWAY), unread=unread).reading_progress
    assert built == Progress("notes", 3, 5, 7000, 3.5)
