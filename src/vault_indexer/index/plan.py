"""Computes the changes that bring the catalog in line with the vault, as a pure function of both."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from vault_indexer.model import FileKind, FileRow, kind_of
from vault_indexer.system import record
from vault_indexer.vault.diff import KnownFile, diff
from vault_indexer.vault.files import NOT_DOWNLOADED
from vault_indexer.vault.ignore import Decision, IgnoreRules, PathRules
from vault_indexer.vault.walk import Scan, ScannedFile

PART_NOTES = 512
_FIRST_PART_NOTES = 64
_PART_S = 1.0
_RACY_NS = 2_000_000_000

Leave = Literal["", "documents", "all"]
"""What a call leaves to the next one between two parts of a plan: nothing, documents, or everything."""


@record
class Plan:
    """Notes to read (their content hash decides), files that are only link targets, and removed paths. The
    file of a removed path in `moved` has a new path."""

    read: tuple[str, ...] = ()
    linked: tuple[FileRow, ...] = ()
    removed: tuple[str, ...] = ()
    moved: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.read or self.linked or self.removed)

    @property
    def has_documents(self) -> bool:
        return bool(self.read) and _is_document(self.read[-1])  # they come last

    def paths_left(self, left: int, leave: Leave) -> tuple[str, ...]:
        """Returns the paths that the parts of the last `left` files concern, if these are to be left."""
        rest = self.read[-left:]
        is_left = leave == "all" or (leave == "documents" and _is_document(rest[0]))
        return (*rest, *filter(_is_document, self.moved)) if is_left else ()

    def parts(self, clock: Callable[[], float] = time.monotonic) -> Iterator[Plan]:
        """Yields the plan in parts that are committed one by one, so that a checkout of thousands of notes
        becomes searchable gradually and is never in memory as a whole. A save waits for the current part, so
        the size adapts: it doubles, up to `PART_NOTES`, after a part of less than a second, and halves after
        one of more than two seconds. A document takes as long as many notes."""
        size, least, start = _FIRST_PART_NOTES, _FIRST_PART_NOTES // 4, 0
        documents = next((n for n, path in enumerate(self.read) if _is_document(path)), len(self.read))
        last = frozenset(filter(_is_document, self.moved))
        first = tuple(path for path in self.removed if path not in last)
        while True:
            if start == documents:
                size = least = 1
            end = start + size if start >= documents else min(start + size, documents)
            began = clock()
            is_last = end >= len(self.read)
            # The first part contains the deletions: a renamed note is never in the index twice. Only a
            # document that was moved stays until the end, because its text is found there.
            removed = (() if start else first) + (tuple(sorted(last)) if is_last else ())
            yield Plan(self.read[start:end], () if start else self.linked, removed)
            if is_last:
                return
            seconds, start = clock() - began, end
            if seconds < _PART_S:
                size = min(2 * size, PART_NOTES)
            elif seconds > 2 * _PART_S:
                size = max(size // 2, least)


def _is_document(path: str) -> bool:
    return kind_of(path) is FileKind.DOCUMENT


@record
class Applied:
    """The result of an edit: indexed and removed notes, other files, the number of links that changed their
    target, strategies that split a note for the first time, and documents that are still to be read."""

    indexed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    relinked: int = 0
    strategies: frozenset[str] = frozenset()
    left: tuple[str, ...] = ()

    def __add__(self, other: Applied) -> Applied:
        return Applied(
            self.indexed + other.indexed,
            self.removed + other.removed,
            self.files + other.files,
            self.relinked + other.relinked,
            self.strategies | other.strategies,
            self.left + other.left,
        )


def plan(known: Sequence[FileRow], scan: Scan, rules: PathRules | None = None) -> Plan:
    """Compares the catalog's files (all, or those in the scan's scope, ordered by path) with a scan. Files
    that the scan could not see stay unless the `rules` exclude them."""
    found = {file.path: file for file in scan.files}
    reasons = dict(scan.skipped)
    hidden = _decided(known, found, scan, rules or IgnoreRules())
    named = _rows_to_name(known, found, scan, hidden)
    changes = diff(
        [row for row in known if row.path not in reasons or row.path in found],
        [file.stat for file in scan.files],
        scan.covers,
    )
    touched = {stat.path for stat in (*changes.added, *changes.modified)}
    touched |= {
        row.path
        for row in known
        if row.path in found and _stale(row, found[row.path], reasons.get(row.path, ""))
    }
    concerned = [found[path] for path in sorted(touched)]
    linked = [linked_row(file.stat, reasons.get(file.path, "")) for file in concerned if not is_indexed(file)]
    linked += [
        linked_row(row)
        for row in known
        if row.state == "note" and hidden.get(row.path) is Decision.LINK_ONLY and row.path not in reasons
    ]
    excluded = (path for path, decision in hidden.items() if decision is Decision.IGNORE)
    return Plan(
        read=paths_to_read(concerned),
        linked=(*linked, *named),
        removed=tuple(sorted([*excluded, *(stat.path for stat in changes.removed)])),
    )


def _decided(
    known: Sequence[FileRow], found: Collection[str], scan: Scan, rules: PathRules
) -> dict[str, Decision]:
    """Returns the decision of the rules for files that the scan could not see. They may still exist, in a
    folder that cannot be read or only in the cloud."""
    hidden = (row.path for row in known if row.path not in found and not scan.covers(row.path))
    return {path: rules.decide(path, is_dir=False) for path in hidden}


def _rows_to_name(
    known: Sequence[FileRow], found: Collection[str], scan: Scan, hidden: Mapping[str, Decision]
) -> list[FileRow]:
    """Returns rows for entries that exist but cannot be listed as files, unless the catalog has such a row.

    A file that the scan does not cover (for example one in the cloud) keeps its row if the rules still
    include it. The row of a note that is not downloaded contains that reason until the note is read again.
    """
    rows = {row.path: row for row in known}
    away = [
        replace(row, ctime_ns=0, reason=NOT_DOWNLOADED)
        for path, reason in scan.skipped
        if reason == NOT_DOWNLOADED and hidden.get(path) is Decision.INDEX
        if (row := rows[path]).state == "note" and not row.reason
    ]
    return away + [
        FileRow(path, 0, 0, 0, 0, "", "skipped", reason)
        for path, reason in scan.skipped
        if path not in found
        and not ((named := rows.get(path)) and (named.state, named.reason) == ("skipped", reason))
        and (path not in rows or hidden.get(path) is not Decision.INDEX)
    ]


def paths_to_read(files: Iterable[ScannedFile]) -> tuple[str, ...]:
    """The paths of the files to index: first the notes, then the documents, which take longer."""
    chosen = sorted(filter(is_indexed, files), key=lambda file: file.kind is FileKind.DOCUMENT)
    return tuple(file.path for file in chosen)


def is_indexed(file: ScannedFile) -> bool:
    return file.decision is Decision.INDEX


def count_notes(scan: Scan) -> int:
    return sum(map(is_indexed, scan.files))


def is_linkable(row: FileRow) -> bool:
    """Returns whether links can lead to the file. It must have been listed as a file, but need not be
    readable."""
    return row.state != "skipped" or row.inode != 0


def linked_row(stat: KnownFile, reason: str = "") -> FileRow:
    """Returns the row of a file that is only a link target. `reason` explains why it is not indexed."""
    return FileRow(stat.path, stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, "", "linked", reason)


def _stale(row: FileRow, file: ScannedFile, reason: str) -> bool:
    """Returns whether a file must be read again although its stat is equal: the rules changed, the reason why
    it is only a link target changed, or it was written too shortly before the last scan."""
    if is_indexed(file) == (row.state == "linked"):
        return True
    if not is_indexed(file):
        return row.reason != reason
    return row.state != "linked" and max(row.mtime_ns, row.ctime_ns) > row.seen_ns - _RACY_NS
