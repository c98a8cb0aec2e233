"""Sources of hints: the change events of the operating system, through watchdog.

On Linux the folders are watched one by one through watchdog's inotify layer rather than its recursive
Observer. With the Observer (measured), ignored folders are watched and flood the queue, an overflow of the
queue or a reached watch limit is not reported, and a folder that was moved away continues to report under
its old path. Elsewhere the Observer is used.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vault_indexer.vault.files import is_utf8_name
from vault_indexer.vault.ignore import OBSIDIAN_APP_FILE, Decision, PathRules
from vault_indexer.vault.walk import walk_folders

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver
    from watchdog.observers.inotify_c import InotifyEvent, InotifyFD, WatchDescriptor

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
        """Start watching. All changes after the return are reported. Raises OSError if it cannot start."""
        ...

    def stop(self) -> None:
        """End the threads. May be called twice."""
        ...

    def fault(self) -> str:
        """Return why not all changes are reported; "" while they are."""
        ...


class TooFewWatchesError(OSError):
    """The watch limit of the system is too low for all folders."""


def native_source(root: Path, rules: PathRules, sink: Sink, watch_limit: Callable[[], int | None]) -> Source:
    """Return the best source for this system. `root` is the vault's real path."""
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
        """Handle an event. An exception here would end the thread, which `fault` would report."""
        with self._lock:
            folder = self._folders.get(event.wd)
            name = os.fsdecode(event.name)
            if folder is None or not name or not is_utf8_name(name):
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
        """Forget a folder that is gone. The event of its parent informs the sink."""
        with self._lock:
            path = self._folders.pop(wd, None)
            if path is not None and self._watches.get(path) == wd:
                del self._watches[path]

    def on_queue_overflow(self) -> None:
        """Fail after an overflow. The lost events may include the creation of a folder, so the set of watches
        may be incomplete as well."""
        self._fail("the system's queue of changes overflowed")

    def _fail(self, reason: str) -> None:
        self._fault = reason
        self._sink.events_lost(reason)

    def _watch_tree(self, top: str) -> None:
        for folder in walk_folders(self._root, self._rules, top):
            self._watch_folder(folder)

    def _watch_folder(self, folder: str) -> None:
        """Watch one folder. A folder that is gone or cannot be read is skipped: a scan reports it.

        Raises TooFewWatchesError, or OSError for any other refusal of the system.
        """
        from watchdog.observers.inotify_c import CallbackId

        if folder in self._watches or self._descriptor is None:
            return
        limit = self._watch_limit()
        if limit is not None and len(self._watches) >= limit:
            raise TooFewWatchesError(f"the system allows {limit} watches, the vault has more folders")
        place = os.fsencode(self._root / folder if folder else self._root)
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
        self._observer = Observer()
        self._observer.schedule(
            self._handler(), str(self._root), recursive=True, event_filter=[*kinds, written]
        )
        self._observer.start()

    def _handler(self) -> FileSystemEventHandler:
        from watchdog.events import FileSystemEventHandler

        source = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                source.on_event(event)

        return Handler()

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
        """Handle an event in watchdog's dispatching thread, which an exception would end."""
        source, target = self._vault_path(event.src_path), self._vault_path(event.dest_path)
        if not event.is_directory:
            for path in (source, target):
                if path:
                    self._sink.file_changed(path)
            return
        if source and event.event_type in {"moved", "deleted"}:
            self._sink.folder_gone(source)
        appeared = target if event.event_type == "moved" else source
        if appeared and event.event_type in {"moved", "created"}:
            self._sink.folder_appeared(appeared)

    def _vault_path(self, place: bytes | str) -> str:
        """Return the vault path, or "" for the root itself, a path outside it, and a name not in UTF-8."""
        path, prefix = os.fsdecode(place), f"{self._root}{os.sep}"
        if not path.startswith(prefix) or not is_utf8_name(path):
            return ""
        return path[len(prefix) :].replace(os.sep, "/")
