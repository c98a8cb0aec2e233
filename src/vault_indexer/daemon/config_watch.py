"""Detects changes of the configuration files, and reloads them in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

_LOOK_EVERY_S = 0.5
"""The interval of the checks, the same as that of the checks of a vault's own state. Each check is one system
call per file."""

_MOST_LOOKS = 4
"""After this number of checks, a file is read even though it is still changing."""


class ConfigWatch:
    """Remembers the last state of the configuration files. Not thread-safe."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = tuple(files)
        self._seen = self._stamps()
        self.disappeared: tuple[Path, ...] = ()

    def has_changed(self) -> bool:
        """Returns whether a file appeared, disappeared, changed, or became readable or unreadable since the
        last call. Sets `disappeared` to the files that no longer exist."""
        before, self._seen = self._seen, self._stamps()
        self.disappeared = tuple(path for path in before if path not in self._seen)
        return before != self._seen

    def _stamps(self) -> Mapping[Path, tuple[int, ...]]:
        return {path: stamp for path in self._files if (stamp := _stamp(path))}


class ConfigFollower:
    """Calls `read_again`, in a thread of its own, after the files of a configuration have changed.

    Files that have just changed are read at the next check, because another program may still be writing
    them. `read_again` handles its own errors.
    """

    def __init__(
        self,
        watch: ConfigWatch,
        read_again: Callable[[], None],
        thread_name: str,
        look_every_s: float = _LOOK_EVERY_S,
    ) -> None:
        self._watch = watch
        self._read_again = read_again
        self._look_every_s = look_every_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=thread_name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stops checking. Waits for a running `read_again`."""
        self._stopping.set()
        self._thread.join()

    def _follow(self) -> None:
        looks_due = 0
        while not self._stopping.wait(self._look_every_s):
            has_changed = self._watch.has_changed()
            if has_changed or looks_due:
                looks_due += 1
            # A file that is written without a pause is read at last.
            if looks_due and (not has_changed or looks_due > _MOST_LOOKS):
                looks_due = 0
                self._read_again()


def _stamp(path: Path) -> tuple[int, ...]:
    """Returns a value that changes with the content, the permissions (ctime) and the identity of the file. It
    is empty if there is no file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        # As a stamp: a file that can be read again differs from it, and is then read.
        return (error.errno or 0,)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size)
