"""Whether the files that hold the configuration have changed, and who follows them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

_LOOK_EVERY_S = 0.5
"""As often as a vault looks at its own state. A look is one call of the system for each file."""

_MOST_LOOKS = 4
"""After this number of checks a file is read although it still changes."""

Stamp = tuple[int, ...]


class ConfigWatch:
    """Remembers how the configuration files looked. One thread uses it."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = tuple(files)
        self._seen = self._stamps()
        self.disappeared: tuple[Path, ...] = ()

    def has_changed(self) -> bool:
        """Whether a file appeared, disappeared, changed, or became readable or unreadable since the last
        call. `disappeared` then names those that are gone."""
        before, self._seen = self._seen, self._stamps()
        self.disappeared = tuple(path for path in before if path not in self._seen)
        return before != self._seen

    def _stamps(self) -> Mapping[Path, Stamp]:
        return {path: stamp for path in self._files if (stamp := _stamp(path))}


class ConfigFollower:
    """Calls `read_again`, in a thread of its own, after the files of a configuration have changed.

    Files that have just changed are read at the next look, since they may still be being written. Whoever
    uses the configuration owns it; `read_again` handles its errors itself.
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
        """Begin to look; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Look no longer. Returns once a reading under way has ended."""
        self._stopping.set()
        self._thread.join()

    def _follow(self) -> None:
        looks_due = 0
        while not self._stopping.wait(self._look_every_s):
            has_changed = self._watch.has_changed()
            if has_changed or looks_due:
                looks_due += 1
            if looks_due and (not has_changed or looks_due > _MOST_LOOKS):
                looks_due = 0
                self._read_again()


def _stamp(path: Path) -> Stamp:
    """Changes with the content, with the permissions (ctime) and with the file; empty where there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        return (error.errno or 0,)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size)
