"""User feedback for `indexer eval`: grades from the web page, and clicks on hits.

It is stored in one folder of cases: that of `evals.folder`, or the folder `evals` of the index.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from vault_evals.questions import GRADES, Judgements, clicks_folder, judged_folder, read_clicks
from vault_evals.ranking import POOL_DEPTH, PooledNote, pool_of, pooled_notes
from vault_evals.tables import EvalsSettings
from vault_indexer.contract.marks import MAX_LIMIT, Key, Says, check_query
from vault_indexer.contract.requests import NoteName, Query
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import Endpoint
from vault_indexer.serve.api.respond import AnswerContext, ExtensionRoute
from vault_indexer.service import VaultService
from vault_indexer.system import only_writer, open_to_append, record
from vault_indexer.text.control_characters import json_text
from vault_indexer.text.phrases import iso_moment

MAX_CLICK_BYTES = 1 << 20
"""The maximum size of the file of clicks. A full file replaces the previous full one, so there are at most
two."""

CLICKS, OLDER_CLICKS = "recorded.jsonl", "recorded-older.jsonl"


class ClickRequest(NamedTuple):
    """A note was opened from the hits of a query."""

    query: Query
    note: NoteName
    rank: Annotated[int, Says(help="Its rank among the hits, starting at 1.", minimum=1, maximum=MAX_LIMIT)]


class JudgePoolRequest(NamedTuple):
    """The notes of a question to be graded."""

    question: Annotated[
        str,
        Key("q"),
        Says(help="The question; empty means the first known one with ungraded notes.", holds="query"),
    ] = ""


class JudgeRequest(NamedTuple):
    """The grade of a note for a question."""

    question: Query
    note: NoteName
    grade: Annotated[
        int, Says(help="0: does not help, 1: helps, 2: answers.", minimum=0, maximum=max(GRADES))
    ]


@record
class JudgingPool:
    """The notes of a question without a grade, in an order that tells no ranks.

    `judged` counts those with a grade, `grades` are the meanings of the grades from 0 on, `questions` are all
    recorded questions, `folder` contains the grades.
    """

    question: str
    notes: tuple[PooledNote, ...]
    judged: int
    grades: tuple[str, ...]
    questions: tuple[str, ...]
    folder: Path


@record
class KeptClick:
    """The click is in the file."""

    file: Path


@record
class KeptGrade:
    """The grade of a note for a question is on disk; `judged` notes of the question have one."""

    question: str
    path: str
    grade: int
    judged: int


class FolderFeedbackStore:
    """Stores feedback from the user interfaces in a folder of cases, in the files of `indexer eval`.

    The routes of the server call it; any thread may use it. Writers of one folder wait for one another, but a
    session of judging in the terminal does not.
    """

    def __init__(self, service: VaultService) -> None:
        self._service = service

    def record_click(self, query: str, path: str, rank: int) -> Path:
        """Records that a note of the index was opened, and returns the file. Raises UsageError if the user
        has disabled this or the file cannot be written, UnknownNoteError if there is no such note."""
        if not self._settings.record_clicks:
            raise UsageError("clicks are not recorded: evals.record_clicks is false")
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
        """The notes of a question that are to be graded; for "", no notes but all questions. Changes
        nothing."""
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
                notes = tuple(pooled_notes(reader.searcher, snapshot, text, judgements.left(name, pool)))
        return JudgingPool(text, notes, judged, tuple(GRADES.values()), questions, judgements.folder)

    def keep_grade(self, question: str, path: str, grade: int) -> int:
        """Stores a grade durably. Returns the number of notes of the question with a grade. Raises UsageError
        on failure."""
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

    @property
    def _settings(self) -> EvalsSettings:
        evals: EvalsSettings = self._service.settings.table("evals")
        return evals

    def _cases(self) -> Path:
        return self._settings.folder or Path(self._service.status().index_dir) / "evals"


def _append(file: Path, line: bytes) -> None:
    """Appends a line to a file that only its user can read."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_writer(file.parent):
        if file.exists() and file.stat().st_size + len(line) > MAX_CLICK_BYTES:
            # Replaces the older file, so the clicks on disk are limited to twice this size.
            file.replace(file.with_name(OLDER_CLICKS))
        with os.fdopen(open_to_append(file), "ab") as opened:
            opened.write(line)


def _click(context: AnswerContext, request: ClickRequest) -> KeptClick:
    store = FolderFeedbackStore(context.service)
    return KeptClick(store.record_click(request.query, request.note, request.rank))


def _judge_pool(context: AnswerContext, request: JudgePoolRequest) -> JudgingPool:
    return FolderFeedbackStore(context.service).next_pool(request.question)


def _judge(context: AnswerContext, request: JudgeRequest) -> KeptGrade:
    known = context.service.path_of(request.note)
    judged = FolderFeedbackStore(context.service).keep_grade(request.question, known, request.grade)
    return KeptGrade(request.question, known, request.grade, judged)


CLICK: Endpoint[Any] = Endpoint(
    name="click",
    method="POST",
    path="/evals/click",
    help="Record that a note was opened from the hits of a query, if evals.record_clicks is true.",
    request=ClickRequest,
    answer="vault_evals.feedback:KeptClick",
    answer_help="The click was recorded.",
    needs_daemon=True,
)

JUDGE_POOL: Endpoint[Any] = Endpoint(
    name="judge_pool",
    path="/evals/judge",
    help="The notes to grade for a question: those found by words, by meaning and by both, without ranks.",
    request=JudgePoolRequest,
    answer="vault_evals.feedback:JudgingPool",
    answer_help="The notes without a grade.",
    needs_daemon=True,
)

JUDGE: Endpoint[Any] = Endpoint(
    name="judge",
    method="POST",
    path="/evals/judge",
    help="Store the grade of a note for a question.",
    request=JudgeRequest,
    answer="vault_evals.feedback:KeptGrade",
    answer_help="The grade was stored.",
    needs_daemon=True,
)

ROUTES = (
    ExtensionRoute(CLICK, _click, is_public=False),
    # Plugins of 0.1 and earlier send clicks here; to be removed with the next release.
    ExtensionRoute(replace(CLICK, name="old_click", path="/v1/click"), _click, is_public=False),
    ExtensionRoute(JUDGE_POOL, _judge_pool, is_public=False),
    ExtensionRoute(JUDGE, _judge, is_public=False),
)
