"""Change detection as a pure function of the known and the scanned files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from vault_indexer.model import FileRow
from vault_indexer.system import record
from vault_indexer.vault.files import FileStat

KnownFile = FileRow | FileStat
"""The stat of a file as stored in the catalog."""

File = TypeVar("File", FileRow, FileStat)


@record
class FileChanges:
    """The differences. For a `modified` file any part of the stat differs; its content hash then decides."""

    added: tuple[FileStat, ...] = ()
    modified: tuple[FileStat, ...] = ()
    removed: tuple[KnownFile, ...] = ()


def diff(
    known: Iterable[File], found: Iterable[FileStat], covers: Callable[[str], bool] = lambda _path: True
) -> FileChanges:
    """Compares two streams in strictly ascending order of path (code points, as SQLite's BINARY order of
    UTF-8).

    A known path that was not found counts as removed only if `covers(path)` (see Scan.covers).
    Raises ValueError if a stream is not in order, because that would cause false deletions.
    """
    added: list[FileStat] = []
    modified: list[FileStat] = []
    removed: list[File] = []
    olds, news = _ascending(known), _ascending(found)
    old, new = next(olds, None), next(news, None)
    while old is not None or new is not None:
        if new is None or (old is not None and old.path < new.path):
            assert old is not None
            if covers(old.path):
                removed.append(old)
            old = next(olds, None)
        elif old is None or new.path < old.path:
            added.append(new)
            new = next(news, None)
        else:
            if not _is_same(old, new):
                modified.append(new)
            old, new = next(olds, None), next(news, None)
    return FileChanges(tuple(added), tuple(modified), tuple(removed))


def _is_same(old: KnownFile, new: FileStat) -> bool:
    """Returns whether the stats are equal. Most files of a large vault are, so no object is created here."""
    return (
        old.mtime_ns == new.mtime_ns
        and old.size == new.size
        and old.ctime_ns == new.ctime_ns
        and old.inode == new.inode
    )


def _ascending(files: Iterable[File]) -> Iterator[File]:
    last: str | None = None
    for file in files:
        if last is not None and file.path <= last:
            raise ValueError(f"paths must ascend: {file.path!r} after {last!r}")
        last = file.path
        yield file
