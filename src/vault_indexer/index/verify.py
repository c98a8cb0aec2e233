"""Compares the vault, the catalog and each derived index, and reports every disagreement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from vault_indexer.errors import DamagedError, IndexUnusableError, NoteError
from vault_indexer.index.plan import is_indexed
from vault_indexer.index.writer import IndexWriter, Linker, make_linker
from vault_indexer.model import QUARANTINED, FileRow, Problem, Progress, SizeLimits
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.store.vectors import index as vectors
from vault_indexer.vault.read import read_note
from vault_indexer.vault.walk import Scan

_SHOWN_KEYS = 3
_REPORT_EVERY_S = 0.1

Report = Callable[[Progress], None]


def verify(live: IndexWriter, vault: Path, found: Scan, limits: SizeLimits, report: Report) -> list[Problem]:
    """Compares everything: all notes, the whole catalog, all checksums. Takes about as long as a build.

    `report` receives the progress at most ten times a second: first for the notes of the catalog (stage
    "verify catalog"), then for the files of the vault ("verify vault"). Links and derived indices come last.
    """
    with live.holder.lease() as snapshot:
        catalog = snapshot.catalog
        problems = list(_catalog(live, catalog, report))
        if problems:
            return problems  # further comparisons with a damaged catalog are pointless
        files = _Steps("verify vault", len(found.files), report)
        problems.extend(_vault(catalog.files(), vault, found, limits, files))
        files.end("verify indices")
        problems.extend(_links(catalog, make_linker(snapshot, live.link_style)))
        held, wanted = snapshot.vectors.live_keys(), set(catalog.nonzero_vector_keys(live.model))
        problems.extend(_keys("vectors", held, wanted))
        forgotten = len(catalog.missing_vectors(live.model)) - live.missing_vectors
        if forgotten:  # a missing vector is on its way, and no disagreement
            problems.append(Problem("vectors", "missing", f"{forgotten} chunks without a vector"))
        problems.extend(_keys("keywords", snapshot.keywords.keys.tolist(), catalog.chunk_keys()))
    # Outside the lease: reading all files takes long, and a lease keeps its snapshot open.
    problems.extend(_files(live))
    problems.extend(Problem(text.partition(":")[0], "healed", text) for text in live.derived.take_healed())
    return problems


class _Steps:
    """Counts the comparisons of one stage, and reports the progress at intervals."""

    def __init__(self, stage: str, total: int, report: Report) -> None:
        self._stage = stage
        self._total = total
        self._report = report
        self._done = 0
        self._started = time.monotonic()
        self._next = self._started
        self._tell(self._started)

    def step(self) -> None:
        self._done += 1
        now = time.monotonic()
        if now >= self._next:
            self._tell(now)

    def end(self, next_stage: str) -> None:
        self._stage, self._done = next_stage, self._total
        self._tell(time.monotonic())

    def _tell(self, now: float) -> None:
        self._next = now + _REPORT_EVERY_S
        self._report(Progress(self._stage, self._done, self._total, 0, now - self._started))


def _catalog(live: IndexWriter, catalog: CatalogReader, report: Report) -> Iterator[Problem]:
    damage = live.corruption()
    if damage:
        yield Problem("catalog", "damaged", damage)
        return
    for (message,) in catalog.rows("PRAGMA integrity_check(5)"):
        if message != "ok":
            yield Problem("catalog", "damaged", str(message))
            return
    steps = _Steps("verify catalog", catalog.counts().notes, report)
    for note in catalog.all_notes():
        steps.step()
        try:
            size = len(catalog.text(note.note_id))
        except DamagedError as error:
            yield Problem("catalog", "damaged", str(error), note.path)
            continue
        sql = "SELECT count(*) FROM chunks WHERE note_id = ? AND NOT (0 <= start_pos AND end_pos <= ?)"
        outside = catalog.rows(sql, (note.note_id, size))[0][0]
        if outside:
            yield Problem(
                "catalog", "damaged", f"{outside} chunks outside the text of {note.path}", note.path
            )


def _vault(
    known: Iterable[FileRow], vault: Path, found: Scan, limits: SizeLimits, steps: _Steps
) -> Iterator[Problem]:
    rows = {row.path: row for row in known}
    for file in found.files:
        steps.step()
        row = rows.pop(file.path, None)
        if row is None:
            yield Problem("vault", "missing", "in the vault, not in the index", file.path)
        elif is_indexed(file) and row.is_quarantined:
            yield Problem("vault", "set aside", row.reason.removeprefix(QUARANTINED), file.path)
        # A skipped note with a digest was read once, so its content can be compared.
        elif is_indexed(file) and (row.state == "note" or row.digest):
            yield from _same_text(row, vault, limits.of(row.path))
        elif is_indexed(file) != (row.state != "linked"):
            yield Problem("vault", "rules", "the exclusions have changed since it was indexed", file.path)
    for path, row in rows.items():
        if row.state != "skipped" and found.covers(path):
            yield Problem("vault", "ghost", "in the index, not in the vault", path)


def _same_text(row: FileRow, vault: Path, max_file_bytes: int) -> Iterator[Problem]:
    try:
        digest = read_note(vault, row.path, max_file_bytes).sha256
    except NoteError as error:
        yield Problem("vault", "unreadable", str(error), row.path)
        return
    if digest != row.digest:
        yield Problem("vault", "stale", "the file has changed since it was indexed", row.path)


def _links(catalog: CatalogReader, linker: Linker) -> Iterator[Problem]:
    """Yields a problem for each note whose stored links differ from the links resolved anew."""
    sql = "SELECT target, resolved, ambiguous FROM links WHERE note_id = ? ORDER BY ord"
    for note in catalog.all_notes():
        wrong = []
        for target, resolved, ambiguous in catalog.rows(sql, (note.note_id,)):
            found = linker(str(target), note.path)
            if (found.path, found.ambiguous) != (resolved, bool(ambiguous)):
                wrong.append(str(target))
        if wrong:
            detail = f"{len(wrong)} links lead elsewhere than the files say, among them [[{wrong[0]}]]"
            yield Problem("links", "stale", detail, note.path)


def _keys(store: str, held: Iterable[int], wanted: Iterable[int]) -> Iterator[Problem]:
    held, wanted = set(held), set(wanted)
    for kind, keys in (("missing", wanted - held), ("ghost", held - wanted)):
        if keys:
            some = ", ".join(map(str, sorted(keys)[:_SHOWN_KEYS]))
            yield Problem(store, kind, f"{len(keys)} chunks, among them {some}")


def _files(live: IndexWriter) -> Iterator[Problem]:
    """Checks the files on disk. They may be damaged although the data in memory is intact."""
    try:
        vectors.load_snapshot(live.generation.vectors)
    except IndexUnusableError as error:
        yield Problem("vectors", "damaged", str(error))
    try:
        KeywordIndex.open(live.generation.keywords).verify()
    except IndexUnusableError as error:
        yield Problem("keywords", "damaged", str(error))
