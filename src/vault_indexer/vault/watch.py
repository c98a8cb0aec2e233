"""The watcher collects the change events of the system into batches, and supervises itself.

A batch only names paths to scan; `scan` determines the actual changes. A batch requests a scan of the whole
vault after the start, a fault of any kind, a suspension of the machine, a replaced root, and every
`rescan_s`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vault_indexer.config.settings import WatchSettings
from vault_indexer.errors import VaultError
from vault_indexer.vault.coalesce import Batch
from vault_indexer.vault.dirty import DirtySet
from vault_indexer.vault.files import RootIdentity
from vault_indexer.vault.ignore import CONFIG_FILE, CONTROL_FILES, Decision, PathRules
from vault_indexer.vault.sources import Sink, Source, native_source
from vault_indexer.vault.walk import is_readable, root_identity

# Detection of network and shared file systems. Other machines (or the host of this one) change their content
# without a local event.


_REMOTE = frozenset(
    {"9p", "afs", "ceph", "cifs", "coda", "davfs", "drvfs", "fakeowner", "glusterfs", "lustre", "ncpfs"}
    | {"nfs", "nfs4", "osxfs", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"}
)
_REMOTE_FUSE = frozenset(
    {"ceph", "davfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "google-drive-ocamlfuse", "grpcfuse"}
    | {"osxfs", "rclone", "s3fs", "sshfs", "vmhgfs-fuse"}
)


def remote_file_system(folder: Path, mounts: str) -> str | None:
    """Return the type of the network file system that contains `folder`, or None if it is local.

    `mounts` is text as in /proc/mounts. If several mounts contain the folder, the innermost counts, and the
    last of several on the same mount point.
    """
    place = os.path.realpath(folder)
    best, found = -1, ""
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        point = _unescape(fields[1]).rstrip("/")
        if (place == point or place.startswith(f"{point}/")) and len(point) >= best:
            best, found = len(point), fields[2]
    kind, _, sub_kind = found.partition(".")
    return found if kind in _REMOTE or (kind == "fuse" and sub_kind in _REMOTE_FUSE) else None


def _unescape(field: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def system_mounts() -> str:
    """Return the text of /proc/mounts; empty if there is none (no file system then counts as remote)."""
    try:
        return Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def system_watch_limit() -> int | None:
    """Return the number of folders that one user may watch on this system; None if there is no limit."""
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


_CHECK_S = 1.0
_CLOCK_JUMP_S = 30.0
_POLL_FACTOR = 10.0

SourceFactory = Callable[[Path, PathRules, Sink, Callable[[], "int | None"]], Source]


@dataclass(frozen=True, slots=True)
class WatchMode:
    """The method of change detection, for `status`."""

    name: Literal["native", "poll", "stopped"]
    reason: str


@dataclass(frozen=True, slots=True)
class SystemHooks:
    """The system functions that the watcher uses; a test replaces them."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    watch_limit: Callable[[], int | None] = system_watch_limit
    mounts: Callable[[], str] = system_mounts
    source: SourceFactory = native_source


class VaultWatcher:
    """Supplies the daemon's loop with batches of hints that files may have changed.

    The daemon's loop owns it and is the only thread that calls `next_batch`; any thread may call the other
    methods. It starts and stops the source of events, and polls if there is none. `next_batch` also checks
    for faults, clock jumps, a replaced root and a due rescan, so these are not noticed while it is not
    called. A hint may be wrong or late, but none is lost permanently: after any fault, and every `rescan_s`,
    a batch requests a full scan.
    """

    def __init__(
        self,
        vault: Path,
        rules: PathRules,
        settings: WatchSettings,
        hooks: SystemHooks | None = None,
        dirty: DirtySet | None = None,
    ) -> None:
        """`dirty` receives the hints."""
        self._vault = vault
        self._settings = settings
        self._system = hooks or SystemHooks()
        self._dirty = DirtySet(settings, self._system.monotonic) if dirty is None else dirty
        self._inbox = _Inbox(rules, self._dirty, self._system.monotonic)
        self._source: Source | None = None
        self._source_lock = threading.Lock()  # never taken by a thread of the source
        self._root: RootIdentity | None = None
        self._running = False
        self._poll_reason = ""
        self._unreadable: frozenset[str] = frozenset()
        self._closed: frozenset[str] = frozenset()
        self._readable_again: frozenset[str] = frozenset()
        self._scan_s = 0.0
        self._checked = self._looked = self._tried = 0.0
        self._offset = 0.0

    def report_unreadable(self, folders: frozenset[str]) -> None:
        """Record the folders that the last scan could not read. Only the thread of `next_batch` calls
        this."""
        self._unreadable = folders
        self._closed |= folders

    @property
    def mode(self) -> WatchMode:
        """The current method of change detection, with its reason."""
        if not self._running:
            return WatchMode("stopped", "")
        if self._poll_reason:
            return WatchMode("poll", self._poll_reason)
        return WatchMode("native", "" if self._source else "the vault is not there")

    @property
    def pending(self) -> int:
        """The number of hints that are not in a batch yet."""
        return self._dirty.waiting

    def start(self) -> None:
        """Start watching. The first batch is a full scan and due at once. Never raises: the watcher waits for
        a missing vault, and polls a vault that cannot be watched."""
        now = self._system.monotonic()
        with self._source_lock:
            self._running = True
            self._root = self._identity()
            self._checked = self._looked = now
            self._offset = self._system.wall() - now
            self._open_source(now)
        self.request_scan("start")

    def stop(self) -> None:
        """End the threads and wake a waiting `next_batch`, which then returns None at once."""
        with self._source_lock:
            self._running = False
            self._close_source()
        self._inbox.close()

    def next_batch(self, timeout: float) -> Batch | None:
        """Wait up to `timeout` seconds for a due batch. Returns None if there is none, or after `stop`."""
        deadline = self._system.monotonic() + timeout
        while self._running:
            now = self._system.monotonic()
            if self._inbox.take_alarm() or now - self._checked >= _CHECK_S:
                self._supervise(now)
            batch = self._inbox.take(min(deadline, self._checked + _CHECK_S))
            if batch is not None:
                if batch.scan_all:
                    self._looked = self._system.monotonic()
                return batch
            if self._system.monotonic() >= deadline:
                return None
        return None

    def pop_batch(self) -> frozenset[str]:
        """Take the files saved last, while another batch is being indexed."""
        return self._dirty.pop_batch(self._system.monotonic())

    def request_scan(self, reason: str) -> int:
        """Request a full scan that is due at once. Returns its number, for DirtySet.wait_for_scan."""
        number = self._dirty.hear_all(reason, self._system.monotonic())
        self._dirty.flush()
        return number

    def flush(self) -> None:
        """Make all pending hints due at once."""
        self._dirty.flush()

    def record_scan_time(self, seconds: float) -> None:
        """Record the duration of a full scan in seconds. Polling uses at most a tenth of the time."""
        self._scan_s = seconds
        self._looked = self._system.monotonic()

    def use_rules(self, rules: PathRules) -> None:
        """Use new rules: watch the folders that they enter, and request a full scan."""
        self._inbox.rules = rules
        with self._source_lock:
            if self._running:
                self._open_source(self._system.monotonic())
        self.request_scan("the rules changed")

    def _supervise(self, now: float) -> None:
        """Check everything that can go wrong without an event, and repair it."""
        with self._source_lock:
            if not self._running:
                return
            self._checked = now
            self._check_clock(now)
            self._check_source(now)
            self._check_unreadable(now)
            if self._poll_reason and now - self._looked >= self._poll_interval():
                self._looked = now
                self.request_scan("poll")

    def _check_clock(self, now: float) -> None:
        offset = self._system.wall() - now
        if abs(offset - self._offset) > _CLOCK_JUMP_S:
            self._inbox.scan_all("the clock jumped")
        self._offset = offset

    def _check_source(self, now: float) -> None:
        root = self._identity()
        fault = self._source.fault() if self._source else ""
        if root != self._root:
            self._root = root
            self._open_source(now)
            self._inbox.scan_all(
                "the vault's folder is gone" if root is None else "the vault's folder is new"
            )
        elif fault:
            self._open_source(now)
            self._inbox.scan_all(fault)
        elif now - self._tried >= self._settings.rescan_s:
            # Repairs what no event reports: a folder that became readable, a watch limit that was raised.
            self._open_source(now)
            self._inbox.scan_all("regular check")

    def _check_unreadable(self, now: float) -> None:
        """A folder that can be read again is watched and looked at, once: no event says so, and what changed
        in it meanwhile was not seen."""
        readable = {folder for folder in self._closed if is_readable(self._vault / folder)}
        again = readable - self._readable_again
        self._closed = self._unreadable
        self._readable_again = self._unreadable & readable
        if again:
            self._open_source(now)
            self._inbox.scan_all("a folder can be read again")

    def _identity(self) -> RootIdentity | None:
        try:
            return root_identity(self._vault)
        except VaultError:
            return None

    def _open_source(self, now: float) -> None:
        """Replaces the source, or decides for polling. Expects the lock to be held."""
        self._close_source()
        self._tried = now
        self._poll_reason = self._why_poll()
        if self._poll_reason or self._root is None:
            return
        real = Path(os.path.realpath(self._vault))
        source = self._system.source(real, self._inbox.rules, self._inbox, self._system.watch_limit)
        try:
            source.start()
        except OSError as error:
            if self._identity() is not None:  # else the vault has just gone, which the next check sees
                self._poll_reason = f"the system cannot watch the vault: {error.strerror or error}"
            return
        self._source = source

    def _close_source(self) -> None:
        if self._source is not None:
            self._source.stop()
            self._source = None

    def _why_poll(self) -> str:
        if self._settings.mode == "poll":
            return "watch.mode is poll"
        if self._settings.mode == "auto":
            remote = remote_file_system(self._vault, self._system.mounts())
            if remote is not None:
                return f"the vault is on a network file system ({remote})"
        return ""

    def _poll_interval(self) -> float:
        """Seconds between two full scans where the system does not watch."""
        return max(self._settings.poll_s, _POLL_FACTOR * self._scan_s)


class _Inbox:
    """The `Sink` of the source: what the rules do not ignore becomes hints. It waits for what is due."""

    def __init__(self, rules: PathRules, dirty: DirtySet, clock: Callable[[], float]) -> None:
        self.rules = rules
        self._clock = clock
        self._dirty = dirty
        self._alarm = False
        self._closed = False

    def file_changed(self, path: str) -> None:
        if path in CONTROL_FILES:
            self._dirty.hear_control(path, self._clock())
            if path != CONFIG_FILE:
                self.scan_all(f"{path} changed")
        elif self.rules.decide(path, is_dir=False) is not Decision.IGNORE:
            self._dirty.hear(path, self._clock())

    def folder_appeared(self, path: str) -> None:
        if self.rules.decide(path, is_dir=True) is not Decision.IGNORE:
            self._dirty.hear_folder(path, self._clock())

    def folder_gone(self, path: str) -> None:
        if self.rules.decide(path, is_dir=True) is not Decision.IGNORE:
            self.scan_all("a folder was moved or deleted")

    def events_lost(self, reason: str) -> None:
        self._alarm = True
        self.scan_all(reason)

    def scan_all(self, reason: str) -> None:
        self._dirty.hear_all(reason, self._clock())

    def close(self) -> None:
        self._closed = True
        self._dirty.wake()

    def take_alarm(self) -> bool:
        """Whether the source reported a fault since the last call."""
        alarm, self._alarm = self._alarm, False
        return alarm

    def take(self, deadline: float) -> Batch | None:
        """The next batch that becomes due before the deadline, else None, at once if the inbox is closed."""
        with self._dirty.news:
            while not self._closed:
                now = self._clock()
                batch = self._dirty.take(now)
                if batch is not None or now >= deadline or self._alarm:
                    return batch
                due = self._dirty.due()
                self._dirty.news.wait(min(deadline, due if due is not None else deadline) - now)
            return None
