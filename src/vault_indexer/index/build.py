"""Builds a generation: indexes every note of the vault, in parallel, into a new folder."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from vault_indexer.config import Manifest
from vault_indexer.errors import DiskFullError, ProcessError, ProviderError
from vault_indexer.index.jobs import Finished, FinishJob, Job, Outcome, PrepareJob, catch_up_keywords
from vault_indexer.index.opening import rebuild_vectors
from vault_indexer.index.plan import count_notes, is_indexed, is_linkable, plan
from vault_indexer.index.reading.prepare import FIRST_BYTES, Skipped, first_part
from vault_indexer.index.workers.job import Died, Failed
from vault_indexer.index.workers.pool import WorkerPool
from vault_indexer.model import (
    QUARANTINED,
    FileRow,
    LinkStyle,
    NoteRow,
    Progress,
    RebuildReport,
    SkippedFile,
)
from vault_indexer.parse import StyledPaths
from vault_indexer.store import Generation, IndexDir, Snapshot, index_errors
from vault_indexer.store.catalog import (
    CatalogReader,
    CatalogWriter,
    NoteTableRows,
    PreparedNote,
    ResolvedLink,
)
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.system import EDIT_BYTES, batches, fsync_dir, fsync_file, size_of
from vault_indexer.vault.walk import Scan

if TYPE_CHECKING:
    from vault_indexer.store.keywords import Segment


# Resolution of the links in the catalog, also after files are added or removed.


class Linker:
    """Resolves links against the files of the vault, and determines which links a change of files affects.

    IndexWriter and a build own one each, and call it from one thread. `add` and `remove` only record a
    change; `relink` then resolves the affected links of the catalog again, within the transaction that stores
    the change. After a failed transaction the owner creates a new Linker, because this one contains files
    that were not stored.
    """

    def __init__(
        self, paths: Iterable[str], style: LinkStyle = "obsidian", pages: Iterable[NoteRow] = ()
    ) -> None:
        self._initial = (style, list(paths), list(pages))
        self._affected: set[str] = set()

    @cached_property
    def _paths(self) -> StyledPaths:
        """The paths by name. They are loaded with the first note or by `load`: a command that only searches
        never needs them."""
        style, paths, pages = self._initial
        self._initial = (style, [], [])
        return StyledPaths(style, paths, pages)

    def load(self) -> None:
        """Load the paths before the first note needs them. That takes a second for 166,000 files."""
        self._paths  # noqa: B018 - reading the property creates it

    def __call__(self, target: str, source: str) -> ResolvedLink:
        """Resolve `target` as written in the note `source`."""
        found, key = self._paths.find(target, source)
        return ResolvedLink(key, found.path, bool(found.ambiguous))

    def add(self, path: str) -> None:
        self._affected.update(self._paths.add(path))

    def add_note(self, rows: NoteTableRows) -> None:
        """Adds the file of a note, or takes the addresses that it has now."""
        self.add(rows.path)
        title, language, properties, aliases, tags = map(str, rows.note[:5])
        page = NoteRow(0, rows.path, title, language, properties, aliases, tags, 0)
        self._affected.update(self._paths.put_page(page))

    def remove(self, path: str) -> None:
        self._affected.update(self._paths.remove(path))

    def relink(self, writer: CatalogWriter) -> int:
        """Resolve again the stored links that changes since the last call affect. Returns the number that
        changed."""
        keys, self._affected = self._affected, set()
        return writer.relink(keys, self)

    def relink_all(self, writer: CatalogWriter) -> int:
        """Resolve all stored links again. Returns the number that changed."""
        return writer.relink(writer.link_keys(), self)


def make_linker(snapshot: Snapshot, style: LinkStyle) -> Linker:
    """Return a linker for the files and notes of a snapshot."""
    pages = snapshot.catalog.all_notes() if style != "obsidian" else ()
    return Linker(snapshot.graph.linkable(), style, pages)


BATCH_NOTES = 48
TRIES = 2
ENDED_TWICE = f"{QUARANTINED}reading it ended the worker process twice"
_NAMING_TRIES = 5
_BYTES_PER_NOTE_BYTE = 5
"""An index is about five times as large as its notes: 304 MB for 16,593 notes of 61 MB."""

Pool = WorkerPool[Job, Outcome]
Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class BuildSpec:
    """The parameters of a build. `manifest` creates the manifest from the strategies that split the notes.
    `blobs`, such as token weights, are stored in the catalog. With `words_first`, vectors that no earlier
    generation contains are computed later. `first_bytes` limits the part of a large vault that is built
    first, if only that part is requested. `link_style` decides where links lead."""

    manifest: Callable[[Iterable[str]], Manifest]
    model: str
    dimension: int
    blobs: dict[str, bytes] = field(default_factory=dict)
    words_first: bool = False
    first_bytes: int = FIRST_BYTES
    link_style: LinkStyle = "obsidian"


def build_next(
    index_dir: IndexDir, spec: BuildSpec, scan: Scan, pool: Pool, report: Report, *, newest_only: bool = False
) -> tuple[Generation, RebuildReport]:
    """Build the next generation, complete and not yet active, and close the pool. With `newest_only` it
    contains only the latest changes of a large vault (see `first_part`). Progress still counts the notes of
    the whole vault, and the report contains the number of notes left out.

    Raises ProviderError if the model cannot be used, IndexUnusableError if the folder cannot be written, and
    DiskFullError if there is no room. The files of a failed build are removed.
    """
    with index_errors(index_dir.root, _bytes_of_build(scan, index_dir.current())):
        generation = index_dir.begin()
        try:
            part = first_part(scan, spec.first_bytes) if newest_only else scan
            total = count_notes(scan)
            result = build(generation, spec, part, pool, _with_total(report, total))
            result = replace(result, left_out=total - count_notes(part))
        except BaseException:
            pool.close()  # first, because its processes write into the folder
            index_dir.discard(generation)
            raise
        finally:
            pool.close()
        return index_dir.finish(generation), result


def _with_total(report: Report, total: int) -> Report:
    return lambda progress: report(replace(progress, total=total))


def _bytes_of_build(scan: Scan, current: Generation | None) -> int:
    """Estimate the bytes that a build writes, from the last build or from the size of the notes."""
    if current is not None:
        return EDIT_BYTES + size_of(current.folder)
    return EDIT_BYTES + _BYTES_PER_NOTE_BYTE * sum(file.stat.size for file in scan.files if is_indexed(file))


def build(generation: Generation, spec: BuildSpec, scan: Scan, pool: Pool, report: Report) -> RebuildReport:
    """Fill an empty generation folder from a scan, durably, except for the rename that completes it.

    Raises ProviderError if the model cannot be used, and OSError if the disk cannot be written.
    """
    KeywordIndex.create(generation.keywords)
    builder = _Builder(generation, spec, scan, pool, report)
    builder.write_catalog()
    builder.write_keywords()
    builder.write_vectors()
    generation.write_manifest(spec.manifest(builder.strategies()).to_toml())
    fsync_dir(generation.folder)
    return builder.result()


class _Builder:
    def __init__(
        self, generation: Generation, spec: BuildSpec, scan: Scan, pool: Pool, report: Report
    ) -> None:
        self._generation = generation
        self._spec = spec
        self._scan = scan
        self._pool = pool
        self._report = report
        self._started = time.perf_counter()
        self._ids = {file.path: n for n, file in enumerate(filter(is_indexed, scan.files), start=1)}
        self._notes = self._chunks = self._embedded = self._reused = 0
        self._skipped: list[SkippedFile] = []

    def write_catalog(self) -> None:
        """Write all notes in one transaction. Nothing is fsynced before its end."""
        writer = CatalogWriter(self._generation.catalog, bulk=True)
        try:
            with writer.commit():
                for name, data in self._spec.blobs.items():
                    writer.put_blob(name, data)
                linker = Linker((file.path for file in self._scan.files), self._spec.link_style)
                for row in plan([], self._scan).linked:
                    self._skip(row, writer, linker)
                for prepared in self._prepare():
                    self._store(prepared, writer, linker)
                linker.relink(writer)
        finally:
            writer.close()
        fsync_file(self._generation.catalog)

    def write_keywords(self) -> None:
        """Join the workers' segments. Notes whose worker died are added from the catalog."""
        self._tell("keywords")
        segments: list[Segment] = []
        for _, result in self._pool.each(FinishJob()):
            if isinstance(result, Finished):
                segments.extend(result.segments)
        self._pool.close()  # the next stages need memory and no workers
        KeywordIndex.open(self._generation.keywords).adopt(segments, seq=0)
        catch_up_keywords(self._generation)

    def write_vectors(self) -> None:
        self._tell("vectors")
        with CatalogReader(self._generation.catalog) as catalog:
            rebuild_vectors(self._generation, catalog, self._spec.model, self._spec.dimension)

    def strategies(self) -> list[str]:
        """Return the strategies that split the notes. A note may choose its own."""
        with CatalogReader(self._generation.catalog) as catalog:
            return [row[0] for row in catalog.rows("SELECT DISTINCT strategy FROM chunks ORDER BY strategy")]

    def result(self) -> RebuildReport:
        return RebuildReport(
            generation=self._generation.number,
            notes=self._notes,
            chunks=self._chunks,
            skipped=tuple(sorted(self._skipped, key=lambda skipped: skipped.path)),
            seconds=time.perf_counter() - self._started,
            embedded=self._embedded,
            reused=self._reused,
        )

    def _prepare(self) -> Iterator[PreparedNote | Skipped]:
        return prepare_all(self._pool, [self._job(paths) for paths in batches(list(self._ids), BATCH_NOTES)])

    def _job(self, paths: Sequence[str]) -> PrepareJob:
        ids = tuple(self._ids[path] for path in paths)
        at_once = 0 if self._spec.words_first else None
        return PrepareJob(tuple(paths), ids, self._generation.keywords, at_once=at_once)

    def _store(self, prepared: PreparedNote | Skipped, writer: CatalogWriter, linker: Linker) -> None:
        if isinstance(prepared, Skipped):
            self._skip(prepared.file, writer, linker)
        else:
            linker.add_note(prepared.rows)
            writer.put_note(prepared, linker, self._spec.model, self._ids[prepared.file.path])
            self._notes += 1
            self._chunks += len(prepared.rows.chunks)
            self._embedded += prepared.embedded
            self._reused += prepared.reused
            if prepared.file.reason:
                self._skipped.append(SkippedFile(prepared.file.path, prepared.file.reason, is_indexed=True))
        self._tell("notes")

    def _skip(self, row: FileRow, writer: CatalogWriter, linker: Linker) -> None:
        has_vanished = row.state == "skipped" and not row.reason
        if not has_vanished:
            writer.put_file(row)
        if has_vanished or not is_linkable(row):
            linker.remove(row.path)
        if row.reason:
            self._skipped.append(SkippedFile(row.path, row.reason))

    def _tell(self, stage: str) -> None:
        seconds = time.perf_counter() - self._started
        self._report(Progress(stage, self._notes, len(self._ids), self._chunks, seconds))


def prepare_all(
    pool: Pool, jobs: Sequence[Job], on_other_result: Callable[[Outcome | Died], None] = lambda _result: None
) -> Iterator[PreparedNote | Skipped]:
    """Yield every note of the jobs, prepared or skipped, in order of completion. Jobs of other kinds run as
    well, and `on_other_result` is called with each of their results.

    A job whose worker died is repeated, one note at a time. A note is set aside if it exceeds the limit of
    processor time, exceeds the limit of memory in a job of its own, or ends two fresh workers in jobs of its
    own. Raises ProviderError if a worker reports that the model or the disk failed, DiskFullError if the disk
    is full, and ProcessError if no worker can be started or workers end even when they only name a note.
    """
    retries = _Retries()
    queue: Sequence[Job] = jobs
    while queue:
        for job, result in pool.run(queue, fresh=True) if retries.fresh else pool.run(queue):
            if not isinstance(job, PrepareJob):
                on_other_result(result)
            elif isinstance(result, Failed):
                raise (DiskFullError if result.disk_full else ProviderError)(result.reason)
            elif isinstance(result, Died):
                retries.add(job, result)
            elif isinstance(result, list):
                yield from result
        queue = retries.take()


class _Retries:
    """Jobs that are repeated because their worker died. `fresh`: the jobs taken last need workers that have
    done nothing else, because an earlier job may have ended the worker."""

    def __init__(self) -> None:
        self.fresh = False
        self._deaths: Counter[str] = Counter()
        self._jobs: list[PrepareJob] = []
        self._alone: list[PrepareJob] = []

    def add(self, job: PrepareJob, died: Died) -> None:
        if len(job.paths) > 1:
            for at, path in enumerate(job.paths):
                if path == died.slow_note:
                    self._quarantine(path, died)
                else:
                    self._jobs.append(replace(job, paths=(path,), note_ids=job.note_ids[at : at + 1]))
            return
        path = job.paths[0]
        self._deaths[path] += died.fresh or bool(job.quarantine)
        if job.quarantine:
            if self._deaths[path] >= TRIES + _NAMING_TRIES:
                raise ProcessError(f"worker processes end even where {path} is only named: {died.reason}")
            self._jobs.append(job)
        elif died.excess:
            self._quarantine(path, died)
        elif self._deaths[path] >= TRIES:
            self._jobs.append(PrepareJob((path,), quarantine=ENDED_TWICE))
        else:
            self._alone.append(job)

    def _quarantine(self, path: str, died: Died) -> None:
        self._jobs.append(PrepareJob((path,), quarantine=f"{QUARANTINED}{died.excess}"))

    def take(self) -> list[PrepareJob]:
        """Return the next jobs to repeat; an empty list if there are none."""
        self.fresh = not self._jobs
        if self.fresh:
            taken, self._alone = self._alone, []
        else:
            taken, self._jobs = self._jobs, []
        return taken
