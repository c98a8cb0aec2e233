"""The active generation, open for edits: plans go in, snapshots come out, the derived indices follow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from types import MappingProxyType

from vault_indexer.errors import ProviderError, UnavailableError
from vault_indexer.index.compatibility import StrategiesInUse
from vault_indexer.index.derived import DerivedIndices, IndexPrefetch
from vault_indexer.index.jobs import (
    Embedded,
    EmbedJob,
    Job,
    KeywordsJob,
    Pool,
    PrepareJob,
    WarmJob,
    prepare_all,
)
from vault_indexer.index.plan import Applied, Leave, Plan, is_linkable
from vault_indexer.index.reading import Skipped
from vault_indexer.index.workers.pool import Died, Failed
from vault_indexer.model import SPLIT_WITHOUT_MODEL, FileRow, LinkStyle, NoteRow, Problem
from vault_indexer.parse import StyledPaths
from vault_indexer.store import Generation, Snapshot
from vault_indexer.store.catalog import (
    CatalogReader,
    CatalogWriter,
    NoteTableRows,
    PreparedNote,
    ResolvedLink,
    copied_notes,
)
from vault_indexer.system import batches


class Linker:
    """Resolves links against the files of the vault, and determines which links a change of files affects.

    IndexWriter and a build own one each, and call it from one thread. `add` and `remove` only record a
    change; `relink` then resolves the affected links of the catalog again, within the transaction that stores
    the change. After a failed transaction the owner creates a new Linker, because this one contains files
    that were not stored.
    """

    def __init__(
        self,
        paths: Iterable[str],
        style: LinkStyle = "obsidian",
        pages: Iterable[NoteRow] = (),
        blocks: Mapping[str, Iterable[str]] = MappingProxyType({}),
    ) -> None:
        """`blocks` as of StyledPaths."""
        self._initial = (style, list(paths), list(pages), blocks)
        self._affected: set[str] = set()

    @cached_property
    def _paths(self) -> StyledPaths:
        """The paths by name. They are loaded with the first note or by `load`: a command that only searches
        never needs them."""
        style, paths, pages, blocks = self._initial
        self._initial = (style, [], [], {})
        return StyledPaths(style, paths, pages, blocks)

    def load(self) -> None:
        """Loads the paths before the first note needs them. That takes a second for 166,000 files."""
        self._paths  # noqa: B018 - reading the property creates it

    def __call__(self, target: str, source: str) -> ResolvedLink:
        """Resolves `target` as written in the note `source`."""
        found, key = self._paths.find(target, source)
        return ResolvedLink(key, found.path, bool(found.ambiguous))

    def add(self, path: str) -> None:
        self._affected.update(self._paths.add(path))

    def add_note(self, rows: NoteTableRows) -> None:
        """Adds the file of a note, or takes the addresses that it has now."""
        self.add(rows.path)
        title, language, properties, aliases, tags = map(str, rows.note[:5])
        page = NoteRow(0, rows.path, title, language, properties, aliases, tags, 0)
        self._affected.update(self._paths.put_page(page, (str(block[0]) for block in rows.blocks)))

    def remove(self, path: str) -> None:
        self._affected.update(self._paths.remove(path))

    def relink(self, writer: CatalogWriter) -> int:
        """Resolves again the stored links that changes since the last call affect. Returns the number of
        links that changed."""
        keys, self._affected = self._affected, set()
        return writer.relink(keys, self)

    def relink_all(self, writer: CatalogWriter) -> int:
        """Resolves all stored links again. Returns the number of links that changed."""
        return writer.relink(writer.link_keys(), self)


def make_linker(snapshot: Snapshot, style: LinkStyle) -> Linker:
    catalog, blocks = snapshot.catalog, dict[str, list[str]]()
    if style == "logseq":
        for path, block in catalog.rows("SELECT path, id FROM blocks JOIN notes USING (note_id)"):
            blocks.setdefault(path, []).append(block)
    pages = catalog.all_notes() if style != "obsidian" else ()
    return Linker(snapshot.graph.linkable(), style, pages, blocks)


_BATCH_NOTES = 32
_LOOK_S = 0.05
_BATCH_TEXTS = 256
KEPT = "unchanged from the previous index: it could not be read during the rebuild"
AT_ONCE = 64
"""With a slow model, an edit waits for at most this number of vectors: enough for a note that is being
written, not for a checkout. At the 100 texts/s of a small model on one core, that is the time that a
debounced save may take."""


@dataclass(slots=True)
class _Edit:
    """A plan whose notes have been read. `touched` are the notes with unchanged text."""

    notes: list[PreparedNote] = field(default_factory=list)
    touched: list[FileRow] = field(default_factory=list)
    files: list[FileRow] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


class IndexWriter:
    """Writes one generation: carries out plans as transactions on the catalog, and updates DerivedIndices.

    An OpenGeneration owns it. One thread calls it and `derived`; any thread may lease snapshots from `holder`
    and read `missing_vectors`. `pool` reads and splits notes in worker processes. After each commit a
    snapshot of the same state is published. A crash between the two is repaired at the next opening, and
    `derived.healed` reports it. Raises IndexUnusableError if the catalog itself cannot be used.

    With a slow model, words do not wait for vectors. The vectors of a large edit, and of any edit while
    others are missing, are computed later. The caller runs `next_embed_job` and stores the result with
    `put_vectors`.
    """

    def __init__(  # noqa: PLR0913 - what the generation was built with
        self,
        generation: Generation,
        model: str,
        dimension: int,
        pool: Pool,
        *,
        strategies: StrategiesInUse,
        is_slow_model: bool = False,
        link_style: LinkStyle = "obsidian",
        document_pool: Pool | None = None,
    ) -> None:
        self.link_style = link_style
        self.document_pool = document_pool
        self.generation = generation
        self.model = model
        self.pool = pool
        self._slow = is_slow_model
        self._strategies = strategies
        # Before the catalog is opened: its check of all pages then runs at the same time.
        files = IndexPrefetch(generation)
        self._writer = CatalogWriter(generation.catalog)
        with ExitStack() as on_error:
            on_error.callback(self._writer.close)
            self.derived = DerivedIndices(generation, model, dimension, pool, self._writer, files)
            self.holder = self.derived.holder
            on_error.callback(self.holder.publish, None)
            self._linker = self._fresh_linker()
            on_error.pop_all()

    def warm_up(self) -> None:
        """Loads the data that the first edit needs, here and in the worker. `stop` ends it."""
        self._linker.load()
        with suppress(UnavailableError):  # the next edit reports the error
            for job in (WarmJob(model=not self.missing_vectors), KeywordsJob(self.generation)):
                list(self.pool.run([job]))

    def apply(
        self,
        plan: Plan,
        on_progress: Callable[[int], None] = lambda _left: None,
        between_parts: Callable[[], Leave | None] | None = None,
        *,
        ask: bool = True,
    ) -> Applied:
        """Carries out a plan with one commit per part. The state after each commit is published before the
        next. `on_progress` receives the number of notes still to be read. `between_parts` is called between
        two parts and while documents are read, and may apply another plan; it returns which of the files that
        follow are left to another call. Without `ask`, only stored answers of the language model that splits
        notes are used. Raises VaultIndexerError or OSError. The part is then unchanged, or the derived
        indices are behind and catch up in the next call with any plan."""
        done, left = Applied(), len(plan.read)
        at_once = self._at_once(left)
        for part in plan.parts():
            left -= len(part.read)
            meanwhile = between_parts if part.has_documents else None
            edit = self._read(part, on_progress, meanwhile, later=left, ask=ask, at_once=at_once)
            done += self._apply(part, edit)
            if left and between_parts is not None and (leave := between_parts()):
                done += Applied(left=plan.paths_left(left, leave))
                if done.left:
                    break
        self._follow()
        return done

    def _apply(self, plan: Plan, edit: _Edit) -> Applied:
        self._follow()
        with self.holder.lease() as snapshot:
            known = {path: snapshot.catalog.file(path) for path in plan.read}
        # A file that still cannot be read changes nothing: without a commit, nobody fetches anything again.
        edit.files = [_kept_row(row, known.get(row.path)) for row in edit.files]
        edit.files = [row for row in edit.files if not _is_still_unread(row, known.get(row.path))]
        if not (edit.notes or edit.files or edit.removed):
            return Applied()
        # A file that was only touched keeps its chunks and vectors; its new times keep the next scan from
        # reading it again.
        edit.touched = [note.file for note in edit.notes if _same(note, known[note.file.path])]
        edit.notes = [note for note in edit.notes if not _same(note, known[note.file.path])]
        chosen = self._strategies.put(edit.notes)
        relinked = self._commit(edit)
        return Applied(
            indexed=tuple(note.file.path for note in edit.notes),
            removed=tuple(edit.removed),
            files=tuple(row.path for row in edit.files),
            relinked=relinked,
            strategies=chosen,
        )

    def put_again(self, notes: Sequence[PreparedNote]) -> None:
        """Replaces notes whose text is now different, unless their files have changed meanwhile."""
        with self.holder.lease() as snapshot:
            known = snapshot.catalog.files_at([note.file.path for note in notes])
        edit = _Edit(
            notes=[
                note
                for note in notes
                if (row := known.get(note.file.path))
                and (row.state, row.digest) == ("note", note.file.digest)
            ]
        )
        if edit.notes:
            self._strategies.put(edit.notes)
            self._commit(edit)
            self._follow()

    def keep(self, catalog: CatalogReader, rows: Sequence[FileRow]) -> None:
        """Copies the rows of these files from the catalog of a former generation, because the files exist but
        cannot be read. Each note is read as soon as possible."""
        unread = [replace(row, digest="", ctime_ns=0, reason=KEPT) for row in rows if row.state == "note"]
        edit = _Edit(files=[row for row in rows if row.state == "linked"])
        edit.notes = list(copied_notes(catalog, unread, self.model))
        self._strategies.put(edit.notes)
        self._commit(edit)
        self._follow()

    @property
    def missing_vectors(self) -> int:
        """The number of chunks without a vector. Any thread."""
        return len(self.derived.pending_embeddings)

    def next_embed_job(self, texts: int) -> EmbedJob:
        """Returns a job for the next `texts` texts, the last edited first."""
        return EmbedJob(self.generation, self.derived.pending_embeddings.next(texts))

    def put_vectors(self, made: Mapping[bytes, bytes]) -> int:
        """Commits missing vectors by the digest of their text. Returns the number of chunks that got one. A
        vector whose text no chunk contains any more is not stored: the text may have been excluded."""
        self._follow()
        wanted = {
            digest: vector
            for digest, vector in made.items()
            if self.derived.pending_embeddings.waiting_for([digest])
        }
        keys = self.derived.pending_embeddings.waiting_for(wanted)
        if keys:
            with self._writer.commit() as writer:
                writer.put_vectors(wanted, self.model)
                writer.log_embedded(keys)
            self._follow()
        return len(keys)

    def keep_vectors(self, made: Mapping[bytes, bytes], model: str, keys: Sequence[int]) -> None:
        """Commits vectors of another model for those of these chunks that still exist. A later build with
        that model reuses them. Searches do not change."""
        with self.holder.lease() as snapshot:
            wanted = set(snapshot.catalog.missing_vectors(model, keys).values())
        with self._writer.commit() as writer:
            writer.put_vectors({text: vector for text, vector in made.items() if text in wanted}, model)
        self._follow()

    def is_waiting_for(self, job: EmbedJob) -> bool:
        return any(key in self.derived.pending_embeddings for key in job.keys)

    def postpone(self, job: EmbedJob) -> None:
        self.derived.pending_embeddings.put_last(job.keys)

    def complete(self, on_progress: Callable[[int], None] = lambda _left: None) -> None:
        """Computes all missing vectors now, on all cores. `on_progress` receives the number of chunks left.
        Raises ProviderError; vectors computed before the error are kept."""
        self._follow()
        missing = self.derived.pending_embeddings.next(self.missing_vectors)
        jobs: list[Job] = [EmbedJob(self.generation, keys) for keys in batches(missing, _BATCH_TEXTS)]
        for last in (False, True):
            again: list[Job] = []
            for job, result in self.pool.run(jobs):
                if isinstance(result, Embedded):
                    self.put_vectors(result.vectors)
                    on_progress(self.missing_vectors)
                elif isinstance(result, Died) and not last:
                    again.append(job)
                else:
                    assert isinstance(result, Failed | Died)
                    raise ProviderError(result.reason)
            jobs = again

    def _commit(self, edit: _Edit) -> int:
        """Commits the edit in one transaction. Returns the number of links that changed their target."""
        try:
            with self._writer.commit() as writer:
                for path in edit.removed:
                    self._linker.remove(path)
                    writer.remove_file(path)
                for row in edit.files:
                    self._put_file(row, writer)
                for row in edit.touched:
                    writer.put_file(row)
                for prepared in edit.notes:
                    self._linker.add_note(prepared.rows)
                for prepared in edit.notes:
                    writer.put_note(prepared, self._linker, self.model)
                    writer.log_embedded(self.derived.pending_embeddings.waiting_for(prepared.vectors))
                return self._linker.relink(writer)
        except BaseException:
            self._linker = self._fresh_linker()  # the old one contains files that were not committed
            raise

    def _fresh_linker(self) -> Linker:
        with self.holder.lease() as snapshot:
            return make_linker(snapshot, self.link_style)

    def purge(self) -> None:
        """Removes from disk all data that the catalog no longer contains: cached vectors, postings of deleted
        chunks, rows of the vector base. Pages are overwritten when they are freed; `empty_log` removes the
        rest."""
        with self._writer.commit() as writer:
            writer.purge_vectors()
        self._follow()
        self.derived.compact()

    def empty_log(self) -> bool:
        """Empties the catalog's log. Returns False while a reader needs it; the caller then tries again."""
        return self._shorten_log(self._writer.empty_log)

    def _shorten_log(self, shorten: Callable[[], bool]) -> bool:
        """Moves the part of the log that no reader needs into the catalog. A reader opened after that does
        not use the log, and so does not prevent it from being shortened."""
        if not self._writer.checkpoint():
            return False
        self.derived.publish()
        return shorten()

    def corruption(self) -> str:
        """Returns a description of corrupt bytes in the catalog ("" if there are none)."""
        return self._writer.corruption()

    def repair(self, problems: Sequence[Problem]) -> None:
        """Rebuilds the derived indices that `verify` found damaged, resolves links again, and removes the
        digests of files whose rows are wrong: the next scan reads them again."""
        stores = {problem.store for problem in problems}
        self.derived.rebuild(stores)
        wrong = [problem.path for problem in problems if problem.store == "vault" and problem.path]
        if wrong or "links" in stores:
            with self._writer.commit() as writer:
                for path in wrong:
                    writer.forget_digest(path)
                if "links" in stores:
                    self._linker.relink_all(writer)
        self.derived.publish()

    def rest(self) -> None:
        self.pool.close()
        if self.document_pool is not None:
            self.document_pool.close()

    def stop(self) -> None:
        """Makes a call that waits for a worker raise UnavailableError soon. Only `close` may be called after
        that. Any thread."""
        self.pool.stop()

    def close(self) -> None:
        """Writes a new vector base if the delta grew, moves the log into the catalog, and closes both."""
        self.derived.close()
        self._writer.close()

    def _read(
        self,
        plan: Plan,
        on_progress: Callable[[int], None],
        meanwhile: Callable[[], object] | None,
        *,
        later: int,
        ask: bool,
        at_once: int | None,
    ) -> _Edit:
        edit = _Edit(files=list(plan.linked), removed=list(plan.removed))
        left = later + len(plan.read)
        jobs: list[Job] = [
            PrepareJob(tuple(paths), at_once=at_once, ask=ask) for paths in batches(plan.read, _BATCH_NOTES)
        ]
        if meanwhile is not None:
            self._follow()
            results, jobs = self._read_aside(jobs, partial(on_progress, left), meanwhile)
        else:
            results = []
            if self.derived.is_behind and jobs:
                # One worker writes the words of the previous part while others read this one.
                jobs.insert(0, KeywordsJob(self.generation))
        for result in chain(results, prepare_all(self.pool, jobs, self.derived.keywords.note_result)):
            left -= 1
            on_progress(left)
            if not isinstance(result, Skipped):
                edit.notes.append(result)
            elif result.file.reason:
                edit.files.append(result.file)
            # Otherwise it vanished after the scan. The next scan decides whether that is a deletion.
        return edit

    def _read_aside(
        self, jobs: list[Job], on_wait: Callable[[], None], meanwhile: Callable[[], object]
    ) -> tuple[list[PreparedNote | Skipped], list[Job]]:
        """Runs the jobs in the process for documents, which take so long that edits are applied meanwhile.
        Returns the results, and the jobs that failed."""
        pool, done, failed = self.document_pool, list[PreparedNote | Skipped](), list[Job]()
        if pool is None:
            return done, jobs
        try:
            for job in jobs:
                pool.begin(job)
                while (found := pool.result()) is None:
                    on_wait()
                    meanwhile()
                    time.sleep(_LOOK_S)
                if isinstance(found[1], list):
                    done += found[1]
                else:
                    failed.append(job)
        except BaseException:
            # The process is still reading. Without this, the next call would get the result of this job.
            pool.close()
            raise
        return done, failed

    def _at_once(self, notes: int) -> int | None:
        """Returns the number of texts that an edit of `notes` notes embeds before it becomes searchable
        (None: all)."""
        if not self._slow:
            return None
        return 0 if notes > _BATCH_NOTES or self.missing_vectors else AT_ONCE

    def _put_file(self, row: FileRow, writer: CatalogWriter) -> None:
        """Stores a file that has no note, or whose note stays. It stays a link target while it exists."""
        if row.state != "note":
            writer.remove_note(row.path)
        writer.put_file(row)
        if is_linkable(row):
            self._linker.add(row.path)
        else:
            self._linker.remove(row.path)

    def _follow(self) -> None:
        self.derived.follow()
        if self._writer.log_is_long:
            self._shorten_log(lambda: True)


def _kept_row(row: FileRow, known: FileRow | None) -> FileRow:
    """Returns the row of a file without a note; if it is a note of the index that cannot be read now, the row
    of that note, with a time by which the next scan tries it again."""
    if known is None or known.state != "note" or not row.is_unreadable:
        return row
    return replace(known, ctime_ns=0, reason=row.reason, seen_ns=row.seen_ns)


def _is_still_unread(row: FileRow, known: FileRow | None) -> bool:
    """Whether a file cannot be read, for the same reason as before. Such a row lacks times of the file."""
    return known is not None and row.ctime_ns == 0 and row == replace(known, seen_ns=row.seen_ns)


def _same(prepared: PreparedNote, known: FileRow | None) -> bool:
    """Returns whether the note is already indexed with this text, so that only its times have changed."""
    if known is None or known.state != "note" or known.digest != prepared.file.digest:
        return False
    waited = SPLIT_WITHOUT_MODEL in known.reason
    return not waited or SPLIT_WITHOUT_MODEL in prepared.file.reason  # otherwise the model has answered since
