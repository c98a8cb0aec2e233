"""The keyword index: Whoosh segments on disk, changed by whole commits, read as immutable snapshots.

Whoosh never calls fsync and cannot fall back to an older table of contents. Therefore a commit record
(`CommitRecord`) names the current table of contents, the last applied change, and the size and checksum of
every file. A commit writes the new segment, then the table of contents, then the commit record, each on disk
before the next; only then are old files removed. A crash in between leaves the old state intact.

Whoosh stores pickles. The folder must be private (0700, set by the owner of the index folder), and a folder
from elsewhere must never be opened.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from vault_indexer.errors import DiskFullError, IndexUnusableError, UnavailableError
from vault_indexer.store.keywords.lexicon import Lexicon
from vault_indexer.store.keywords.postings import LiveSegment, PostingsCache
from vault_indexer.store.keywords.schema import FIELDS, KeywordDocument
from vault_indexer.store.keywords.scorer import ROUNDED_FROM, entry_bytes, limit_for
from vault_indexer.store.keywords.snapshot import KeywordSnapshot
from vault_indexer.store.keywords.whoosh_segment import (
    SegmentBuilder,
    SegmentData,
    live_mask,
    open_segment,
    read_segments,
    without_documents,
    write_segment_table,
)
from vault_indexer.system import (
    FULL_ERRORS,
    LruCache,
    fsync_dir,
    fsync_file,
    only_writer,
    remove_unused,
    write_atomically,
)

if TYPE_CHECKING:
    from vault_indexer.store.keywords.whoosh_segment import Segment

COMMIT_RECORD_NAME = "COMMIT"
_FORMER_NAME = "SEAL"
"""The original name of the record; read if there is no file with the current name."""

_PIECE = 1 << 20


class Checksum(BaseModel):
    """The size in bytes of one file, and the CRC-32 of its content."""

    model_config = ConfigDict(frozen=True, strict=True)

    size: int
    crc: int


class CommitRecord(BaseModel):
    """The small file that names the current state, with a checksum of each of its files. `generation` is the
    number of Whoosh's table of contents; `seq` is the last applied change."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    seq: int
    generation: int
    files: dict[str, Checksum]


def write_commit_record(
    folder: Path, seq: int, generation: int, names: Iterable[str], known: Mapping[str, Checksum]
) -> CommitRecord:
    """Makes the state that consists of `names` the current one. `known` contains checksums of old files,
    which are then not read again.

    Raises OSError.
    """
    files = {name: known.get(name) or checksum_of(folder / name) for name in sorted(names)}
    record = CommitRecord(seq=seq, generation=generation, files=files)
    body = record.model_dump_json().encode()
    write_atomically(folder / COMMIT_RECORD_NAME, b"%08x\n%s\n" % (zlib.crc32(body), body))
    # Last: until then there are two records, and readers prefer the current name.
    (folder / _FORMER_NAME).unlink(missing_ok=True)
    return record


def read_commit_record(folder: Path) -> CommitRecord:
    """Returns the current commit record. Raises IndexUnusableError if it is missing or damaged."""
    path = folder / COMMIT_RECORD_NAME
    try:
        if not path.exists() and (folder / _FORMER_NAME).exists():
            path = folder / _FORMER_NAME
        checksum, _, body = path.read_bytes().rstrip(b"\n").partition(b"\n")
        if checksum != b"%08x" % zlib.crc32(body):
            raise IndexUnusableError(f"keyword index: {path} is damaged (checksum differs)")
        return CommitRecord.model_validate_json(body)
    except OSError as error:
        raise IndexUnusableError(f"keyword index: {path}: {error.strerror}") from error
    except ValidationError as error:
        raise IndexUnusableError(f"keyword index: {path} is not a commit record of this version") from error


def check_files(folder: Path, record: CommitRecord, *, full: bool) -> None:
    """Checks that all files exist with their size and, if `full`, with their checksum (about 1 GB/s).

    Raises IndexUnusableError naming the file at fault.
    """
    for name, expected in record.files.items():
        path = folder / name
        try:
            same = path.stat().st_size == expected.size
            same = same and (not full or checksum_of(path) == expected)
        except OSError as error:
            raise IndexUnusableError(f"keyword index: {path}: {error.strerror}") from error
        if not same:
            raise IndexUnusableError(f"keyword index: {path} is damaged (size or checksum differs)")


def checksum_of(path: Path) -> Checksum:
    """Returns the checksum of a file, which is read in pieces. Raises OSError."""
    size = crc = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            size, crc = size + len(piece), zlib.crc32(piece, crc)
    return Checksum(size=size, crc=crc)


# The merge policy: which segments are rewritten as one, and when, so that there are few and no caller waits.
# Segments form tiers by size, each eight times the one before. A commit, which a caller waits for, merges
# only small segments. The rest is done between edits (`KeywordIndex.merge_segments`): a tier with more than
# `PER_TIER` segments becomes one segment of the next, and segments that are mostly deleted are rewritten; the
# largest are not merged. A document is thus rewritten at most once per tier. If nothing merges between edits
# (commands without a daemon), a commit does so as well, but late: when it is long overdue or little work.


PER_TIER = 4
TIERS = (64, 512, 4096, 16_384)
"""Upper bounds of the tiers, in live documents. A segment beyond the last is never merged: two of these
exceed the size of one segment (`MAX_DOCUMENTS`), so each merge would rewrite them unchanged, again and
again."""

LATE_PER_TIER = 16
# A commit, for which a caller waits, rewrites a segment once more than 8 of 9 documents are deleted.
_LATE_DELETED = 8
# The lowest tier: merging it is little work within a commit. Merges of 512 documents took up to 2.5 s, for
# which an edit waited while PDFs were read.
_QUICK_TIERS = 1


def segments_to_merge(segments: Sequence[Segment], added: int) -> list[Segment]:
    """The segments that a commit rewrites together with `added` new documents; often none."""
    return _chosen(
        segments, added, lambda tier: PER_TIER if tier < _QUICK_TIERS else LATE_PER_TIER, _LATE_DELETED
    )


def segments_to_merge_later(segments: Sequence[Segment]) -> list[Segment]:
    """The segments to rewrite between edits; often none."""
    return _chosen(segments, 0, lambda _tier: PER_TIER + 1, 1)


def _chosen(
    segments: Sequence[Segment], added: int, limit: Callable[[int], int], times: int
) -> list[Segment]:
    """The segments of full tiers: of the lowest one, and of each higher one that the merged segment falls
    into. Behind them those whose deleted documents exceed `times` the live ones; a fully deleted segment is
    dropped anyway."""
    tiers: dict[int, list[Segment]] = defaultdict(list)
    for segment in segments:
        tiers[bisect_left(TIERS, segment.doc_count())].append(segment)
    chosen: list[Segment] = []
    size = added
    for tier in range(len(TIERS)):
        # The merged segment is already larger than those of this tier.
        if size and bisect_left(TIERS, size) > tier:
            continue
        if len(tiers[tier]) < limit(tier):
            if size:
                break
            continue
        chosen += tiers[tier]
        size += sum(segment.doc_count() for segment in tiers[tier])
    small = [one for one in segments if one not in chosen and 0 < one.doc_count() <= TIERS[-1]]
    return chosen + [one for one in small if one.deleted_count() > times * one.doc_count()]


POSTINGS_CACHE_BYTES = 64 << 20
_ATTEMPTS = 10

Result = TypeVar("Result")


class KeywordIndex:
    """The keyword index of one generation, in one folder, with its writers and the current snapshot.

    The `IndexWriter` owns it; a worker process may open the same folder and write as well. A lock in the
    folder lets one process write at a time, and each first loads the last commit of the others. Any thread
    may call any method. `apply` and `adopt` are atomic and on disk when they return: a crash leaves the old
    state or the new one. Readers use `snapshot()`, which no later commit changes.
    """

    def __init__(
        self,
        folder: Path,
        record: CommitRecord,
        segments: Sequence[Segment],
        rounded_from: int = ROUNDED_FROM,
    ) -> None:
        self._folder = folder
        self._rounded_from = rounded_from
        self._record = record
        self._segments = list(segments)
        self._write_lock = Lock()
        self._swept = False
        self._postings: PostingsCache = LruCache(POSTINGS_CACHE_BYTES, entry_bytes)
        self._open: dict[str, SegmentData] = {}
        self._snapshot = self._take_snapshot()

    @classmethod
    def create(cls, folder: Path) -> KeywordIndex:
        """Creates an empty index with seq 0 in an empty or missing folder. Raises IndexUnusableError."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Windows keeps a segment that a search reads. A later commit removes it.
            if any(path.suffix != ".seg" for path in folder.iterdir()):
                raise IndexUnusableError(f"keyword index: {folder} is not empty")
            index = cls(folder, CommitRecord(seq=0, generation=0, files={}), [])
            index._commit([], 0)
        except OSError as error:
            raise _unwritable(folder, error) from error
        return index

    @classmethod
    def open(cls, folder: Path, *, check: bool = True, rounded_from: int = ROUNDED_FROM) -> KeywordIndex:
        """Opens the committed state; `check` compares all checksums (about 1 GB/s), otherwise only sizes.
        From `rounded_from` documents on, scores of common words are stored rounded (`RoundedScores`).

        Raises IndexUnusableError if a file is missing, truncated, changed or not part of the index.
        """

        def load(record: CommitRecord) -> KeywordIndex:
            check_files(folder, record, full=check)
            return cls(folder, record, read_segments(folder, record.generation), rounded_from)

        return _read_committed(folder, load)

    @property
    def applied_seq(self) -> int:
        """The last change on disk."""
        return self._record.seq

    @property
    def segment_count(self) -> int:
        return len(self._segments)

    def snapshot(self) -> KeywordSnapshot:
        return self._snapshot

    def refresh(self) -> KeywordSnapshot:
        """Loads the state on disk, which another process may have committed, and returns it.

        Keeps the open files and cached postings of segments that still exist. Raises IndexUnusableError.
        """
        with self._write_lock:
            return self._load_current()

    def keys(self) -> set[int]:
        return set(self._snapshot.keys.tolist())

    def verify(self) -> None:
        """Compares every file with its checksum. Raises IndexUnusableError naming the first that differs."""
        check_files(self._folder, self._record, full=True)

    def apply(self, add: Iterable[KeywordDocument], delete: Iterable[int], seq: int) -> None:
        """One commit: removes `delete` and the old states of `add`, adds `add`, records `seq`.

        Raises IndexUnusableError when the folder cannot be written; the old state then stays.
        """
        documents = {document.key: document for document in add}
        with self._writing():
            self._apply(list(documents.values()), {*delete, *documents}, seq)

    def adopt(self, segments: Sequence[Segment], seq: int) -> None:
        """Commits segments that `SegmentBuilder`s have finished in this folder.

        Their keys must be new to the index. Raises IndexUnusableError when one is missing or unreadable.
        """
        with self._writing():
            self._commit([*self._segments, *segments], seq)

    @property
    def needs_merge(self) -> bool:
        """Whether `merge_segments` has work to do."""
        return bool(segments_to_merge_later(self._segments))

    def merge_segments(self) -> None:
        """Merges segments into one if a tier has too many, or they are mostly deleted. Other callers may
        commit meanwhile and wait only for the last step. Documents that they delete are deleted in the new
        segment as well.

        Runs in a separate process, because it blocks the interpreter for seconds. If one of the segments has
        disappeared by the end, nothing changes. Raises IndexUnusableError if the folder cannot be written;
        nothing changes in this case either.
        """
        with self._translate_errors():
            segments = segments_to_merge_later(self._segments)
            chosen = [self._live_segment(one) for one in segments]
            builder = SegmentBuilder(self._folder)
            for segment, one in zip(segments, chosen, strict=True):
                builder.add_segment(self._data(segment), one.live)
            if chosen:
                made = builder.finish()
                self._replace(chosen, made, self._put_on_disk(made))

    def compact(self) -> None:
        """Rewrites everything without deleted documents, in segments of the builder's size. Takes long.

        Raises IndexUnusableError if the folder cannot be written; the old state then remains.
        """
        with self._writing():
            self._remove_strays()
            builder = SegmentBuilder(self._folder)
            for segment in self._segments:
                builder.add_segment(self._data(segment), live_mask(segment))
            self._commit(builder.finish(), self._record.seq)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # The failed write may have left files, which the next commit then removes.
            self._swept = False
            raise _unwritable(self._folder, error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._translate_errors(), self._write_lock, only_writer(self._folder):
            self._load_current()
            yield

    def _load_current(self) -> KeywordSnapshot:
        def load(record: CommitRecord) -> KeywordSnapshot:
            if record != self._record:
                check_files(self._folder, record, full=False)
                self._segments = read_segments(self._folder, record.generation)
                self._record = record
                self._snapshot = self._take_snapshot()
            return self._snapshot

        return _read_committed(self._folder, load)

    def _apply(self, add: Sequence[KeywordDocument], delete: set[int], seq: int) -> None:
        if not self._swept:
            self._remove_strays()
        segments = self._without(self._segments, sorted(delete))
        merged = segments_to_merge(segments, len(add))
        builder = SegmentBuilder(self._folder)
        for segment in merged:
            builder.add_segment(self._data(segment), live_mask(segment))
        for document in add:
            builder.add(document)
        # A segment whose documents are all deleted is dropped here and needs no merge.
        kept = [segment for segment in segments if segment not in merged and segment.doc_count()]
        self._commit([*kept, *builder.finish()], seq)

    def _put_on_disk(self, made: Sequence[Segment]) -> dict[str, Checksum]:
        """Syncs finished segments to disk and returns their checksums. For a merged segment both take too
        long to be done under the lock, where other callers wait."""
        names = [segment.make_filename(segment.COMPOUND_EXT) for segment in made]
        for name in names:
            fsync_file(self._folder / name)
        return {name: checksum_of(self._folder / name) for name in names}

    def _replace(
        self, chosen: Sequence[LiveSegment], made: Sequence[Segment], on_disk: Mapping[str, Checksum]
    ) -> None:
        """Commits `made`, written from `chosen`, in their place, without the documents deleted since."""
        with self._writing():
            held = {segment.segment_id(): segment for segment in self._segments}
            # Another process has merged or dropped one of the segments meanwhile, so the new segments are
            # obsolete.
            if not all(one.data.name in held for one in chosen):
                for segment in made:
                    remove_unused(self._folder / segment.make_filename(segment.COMPOUND_EXT))
                return
            gone: list[int] = []
            for one in chosen:
                # Documents that were live when the merge began and are deleted now.
                gone += one.data.keys[one.live & ~live_mask(held.pop(one.data.name))].tolist()
            merged = [*held.values(), *self._without(made, sorted(gone))]
            self._commit(merged, self._record.seq, on_disk)

    def _without(self, segments: Sequence[Segment], keys: Sequence[int]) -> list[Segment]:
        """Returns the segments with these keys (ascending) marked deleted; segments that contain any are
        copied."""
        unwanted = np.array(keys, np.int64)
        left = []
        for segment in segments:
            numbers = self._data(segment).numbers_of(unwanted)
            left.append(without_documents(segment, numbers) if len(numbers) else segment)
        return left

    def _commit(
        self, segments: Sequence[Segment], seq: int, on_disk: Mapping[str, Checksum] | None = None
    ) -> None:
        """Commits these segments as the current state. `on_disk` contains the checksums of those already on
        disk."""
        old = self._record.files
        known = {**old, **(on_disk or {})}
        generation = self._record.generation + 1
        names = [segment.make_filename(segment.COMPOUND_EXT) for segment in segments]
        for name in names:
            if name not in known:
                fsync_file(self._folder / name)
        toc = write_segment_table(self._folder, segments, generation)
        fsync_file(self._folder / toc)
        fsync_dir(self._folder)
        record = write_commit_record(self._folder, seq, generation, [*names, toc], known)
        self._record, self._segments = record, list(segments)
        self._snapshot = self._take_snapshot()
        # Old files go last: a crash before this line leaves only superfluous files. The next commit removes
        # those that a search still reads, which Windows keeps.
        gone = [remove_unused(self._folder / name) for name in old.keys() - record.files.keys()]
        self._swept = self._swept and all(gone)

    def _take_snapshot(self) -> KeywordSnapshot:
        live = [self._live_segment(segment) for segment in self._segments]
        names = {segment.data.name for segment in live}
        if self._open.keys() - names:
            self._open = {name: data for name, data in self._open.items() if name in names}
            first = live[0].data.name if live else ""
            # their postings would never be used
            self._postings.drop(lambda kept: first not in kept.segments[:1])
        self._postings.limit = limit_for(POSTINGS_CACHE_BYTES, sum(segment.data.size for segment in live))
        lexicon = Lexicon([self._data(segment) for segment in self._segments])
        return KeywordSnapshot(live, self._record.seq, self._postings, self._rounded_from, lexicon)

    def term_frequencies(self) -> dict[str, int]:
        """All index terms, each with the number of documents that contain it in the field where it is most
        frequent; deleted documents count until a merge."""
        most: Counter[str] = Counter()
        for field in FIELDS:
            own: Counter[str] = Counter()
            for segment in self._segments:
                own.update(self._data(segment).frequencies(field))
            # Counter's `|` takes the maximum per term, over the fields.
            most |= own
        return most

    def _live_segment(self, segment: Segment) -> LiveSegment:
        return LiveSegment(self._data(segment), live_mask(segment))

    def _data(self, segment: Segment) -> SegmentData:
        name: str = segment.segment_id()
        if name not in self._open:
            self._open[name] = open_segment(self._folder, segment)
        return self._open[name]

    def _remove_strays(self) -> None:
        """Removes the files that an interrupted commit or build has left behind."""
        import shutil

        gone = True
        for path in self._folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name not in self._record.files and path.suffix in {".seg", ".toc"}:
                gone = remove_unused(path) and gone
        self._swept = gone


def _unwritable(folder: Path, error: OSError) -> UnavailableError:
    kind = DiskFullError if error.errno in FULL_ERRORS else IndexUnusableError
    return kind(f"keyword index: cannot write {folder}: {error}")


def _read_committed(folder: Path, read: Callable[[CommitRecord], Result]) -> Result:
    """Calls `read` with the current commit record, and again if a writer has removed old files meanwhile."""
    for _ in range(_ATTEMPTS):
        record = read_commit_record(folder)
        try:
            return read(record)
        except IndexUnusableError:
            # An unchanged record means real damage. Otherwise a newer commit has removed the files, and it is
            # read instead.
            if read_commit_record(folder) == record:
                raise
    raise IndexUnusableError(f"keyword index: {folder} changes too fast to be opened")
