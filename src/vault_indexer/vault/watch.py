"""The watcher collects the change events of the system into batches, and supervises itself.

A batch only names paths to scan; `scan` determines the actual changes. A batch requests a scan of the whole
vault after the start, a fault of any kind, a suspension of the machine, a replaced root, and every
`rescan_s`.
"""

from __future__ import annotations

import os
import platform
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from vault_indexer.config.settings import WatchSettings
from vault_indexer.errors import VaultError
from vault_indexer.system import record
from vault_indexer.vault.dirty import Batch, DirtySet
from vault_indexer.vault.files import RootIdentity, is_utf8_name
from vault_indexer.vault.ignore import CONFIG_FILE, CONTROL_FILES, OBSIDIAN_APP_FILE, Decision, PathRules
from vault_indexer.vault.walk import is_readable, root_identity, walk_folders

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver
    from watchdog.observers.inotify_c import InotifyEvent, InotifyFD, WatchDescriptor


# Sources of hints: the change events of the operating system, through watchdog.
#
# On Linux the folders are watched one by one through watchdog's inotify layer rather than its recursive
# Observer. With the Observer (measured), ignored folders are watched and flood the queue, an overflow of
# the queue or a reached watch limit is not reported, and a folder that was moved away continues to report
# under its old path. Elsewhere the Observer is used.


_JOIN_S = 5.0
_ON_LINUX = platform.system() == "Linux"
_OBSIDIAN_FOLDER = OBSIDIAN_APP_FILE.rpartition("/")[0]


class Sink(Protocol):
    """Receives hints from any thread and only enqueues them. Paths are vault paths."""

    def file_changed(self, path: str) -> None: ...

    def folder_appeared(self, path: str) -> None: ...

    def folder_gone(self, path: str) -> None: ...

    def events_lost(self, reason: str) -> None: ...


class Source(Protocol):
    """A watch of one vault. It can be started and stopped once."""

    def start(self) -> None:
        """Starts watching. All changes after the return are reported. Raises OSError if it cannot start."""
        ...

    def stop(self) -> None:
        """Ends the threads. May be called twice."""
        ...

    def fault(self) -> str:
        """Returns the reason why not all changes are reported; "" while they are."""
        ...


class TooFewWatchesError(OSError):
    """The watch limit of the system is too low for all folders."""


def native_source(root: Path, rules: PathRules, sink: Sink, watch_limit: Callable[[], int | None]) -> Source:
    """Returns the best source for this system. `root` is the vault's real path."""
    if _ON_LINUX:
        return InotifySource(root, rules, sink, watch_limit)
    return ObserverSource(root, sink)


class InotifySource:
    """Uses one inotify watch for every folder that the rules enter, and one for `.obsidian`."""

    def __init__(
        self, root: Path, rules: PathRules, sink: Sink, watch_limit: Callable[[], int | None]
    ) -> None:
        from watchdog.observers.inotify_c import InotifyConstants, Mask

        self._root = root
        self._rules = rules
        self._sink = sink
        self._watch_limit = watch_limit
        # No MODIFY, ATTRIB, OPEN: with them 10,000 files at once overflow the kernel's queue.
        self._mask = Mask(
            InotifyConstants.IN_CREATE
            | InotifyConstants.IN_CLOSE_WRITE
            | InotifyConstants.IN_MOVE
            | InotifyConstants.IN_DELETE
            | InotifyConstants.IN_ONLYDIR
            | InotifyConstants.IN_DONT_FOLLOW
            | InotifyConstants.IN_EXCL_UNLINK
        )
        self._descriptor: InotifyFD | None = None
        self._folders: dict[WatchDescriptor, str] = {}
        self._watches: dict[str, WatchDescriptor] = {}
        self._fault = ""
        # Held while watches are added: events that arrive meanwhile wait in the kernel.
        self._lock = threading.RLock()

    def start(self) -> None:
        from watchdog.observers.inotify_c import InotifyFD

        self._descriptor = InotifyFD()
        self._descriptor.start()
        try:
            with self._lock:
                self._watch_tree("")
                if "" not in self._watches:
                    raise OSError(f"{self._root} cannot be watched")
                # The rules ignore the folder, but its list of exclusions must be followed.
                self._watch_folder(_OBSIDIAN_FOLDER)
        except OSError:
            self.stop()
            raise

    def stop(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            descriptor.stop()
            if descriptor is not threading.current_thread():
                descriptor.join(_JOIN_S)

    def fault(self) -> str:
        if self._fault:
            return self._fault
        descriptor = self._descriptor
        return "" if descriptor is not None and descriptor.is_alive() else "the watching thread has ended"

    # Called by watchdog's thread, outside its own lock.

    def on_event(self, event: InotifyEvent) -> None:
        """Handles an event. An exception here would end the thread, which `fault` would report."""
        with self._lock:
            # Unknown: the watch was removed after the kernel had queued this event.
            folder = self._folders.get(event.wd)
            name = os.fsdecode(event.name)
            if folder is None or not name:
                return
            if not is_utf8_name(name):
                self._sink.folder_appeared(folder)  # only a scan can name it
                return
            path = f"{folder}/{name}" if folder else name
            if event.is_directory:
                self._on_folder(event, path)
                return
        self._sink.file_changed(path)

    def _on_folder(self, event: InotifyEvent, path: str) -> None:
        # In every case the folder that was watched under this path is gone or was replaced.
        self._forget_tree(path)
        appeared = event.is_create or event.is_moved_to
        if path == _OBSIDIAN_FOLDER:
            if appeared:
                self._watch_folder(path)
            self._sink.file_changed(OBSIDIAN_APP_FILE)
        elif self._rules.decide(path, is_dir=True) is Decision.IGNORE:
            return
        elif not appeared:
            self._sink.folder_gone(path)
        else:
            try:
                self._watch_tree(path)
            except OSError as error:
                self._fail(str(error))
            self._sink.folder_appeared(path)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Drops a folder that is gone. The event of its parent informs the sink."""
        with self._lock:
            path = self._folders.pop(wd, None)
            if path is not None and self._watches.get(path) == wd:
                del self._watches[path]

    def on_queue_overflow(self) -> None:
        """Fails after an overflow. The lost events may include the creation of a folder, so the set of
        watches may be incomplete as well."""
        self._fail("the system's queue of changes overflowed")

    def _fail(self, reason: str) -> None:
        self._fault = reason
        self._sink.events_lost(reason)

    def _watch_tree(self, top: str) -> None:
        for folder in walk_folders(self._root, self._rules, top):
            self._watch_folder(folder)

    def _watch_folder(self, folder: str) -> None:
        """Watches one folder. A folder that is gone or cannot be read is skipped: a scan reports it.

        Raises TooFewWatchesError, or OSError for any other refusal of the system.
        """
        from watchdog.observers.inotify_c import CallbackId

        if folder in self._watches or self._descriptor is None:
            return
        # Asked each time, because an administrator may raise it while the daemon runs.
        limit = self._watch_limit()
        if limit is not None and len(self._watches) >= limit:
            raise TooFewWatchesError(f"the system allows {limit} watches, the vault has more folders")
        place = os.fsencode(self._root / folder if folder else self._root)
        # inotify needs read permission, and watchdog raises no error without it (see below).
        if not os.access(place, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
            return
        try:
            watch = self._descriptor.add_callback(place, self._mask, self, CallbackId(id(self)))
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return
        except OSError as error:
            raise TooFewWatchesError(
                f"{error.strerror}, with {len(self._watches)} folders watched"
            ) from error
        if watch < 0:  # watchdog's result if the permission was just withdrawn
            return
        before = self._folders.get(watch)
        if before is not None:  # the same folder, renamed before its event arrived
            self._watches.pop(before, None)
        self._folders[watch] = folder
        self._watches[folder] = watch

    def _forget_tree(self, top: str) -> None:
        from watchdog.observers.inotify_c import CallbackId

        if top not in self._watches:
            return
        below = [path for path in self._watches if path == top or path.startswith(f"{top}/")]
        gone = [(self._watches.pop(path), CallbackId(id(self))) for path in below]
        for watch, _ in gone:
            self._folders.pop(watch, None)
        if self._descriptor is not None and gone:
            self._descriptor.remove_callbacks(gone)


class ObserverSource:
    """watchdog's recursive Observer: FSEvents on macOS, ReadDirectoryChangesW on Windows."""

    def __init__(self, root: Path, sink: Sink) -> None:
        self._root = root
        self._sink = sink
        self._observer: BaseObserver | None = None

    def start(self) -> None:
        from watchdog import events
        from watchdog.observers import Observer

        kinds: list[type[FileSystemEvent]] = [
            events.FileCreatedEvent,
            events.FileMovedEvent,
            events.FileDeletedEvent,
            events.DirCreatedEvent,
            events.DirMovedEvent,
            events.DirDeletedEvent,
        ]
        # Only Linux reports that a written file was closed; with MODIFIED its queue would overflow.
        written = events.FileClosedEvent if _ON_LINUX else events.FileModifiedEvent
        source = self

        class Handler(events.FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                source.on_event(event)

        self._observer = Observer()
        self._observer.schedule(Handler(), str(self._root), recursive=True, event_filter=[*kinds, written])
        self._observer.start()

    def stop(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join(_JOIN_S)

    def fault(self) -> str:
        observer = self._observer
        alive = observer is not None and observer.is_alive()
        if observer is None or not alive or not all(emitter.is_alive() for emitter in observer.emitters):
            return "the watching thread has ended"
        return ""

    def on_event(self, event: FileSystemEvent) -> None:
        """Handles an event in watchdog's dispatching thread, which an exception would end."""
        source, target = self._vault_path(event.src_path), self._vault_path(event.dest_path)
        if not event.is_directory:
            for path in (source, target):
                if path:
                    self._sink.file_changed(path)
            return
        # No event follows for the files in a folder that is moved away.
        if source and event.event_type in {"moved", "deleted"}:
            self._sink.folder_gone(source)
        appeared = target if event.event_type == "moved" else source
        if appeared and event.event_type in {"moved", "created"}:
            self._sink.folder_appeared(appeared)

    def _vault_path(self, place: bytes | str) -> str:
        """Returns the vault path, or "" for the root itself, a path outside it, and a name not in UTF-8."""
        path, prefix = os.fsdecode(place), f"{self._root}{os.sep}"
        if not path.startswith(prefix) or not is_utf8_name(path):
            return ""
        return path[len(prefix) :].replace(os.sep, "/")


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


_OCTAL = re.compile(r"\\([0-7]{3})")
"""A blank or a backslash in the name of a mount point."""


def remote_file_system(folder: Path, mounts: str) -> str | None:
    """Returns the type of the network file system that contains `folder`, or None if it is local.

    `mounts` is text as in /proc/mounts. If several mounts contain the folder, the innermost counts, and the
    last of several on the same mount point.
    """
    place = os.path.realpath(folder)
    best, found = -1, ""
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        # Without the slash, the root becomes "", which is above every place.
        point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[1]).rstrip("/")
        if (place == point or place.startswith(f"{point}/")) and len(point) >= best:
            best, found = len(point), fields[2]
    kind, _, sub_kind = found.partition(".")
    return found if kind in _REMOTE or (kind == "fuse" and sub_kind in _REMOTE_FUSE) else None


def system_mounts() -> str:
    """Returns the text of /proc/mounts; empty if there is none (no file system then counts as remote)."""
    try:
        return Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def system_watch_limit() -> int | None:
    """Returns the number of folders that one user may watch on this system; None if there is no limit."""
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


_CHECK_S = 1.0
_CLOCK_JUMP_S = 30.0
_POLL_FACTOR = 10.0

SourceFactory = Callable[[Path, PathRules, Sink, Callable[[], "int | None"]], Source]


@record
class WatchMode:
    """The method of change detection, for `status`."""

    name: Literal["native", "poll", "stopped"]
    reason: str


@record
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
        """Records the folders that the last scan could not read, in the thread of `next_batch`."""
        self._unreadable = folders
        # Added, because several scans may end before `_check_unreadable` looks.
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
        return self._dirty.waiting

    def start(self) -> None:
        """Starts watching. The first batch is a full scan and due at once. Never raises: the watcher waits
        for a missing vault, and polls a vault that cannot be watched."""
        now = self._system.monotonic()
        with self._source_lock:
            self._running = True
            self._root = self._identity()
            self._checked = self._looked = now
            self._offset = self._system.wall() - now
            self._open_source(now)
        # Changes made while no daemon ran have caused no event.
        self.request_scan("start")

    def stop(self) -> None:
        """Ends the threads and wakes a waiting `next_batch`, which then returns None at once."""
        with self._source_lock:
            self._running = False
            self._close_source()
        self._inbox.close()

    def next_batch(self, timeout: float) -> Batch | None:
        """Waits up to `timeout` seconds for a due batch. Returns None if there is none, or after `stop`."""
        deadline = self._system.monotonic() + timeout
        while self._running:
            now = self._system.monotonic()
            if self._inbox.take_alarm() or now - self._checked >= _CHECK_S:
                self._supervise(now)
            batch = self._inbox.take(min(deadline, self._checked + _CHECK_S))
            if batch is not None:
                # Any full scan counts as a poll.
                if batch.scan_all:
                    self._looked = self._system.monotonic()
                return batch
            if self._system.monotonic() >= deadline:
                return None
        return None

    def pop_batch(self) -> frozenset[str]:
        """Takes the files saved last, while another batch is being indexed."""
        return self._dirty.pop_batch(self._system.monotonic())

    def request_scan(self, reason: str) -> int:
        """Requests a full scan that is due at once. Returns its number, for DirtySet.wait_for_scan."""
        number = self._dirty.hear_all(reason, self._system.monotonic())
        self._dirty.flush()
        return number

    def flush(self) -> None:
        self._dirty.flush()

    def record_scan_time(self, seconds: float) -> None:
        """Records the duration of a full scan in seconds. Polling uses at most a tenth of the time."""
        self._scan_s = seconds
        self._looked = self._system.monotonic()

    def use_rules(self, rules: PathRules) -> None:
        """Uses new rules: watches the folders that they enter, and requests a full scan."""
        self._inbox.rules = rules
        with self._source_lock:
            if self._running:
                self._open_source(self._system.monotonic())
        self.request_scan("the rules changed")

    def _supervise(self, now: float) -> None:
        """Checks everything that can go wrong without an event, and repairs it."""
        with self._source_lock:
            if not self._running:
                return
            self._checked = now
            self._check_clock(now)
            self._check_source(now)
            self._check_unreadable(now)
            interval = max(self._settings.poll_s, _POLL_FACTOR * self._scan_s)
            if self._poll_reason and now - self._looked >= interval:
                # Before the scan: it must not be requested again while it waits.
                self._looked = now
                self.request_scan("poll")

    def _check_clock(self, now: float) -> None:
        offset = self._system.wall() - now
        if abs(offset - self._offset) > _CLOCK_JUMP_S:
            self._inbox.scan_all("the clock jumped")
        # The difference of both clocks: only a set clock or a sleep changes it.
        self._offset = offset

    def _check_source(self, now: float) -> None:
        root = self._identity()
        fault = self._source.fault() if self._source else ""
        # A renamed, unmounted or replaced vault: the watches belong to the old folder.
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
        """Watches a folder that can be read again, and requests one scan: no event reports this, and the
        changes in it meanwhile were not seen."""
        readable = {folder for folder in self._closed if is_readable(self._vault / folder)}
        # Once: a folder that a scan still cannot read would otherwise cause a scan each second.
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


class _Inbox:
    """The `Sink` of the source: turns events that are not ignored into hints. Waits for due batches."""

    def __init__(self, rules: PathRules, dirty: DirtySet, clock: Callable[[], float]) -> None:
        self.rules = rules
        self._clock = clock
        self._dirty = dirty
        self._alarm = False
        self._closed = False

    def file_changed(self, path: str) -> None:
        if path in CONTROL_FILES:
            self._dirty.hear_control(path, self._clock())
            # The configuration does not change which events are reported; the rules do.
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
        # First: the waiting thread is woken by the next line and must see it.
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
