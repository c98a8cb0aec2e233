"""Builds a generation: indexes every note of the vault, in parallel, into a new folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from vault_indexer.config import Manifest
from vault_indexer.documents import EXTRACT_VERSION
from vault_indexer.index.derived import rebuild_vectors
from vault_indexer.index.jobs import Finished, FinishJob, Pool, PrepareJob, catch_up_keywords, prepare_all
from vault_indexer.index.plan import count_notes, is_linkable, paths_to_read, plan
from vault_indexer.index.reading import FIRST_BYTES, Skipped, first_part, text_size
from vault_indexer.index.writer import Linker
from vault_indexer.model import FileRow, LinkStyle, Progress, RebuildReport, SkippedFile
from vault_indexer.store import Generation, IndexDir, index_errors
from vault_indexer.store.catalog import EXTRACTORS, CatalogReader, CatalogWriter, PreparedNote
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.system import EDIT_BYTES, batches, fsync_dir, fsync_file, record, size_of
from vault_indexer.vault.walk import Scan

if TYPE_CHECKING:
    from vault_indexer.store.keywords import Segment

BATCH_NOTES = 48
_BYTES_PER_NOTE_BYTE = 5
"""An index is about five times as large as its notes: 304 MB for 16,593 notes of 61 MB."""

Report = Callable[[Progress], None]


@record
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
    """Builds the next generation, complete and not yet active, and closes the pool. With `newest_only` it
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
            result = build(
                generation, spec, part, pool, lambda progress: report(replace(progress, total=total))
            )
            result = replace(result, left_out=total - count_notes(part))
        except BaseException:
            pool.close()  # first, because its processes write into the folder
            index_dir.discard(generation)
            raise
        finally:
            pool.close()
        return index_dir.finish(generation), result


def _bytes_of_build(scan: Scan, current: Generation | None) -> int:
    """Estimates the bytes that a build writes, from the last build or from the size of the notes."""
    if current is not None:
        return EDIT_BYTES + size_of(current.folder)
    return EDIT_BYTES + _BYTES_PER_NOTE_BYTE * text_size(scan.files)


def build(generation: Generation, spec: BuildSpec, scan: Scan, pool: Pool, report: Report) -> RebuildReport:
    """Fills an empty generation folder from a scan, durably, except for the rename that completes it.

    Raises ProviderError if the model cannot be used, and OSError if the disk cannot be written.
    """
    KeywordIndex.create(generation.keywords)
    builder = _Builder(generation, spec, scan, pool, report)
    # In this order, because words and vectors are derived from the catalog.
    builder.write_catalog()
    builder.write_keywords()
    builder.write_vectors()
    # Last, because it names the strategies that the notes have used.
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
        # The ids are known before the catalog is written, so that workers can write words under the final
        # keys.
        self._ids = {path: number for number, path in enumerate(paths_to_read(scan.files), start=1)}
        self._notes = self._chunks = self._embedded = self._reused = 0
        self._skipped: list[SkippedFile] = []

    def write_catalog(self) -> None:
        """Writes all notes in one transaction. Nothing is fsynced before its end."""
        writer = CatalogWriter(self._generation.catalog, bulk=True)
        try:
            with writer.commit():
                writer.put_blob(EXTRACTORS, EXTRACT_VERSION.encode())
                for name, data in self._spec.blobs.items():
                    writer.put_blob(name, data)
                linker = Linker((file.path for file in self._scan.files), self._spec.link_style)
                for row in plan([], self._scan).linked:
                    self._skip(row, writer, linker)
                jobs = [self._job(paths) for paths in batches(list(self._ids), BATCH_NOTES)]
                for prepared in prepare_all(self._pool, jobs):
                    self._store(prepared, writer, linker)
                linker.relink(writer)
        finally:
            writer.close()
        fsync_file(self._generation.catalog)

    def write_keywords(self) -> None:
        """Joins the workers' segments. Notes whose worker died are added from the catalog."""
        self._tell("keywords")
        segments: list[Segment] = []
        for _, result in self._pool.each(FinishJob()):
            if isinstance(result, Finished):
                segments.extend(result.segments)
        self._pool.close()  # the next stages need memory and no workers
        # 0, so that `catch_up_keywords` compares all keys and adds what dead workers have lost.
        KeywordIndex.open(self._generation.keywords).adopt(segments, seq=0)
        catch_up_keywords(self._generation)

    def write_vectors(self) -> None:
        self._tell("vectors")
        with CatalogReader(self._generation.catalog) as catalog:
            rebuild_vectors(self._generation, catalog, self._spec.model, self._spec.dimension)

    def strategies(self) -> list[str]:
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
