"""The set of vault paths that may differ from the index, from the first hint until they are indexed."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from vault_indexer.config.settings import WatchSettings
from vault_indexer.system import record
from vault_indexer.vault.files import RootIdentity
from vault_indexer.vault.ignore import CONTROL_FILES

# Combines many hints into few batches. A state machine without threads and without its own clock.


_FEW = 64
"""The number of newest files that are indexed before a large batch: the saves of a user, and some more."""

_LONG_S = 2.0
_EARLY_EVERY_S = 1.0
"""Hints that continue for `_LONG_S` are a storm. From then on the newest files are taken before it ends, once
every `_EARLY_EVERY_S`."""


@record
class Batch:
    """The paths to scan next. They are only hints: `scan(within=batch.scope)` determines the actual changes.

    `control` contains the rule and configuration files (see CONTROL_FILES) that may have changed. With
    `scan_all` it contains all of them, because a missed change may have been an edit of the rules. `first`
    are the files saved last if the batch is large, so that a user who has just saved one does not wait.
    """

    dirty: frozenset[str] = frozenset()
    scan_folders: frozenset[str] = frozenset()
    scan_all: bool = False
    control: frozenset[str] = frozenset()
    reason: str = ""
    first: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def scope(self) -> frozenset[str]:
        """The vault paths to scan, for `scan(within=…)`."""
        return frozenset({""}) if self.scan_all else self.dirty | self.scan_folders


class Coalescer:
    """Collects hints until the vault has been quiet for `debounce_s`, at most for `max_wait_s`.

    `now` is monotonic time in seconds. More than `full_scan_threshold` paths become a scan of the vault, and
    more than `folder_scan_threshold` paths in one folder a scan of that folder, so that memory stays bounded.
    """

    def __init__(self, settings: WatchSettings) -> None:
        self._settings = settings
        self._early_after = 0.0
        self._clear()

    def _clear(self) -> None:
        self._dirty: set[str] = set()
        self._folders: set[str] = set()
        self.control: set[str] = set()
        self._reasons: dict[str, None] = {}
        self._first: float | None = None
        self._last = 0.0
        self._urgent = False
        self._newest: dict[str, float] = {}

    def add(self, path: str, now: float) -> None:
        self._touch(now)
        # Removed first, so that the entry moves to the end of the insertion order.
        self._newest.pop(path, None)
        self._newest[path] = now
        # Only the last few are of interest: a user saves one note at a time.
        if len(self._newest) > _FEW:
            del self._newest[next(iter(self._newest))]
        if not self._reasons:
            self._dirty.add(path)
            # One scan costs less than this number of single looks, and the set stays small.
            if len(self._dirty) > self._settings.full_scan_threshold:
                self.scan_all(f"more than {self._settings.full_scan_threshold} files changed", now)

    def add_control(self, path: str, now: float) -> None:
        self._touch(now)
        self.control.add(path)

    def scan_folder(self, folder: str, now: float) -> None:
        self._touch(now)
        if not self._reasons:
            self._folders.add(folder)
            if len(self._folders) > self._settings.full_scan_threshold:
                self.scan_all(f"more than {self._settings.full_scan_threshold} folders changed", now)

    def scan_all(self, reason: str, now: float) -> None:
        self._touch(now)
        # A dict as an ordered set: each reason once, in the order of arrival.
        self._reasons[reason] = None
        self._dirty.clear()
        self._folders.clear()

    def flush(self) -> None:
        """Makes the pending hints due now, because a caller waits for them."""
        self._urgent = True

    def _touch(self, now: float) -> None:
        if self._first is None:
            self._first = now
        self._last = now

    @property
    def pending(self) -> int:
        """The number of waiting paths and folders. A scan of the vault counts as one."""
        return len(self._dirty) + len(self._folders) + len(self.control) + bool(self._reasons)

    def due(self) -> float | None:
        if self._first is None:
            return None
        if self._urgent:
            return self._first
        quiet = self._last + self._settings.debounce_s
        # Files that are written without a pause would otherwise never be due.
        return min(quiet, self._first + self._settings.max_wait_s)

    def take(self, now: float) -> Batch | None:
        """Removes and returns the batch if it is due, otherwise returns None."""
        due = self.due()
        if due is None or due > now:
            self._urgent = False  # nothing is waiting
            return None
        counts = Counter(path.rpartition("/")[0] for path in self._dirty)
        crowded = {one for one, count in counts.items() if count > self._settings.folder_scan_threshold}
        folders = self._folders | crowded
        # The root is crowded: a scan of it is one of the whole vault.
        if "" in folders:
            self.scan_all("many files changed", now)
            folders = set()
        batch = Batch(
            dirty=frozenset(path for path in self._dirty if path.rpartition("/")[0] not in crowded),
            scan_folders=frozenset(folders),
            scan_all=bool(self._reasons),
            # A full scan follows lost events, which may have been those of the rules.
            control=CONTROL_FILES if self._reasons else frozenset(self.control),
            reason="; ".join(self._reasons) or "files changed",
            first=frozenset(self._newest)
            if self._reasons or folders or len(self._dirty) > _FEW
            else frozenset(),
        )
        self._clear()
        return batch

    def pop_batch(self, now: float) -> frozenset[str]:
        """Removes and returns the files that were saved last and have not changed since. Returns none if
        rules have changed, because they may exclude the files. All other hints continue to wait."""
        if self.control:
            return frozenset()
        quiet = now - self._settings.debounce_s
        few = frozenset(path for path, last in self._newest.items() if last <= quiet)
        self._newest = {path: last for path, last in self._newest.items() if path not in few}
        self._dirty -= few
        # Nothing waits any more, so the times of the first and last hint end as well.
        if not (self._dirty or self._folders or self._reasons):
            self._clear()
        return few

    def take_early(self, now: float) -> Batch | None:
        """Returns the files of `pop_batch` during a storm of hints, so that no save waits for its end."""
        if self._first is None or now < max(self._first + _LONG_S, self._early_after):
            return None
        few = self.pop_batch(now)
        if not few:
            return None
        self._early_after = now + _EARLY_EVERY_S
        return Batch(dirty=few, reason="files changed")


# Mass deletions need the confirmation of a second scan: an unmounted disk makes all notes vanish at once.


CONFIRM_AFTER_S = 2.0
"""The minimum interval in seconds between a scan and the scan that confirms it."""

_MANY = 20
_LOST_SHARE = 0.9


@record
class VaultObservation:
    """The result of one scan with respect to the files in the index.

    `root` is None if the root is missing or unreadable, with the reason in `error`. `known` counts the files
    in the catalog, and `gone` those that the scan covers but did not find. `at` is monotonic time.
    """

    root: RootIdentity | None
    known: int
    gone: int
    at: float
    error: str = ""


@record
class DeletionDecision:
    """`ok`: the deletions may be carried out. Otherwise nothing is deleted, and the user sees `reason`."""

    ok: bool
    reason: str = ""


def assess_deletions(
    observation: VaultObservation, home: RootIdentity | None, earlier: VaultObservation | None
) -> DeletionDecision:
    """Decides whether the deletions of an observation are plausible.

    `home` is the root with which the index was last synchronized (None: never). `earlier` is the last
    implausible observation (None: none since). A missing root is never plausible. Three cases need
    confirmation: the vault is suddenly empty, has lost over 90% of 20 or more files at once, or has lost
    files and is a different folder. An `earlier` observation confirms them if it is at least CONFIRM_AFTER_S
    old and saw the same folder and at least the same number of losses.
    """
    if observation.root is None:
        return DeletionDecision(ok=False, reason=observation.error or "the vault cannot be read")
    doubt = _doubt(observation, home)
    if not doubt or _confirms(observation, earlier):
        return DeletionDecision(ok=True)
    return DeletionDecision(ok=False, reason=f"{doubt}. The index is kept.")


def _doubt(observation: VaultObservation, home: RootIdentity | None) -> str:
    if observation.gone == 0:
        return ""
    if observation.gone >= observation.known:
        return f"the vault looks empty ({observation.known} files expected)"
    # In a small vault, a user may well delete nearly everything at once.
    if observation.known >= _MANY and observation.gone > _LOST_SHARE * observation.known:
        return f"{observation.gone} of {observation.known} files are gone at once"
    if home is not None and observation.root != home:
        return f"the vault is another folder or disk than before, and {observation.gone} files are gone"
    return ""


def _confirms(observation: VaultObservation, earlier: VaultObservation | None) -> bool:
    return (
        earlier is not None
        and earlier.root == observation.root
        # More losses than the first scan saw are unconfirmed again.
        and earlier.gone >= observation.gone
        and observation.at - earlier.at >= CONFIRM_AFTER_S
    )


# Failed edits and their retries.


_FIRST_S = 3.0
_LATEST_S = 60.0
_RETRY_SHARE = 10.0
"""After a failed try, the wait is ten times the duration of the try, so that persistent failures take at most
about a tenth of the time."""


@dataclass(slots=True)
class _Wait:
    """The wait of a group until its next try at `due`. `at_fault`: other paths were indexed since these paths
    failed, so the failure is specific to them."""

    due: float
    at_fault: bool = False


class FailedEdits:
    """The vault paths that could not be indexed, in groups that are retried together.

    The dirty set owns it. A group waits three seconds, or ten times the duration of its try, up to a
    minute; the wait does not grow with the number of tries. While nothing succeeds, one group is tried at a
    time. The first success combines all paths into one group that is due at once. If that group fails, some
    of its paths fail by themselves: it is halved until they are alone, so that no other note waits for them.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._groups: dict[frozenset[str], _Wait] = {}
        self._not_before = 0.0

    def __len__(self) -> int:
        """Returns the number of paths. The whole vault ("") counts as one."""
        return sum(map(len, self._groups))

    @property
    def paths(self) -> frozenset[str]:
        return frozenset[str]().union(*self._groups)

    def fail(self, scope: Collection[str], seconds: float = 0.0) -> None:
        """Records that these paths failed after a try of `seconds`. They are new or a group that was due."""
        paths, now = frozenset(scope), self._clock()
        wait = min(max(_FIRST_S, _RETRY_SHARE * seconds), _LATEST_S)
        before = self._groups.pop(paths, None)
        if before is None:
            self._groups[paths - self._isolated] = _Wait(now + wait)
            self._groups.pop(frozenset(), None)
            return
        # A common cause, such as a full disk: no other group is tried before this time.
        if not before.at_fault:
            self._not_before = now + wait
        # Without a wait: the other notes of the group wait until those at fault are alone.
        due = now if before.at_fault and len(paths) > 1 else now + wait
        for half in _halves(paths):
            self._groups[half] = _Wait(due, before.at_fault)

    def drop(self, scope: Collection[str], kept: Collection[str] = ()) -> None:
        """Removes these paths ("": all), because they equal their indexed state, except those in `kept`."""
        paths = (self.paths if "" in scope else frozenset(scope)).difference(kept)
        left = {group - paths: wait for group, wait in self._groups.items()}
        left.pop(frozenset(), None)
        self._groups = left

    def retry_all(self) -> None:
        """Records that something was indexed: paths that failed for a common reason become due, once."""
        # What failed by itself keeps its wait.
        shared = frozenset[str]().union(*(group for group, wait in self._groups.items() if not wait.at_fault))
        self._groups = {group: wait for group, wait in self._groups.items() if wait.at_fault}
        self._not_before = 0.0
        if shared - self._isolated:
            self._groups[shared - self._isolated] = _Wait(self._clock(), at_fault=True)

    def next_due(self) -> frozenset[str] | None:
        """Returns the group to try now; None while each must wait. `fail` or `drop` records the result."""
        now = self._clock()
        for group, wait in self._groups.items():
            if wait.due <= now and (wait.at_fault or self._not_before <= now):
                return group
        return None

    @property
    def _isolated(self) -> frozenset[str]:
        alone = (group for group, wait in self._groups.items() if wait.at_fault and len(group) == 1)
        return frozenset[str]().union(*alone)


def _halves(paths: frozenset[str]) -> list[frozenset[str]]:
    ordered = sorted(paths)
    middle = (len(ordered) + 1) // 2
    return [frozenset(half) for half in (ordered[:middle], ordered[middle:]) if half]


# Notes that ended their worker, and their retries: another fault may have caused it.


_FIRST_RETRY_S = 2.0
_LATEST_RETRY_S = 3600.0

Change = tuple[int, str]
"""`mtime_ns` and digest. The time alone is not enough, because two saves may have the same time."""


@dataclass(slots=True)
class _RetryWait:
    """The wait of a note. `seconds` is the wait that ends at `until`; the next is twice as long. `change`:
    the time and digest of the version that was set aside. `tried`: the note was read again since. `at_fault`:
    it stayed set aside although another note was indexed."""

    change: Change
    until: float
    seconds: float
    tried: bool = False
    at_fault: bool = False


class Quarantine:
    """The notes that were set aside. The dirty set owns it. The wait for a note begins with two seconds and
    doubles up to an hour. It ends the first time that another note is indexed. One thread uses it; any
    thread may read `untried`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.untried = 0
        """The number of notes that were set aside and not read again since."""
        self._clock = clock
        self._waits: dict[str, _RetryWait] = {}

    def use(self, changes: Mapping[str, Change], *, tried: bool = False) -> None:
        """Sets the notes that are set aside after an edit, each with its change. If none of them is new, the
        edit indexed another note. `tried`: the new ones come from an earlier run of the program."""
        now = self._clock()
        known = {path: wait for path, wait in self._waits.items() if changes.get(path) == wait.change}
        if len(known) == len(changes):
            for wait in known.values():
                # Another note was indexed, so a common cause has ended: one early retry for each note.
                wait.until, wait.at_fault = wait.until if wait.at_fault else now, True
        self._waits = {
            path: known.get(path) or _RetryWait(change, now + _FIRST_RETRY_S, _FIRST_RETRY_S, tried)
            for path, change in changes.items()
        }
        self._count()

    def next_due(self) -> str | None:
        """Returns the note to read now; None while each must wait."""
        path = min(self._waits, key=lambda name: self._waits[name].until, default=None)
        if path is None or self._clock() < self._waits[path].until:
            return None
        wait = self._waits[path]
        # Before the try: if it ends the worker again, the next wait has been set.
        wait.seconds = min(2 * wait.seconds, _LATEST_RETRY_S)
        wait.until = self._clock() + wait.seconds
        return path

    def record_try(self, path: str) -> None:
        if path in self._waits:
            self._waits[path].tried = True
        self._count()

    def _count(self) -> None:
        self.untried = sum(not wait.tried for wait in self._waits.values())


_EVERYTHING = frozenset({""})


class Reading:
    """A part of the vault that is being compared with the index and indexed. The reading thread owns it."""

    def __init__(self, scope: frozenset[str]) -> None:
        self.scope = scope
        self.work: frozenset[str] = frozenset()
        """The paths that differ from the index, once they are known."""
        self.left: int | None = None
        """The number of notes still to be read; None before it is known."""
        self.retried = 0
        """The number of its paths that have failed before."""
        self.changed = False
        """Whether anything was indexed."""
        self.unreadable = False
        """Whether the vault could not be read."""
        self.failed_meanwhile: set[str] = set()
        """Paths that a nested reading could not index, of which this one may have seen an older version."""

    def found(self, work: Iterable[str], notes: int) -> None:
        """Records the paths that differ from the index. `notes` is the number of notes to read."""
        self.work, self.left = frozenset(work), notes

    @property
    def size(self) -> int:
        return max(1, len(self.scope) if self.left is None else self.left)

    @property
    def to_read(self) -> int:
        """The number of notes still to be read. A scan of the whole vault has none until it finds some."""
        return len(self.scope - _EVERYTHING) if self.left is None else self.left


class DirtySet:
    """Every path of the vault ("": all of it) whose current state may not be in the index.

    An entry *waits* after a hint, is being *read*, has *failed*, is *held* because it vanished, or is *set
    aside* because it ended its worker. In each of these states it can wait again: a path that is hinted at
    while it is read is read once more. An entry leaves the set only when it was read without an error and
    published, or was found to equal the index. So `len` is 0 only if the index equals the vault.

    A session owns it. Any thread may add hints and read the counts; the thread that writes the index calls
    the other methods. `now` is the clock of hints, in seconds; failures and deletions use `clock`.
    """

    def __init__(self, settings: WatchSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.news = threading.Condition()
        """Notified after a hint and at the end of a reading. Its lock guards all state of the set."""
        self.aside = Quarantine(clock)
        self._clock = clock
        self._waiting = Coalescer(settings)
        self._taken = frozenset[str]()
        self._deleting = frozenset[str]()
        self._readings: list[Reading] = []
        self._failed = FailedEdits(clock)
        self._held: dict[str, float] = {}
        self._hold_s = settings.delete_hold_s
        self._scans_wanted = 0
        self._scans_begun = 0
        self._scans_done = 0

    def __len__(self) -> int:
        """Returns the number of changes that may be missing from the index."""
        with self.news:
            # A failed path that is being retried is counted by its reading.
            failed = max(0, len(self._failed) - sum(one.retried for one in self._readings))
            reading = len(self._taken) + sum(one.size for one in self._readings)
            return self._waiting.pending + reading + failed + len(self._held) + self.aside.untried

    @property
    def waiting(self) -> int:
        with self.news:
            return self._waiting.pending

    @property
    def left(self) -> int:
        """The known number of notes still to be read in the current readings and after them. Any thread."""
        with self.news:
            return sum(one.to_read for one in self._readings) + len(self._taken)

    @property
    def rules_changed(self) -> bool:
        """Whether a file with rules or configuration may have changed. Any thread."""
        with self.news:
            return bool(self._waiting.control)

    @property
    def failed(self) -> int:
        """The number of paths that could not be indexed and will be retried. Any thread."""
        with self.news:
            return len(self._failed)

    @property
    def held(self) -> int:
        with self.news:
            return len(self._held)

    # Hints

    def hear(self, path: str, now: float) -> None:
        """Records that a file may have changed, appeared or vanished."""
        with self.news:
            was_idle = not self._waiting.pending
            self._waiting.add(path, now)
            if was_idle:  # otherwise the waiting thread wakes up by itself at the due time
                self.news.notify_all()

    def hear_control(self, path: str, now: float) -> None:
        """Records that a file with rules or configuration may have changed."""
        with self.news:
            self._waiting.add_control(path, now)
            self.news.notify_all()

    def hear_folder(self, folder: str, now: float) -> None:
        """Records that anything at or below the folder may have changed."""
        with self.news:
            self._waiting.scan_folder(folder, now)
            self.news.notify_all()

    def hear_all(self, reason: str, now: float) -> int:
        """Records that anything may have changed. Returns the number of the scan that will cover it, for
        `wait_for_scan`. A running scan may have passed a file before it changed, so it does not count."""
        with self.news:
            self._waiting.scan_all(reason, now)
            self._scans_wanted += 1
            self.news.notify_all()
            return self._scans_wanted

    def flush(self) -> None:
        with self.news:
            self._waiting.flush()
            self.news.notify_all()

    # Taking work. Paths that are taken count as changes until they are read or have failed.

    def due(self) -> float | None:
        """Returns the time at which the next batch is due; None if nothing waits."""
        with self.news:
            return self._waiting.due()

    def take(self, now: float) -> Batch | None:
        with self.news:
            batch = self._waiting.take(now) or self._waiting.take_early(now)
            if batch is not None:
                self._take(batch.scope)
                self._scans_begun = self._scans_wanted if batch.scan_all else self._scans_begun
            return batch

    def pop_batch(self, now: float) -> frozenset[str]:
        """Takes the files saved last, while others are being read."""
        with self.news:
            return self._take(self._waiting.pop_batch(now))

    def postpone(self, paths: Iterable[str]) -> None:
        """Takes paths that the current reading leaves to the next one."""
        with self.news:
            self._take(frozenset(paths))

    def take_failed(self) -> frozenset[str] | None:
        """Returns the failed paths to retry now; None while each must wait."""
        with self.news:
            return self._failed.next_due()

    # Results

    @contextmanager
    def reading(self, scope: frozenset[str]) -> Iterator[Reading]:
        """A block in which this part of the vault is compared with the index and indexed. If it raises or
        sets `unreadable`, the paths with work have failed, or all paths if the work is not known."""
        one, began = Reading(scope), self._clock()
        with self.news:
            # From here on the reading counts them.
            self._taken = frozenset() if "" in scope else self._taken - scope
            one.retried = len(self._failed.paths & scope)
            self._readings.append(one)
        try:
            yield one
        except BaseException:
            self._end(one, began, failed=True)
            raise
        self._end(one, began, failed=one.unreadable)

    def _end(self, one: Reading, began: float, *, failed: bool) -> None:
        with self.news:
            self._readings.remove(one)
            if one.work or not failed:  # otherwise it is unknown which paths equal the index
                self._failed.drop(one.scope, one.failed_meanwhile | (one.work if failed else set()))
            if failed:
                self._fail(one.work or one.scope, self._clock() - began)
            else:
                self._deleting = frozenset() if "" in one.scope else self._deleting - one.scope
                if one.changed:
                    self._failed.retry_all()
            # A nested reading is only a part of what the scan has found.
            if not (self._readings or self._taken) and (one.unreadable or not self._failed):
                self._scans_done = self._scans_begun
            self.news.notify_all()

    def fail_taken(self) -> None:
        """Records that the taken paths were not read and must be retried. If no path was taken and none has
        failed, the cause is unknown, and the whole vault is read."""
        with self.news:
            taken, self._taken = self._taken, frozenset()
            if taken or not self._failed:
                self._fail(taken or _EVERYTHING, 0.0)

    def _fail(self, scope: frozenset[str], seconds: float) -> None:
        self._failed.fail(scope, seconds)
        for one in self._readings:
            one.failed_meanwhile |= scope

    def wait_for_scan(self, number: int, seconds: float, is_given_up: Callable[[], bool]) -> bool:
        """Waits until the changes of this scan are in the index, including the deletions held by then, or the
        vault cannot be read. Returns False after `seconds`, or once `is_given_up` returns True. A caller that
        gives up calls `wake`."""
        # Both waits share one deadline.
        until = time.monotonic() + seconds
        with self.news:
            self.news.wait_for(lambda: self._scans_done >= number or is_given_up(), seconds)
            if self._scans_done < number:
                return False
            # Only the deletions held by now: later ones belong to later scans.
            gone = self._missing
            self.news.wait_for(
                lambda: gone.isdisjoint(self._missing) or is_given_up(), until - time.monotonic()
            )
            return gone.isdisjoint(self._missing)

    @property
    def _missing(self) -> frozenset[str]:
        return frozenset(self._held) | self._deleting

    def wake(self) -> None:
        with self.news:
            self.news.notify_all()

    def hold(self, paths: Iterable[str]) -> None:
        """Delays the deletion of these vanished paths by `delete_hold_s`, because they may reappear. A path
        that is already held keeps its due time: a deleted note must finally leave the index."""
        with self.news:
            due = self._clock() + self._hold_s
            self._held = {**dict.fromkeys(paths, due), **self._held}

    def drop_held(self, paths: Iterable[str]) -> None:
        with self.news:
            for path in paths:
                self._held.pop(path, None)

    def next_held(self) -> float | None:
        """Returns the time (on the clock) at which the next deletion is due; None if none is held."""
        with self.news:
            return min(self._held.values(), default=None)

    def take_held(self) -> frozenset[str]:
        with self.news:
            now = self._clock()
            due = frozenset(path for path, at in self._held.items() if at <= now)
            self._held = {path: at for path, at in self._held.items() if path not in due}
            # Still missing for `wait_for_scan` until their deletion is published.
            self._deleting |= due
            return self._take(due)

    def _take(self, scope: frozenset[str]) -> frozenset[str]:
        self._taken |= scope
        return scope
