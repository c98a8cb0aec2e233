"""What a daemon says of itself: the name of its state, and what a user should know."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import Progress
from vault_indexer.text.phrases import iso_moment, quantity

# What other threads know of the daemon's loop.


@dataclass(frozen=True, slots=True)
class LoopState:
    """The state of the loop at one moment. The loop replaces it as a whole, so all fields belong together.

    `reasons` tell why the active generation does not fit (empty: it does), `vault_problem` why
    the vault is not followed. `faults` are the failures of the loop, `task_faults` those of background
    tasks. `failure` is why the daemon has to end. `step_began` is the clock when the step under way began
    (None: the loop waits).
    """

    building: bool = False
    progress: Progress | None = None
    reasons: tuple[str, ...] = ()
    vault_problem: str = ""
    faults: tuple[str, ...] = ()
    task_faults: tuple[str, ...] = ()
    unwritable: bool = False
    happened: tuple[str, ...] = ()
    failure: VaultIndexerError | None = None
    step_began: float | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the texts of one moment are made of.

    `has_index`: a generation answers searches. `unread` is what it lacks of the vault (None: nothing),
    `pending` how many changes are not in it, `is_indexing` whether notes are known among them. `paused_until`
    is None where a pause does not end by itself. `stalled_s` are seconds without progress (0 while there
    is any), and `waits_for` says for what. `advice` is what the active configuration should better be.
    """

    loop: LoopState
    has_index: bool = True
    unread: UnreadNotes | None = None
    pending: int = 0
    is_indexing: bool = False
    paused: bool = False
    paused_until: datetime | None = None
    stalled_s: float = 0.0
    waits_for: str = ""
    advice: str = ""

    @property
    def name(self) -> str:
        """The state in one word, the worst first."""
        if self.loop.vault_problem or self.loop.unwritable:
            return "degraded"
        if self.paused:
            return "paused"
        if self.unread is not None:
            return "indexing"
        if self.loop.building:
            return "rebuilding" if self.has_index else "building"
        if not self.has_index:
            return "unusable"
        return "indexing" if self.is_indexing else "ready"

    @property
    def detail(self) -> str:
        """All that is wrong, each once."""
        # Until a first build is complete, the reason for it holds, which is no problem once it answers.
        reasons = () if self.unread is not None else self.loop.reasons
        problems = (self.loop.vault_problem, *reasons, *self.loop.faults, *self.loop.task_faults)
        return "; ".join(dict.fromkeys(filter(None, (*problems, self.stall_text, self.advice))))

    @property
    def under_way(self) -> tuple[str, ...]:
        """What answers should be read with at the moment: a pause, a vault that is not followed, a build."""
        notices = [self.pause_text] if self.paused else []
        notices += [f"Warning: {self.loop.vault_problem}"] if self.loop.vault_problem else []
        if (progress := self.reading_progress) is not None:
            notices.append(f"the index is being built: {_notes_done(progress)} can be searched")
        elif self.loop.building:
            notices.append(f"the index is being rebuilt: {self.build_text}")
        return tuple(notices)

    @property
    def wrong(self) -> tuple[str, ...]:
        """What does not succeed."""
        return tuple(filter(None, (*self.loop.faults, *self.loop.task_faults, self.stall_text)))

    @property
    def stall_text(self) -> str:
        """That pending changes make no progress, and what they wait for; "" while they do."""
        if not self.stalled_s or not self.pending:
            return ""
        return (
            f"{quantity(self.pending, 'change')} pending for {self.stalled_s:.0f} s without progress: "
            f"waiting for {self.waits_for}"
        )

    @property
    def pause_text(self) -> str:
        """When a pause ends, and what waits meanwhile."""
        until = iso_moment(self.paused_until) if self.paused_until else "`indexer resume`"
        text = f"indexing is paused until {until}"
        if not self.pending:
            return text
        verb = "is" if self.pending == 1 else "are"
        return f"{text}: {quantity(self.pending, 'change')} {verb} not searched yet"

    @property
    def build_text(self) -> str:
        """How far a build is, or why there is none."""
        if self.paused:
            return self.pause_text
        if self.loop.progress is None:
            return "; ".join(self.loop.faults or self.loop.reasons) or "it starts"
        return _notes_done(self.loop.progress)

    @property
    def reading_progress(self) -> Progress | None:
        """How far the index is that answers and lacks notes of the vault; None where it lacks none."""
        if self.unread is None:
            return None
        built = self.loop.progress or Progress("notes", 0, 0, 0, 0.0)
        notes = self.unread.total - self.unread.left
        return Progress("notes", notes, self.unread.total, built.chunks, built.seconds)


def _notes_done(progress: Progress) -> str:
    return f"{progress.notes:,} of {quantity(progress.total, 'note')}"


# Notices of what happened once, such as a rebuild: shown with each answer for some minutes.


SHOWN_FOR_S = 600.0
"""From the first answer that showed it. `status` shows it as long as the daemon runs."""

Clock = Callable[[], float]


class RecentNotices:
    """Knows when each notice was first shown. `clock` gives seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._shown_since: dict[str, float] = {}

    def to_show(self, happened: Iterable[str]) -> tuple[str, ...]:
        """Of all that happened, in its order, what is still to be shown."""
        now = self._clock()
        self._shown_since = {notice: self._shown_since.get(notice, now) for notice in happened}
        return tuple(notice for notice, since in self._shown_since.items() if now - since < SHOWN_FOR_S)
