"""What a daemon says of itself at one moment, from all that the texts are made of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from vault_indexer.daemon.state import DaemonState
from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.model import Progress

NOON = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)
ODD = DaemonState(
    building=True, vault_problem="the vault is gone", faults=("a fault",), reasons=("a reason",)
)
STALLED = "1 change pending for 60 s without progress: waiting for the vault (the vault is gone)"
HALFWAY = Progress("chunks", 1200, 2400, 7000, 3.5)


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (DaemonState(), "ready"),
        (DaemonState(is_indexing=True), "indexing"),
        (DaemonState(pending=3), "ready"),
        (DaemonState(has_index=False), "unusable"),
        (DaemonState(has_index=False, is_indexing=True), "unusable"),
        (DaemonState(building=True), "rebuilding"),
        (DaemonState(building=True, has_index=False), "building"),
        (DaemonState(building=True, unread=UnreadNotes(0, 3)), "indexing"),
        (DaemonState(building=True, unread=UnreadNotes(1, 3), paused=True), "paused"),
        (DaemonState(vault_problem="the vault is gone", paused=True), "degraded"),
        (DaemonState(unwritable=True, paused=True), "degraded"),
        (DaemonState(faults=("a fault",), reasons=("a reason",)), "ready"),
    ],
)
def test_the_worst_gives_the_state_its_name(state: DaemonState, name: str) -> None:
    assert state.name == name


@pytest.mark.parametrize(
    ("state", "detail", "wrong"),
    [
        (DaemonState(), "", ()),
        (DaemonState(advice="use a smaller model"), "use a smaller model", ()),
        (
            DaemonState(
                vault_problem="the vault is gone",
                reasons=("the model changed", "a fault"),
                faults=("a fault", ""),
                task_faults=("no disk",),
                pending=1,
                stalled_s=60.4,
                advice="no disk",
            ),
            f"the vault is gone; the model changed; a fault; no disk; {STALLED}",
            (
                "a fault",
                "no disk",
                STALLED,
            ),
        ),
        (replace(ODD, unread=UnreadNotes(2, 3)), "the vault is gone; a fault", ("a fault",)),
        (DaemonState(pending=2, held=1), "", ()),
        (DaemonState(stalled_s=61.0, held=1), "", ()),
    ],
)
def test_all_that_is_wrong_is_said_once(state: DaemonState, detail: str, wrong: tuple[str, ...]) -> None:
    assert (state.detail, state.wrong) == (detail, wrong)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (DaemonState(), "files that are still being written"),
        (DaemonState(unpublished=1), "the server to which the index is published"),
        (DaemonState(unpublished=1, publishing_fault="no server"), "no server"),
        (DaemonState(unpublished=1, held=2), "2 deletions held back, in case the files come back"),
        (DaemonState(held=2, step_s=59.9), "2 deletions held back, in case the files come back"),
        (DaemonState(held=2, step_s=60.0), "a worker process that does not answer"),
        (DaemonState(step_s=60.0, indexing_fault="no disk"), "the next try (no disk)"),
        (DaemonState(indexing_fault="no disk", building=True), "the index to be built"),
        (ODD, "the vault (the vault is gone)"),
    ],
)
def test_pending_changes_wait_for_the_first_of_these(state: DaemonState, reason: str) -> None:
    assert state.waits_for == reason


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (DaemonState(paused=True), "until `indexer resume`"),
        (DaemonState(paused=True, pending=1), "until `indexer resume`: 1 change is not searched yet"),
        (
            DaemonState(paused=True, paused_until=NOON, pending=2),
            "until 2026-03-01T12:00:05Z: 2 changes are not searched yet",
        ),
    ],
)
def test_a_pause_is_said_with_its_end_and_what_waits(state: DaemonState, text: str) -> None:
    assert state.under_way == (f"indexing is paused {text}",)
    assert state.build_text == state.pause_text == f"indexing is paused {text}"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (DaemonState(), ()),
        (DaemonState(progress=HALFWAY, reasons=("a reason",)), ()),
        (DaemonState(building=True), ("the index is being rebuilt: it starts",)),
        (
            DaemonState(building=True, reasons=("one", "two")),
            ("the index is being rebuilt: one; two",),
        ),
        (
            ODD,
            ("Warning: the vault is gone", "the index is being rebuilt: a fault"),
        ),
        (
            DaemonState(building=True, faults=("a fault",), progress=HALFWAY),
            ("the index is being rebuilt: 1,200 of 2,400 notes",),
        ),
        (
            replace(ODD, unread=UnreadNotes(left=400, total=1000)),
            ("Warning: the vault is gone", "the index is being built: 600 of 1,000 notes can be searched"),
        ),
        (
            DaemonState(unread=UnreadNotes(left=1, total=1)),
            ("the index is being built: 0 of 1 note can be searched",),
        ),
    ],
)
def test_a_build_is_said_with_how_far_it_is(state: DaemonState, told: tuple[str, ...]) -> None:
    assert state.under_way == told


def test_a_first_part_that_answers_is_as_far_as_its_notes() -> None:
    assert DaemonState(progress=HALFWAY).reading_progress is None
    unread = UnreadNotes(left=2, total=5)
    assert DaemonState(unread=unread).reading_progress == Progress("notes", 3, 5, 0, 0.0)
    built = DaemonState(progress=HALFWAY, unread=unread).reading_progress
    assert built == Progress("notes", 3, 5, 7000, 3.5)
