"""Change detection as a pure function of the known files and those found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from vault_indexer.vault.files import FileStat


class KnownFile(Protocol):
    """What the catalog remembers of a file."""

    @property
    def path(self) -> str:
        """Vault path."""
        ...

    @property
    def size(self) -> int:
        """Bytes."""
        ...

    @property
    def mtime_ns(self) -> int:
        """Time of the last write."""
        ...

    @property
    def ctime_ns(self) -> int:
        """Time of the last change of content or metadata."""
        ...

    @property
    def inode(self) -> int:
        """The file system's number of the file."""
        ...


@dataclass(frozen=True, slots=True)
class Changes:
    """`modified` means "look at it": any part of the stat differs, and the content hash decides."""

    added: tuple[FileStat, ...] = ()
    modified: tuple[FileStat, ...] = ()
    removed: tuple[FileStat, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.modified or self.removed)


def diff(
    known: Iterable[KnownFile],
    found: Iterable[FileStat],
    vouches_for: Callable[[str], bool] = lambda _path: True,
) -> Changes:
    """Merges two streams that ascend strictly by path (code points, as SQLite's BINARY order of UTF-8).

    A known path that is not found counts as removed only if `vouches_for(path)` (see Scan.vouches_for).
    Raises ValueError if a stream does not ascend: a wrong order would invent deletions.
    """
    added: list[FileStat] = []
    modified: list[FileStat] = []
    removed: list[FileStat] = []
    olds, news = _ascending(known), _ascending(found)
    old, new = next(olds, None), next(news, None)
    while old is not None or new is not None:
        if new is None or (old is not None and old.path < new.path):
            assert old is not None
            if vouches_for(old.path):
                removed.append(old)
            old = next(olds, None)
        elif old is None or new.path < old.path:
            added.append(new)
            new = next(news, None)
        else:
            if old != new:
                modified.append(new)
            old, new = next(olds, None), next(news, None)
    return Changes(tuple(added), tuple(modified), tuple(removed))


def _ascending(files: Iterable[KnownFile]) -> Iterator[FileStat]:
    last: str | None = None
    for file in files:
        if last is not None and file.path <= last:
            raise ValueError(f"paths must ascend: {file.path!r} after {last!r}")
        last = file.path
        if isinstance(file, FileStat):
            yield file
        else:
            yield FileStat(file.path, file.size, file.mtime_ns, file.ctime_ns, file.inode)
