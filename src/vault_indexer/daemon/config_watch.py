"""Whether the files that hold the configuration have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

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


def _stamp(path: Path) -> Stamp:
    """Changes with the content, with the permissions (ctime) and with the file; empty where there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        return (error.errno or 0,)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size)
