"""Combines many hints into few batches. A state machine without threads and without its own clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from vault_indexer.config.settings import WatchSettings
from vault_indexer.vault.ignore import CONTROL_FILES

_FEW = 64
"""The number of newest files that are indexed before a large batch. It covers the saves of a user, and some
other changes."""

_LONG_S = 2.0
_EARLY_EVERY_S = 1.0
"""Hints that continue for `_LONG_S` are a storm. From then on the newest files are taken before it ends, once
every `_EARLY_EVERY_S`."""


@dataclass(frozen=True, slots=True)
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
        self._control: set[str] = set()
        self._reasons: dict[str, None] = {}
        self._first: float | None = None
        self._last = 0.0
        self._urgent = False
        self._newest: dict[str, float] = {}

    def add(self, path: str, now: float) -> None:
        """Record that a file may have changed, appeared or vanished."""
        self._touch(now)
        self._newest.pop(path, None)
        self._newest[path] = now
        if len(self._newest) > _FEW:
            del self._newest[next(iter(self._newest))]
        if not self._reasons:
            self._dirty.add(path)
            if len(self._dirty) > self._settings.full_scan_threshold:
                self.scan_all(f"more than {self._settings.full_scan_threshold} files changed", now)

    def add_control(self, path: str, now: float) -> None:
        """Record that a file with rules or configuration may have changed."""
        self._touch(now)
        self._control.add(path)

    def scan_folder(self, folder: str, now: float) -> None:
        """Record that anything at or below the folder may have changed."""
        self._touch(now)
        if not self._reasons:
            self._folders.add(folder)
            if len(self._folders) > self._settings.full_scan_threshold:
                self.scan_all(f"more than {self._settings.full_scan_threshold} folders changed", now)

    def scan_all(self, reason: str, now: float) -> None:
        """Record that anything in the vault may have changed."""
        self._touch(now)
        self._reasons[reason] = None
        self._dirty.clear()
        self._folders.clear()

    def flush(self) -> None:
        """Make the pending hints due now, because a caller waits for them."""
        self._urgent = True

    def _touch(self, now: float) -> None:
        if self._first is None:
            self._first = now
        self._last = now

    @property
    def pending(self) -> int:
        """The number of waiting paths and folders. A scan of the vault counts as one."""
        return len(self._dirty) + len(self._folders) + len(self._control) + bool(self._reasons)

    def due(self) -> float | None:
        """Return the time at which the next batch is due; None if nothing waits."""
        if self._first is None:
            return None
        if self._urgent:
            return self._first
        quiet = self._last + self._settings.debounce_s
        return min(quiet, self._first + self._settings.max_wait_s)

    def take(self, now: float) -> Batch | None:
        """Remove and return the batch if it is due, otherwise return None."""
        due = self.due()
        if due is None or due > now:
            self._urgent = False  # nothing is waiting
            return None
        crowded = _crowded_folders(self._dirty, self._settings.folder_scan_threshold)
        folders = self._folders | crowded
        if "" in folders:
            self.scan_all("many files changed", now)
            folders = set()
        batch = Batch(
            dirty=frozenset(path for path in self._dirty if path.rpartition("/")[0] not in crowded),
            scan_folders=frozenset(folders),
            scan_all=bool(self._reasons),
            control=CONTROL_FILES if self._reasons else frozenset(self._control),
            reason="; ".join(self._reasons) or "files changed",
            first=frozenset(self._newest)
            if self._reasons or folders or len(self._dirty) > _FEW
            else frozenset(),
        )
        self._clear()
        return batch

    def pop_batch(self, now: float) -> frozenset[str]:
        """Remove and return the files that were saved last and have not changed since. Returns none if rules
        have changed, because they may exclude the files. All other hints continue to wait."""
        if self._control:
            return frozenset()
        quiet = now - self._settings.debounce_s
        few = frozenset(path for path, last in self._newest.items() if last <= quiet)
        self._newest = {path: last for path, last in self._newest.items() if path not in few}
        self._dirty -= few
        if not (self._dirty or self._folders or self._reasons):
            self._clear()
        return few

    def take_early(self, now: float) -> Batch | None:
        """Return the files of `pop_batch` as a batch during a storm of hints. Otherwise a save would wait for
        its end."""
        if self._first is None or now < max(self._first + _LONG_S, self._early_after):
            return None
        few = self.pop_batch(now)
        if not few:
            return None
        self._early_after = now + _EARLY_EVERY_S
        return Batch(dirty=few, reason="files changed")


def _crowded_folders(paths: Iterable[str], threshold: int) -> set[str]:
    """Return the folders that directly contain more than `threshold` of the paths."""
    counts = Counter(path.rpartition("/")[0] for path in paths)
    return {folder for folder, count in counts.items() if count > threshold}
