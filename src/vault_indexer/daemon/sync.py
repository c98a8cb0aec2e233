"""The steps of keeping, without threads: open, look, plan, hold deletions, apply, switch generations."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from vault_indexer.daemon.assembly import Assembly, OpenGeneration
from vault_indexer.errors import IndexUnusableError, UnavailableError, VaultError
from vault_indexer.index.plan import Applied, Plan, plan
from vault_indexer.index.verify import verify
from vault_indexer.model import IndexCounts, Problem, SkippedFile, StatusReport
from vault_indexer.store import Generation, index_errors
from vault_indexer.system import give_back
from vault_indexer.vault.deletion import CONFIRM_AFTER_S, DeleteHold, Look, judge
from vault_indexer.vault.files import RootIdentity
from vault_indexer.vault.ignore import Decision, IgnoreRules, load_ignore_rules
from vault_indexer.vault.walk import Scan, scan

log = logging.getLogger("vault_indexer.daemon")

EVERYTHING = frozenset({""})


def _untold(_left: int) -> None:
    """Nobody watches."""


def _nothing() -> None:
    """Nothing is done meanwhile."""


class VaultSync:
    """The generation in force and what is known of the vault. One thread at a time calls it."""

    def __init__(self, assembly: Assembly, *, hold_deletes: bool) -> None:
        self.assembly = assembly
        self.current: OpenGeneration | None = None
        self.degraded = ""
        self.rules: IgnoreRules = load_ignore_rules(assembly.vault, assembly.settings.files)
        self.hold = DeleteHold(assembly.settings.watch.delete_hold_s)
        self.look_again_at = 0.0
        self.damaged = ""
        self._hold_deletes = hold_deletes
        self._to_purge = False
        self._log_to_empty = False
        self._home: RootIdentity | None = None
        self._doubted: Look | None = None

    def open_current(self) -> tuple[str, ...]:
        """Open what is in force. Returns why a rebuild is needed (empty: it is not)."""
        generation = self.assembly.index_dir.current()
        if generation is None:
            return ("there is no index yet",)
        try:
            self.current = self.assembly.open_generation(generation)
        except IndexUnusableError as error:
            return (str(error),)
        return self.current.reasons

    def activate(
        self,
        generation: Generation,
        on_progress: Callable[[int], None] = _untold,
        between: Callable[[], None] = _nothing,
    ) -> None:
        """Put a complete generation in force, with the edits made while it was built already in it. The first
        one answers at once: all that its build left for later comes in under its eyes."""
        following = self.assembly.open_generation(generation)
        old, self.current = self.current, following
        if old is None:
            self.assembly.index_dir.publish(generation)
        self.sync(EVERYTHING, on_progress, between)
        self.damaged = ""
        if old is not None:
            self.assembly.index_dir.publish(generation)
            _close_quietly(old)
            old = None
            give_back()
        self.assembly.index_dir.collect()

    def sync(
        self,
        within: Iterable[str],
        on_progress: Callable[[int], None] = _untold,
        between: Callable[[], None] = _nothing,
    ) -> tuple[Applied, Scan | None]:
        """Look at part of the vault ("" for all) and bring the index in step with it.

        A vault that cannot be looked at, or has suddenly lost its notes, leaves the index as it is and is
        `degraded`. Deletions are held for `delete_hold_s`; `release_due` carries them out. Between two parts
        of a large work `between` is called, and may `sync` another part of the vault.
        """
        if self.current is None:
            return Applied(), None
        scope = frozenset(within)
        try:
            found = scan(
                self.assembly.vault,
                self.rules,
                max_file_bytes=self.assembly.settings.files.max_file_bytes,
                within=scope,
            )
        except VaultError as error:
            self.degraded = str(error)
            return Applied(), None
        work, known = self._plan(found, scope)
        accounted = self._excluded(work) | self._moved(work, found)
        others = replace(work, removed=tuple(path for path in work.removed if path not in accounted))
        look = Look(found.root, known - len(accounted), len(others.removed), time.monotonic())
        believed = self._believed(others, look, whole="" in scope)
        applied = self.current.writer.apply(
            replace(believed, removed=(*believed.removed, *sorted(accounted))), on_progress, between
        )
        self.purge_if_needed()
        if applied.strategies:  # the manifest says more now: it may no longer fit the configuration
            self.current = self.assembly.reconfigured(self.current)
        return applied, found

    def notes_without_model(self) -> tuple[str, ...]:
        """The notes that were cut without the language model that was to help, in order."""
        if self.current is None or not self.current.settings.chunking.asks_model:
            return ()
        with self.current.writer.holder.lease() as snapshot:
            return snapshot.catalog.notes_without_model()

    def set_aside(self) -> tuple[str, ...]:
        """The notes that ended the process that read them, or took more than they may, in order."""
        if self.current is None:
            return ()
        with self.current.writer.holder.lease() as snapshot:
            return snapshot.catalog.set_aside()

    def rechunk(self, path: str) -> None:
        """Read this note once more, and ask the model that cuts it. If that fails, it stays as it is."""
        if self.current is not None:
            self.current.writer.apply(Plan(read=(path,)))

    def release_due(self) -> Applied:
        """Carry out the deletions whose time has come, if the files are still gone."""
        due = self.hold.take_due()
        if not due or self.current is None:
            return Applied()
        try:
            found = scan(
                self.assembly.vault,
                self.rules,
                max_file_bytes=self.assembly.settings.files.max_file_bytes,
                within=frozenset(due),
            )
        except VaultError as error:
            self.degraded = str(error)
            return Applied()
        work, known = self._plan(found, frozenset(due))
        look = Look(found.root, known, len(work.removed), time.monotonic())
        verdict = judge(look, self._home, None)
        if not verdict.ok:
            self._doubt(look, verdict.reason)
            work = replace(work, removed=())
        return self.current.writer.apply(work)

    def in_doubt(self) -> bool:
        """Look at the vault without changing anything: whether it is to be believed. A rebuild of one that
        has suddenly lost its notes would delete them."""
        if self.current is None:
            return False
        try:
            found = scan(
                self.assembly.vault, self.rules, max_file_bytes=self.assembly.settings.files.max_file_bytes
            )
        except VaultError as error:
            self.degraded = str(error)
            return True
        work, known = self._plan(found, EVERYTHING)
        accounted = self._excluded(work) | self._moved(work, found)
        look = Look(found.root, known - len(accounted), len(work.removed) - len(accounted), time.monotonic())
        verdict = judge(look, self._home, self._doubted)
        if not verdict.ok:
            self._doubt(look, verdict.reason)
        return not verdict.ok

    def skipped(self) -> tuple[SkippedFile, ...]:
        """The files that are not indexed, with their reasons."""
        if self.current is None:
            return ()
        with self.current.writer.holder.lease() as snapshot:
            return snapshot.catalog.skipped_files()

    def verify(self, *, mend: bool) -> tuple[Problem, ...]:
        """Every disagreement between vault, catalog and derived indices; `mend` puts it right where the
        catalog is whole. Else `damaged` says why it is not: the caller has to rebuild."""
        if self.current is None:
            return (Problem("catalog", "missing", "there is no index: run `indexer rebuild`"),)
        limit = self.assembly.settings.files.max_file_bytes
        found = scan(self.assembly.vault, self.rules, max_file_bytes=limit)
        problems = verify(self.current.writer, self.assembly.vault, found, limit)
        self.damaged = next((problem.detail for problem in problems if problem.store == "catalog"), "")
        if mend and problems and not self.damaged:
            self.current.writer.repair(problems)
            self.sync(EVERYTHING)
        return tuple(problems)

    def close(self) -> None:
        """Close what is open."""
        if self.current is not None:
            self.current.close()
            self.current = None

    def _plan(self, found: Scan, scope: frozenset[str]) -> tuple[Plan, int]:
        """What is to be done, and how many files the catalog knows."""
        assert self.current is not None
        with self.current.writer.holder.lease() as snapshot:
            known = snapshot.catalog.files() if "" in scope else snapshot.catalog.files_within(scope)
            total = snapshot.catalog.file_count()
        work = plan(known, found)
        for path in (*work.read, *(row.path for row in work.linked)):
            self.hold.drop(path)
        return work, total

    def _believed(self, work: Plan, look: Look, *, whole: bool) -> Plan:
        """The plan without deletions that are not (yet) to be believed. Only a look at the whole vault ends
        a doubt."""
        verdict = judge(look, self._home, self._doubted)
        if not verdict.ok:
            self._doubt(look, verdict.reason)
            return replace(work, removed=())
        if self._doubted is not None and not whole:
            return replace(work, removed=())
        confirmed = self._doubted is not None
        self._home, self._doubted, self.degraded = look.root, None, ""
        if confirmed or not self._hold_deletes:
            for path in work.removed:
                self.hold.drop(path)
            return work
        for path in work.removed:
            self.hold.hold(path)
        return replace(work, removed=())

    def _doubt(self, look: Look, reason: str) -> None:
        """Losses that a second look has to confirm: nothing is deleted, and that is said."""
        before = self._doubted
        if before is None or before.root != look.root or before.gone < look.gone:
            self._doubted = look
        self.degraded = reason
        self.look_again_at = look.at + CONFIRM_AFTER_S

    def _excluded(self, work: Plan) -> frozenset[str]:
        """What the plan takes out because the rules say so, and not because it has vanished. Its text must
        not stay on disk either, so where there is any, `_to_purge` is set."""
        ignored = [p for p in work.removed if self.rules.decide(p, is_dir=False) is Decision.IGNORE]
        request = [*ignored, *(row.path for row in work.linked)]
        if request and self.current is not None:
            with self.current.writer.holder.lease() as snapshot:
                self._to_purge |= any(snapshot.catalog.note(path) for path in request)
        return frozenset(ignored)

    def _moved(self, work: Plan, found: Scan) -> frozenset[str]:
        """What has another path now, by inode, size and time: it has not vanished, so nothing is to be held
        or doubted, and links lead to the new path at once."""
        if not work.removed or self.current is None:
            return frozenset()
        new = {*work.read, *(row.path for row in work.linked)}
        stats = (file.stat for file in found.files if file.path in new)
        arrived = {(stat.inode, stat.size, stat.mtime_ns) for stat in stats}
        with self.current.writer.holder.lease() as snapshot:
            gone = map(snapshot.catalog.file, work.removed)
            return frozenset(
                row.path for row in gone if row and (row.inode, row.size, row.mtime_ns) in arrived
            )

    def purge_if_needed(self) -> None:
        """Remove every trace of excluded notes: freed pages, postings, vectors, and older generations. Where
        a reader stands in the way, the next call tries again."""
        if self.current is None:
            return
        if self._to_purge:
            self.assembly.index_dir.collect(keep=0)
            self.current.writer.purge()
            self._to_purge, self._log_to_empty = False, True
        if self._log_to_empty:
            self._log_to_empty = not self.current.writer.empty_log()


def _close_quietly(old: OpenGeneration) -> None:
    """A generation that nobody will open again may be damaged: that is no reason to fail."""
    try:
        with index_errors(old.generation.folder):
            old.close()
    except UnavailableError as error:
        log.warning("generation %d could not be closed cleanly: %s", old.generation.number, error)


def status_of(vault_sync: VaultSync, state: str, pending: int) -> StatusReport:
    """The state of the index for `status`; the session adds what only it knows."""
    assembly, current = vault_sync.assembly, vault_sync.current
    report = StatusReport(
        vault=str(assembly.vault),
        index_dir=str(assembly.index_dir.root),
        state=state,
        generation=0,
        seq=0,
        pending=pending,
        counts=IndexCounts(0, 0, 0, 0),
        detail=vault_sync.degraded,
    )
    if current is None:
        return report
    with current.writer.holder.lease() as snapshot:
        return replace(
            report,
            generation=snapshot.generation,
            seq=snapshot.seq,
            counts=snapshot.catalog.counts(),
            vectors_owed=snapshot.owed,
            skipped=snapshot.catalog.skipped_files(),
            manifest=current.manifest.model_dump(mode="json"),
        )
