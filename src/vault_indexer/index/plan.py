"""What has to be done so that the catalog tells the vault as it is: a pure function of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_indexer.model import FileRow
from vault_indexer.vault.diff import diff
from vault_indexer.vault.files import FileKind, FileStat
from vault_indexer.vault.ignore import Decision
from vault_indexer.vault.walk import Scan, ScannedFile

_RACY_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Notes to read (their content hash decides), files that are only link targets, and what is gone."""

    read: tuple[str, ...] = ()
    linked: tuple[FileRow, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.read or self.linked or self.removed)

    @property
    def size(self) -> int:
        """How many files are concerned."""
        return len(self.read) + len(self.linked) + len(self.removed)


def plan(known: Sequence[FileRow], scan: Scan) -> Plan:
    """Compare the catalog's files (all, or those below `scan.folder`, ordered by path) with a scan."""
    found = {file.path: file for file in scan.files}
    reasons = dict(scan.skipped)
    changes = diff(known, [file.stat for file in scan.files], scan.vouches_for)
    touched = {stat.path for stat in (*changes.added, *changes.modified)}
    touched |= {row.path for row in known if row.path in found and _stale(row, found[row.path])}
    concerned = [found[path] for path in sorted(touched)]
    return Plan(
        read=tuple(file.path for file in concerned if is_indexed(file)),
        linked=tuple(
            linked_row(file.stat, reasons.get(file.path, "")) for file in concerned if not is_indexed(file)
        ),
        removed=tuple(stat.path for stat in changes.removed),
    )


def is_indexed(file: ScannedFile) -> bool:
    """Whether the file's text belongs into the index."""
    return file.decision is Decision.INDEX and file.kind is not FileKind.ATTACHMENT


def linked_row(stat: FileStat, reason: str = "") -> FileRow:
    """The row of a file that is only a target of links; a reason tells why it is not more than that."""
    return FileRow(stat.path, stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, "", "linked", reason)


def _stale(row: FileRow, file: ScannedFile) -> bool:
    """Equal stats, yet worth a look: the rules changed, or the file was too young to be sure of it."""
    if is_indexed(file) == (row.state == "linked"):
        return True
    return row.state != "linked" and max(row.mtime_ns, row.ctime_ns) > row.seen_ns - _RACY_NS
