"""The state of a daemon: its name, what a user should know, and what it is made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import Progress
from vault_indexer.text.phrases import iso_moment, quantity

STALLED_S = 60.0
"""An edit takes seconds, and a batch of any size is counted down note by note; the largest merge of keyword
segments measured took 24 s."""


@dataclass(frozen=True, slots=True)
class DaemonState:
    """The state of the daemon at one moment: all that its texts are made of.

    The first group is what the loop publishes between its steps, and so belongs together. `reasons` tell why
    the active generation does not fit (empty: it does), `vault_problem` why the vault is not followed.
    `faults` are the failures of the loop (`indexing_fault` is one of them), `task_faults` those of background
    tasks. `failure` is why the daemon has to end. `step_began` is the clock when the step under way began
    (None: the loop waits).

    The second group is counted when the state is read. `has_index`: a generation answers searches. `unread`
    is what it lacks of the vault (None: nothing), `pending` how many changes are not in it, `held` how many of
    them are deletions that may be undone, and `unpublished` how many commits a server lacks to which the
    index is published. `is_indexing`: notes are known among the changes. `paused_until` is None where a pause
    does not end by itself. `stalled_s` are seconds without progress (0 while there is any); `step_s` those of
    the step under way. `advice` is what the active configuration should better be.
    """

    building: bool = False
    progress: Progress | None = None
    reasons: tuple[str, ...] = ()
    vault_problem: str = ""
    faults: tuple[str, ...] = ()
    indexing_fault: str = ""
    task_faults: tuple[str, ...] = ()
    unwritable: bool = False
    happened: tuple[str, ...] = ()
    failure: VaultIndexerError | None = None
    step_began: float | None = None

    has_index: bool = True
    unread: UnreadNotes | None = None
    pending: int = 0
    held: int = 0
    unpublished: int = 0
    publishing_fault: str = ""
    is_indexing: bool = False
    paused: bool = False
    paused_until: datetime | None = None
    stalled_s: float = 0.0
    step_s: float = 0.0
    advice: str = ""

    @property
    def name(self) -> str:
        """The state in one word, the worst first."""
        if self.vault_problem or self.unwritable:
            return "degraded"
        if self.paused:
            return "paused"
        if self.unread is not None:
            return "indexing"
        if self.building:
            return "rebuilding" if self.has_index else "building"
        if not self.has_index:
            return "unusable"
        return "indexing" if self.is_indexing else "ready"

    @property
    def detail(self) -> str:
        """All that is wrong, each once."""
        # Until a first build is complete, the reason for it holds, which is no problem once it answers.
        reasons = () if self.unread is not None else self.reasons
        problems = (self.vault_problem, *reasons, *self.faults, *self.task_faults)
        return "; ".join(dict.fromkeys(filter(None, (*problems, self.stall_text, self.advice))))

    @property
    def under_way(self) -> tuple[str, ...]:
        """What answers should be read with at the moment: a pause, a vault that is not followed, a build."""
        notices = [self.pause_text] if self.paused else []
        notices += [f"Warning: {self.vault_problem}"] if self.vault_problem else []
        if (progress := self.reading_progress) is not None:
            notices.append(f"the index is being built: {_notes_done(progress)} can be searched")
        elif self.building:
            notices.append(f"the index is being rebuilt: {self.build_text}")
        return tuple(notices)

    @property
    def wrong(self) -> tuple[str, ...]:
        """What does not succeed."""
        return tuple(filter(None, (*self.faults, *self.task_faults, self.stall_text)))

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
    def waits_for(self) -> str:
        """What the pending changes wait for."""
        if self.vault_problem:
            return f"the vault ({self.vault_problem})"
        if self.building:
            return "the index to be built"
        if self.indexing_fault:
            return f"the next try ({self.indexing_fault})"
        if self.step_s >= STALLED_S:
            return "a worker process that does not answer"
        if self.held:
            return f"{quantity(self.held, 'deletion')} held back, in case the files come back"
        if self.unpublished:
            return self.publishing_fault or "the server to which the index is published"
        return "files that are still being written"

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
        if self.progress is None:
            return "; ".join(self.faults or self.reasons) or "it starts"
        return _notes_done(self.progress)

    @property
    def reading_progress(self) -> Progress | None:
        """How far the index is that answers and lacks notes of the vault; None where it lacks none."""
        if self.unread is None:
            return None
        built = self.progress or Progress("notes", 0, 0, 0, 0.0)
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
