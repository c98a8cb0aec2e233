"""User feedback for `indexer eval`: grades given on the web page, and clicks on hits.

All of it lies in one folder of cases: that of `evals.folder`, or the folder `evals` of the index.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from vault_indexer.contract.bounds import MAX_LIMIT, check_query
from vault_indexer.errors import UsageError
from vault_indexer.evals.judging import GRADES, POOL_DEPTH, Judgements, pool_of
from vault_indexer.evals.question_folder import clicks_folder, judged_folder
from vault_indexer.evals.questions import read_clicks
from vault_indexer.evals.ranking import plain_query
from vault_indexer.model import JudgingPool, PooledNote, SearchRequest
from vault_indexer.search import Searcher
from vault_indexer.service import VaultService
from vault_indexer.store import Snapshot
from vault_indexer.system import only_writer, open_to_append
from vault_indexer.text.control_characters import json_text
from vault_indexer.text.times import iso_moment

MAX_CLICK_BYTES = 1 << 20
"""Of the file of clicks. A full one takes the place of the full one before, so that there are two at most."""

CLICKS, OLDER_CLICKS = "recorded.jsonl", "recorded-older.jsonl"
_BEGINNING_LINES = 3
_BEGINNING_CHARS = 600


class FolderFeedbackStore:
    """Keeps what the faces send in a folder of cases, in the files of `indexer eval`.

    The server calls it through the port `serve.api.feedback.FeedbackStore`; any thread may. Writers of one
    folder wait for one another, but a session of judging in the terminal does not.
    """

    def __init__(self, service: VaultService) -> None:
        self._service = service

    def record_click(self, query: str, path: str, rank: int) -> Path:
        """Keep that a note of the index was opened, and return the file. Raises UsageError where the user
        does not want that or the file cannot be written, UnknownNoteError if there is no such note."""
        if not self._service.settings.evals.record_clicks:
            raise UsageError("clicks are not kept: evals.record_clicks is false")
        check_query(query)
        time = iso_moment(datetime.now(UTC))
        click = {"time": time, "query": query, "path": self._service.path_of(path), "rank": rank}
        file = clicks_folder(self._cases()) / CLICKS
        try:
            _append(file, json_text(click).encode("utf-8", "replace") + b"\n")
        except OSError as error:
            raise UsageError(f"{file}: cannot be written: {error.strerror}") from error
        return file

    def next_pool(self, question: str) -> JudgingPool:
        """The notes of a question that are to be graded; of "" none, but all questions. Changes nothing."""
        check_query(question, may_be_empty=True)
        cases = self._cases()
        judgements = Judgements.load(judged_folder(cases))
        clicked = read_clicks(*sorted(clicks_folder(cases).glob("*.jsonl")))
        questions = tuple(dict.fromkeys((*judgements.topics.values(), *(one.text for one in clicked))))
        text = " ".join(question.split())
        notes: tuple[PooledNote, ...] = ()
        judged = 0
        if text:
            name = judgements.add(text)
            judged = len(judgements.grades.get(name, {}))
            reader = self._service.reader()
            with reader.holder.lease() as snapshot:
                pool = pool_of(reader.searcher, snapshot, self._service.settings, text, POOL_DEPTH)
                notes = tuple(_shown(reader.searcher, snapshot, text, judgements.left(name, pool)))
        return JudgingPool(text, notes, judged, tuple(GRADES.values()), questions, judgements.folder)

    def keep_grade(self, question: str, path: str, grade: int) -> int:
        """Keep a grade, on disk when this returns, and return how many notes of the question have one. Raises
        UsageError if that fails."""
        check_query(question)
        folder = judged_folder(self._cases())
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with only_writer(folder):
                judgements = Judgements.load(folder)
                name = judgements.add(question)
                judgements.grade(name, path, grade)
        except OSError as error:
            raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error
        return len(judgements.grades[name])

    def _cases(self) -> Path:
        """The folder of cases that the faces write to."""
        return self._service.settings.evals.folder or Path(self._service.status().index_dir) / "evals"


def _shown(searcher: Searcher, snapshot: Snapshot, text: str, paths: Sequence[str]) -> Iterator[PooledNote]:
    if not paths:
        return
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
        with os.fdopen(open_to_append(file), "ab") as opened:
            opened.write(line)
