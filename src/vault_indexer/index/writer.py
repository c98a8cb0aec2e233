"""The generation in force, open for edits: plans go in, snapshots come out, the derived indices follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from vault_indexer.errors import DiskFullError, IndexUnusableError, ProviderError
from vault_indexer.index.build import Pool, prepare_all
from vault_indexer.index.jobs import (
    CompactJob,
    Embedded,
    EmbedJob,
    Failed,
    Job,
    KeywordsJob,
    Outcome,
    PrepareJob,
    WarmJob,
    catch_up_keywords,
    rebuild_keywords,
)
from vault_indexer.index.linking import Linker
from vault_indexer.index.opening import apply_vector_changes, open_vectors, rebuild_vectors, snapshot_of
from vault_indexer.index.owed import Owed
from vault_indexer.index.plan import Applied, Plan, is_linkable
from vault_indexer.index.prepare import Skipped
from vault_indexer.index.strategies import StrategiesInUse
from vault_indexer.index.worker_pool import Died
from vault_indexer.model import FileRow, Problem
from vault_indexer.store import Generation, SnapshotHolder
from vault_indexer.store.catalog import CatalogReader, CatalogWriter, PreparedNote, TextCache
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.system import give_back

_BATCH_NOTES = 32
_BATCH_TEXTS = 256
_TRIES = 3
AT_ONCE = 64
"""So many texts of an edit get their vectors with it where the model is slow: a note being written, not a
checkout. At the 100 texts/s of a small model on one core that is the time a debounced save may take."""


@dataclass(slots=True)
class _Edit:
    """What a plan came to once its notes were read; `touched` are those whose text is as before. Where it is
    `followed`, the keyword index has caught up with the commit before meanwhile."""

    notes: list[PreparedNote] = field(default_factory=list)
    touched: list[FileRow] = field(default_factory=list)
    files: list[FileRow] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    followed: bool = False

    def take(self, result: Outcome | Died) -> None:
        self.followed = isinstance(result, int)


class IndexWriter:
    """Owns the writing side of one generation. One thread edits; any number lease snapshots.

    `pool` reads and cuts notes elsewhere. Opening heals: derived indices that are behind catch up, damaged
    ones are made anew from the catalog; `healed` says what was done. Raises IndexUnusableError if the
    catalog itself cannot be used.

    With a `slow` model words do not wait for vectors: of what a large edit needs, or any while others wait,
    the vectors are owed. Whoever keeps the index asks for `next_owed`, has it done, and gives `put_vectors`.
    """

    def __init__(
        self,
        generation: Generation,
        model: str,
        dimension: int,
        pool: Pool,
        *,
        strategies: StrategiesInUse,
        slow: bool = False,
    ) -> None:
        self.generation = generation
        self.holder = SnapshotHolder()
        self.healed: list[str] = []
        self.model = model
        self._dimension = dimension
        self._pool = pool
        self._slow = slow
        self._strategies = strategies
        self._texts = TextCache()
        self._behind = False
        self._writer = CatalogWriter(generation.catalog)
        try:
            self._heal_keywords()
            self._keywords = KeywordIndex.open(generation.keywords)
            self._vectors = open_vectors(generation, model, dimension, self.healed)
            self._owed = self._still_owed()
            self._publish()
            self._linker = self._fresh_linker()
        except BaseException:
            self.holder.publish(None)
            self._writer.close()
            raise

    def warm_up(self, stopped: Callable[[], bool]) -> None:
        """Have the worker load what the first edit would have to wait for, unless all is `stopped`."""
        for job in (WarmJob(model=not self._owed), KeywordsJob(self.generation)):
            self._pool.attend(job, stopped)

    @property
    def needs_merge(self) -> bool:
        """Whether the keyword index has segments that should be merged."""
        return self._keywords.needs_merge

    def refresh(self) -> None:
        """Publish what another process has merged: the same content in other files."""
        self._publish()

    def apply(
        self,
        plan: Plan,
        on_progress: Callable[[int], None] = lambda _left: None,
        between: Callable[[], None] = lambda: None,
    ) -> Applied:
        """Carry out a plan, one commit a part; the state after each is published before the next commit.
        `on_progress` is told how many notes are still to be read. Raises VaultIndexerError or OSError: then
        nothing of the part has changed, or the derived indices are behind and catch up in the next call,
        whatever its plan. `between` is called between two parts, and may apply another plan."""
        done, left = Applied(), len(plan.read)
        for part in plan.parts():
            left -= len(part.read)
            done += self._apply(part, on_progress, later=left)
            if left:
                between()
        if self._behind:
            self._follow()
        return done

    def _apply(self, plan: Plan, on_progress: Callable[[int], None], later: int) -> Applied:
        edit = self._read(plan, on_progress, later)
        if self._behind:
            self._follow(words=not edit.followed, more_to_come=True)
        with self.holder.lease() as snapshot:
            known = {path: snapshot.catalog.file(path) for path in plan.read}
        if not (edit.notes or edit.files or edit.removed):
            return Applied()
        edit.touched = [note.file for note in edit.notes if _same(note, known[note.file.path])]
        edit.notes = [note for note in edit.notes if not _same(note, known[note.file.path])]
        chosen = self._strategies.put(edit.notes)
        relinked = self._commit(edit)
        self._behind = True
        return Applied(
            indexed=tuple(note.file.path for note in edit.notes),
            removed=tuple(edit.removed),
            skipped=tuple(row.path for row in edit.files if row.reason),
            relinked=relinked,
            strategies=chosen,
        )

    @property
    def owed(self) -> int:
        """How many chunks have no vector yet. Any thread."""
        return len(self._owed)

    def next_owed(self, texts: int) -> EmbedJob:
        """The work on the next so many texts, those edited last first."""
        return EmbedJob(self.generation, self._owed.next(texts))

    def put_vectors(self, made: Mapping[bytes, bytes]) -> int:
        """Commit vectors that were owed, by the digest of their text. Returns how many chunks got theirs.
        A text that no chunk has any more leaves no trace: it may have been excluded."""
        if self._behind:
            self._follow()
        wanted = {digest: vector for digest, vector in made.items() if self._owed.among([digest])}
        keys = self._owed.among(wanted)
        if keys:
            with self._writer.commit() as writer:
                writer.put_vectors(wanted, self.model)
                writer.log_embedded(keys)
            self._behind = True
            self._follow(words=False)
        return len(keys)

    def owes(self, job: EmbedJob) -> bool:
        """Whether any chunk that the job was for still has no vector."""
        return any(key in self._owed for key in job.keys)

    def postpone(self, job: EmbedJob) -> None:
        """Let the texts of a job that failed come last."""
        self._owed.put_last(job.keys)

    def complete(self, on_progress: Callable[[int], None] = lambda _left: None) -> None:
        """Make all vectors that are owed, here and now, on all cores. `on_progress` is told how many chunks
        are left. Raises ProviderError: what was made until then is kept."""
        if self._behind:
            self._follow()
        keys = self._owed.next(len(self._owed))
        jobs: list[Job] = [
            EmbedJob(self.generation, keys[at : at + _BATCH_TEXTS])
            for at in range(0, len(keys), _BATCH_TEXTS)
        ]
        for last in (False, True):
            again: list[Job] = []
            for job, result in self._pool.run(jobs):
                if isinstance(result, Embedded):
                    self.put_vectors(result.vectors)
                    on_progress(self.owed)
                elif isinstance(result, Died) and not last:
                    again.append(job)
                else:
                    raise ProviderError(_why(result))
            jobs = again

    def _commit(self, edit: _Edit) -> int:
        """Everything in one transaction. Returns how many links lead elsewhere now."""
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
                    self._linker.add(prepared.file.path)
                for prepared in edit.notes:
                    writer.put_note(prepared, self._linker, self.model)
                    writer.log_embedded(self._owed.among(prepared.vectors))
                return self._linker.relink(writer)
        except BaseException:
            self._linker = self._fresh_linker()  # it knows of what was not committed
            raise

    def _fresh_linker(self) -> Linker:
        with self.holder.lease() as snapshot:
            return Linker(row.path for row in snapshot.catalog.files() if is_linkable(row))

    def purge(self) -> None:
        """Forget on disk what the catalog no longer holds: cached vectors, postings of deleted chunks, rows
        of the vector base. Freed pages are overwritten as they are freed; `empty_log` does the rest."""
        with self._writer.commit() as writer:
            writer.purge_vectors()
        self._follow()
        self._do(CompactJob(self.generation))
        self._compact()
        self._texts.clear()
        self._publish()

    def empty_log(self) -> bool:
        """Leave nothing in the catalog's log. False if a reader still needs it: then ask again."""
        return self._shortened(self._writer.empty_log)

    def _shortened(self, shorten: Callable[[], bool]) -> bool:
        """What the readers no longer need of the log goes into the catalog. A reader opened after that does
        not use the log at all, and so does not keep it from being started anew."""
        if not self._writer.checkpoint():
            return False
        self._publish()
        return shorten()

    def corruption(self) -> str:
        """What is wrong with the bytes of the catalog ("" for nothing)."""
        return self._writer.corruption()

    def take_healed(self) -> list[str]:
        """What was mended since the last call."""
        taken = list(self.healed)
        self.healed.clear()
        return taken

    def repair(self, problems: Sequence[Problem]) -> None:
        """Make anew what `verify` found damaged, and forget what is wrong of files: the next scan reads
        them again."""
        stores = {problem.store for problem in problems}
        if "keywords" in stores:
            rebuild_keywords(self.generation)
            self._keywords = KeywordIndex.open(self.generation.keywords)
        if "vectors" in stores:
            self._compact()
            self._owed = self._still_owed()
        wrong = [problem.path for problem in problems if problem.store == "vault" and problem.path]
        if wrong:
            with self._writer.commit() as writer:
                for path in wrong:
                    writer.forget_digest(path)
        self._publish()

    def close(self) -> None:
        """Write a new vector base if the delta has grown, move the log into the catalog, close."""
        if self._vectors.worth_compacting():
            self._compact()
        self.holder.publish(None)
        self._writer.close()

    def _read(self, plan: Plan, on_progress: Callable[[int], None], later: int) -> _Edit:
        edit = _Edit(files=list(plan.linked), removed=list(plan.removed))
        batches = [plan.read[at : at + _BATCH_NOTES] for at in range(0, len(plan.read), _BATCH_NOTES)]
        left = later + len(plan.read)
        at_once = self._at_once(len(batches))
        jobs: list[Job] = [PrepareJob(tuple(batch), at_once=at_once) for batch in batches]
        if self._behind and jobs:  # one worker writes the words of the part before, while others read this
            jobs.insert(0, KeywordsJob(self.generation))
        for result in prepare_all(self._pool, jobs, edit.take):
            left -= 1
            on_progress(left)
            if not isinstance(result, Skipped):
                edit.notes.append(result)
            elif result.file.reason:
                edit.files.append(result.file)
            # else it vanished since it was seen; whether that is a deletion, the next look decides
        return edit

    def _at_once(self, batches: int) -> int | None:
        if not self._slow:
            return None
        return 0 if batches > 1 or self._owed else AT_ONCE

    def _put_file(self, row: FileRow, writer: CatalogWriter) -> None:
        """A file without a note (any more). It stays a link target as long as it is there."""
        writer.remove_note(row.path)
        writer.put_file(row)
        if is_linkable(row):
            self._linker.add(row.path)
        else:
            self._linker.remove(row.path)

    def _follow(self, *, words: bool = True, more_to_come: bool = False) -> None:
        """Let the derived indices apply the last commit, then publish the state it made. Vectors that were
        owed are no change of `words`."""
        catalog = CatalogReader(self.generation.catalog, self._texts)
        self._follow_owed(catalog)
        self._vectors = apply_vector_changes(self._vectors, catalog, self.model)
        if words:
            self._apply_keywords()
        if self._vectors.worth_compacting(more_to_come=more_to_come):
            self._compact()
        self._publish(catalog)
        self._behind = False
        if self._writer.log_is_long:
            self._shortened(lambda: True)

    def _follow_owed(self, catalog: CatalogReader) -> None:
        """Before the vectors follow: their seq says from where."""
        added, removed = catalog.changes_since(self._vectors.seq)
        embedded, owed = catalog.embedded_since(self._vectors.seq), catalog.owed_vectors(self.model, added)
        self._owed.drop(removed | embedded)
        self._owed.put_first(owed)

    def _still_owed(self) -> Owed:
        catalog = CatalogReader(self.generation.catalog)
        try:
            return Owed(catalog.owed_vectors(self.model))
        finally:
            catalog.close()

    def _apply_keywords(self) -> None:
        self._do(KeywordsJob(self.generation))

    def _do(self, job: KeywordsJob | CompactJob) -> None:
        """In a worker: analysing text would hold the interpreter that answers searches."""
        died = Died()
        for _ in range(_TRIES):
            for _, result in self._pool.run([job]):
                if isinstance(result, int):
                    return
                if isinstance(result, Failed) and result.disk_full:
                    raise DiskFullError(result.message)  # it is whole, and only behind
                if isinstance(result, Failed):
                    self.healed.append(f"keywords: {result.message}; made anew")
                    rebuild_keywords(self.generation)
                    self._keywords = KeywordIndex.open(self.generation.keywords)
                    return
                assert isinstance(result, Died)
                died = result
        raise IndexUnusableError(
            f"the keyword index of {self.generation.folder} cannot be brought up to date: {died.reason}"
        )

    def _heal_keywords(self) -> None:
        try:
            catch_up_keywords(self.generation)
        except IndexUnusableError as error:
            self.healed.append(f"keywords: {error}; made anew from the catalog")
            rebuild_keywords(self.generation)

    def _compact(self) -> None:
        catalog = CatalogReader(self.generation.catalog, self._texts)
        try:
            self._vectors = rebuild_vectors(self.generation, catalog, self.model, self._dimension)
            self._writer.trim_changes(min(catalog.seq, self._keywords.applied_seq))
        finally:
            catalog.close()
        give_back()

    def _publish(self, catalog: CatalogReader | None = None) -> None:
        catalog = catalog or CatalogReader(self.generation.catalog, self._texts)
        keywords = self._keywords.refreshed()
        self.holder.publish(snapshot_of(self.generation, catalog, self._vectors, keywords, len(self._owed)))


def _why(result: Outcome | Died) -> str:
    return result.reason if isinstance(result, Died) else getattr(result, "message", "no vectors were made")


def _same(prepared: PreparedNote, known: FileRow | None) -> bool:
    """Whether the note is indexed as it is: only its times have changed."""
    if known is None or known.state != "note" or known.digest != prepared.file.digest:
        return False
    return not known.reason or bool(prepared.file.reason)  # else a model that was down has answered now
