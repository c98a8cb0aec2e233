"""Synchronizes the index with the vault, without threads: open, scan, plan, apply, switch."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from vault_indexer.daemon.assembly import Assembly, OpenGeneration, load_rules_for_index
from vault_indexer.documents import PAGES_WITHOUT_TEXT
from vault_indexer.errors import IndexUnusableError, UnavailableError, VaultError
from vault_indexer.index.plan import PART_NOTES, Applied, Leave, Plan, count_notes, plan
from vault_indexer.index.reading import reading_seconds, style_of_catalog
from vault_indexer.index.verify import verify
from vault_indexer.model import (
    FileKind,
    IndexCounts,
    LinkStyle,
    NoteChanges,
    Problem,
    Progress,
    RebuildReport,
    StatusReport,
)
from vault_indexer.store import Generation, index_errors
from vault_indexer.system import batches, gc_paused, is_on_battery, record, trim_heap
from vault_indexer.text.phrases import quantity
from vault_indexer.vault.dirty import (
    CONFIRM_AFTER_S,
    DeletionDecision,
    DirtySet,
    Reading,
    VaultObservation,
    assess_deletions,
)
from vault_indexer.vault.files import RootIdentity
from vault_indexer.vault.ignore import (
    Decision,
    IgnoreRules,
    can_recognise,
    kinds_without_library,
    load_ignore_rules,
)
from vault_indexer.vault.walk import Scan, scan

log = logging.getLogger("vault_indexer.daemon")

EVERYTHING = frozenset({""})
_CONFIRM_EVERY_S = 5.0
_POWER_EVERY_S = 60.0
_NOTED_S = 60.0
"""Documents that take less time are read without a word."""

_KEPT_AS = MappingProxyType({"note": Decision.INDEX, "linked": Decision.LINK_ONLY})
"""The decision of the ignore rules that corresponds to each file state in the catalog."""


@record
class UnreadNotes:
    """The number of notes (`left` of `total`) that have never been in the index."""

    left: int
    total: int


@record
class _Survey:
    """A scan of part of the vault, and the resulting plan.

    `explained` are the paths that the plan removes for a known reason: the rules exclude them, or they were
    moved. The other removals are losses, and `decision` determines whether they may be carried out.
    """

    found: Scan
    plan: Plan
    explained: frozenset[str]
    observation: VaultObservation
    decision: DeletionDecision

    @property
    def losses(self) -> tuple[str, ...]:
        """The files that have vanished without a known reason."""
        return tuple(path for path in self.plan.removed if path not in self.explained)

    def plan_with(self, losses: Iterable[str]) -> Plan:
        return replace(self.plan, removed=(*losses, *sorted(self.explained)))


class ChangeFeed:
    """The notes that the last edits changed, for clients that follow the index. The thread that indexes adds
    changes, and any thread reads them."""

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._changes: list[tuple[int, str, bool]] = []
        self._complete_after = -1

    def add(self, seq: int, changed: Iterable[str], removed: Iterable[str]) -> None:
        """`seq` is that of the index after these changes."""
        new = [*((seq, path, False) for path in changed), *((seq, path, True) for path in removed)]
        if self._complete_after < 0:
            # The feed has no record of the time before the first edit of this process.
            self._complete_after = seq - 1
        # A new list: another thread may be reading the old one.
        changes = [*self._changes, *new]
        # A client that is behind the oldest entry is told that there is more.
        if dropped := changes[: -self._most]:
            self._complete_after = dropped[-1][0]
        self._changes = changes[-self._most :]

    def since(self, before: int, now: int) -> NoteChanges:
        """Returns the changes that led from one seq to a later one."""
        # In order, so that the last change of a path decides.
        is_removed = {path: removed for seq, path, removed in self._changes if before < seq <= now}
        return NoteChanges(
            now,
            tuple(path for path, removed in is_removed.items() if not removed),
            tuple(path for path, removed in is_removed.items() if removed),
            more=before < self._complete_after,
        )


class VaultSync:
    """Compares the vault with the active generation and synchronizes the index.

    A session owns it. It contains the open generation (`current`), the ignore rules, and the set of vault
    paths that may differ from the index (`dirty`). One thread at a time calls its methods: the daemon's loop,
    or the command that has opened the index. Other threads may read `current`, `degraded` and `unread`.
    `unread` is None once a scan of the whole vault has found every note in the index. It deletes nothing from
    the index until the loss of a file is plausible: an unmounted disk leaves the index unchanged, and
    `degraded` contains the reason. The calling thread handles every error; the index stays usable.

    An index without any document that begins to read many announces it in `documents_notice`; while the
    machine runs on battery, they wait (`documents_wait`).
    """

    def __init__(
        self,
        assembly: Assembly,
        *,
        live: bool,
        clock: Callable[[], float] = time.monotonic,
        on_battery: Callable[[], bool] = is_on_battery,
    ) -> None:
        """`live`: edits are followed as they happen. Deletions are then held back, no edit waits for the
        language model that splits a note, and the first documents wait for mains power."""
        self.assembly = assembly
        self.current: OpenGeneration | None = None
        self.degraded = ""
        self.unread: UnreadNotes | None = None
        self.rules: IgnoreRules = load_rules_for_index(
            assembly.vault, assembly.settings.files, assembly.index_dir
        )
        self.dirty = DirtySet(assembly.settings.watch, clock)
        self.changes = ChangeFeed()
        self.confirm_at = 0.0
        self.damaged = ""
        self.unreadable: frozenset[str] = frozenset()
        """The folders that the last scans could not read."""
        self.documents_notice = ""
        self.documents_wait = False
        self._live = live
        self._clock = clock
        self._on_battery = on_battery
        self._power_at = 0.0
        self._is_first = False
        self._link_style: LinkStyle | None = None
        self._to_purge = False
        self._log_to_empty = False
        self._synced_root: RootIdentity | None = None
        self._unconfirmed: VaultObservation | None = None

    def reconfigure(self, assembly: Assembly) -> bool:
        """Uses this configuration, and reads the rules again. Returns whether the set of indexed files may
        have changed.

        If an ignore list in the vault cannot be parsed, the former rules stay active and `rules` reports the
        problem. Raises VaultIndexerError if the configuration is invalid, and then changes nothing.
        """
        before, current, limits = self.rules, self.current, self.assembly.settings.files.limits
        if current is not None and assembly is not self.assembly:
            current = assembly.reconfigure(current)
        rules = load_ignore_rules(assembly.vault, assembly.settings.files, before)
        self.assembly, self.current = assembly, current
        if (rules.fingerprint, rules.problems) != (before.fingerprint, before.problems):
            self.rules = rules
        others = limits != assembly.settings.files.limits
        return others or rules.fingerprint != before.fingerprint

    def open_current(self) -> tuple[str, ...]:
        """Opens the active generation. Returns the reasons for a rebuild (empty: none is needed)."""
        generation = self.assembly.index_dir.current()
        if generation is None:
            return ("there is no index yet",)
        try:
            self.current = self.assembly.open_generation(generation)
        except IndexUnusableError as error:
            return (str(error),)
        self.dirty.aside.use(self.quarantine(), tried=True)
        if "documents" not in self.current.manifest.parsers:  # an earlier version read none
            self._survey(EVERYTHING, earlier=None)
        return self.current.reasons

    def activate(
        self,
        generation: Generation,
        built: RebuildReport,
        on_progress: Callable[[int], None] = lambda _left: None,
        between_parts: Callable[[], Leave | None] | None = None,
    ) -> None:
        """Makes a complete generation the active one, after applying the edits made during its build. The
        first generation answers searches at once, and the rest of the vault is indexed meanwhile."""
        opened = self.assembly.open_generation(generation)
        if built.left_out:
            self.unread = UnreadNotes(built.left_out, built.notes + built.left_out)
        old = self.current
        if old is not None:
            # Before searches use it, or the hidden notes would be missing for a moment.
            self._keep_hidden(old, opened)
        self.current = opened
        if old is None:
            self.assembly.index_dir.publish(generation)
        self.dirty.aside.use(self.quarantine())
        # A generation that replaces another is published only after this: it must contain all edits.
        self._is_first = old is None
        self.sync(EVERYTHING, on_progress, between_parts)
        self._is_first = False
        self.damaged = ""
        if old is None:  # the first part of the vault may have been in other languages than the rest
            self.current = self.assembly.reconfigure(self.current)
        else:
            self.assembly.index_dir.publish(generation)
            _close_quietly(old)
            # Its arrays are freed before `trim_heap` returns memory to the system.
            old = None
            trim_heap()
        self.assembly.index_dir.collect()

    def _keep_hidden(self, old: OpenGeneration, new: OpenGeneration) -> None:
        """Copies from `old` the files that the build could not see, unless they are excluded: they may still
        exist."""
        limits = self.assembly.settings.files.limits
        try:
            found: Scan | None = scan(self.assembly.vault, self.rules, limits=limits)
        except VaultError:
            found = None
        decide = partial(self.rules.decide, is_dir=False)
        with old.writer.holder.lease() as snapshot:
            with new.writer.holder.lease() as built:
                listed = built.catalog.files()
            known = {row.path for row in listed if row.state != "skipped"}
            unread = {row.path for row in listed if row.is_unreadable}
            kept = [
                row
                for row in snapshot.catalog.files()
                if row.path not in known
                and (found is None or row.path in unread or not found.covers(row.path))
                and decide(row.path) is _KEPT_AS.get(row.state)
            ]
            for rows in batches(kept, PART_NOTES):
                new.writer.keep(snapshot.catalog, rows)
        if kept:
            log.warning("%s that cannot be read now stay as they were indexed", quantity(len(kept), "file"))

    def sync(
        self,
        within: Iterable[str],
        on_progress: Callable[[int], None] = lambda _left: None,
        between_parts: Callable[[], Leave | None] | None = None,
    ) -> tuple[Applied, Scan | None]:
        """Scans part of the vault ("" for all) and updates the index.

        If the vault cannot be read or has suddenly lost its notes, the index stays unchanged and `degraded`
        is set. Deletions are held back for `delete_hold_s`; `release_due` carries them out. `between_parts`
        is called between two parts of a large plan and while documents are read, and may `sync` another part
        of the vault; documents in that part are to be synced again later. So are the paths in `Applied.left`,
        which have not been read because it returned that they are left.
        """
        scope = frozenset(within)
        with self.dirty.reading(scope) as reading:
            if self.current is None:
                return Applied(), None
            survey = self._survey(scope, self._unconfirmed)
            if survey is None:
                reading.unreadable = True
                return Applied(), None
            work = survey.plan_with(self._deletable(survey, whole="" in scope))
            if "" in scope:
                on_progress = self._count_unread(survey, on_progress)
            applied = self._apply(self.current, work, reading, on_progress, between_parts)
            self.dirty.postpone(applied.left)
            if applied.left:
                if self.unread is not None:
                    self.unread = replace(self.unread, left=min(self.unread.left, len(applied.left)))
            elif "" in scope:
                self._end_unread()
            self.purge_if_needed()
        if not (self.dirty.left or self.dirty.failed):  # all notes that a scan could not read have been read
            self._end_unread()
        return applied, survey.found

    def _end_unread(self) -> None:
        self.unread = None
        if not self.documents_wait:
            self.documents_notice = ""

    def _count_unread(self, survey: _Survey, on_progress: Callable[[int], None]) -> Callable[[int], None]:
        """Sets `unread` from a scan of the whole vault with new notes. The returned callback updates it and
        then calls `on_progress`."""
        assert self.current is not None
        with self.current.writer.holder.lease() as snapshot:
            new = len(survey.plan.read) - len(snapshot.catalog.files_at(survey.plan.read))
        # Only changed notes are read: all of them have been in the index.
        if not new:
            return on_progress
        total = count_notes(survey.found)
        self.unread = UnreadNotes(new, total)

        def note_progress(remaining: int) -> None:
            self.unread = UnreadNotes(min(new, remaining), total)
            on_progress(remaining)

        return note_progress

    def _apply(
        self,
        current: OpenGeneration,
        work: Plan,
        reading: Reading,
        on_progress: Callable[[int], None] = lambda _left: None,
        between_parts: Callable[[], Leave | None] | None = None,
    ) -> Applied:
        there = (*work.read, *(row.path for row in work.linked))
        # A file that has come back is not deleted.
        self.dirty.drop_held(there)
        reading.found((*there, *work.removed), len(work.read))

        def note_progress(remaining: int) -> None:
            reading.left = remaining
            on_progress(remaining)

        applied = current.writer.apply(work, note_progress, between_parts, ask=not self._live)
        reading.changed = applied != Applied()
        if reading.changed:
            self.dirty.aside.use(self.quarantine())
            with current.writer.holder.lease() as snapshot:
                self.changes.add(snapshot.seq, applied.indexed + applied.files, applied.removed)
        # The manifest now lists more strategies, or the files make it another kind of vault.
        if applied.strategies or (work and self._has_new_style(current)):
            self.current = self.assembly.reconfigure(current)
        return applied

    def _has_new_style(self, current: OpenGeneration) -> bool:
        before = self._link_style or current.manifest.link_style
        with current.writer.holder.lease() as snapshot:
            self._link_style = style_of_catalog(self.assembly.settings, snapshot.catalog)
        return self._link_style != before

    def notes_without_model(self) -> dict[str, str]:
        """Returns the notes that were split without the language model that their strategy uses, in order,
        each with the digest of its file."""
        if self.current is None or not self.current.settings.chunking.asks_model:
            return {}
        with self.current.writer.holder.lease() as snapshot:
            return snapshot.catalog.notes_without_model()

    def quarantine(self) -> dict[str, tuple[int, str]]:
        """Returns the notes that crashed their worker process or exceeded their budget, in order, each with
        the `mtime_ns` and the digest of that version."""
        if self.current is None:
            return {}
        with self.current.writer.holder.lease() as snapshot:
            return snapshot.catalog.quarantine()

    def reread(self, path: str) -> None:
        """Indexes the current version of this note again, with the stored answers of the language model."""
        if self.current is not None:
            with self.dirty.reading(frozenset({path})) as reading:
                self._apply(self.current, Plan(read=(path,)), reading)

    def release_due(self) -> None:
        """Carries out the deletions that are due, if the files are still missing."""
        due = self.dirty.take_held()
        if not due or self.current is None:
            return
        with self.dirty.reading(due) as reading:
            # An earlier scan confirms nothing here: these losses were plausible when they were held.
            survey = self._survey(due, earlier=None)
            if survey is None:
                reading.unreadable = True
                return
            losses = survey.losses if survey.decision.ok else ()
            self._apply(self.current, survey.plan_with(losses), reading)

    def has_unconfirmed_losses(self) -> bool:
        """Scans the vault without changing the index. Returns whether the vault cannot be read or has
        suddenly lost its notes: a rebuild would then delete them from the index."""
        if self.current is None:
            return False
        survey = self._survey(EVERYTHING, self._unconfirmed)
        # Without an answer, the safe assumption is that notes would be lost.
        return survey is None or not survey.decision.ok

    def check_losses(self) -> None:
        """Raises VaultError if a rebuild would delete notes that the vault has suddenly lost, or if the vault
        cannot be read."""
        if self.has_unconfirmed_losses():
            raise VaultError(f"Not rebuilt: {self.degraded} (--force rebuilds anyway)")

    def take_confirmation(self) -> bool:
        """Returns whether the scan that can confirm implausible losses is due, and if so, schedules the next
        one some seconds later."""
        now = self._clock()
        is_due = bool(self.degraded) and now >= self.confirm_at
        if is_due:
            self.confirm_at = now + _CONFIRM_EVERY_S
        return is_due

    def verify(
        self, *, repair: bool, report: Callable[[Progress], None] = lambda _progress: None
    ) -> tuple[Problem, ...]:
        """Returns every disagreement between vault, catalog and derived indices. `repair` corrects them if
        the catalog is intact. Otherwise `damaged` describes the damage, and the caller must rebuild. `report`
        receives the progress of the comparison."""
        if self.current is None:
            return (Problem("catalog", "missing", "there is no index: run `indexer rebuild`"),)
        limits = self.assembly.settings.files.limits
        found = scan(self.assembly.vault, self.rules, limits=limits)
        problems = verify(self.current.writer, self.assembly.vault, found, limits, report)
        self.damaged = next((problem.detail for problem in problems if problem.store == "catalog"), "")
        if repair and problems and not self.damaged:
            self.current.writer.repair(problems)
            self.sync(EVERYTHING)
        return tuple(problems)

    def stop(self) -> None:
        """Ends the current edit with UnavailableError. Only `close` may be called after that. Any thread."""
        current = self.current
        if current is not None:
            current.writer.stop()

    def close(self) -> None:
        if self.current is not None:
            self.current.close()
            self.current = None

    def _survey(self, scope: frozenset[str], earlier: VaultObservation | None) -> _Survey | None:
        """Scans part of the vault, plans the changes of the index, and assesses the losses. `earlier` is the
        observation that can confirm them. Returns None if the vault cannot be read. Sets `degraded` if the
        vault cannot be read or the losses are not plausible."""
        assert self.current is not None
        limits = self.assembly.settings.files.limits
        try:
            # The scan creates objects for each file, and none of them is part of a cycle.
            with gc_paused():
                found = scan(self.assembly.vault, self.rules, limits=limits, within=scope)
                work, known = self._plan(found)
                if "" in scope:
                    work = self._with_first_documents(work, found)
        except VaultError as error:
            self.degraded = str(error)
            return None
        closed = found.unreadable_folders
        self.unreadable = closed if "" in scope else self.unreadable | closed
        work = replace(work, moved=self._moved_paths(work, found))
        explained = self._excluded_paths(work) | work.moved
        lost = sum(path not in explained for path in work.removed)
        observation = VaultObservation(found.root, known - len(explained), lost, self._clock())
        decision = assess_deletions(observation, self._synced_root, earlier)
        if not decision.ok:
            self._wait_for_confirmation(observation, decision.reason)
        return _Survey(found, work, explained, observation, decision)

    def _plan(self, found: Scan) -> tuple[Plan, int]:
        """Returns the plan, and the number of files in the catalog if the plan removes any (otherwise 0)."""
        assert self.current is not None
        with self.current.writer.holder.lease() as snapshot:
            within = found.within
            known = snapshot.catalog.files() if "" in within else snapshot.catalog.files_within(within)
            work = plan(known, found, self.rules)
            # The count reads all rows, and only the assessment of losses needs it.
            total = snapshot.catalog.file_count() if work.removed else 0
        return work, total

    def _with_first_documents(self, work: Plan, found: Scan) -> Plan:
        """Announces documents if the index has none yet and many are to be read. They are left out of the
        plan while they wait for mains power; not those of a first build, which the user waits for."""
        assert self.current is not None
        to_read = set(work.read)
        documents = [f for f in found.files if f.kind is FileKind.DOCUMENT and f.path in to_read]
        seconds = reading_seconds(documents)
        with self.current.writer.holder.lease() as snapshot:
            has_read = seconds < _NOTED_S or bool(snapshot.catalog.read_documents())
        self.documents_wait = not (has_read or self._is_first) and self._live and self._on_battery()
        notice = ""
        if not has_read:
            long = f"about {quantity(round(seconds / 60), 'minute')}"
            notice = f"{quantity(len(documents), 'document')} are read for the first time, which takes {long}"
        if self.documents_wait:
            notice += ", once the machine has mains power"
            work = replace(
                work, read=tuple(path for path in work.read if path not in {f.path for f in documents})
            )
        if notice and notice != self.documents_notice:
            log.info("%s", notice)
        self.documents_notice = notice
        return work

    def take_power(self) -> bool:
        """Returns whether the documents that have waited for mains power can be read now."""
        now = self._clock()
        if not self.documents_wait or now < self._power_at:
            return False
        self._power_at = now + _POWER_EVERY_S  # the check can start a process
        return not self._on_battery()

    def _deletable(self, survey: _Survey, *, whole: bool) -> tuple[str, ...]:
        """Returns the losses to carry out now. The others are held back or wait for confirmation. Only a scan
        of the `whole` vault confirms losses."""
        if not survey.decision.ok or (self._unconfirmed is not None and not whole):
            return ()
        confirmed = self._unconfirmed is not None
        self._synced_root, self._unconfirmed, self.degraded = survey.observation.root, None, ""
        # A command has no time to hold deletions back.
        if confirmed or not self._live:
            self.dirty.drop_held(survey.losses)
            return survey.losses
        self.dirty.hold(survey.losses)
        return ()

    def _wait_for_confirmation(self, observation: VaultObservation, reason: str) -> None:
        """Deletes nothing until a second scan confirms these losses."""
        before = self._unconfirmed
        # The first observation is kept, because a later scan confirms it only after some seconds.
        if before is None or before.root != observation.root or before.gone < observation.gone:
            self._unconfirmed = observation
        self.degraded = reason
        self.confirm_at = observation.at + CONFIRM_AFTER_S

    def _excluded_paths(self, work: Plan) -> frozenset[str]:
        """Returns the paths that the plan removes because the rules exclude them, not because they vanished.
        Their text must not stay on disk either: if there is any, `_to_purge` is set."""
        ignored = [p for p in work.removed if self.rules.decide(p, is_dir=False) is Decision.IGNORE]
        without_note = [*ignored, *(row.path for row in work.linked)]
        if without_note and self.current is not None:
            with self.current.writer.holder.lease() as snapshot:
                self._to_purge |= any(snapshot.catalog.note(path) for path in without_note)
        return frozenset(ignored)

    def _moved_paths(self, work: Plan, found: Scan) -> frozenset[str]:
        """Returns the removed paths whose file has a new path, by inode, size and time. Such a file has not
        vanished: its removal is neither held nor confirmed, and links lead to the new path at once."""
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
        """Removes every trace of excluded notes: freed pages, postings, vectors, and older generations. If a
        reader prevents it, the next call tries again."""
        if self.current is None:
            return
        if self._to_purge:
            # First, because an older generation contains the excluded text as well.
            self.assembly.index_dir.collect(keep=0)
            self.current.writer.purge()
            self._to_purge, self._log_to_empty = False, True
        if self._log_to_empty:
            self._log_to_empty = not self.current.writer.empty_log()


def _close_quietly(old: OpenGeneration) -> None:
    """Closes a generation that is not used again. Damage in it is logged and not raised."""
    try:
        with index_errors(old.generation.folder):
            old.close()
    except UnavailableError as error:
        log.warning("the index %d could not be closed cleanly: %s", old.generation.number, error)


def status_of(vault_sync: VaultSync, state: str, pending: int) -> StatusReport:
    """Returns the state of the index for `status`. The session adds its own details."""
    assembly, current = vault_sync.assembly, vault_sync.current
    report = StatusReport(
        vault=str(assembly.vault),
        index_dir=str(assembly.index_dir.root),
        state=state,
        generation=0,
        seq=0,
        pending=pending,
        counts=IndexCounts(0, 0, 0, 0),
        detail="; ".join(filter(None, (vault_sync.degraded, vault_sync.rules.fault))),
    )
    if current is None:
        return report
    with current.writer.holder.lease() as snapshot:
        return replace(
            report,
            generation=snapshot.generation,
            seq=snapshot.seq,
            counts=snapshot.catalog.counts(),
            vectors_owed=snapshot.missing_vectors,
            skipped=snapshot.catalog.skipped_files(),
            unread_documents=snapshot.catalog.linked_documents(
                kinds_without_library(assembly.settings.documents.chosen)
            ),
            documents=snapshot.catalog.read_documents(),
            unrecognised_documents=len(snapshot.catalog.documents_with(PAGES_WITHOUT_TEXT)),
            recognises_text=can_recognise(assembly.settings.documents),
            manifest=current.manifest.model_dump(mode="json"),
        )
