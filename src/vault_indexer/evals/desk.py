"""What the faces keep for `indexer eval`: grades that a person gives in the page, and clicks on hits.

All of it lies in one folder of cases: that of `evals.folder`, or the folder `evals` of the index.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from vault_indexer.errors import UsageError
from vault_indexer.evals.judging import GRADES, POOL_DEPTH, Judgements, pool_of
from vault_indexer.evals.question_folder import clicks_folder, judged_folder
from vault_indexer.evals.questions import read_clicks
from vault_indexer.evals.ranking import plain_query
from vault_indexer.model import SearchRequest
from vault_indexer.search import Searcher
from vault_indexer.service import VaultService
from vault_indexer.store import Snapshot
from vault_indexer.system import only_writer
from vault_indexer.text.bounds import MAX_LIMIT, check_query

MAX_CLICK_BYTES = 1 << 20
"""Of the file of clicks. A full one takes the place of the full one before, so that there are two at most."""

CLICKS, OLDER_CLICKS = "recorded.jsonl", "recorded-older.jsonl"
_BEGINNING_LINES = 3
_BEGINNING_CHARS = 600


@dataclass(frozen=True, slots=True)
class PooledNote:
    """A note to be graded: its path, its title, and what the search shows of it, or its beginning."""

    path: str
    title: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Pool:
    """The notes of a question without a grade, in an order that tells no ranks. `judged` counts those with
    one, `questions` are all that are known, `folder` is where the grades are kept."""

    question: str
    notes: tuple[PooledNote, ...]
    judged: int
    grades: tuple[str, ...]
    questions: tuple[str, ...]
    folder: Path


def cases_folder(service: VaultService) -> Path:
    """The folder of cases that the faces write to."""
    return service.settings.evals.folder or Path(service.status().index_dir) / "evals"


def record_click(service: VaultService, query: str, path: str, rank: int) -> Path:
    """Keep that a note of the index was opened, and return the file. Raises UsageError where the user does
    not want that or the file cannot be written, UnknownNoteError if there is no such note."""
    if not service.settings.evals.record_clicks:
        raise UsageError("clicks are not kept: evals.record_clicks is false")
    check_query(query)
    time = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    click = {"time": time, "query": query, "path": service.path_of(path), "rank": rank}
    file = clicks_folder(cases_folder(service)) / CLICKS
    try:
        _append(file, json.dumps(click, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from error
    return file


def next_pool(service: VaultService, question: str) -> Pool:
    """The notes of a question that are to be graded; of "" none, but all questions. Changes nothing."""
    check_query(question, may_be_empty=True)
    cases = cases_folder(service)
    judgements = Judgements.load(judged_folder(cases))
    clicked = read_clicks(*sorted(clicks_folder(cases).glob("*.jsonl")))
    questions = tuple(dict.fromkeys((*judgements.topics.values(), *(one.text for one in clicked))))
    text = " ".join(question.split())
    notes: tuple[PooledNote, ...] = ()
    judged = 0
    if text:
        name = judgements.add(text)
        judged = len(judgements.grades.get(name, {}))
        reader = service.reader()
        with reader.holder.lease() as snapshot:
            pool = pool_of(reader.searcher, snapshot, service.settings, text, POOL_DEPTH)
            notes = tuple(_shown(reader.searcher, snapshot, text, judgements.left(name, pool)))
    return Pool(text, notes, judged, tuple(GRADES.values()), questions, judgements.folder)


def keep_grade(service: VaultService, question: str, path: str, grade: int) -> int:
    """Keep a grade, on disk when this returns, and return how many notes of the question have one. Raises
    UsageError if that fails."""
    check_query(question)
    folder = judged_folder(cases_folder(service))
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with only_writer(folder):
            judgements = Judgements.load(folder)
            name = judgements.add(question)
            judgements.grade(name, path, grade)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error
    return len(judgements.grades[name])


def _shown(searcher: Searcher, snapshot: Snapshot, text: str, paths: Sequence[str]) -> Iterator[PooledNote]:
    request = SearchRequest(plain_query(text), MAX_LIMIT, by_note=True, min_relevance=0.0)
    snippets = {hit.path: hit.snippet for hit in searcher.search(snapshot, request).hits}
    for path in paths:
        row = snapshot.catalog.note(path)
        if row is not None:
            beginning = snapshot.catalog.text(row.note_id).strip().splitlines()[:_BEGINNING_LINES]
            excerpt = snippets.get(path) or "\n".join(beginning)[:_BEGINNING_CHARS]
            yield PooledNote(path, row.title, excerpt)


def _append(file: Path, line: bytes) -> None:
    """Add a line to a file that only its user can read."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_writer(file.parent):
        if file.exists() and file.stat().st_size + len(line) > MAX_CLICK_BYTES:
            file.replace(file.with_name(OLDER_CLICKS))
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as opened:
            opened.write(line)
