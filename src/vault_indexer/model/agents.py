"""The answers for agents only: hits in few tokens, notes and parts of them, a change of the strategy, the
report of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from vault_indexer.contract import JsonValue
from vault_indexer.contract.marks import OMIT_EMPTY, Digits
from vault_indexer.model.answers import Correction, Passage, Verdict
from vault_indexer.system import record


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNote:
    """A hit in few tokens. `id` is what `fetch` takes: the path, after the name of the vault if there are
    several; `url` is the resource with its text. Both `title` and `url` may be missing if they follow from
    the id. `line` is that of the match, `part` the page, slide or sheet of a document, `heading` the heading
    above it, and `text` an excerpt of the note as written, or the whole chunk. `properties` are those of the
    note that the query mentions. `passage` is the text around the hit if it was requested. `copies` are the
    paths of at most 20 notes with the same text."""

    id: str
    title: Annotated[str, OMIT_EMPTY] = ""
    url: Annotated[str, OMIT_EMPTY] = ""
    line: int
    part: Annotated[str, OMIT_EMPTY] = ""
    heading: Annotated[str, OMIT_EMPTY] = ""
    text: str = ""
    properties: Annotated[Mapping[str, JsonValue], OMIT_EMPTY] = field(default_factory=dict)
    relevance: Annotated[float, Digits(2), OMIT_EMPTY] = 0.0
    modified_time: Annotated[str, OMIT_EMPTY] = ""
    passage: Annotated[Passage | None, OMIT_EMPTY] = None
    vault: Annotated[str, OMIT_EMPTY] = ""
    copies: Annotated[tuple[str, ...], OMIT_EMPTY] = ()


@record
class FoundNotes:
    """A page of the hits of a search, best first. The first `likely` of them are likely, the others only the
    nearest. A key that says nothing is left out."""

    verdict: Verdict
    likely: int
    results: tuple[FoundNote, ...]
    missing_words: Annotated[tuple[str, ...], OMIT_EMPTY] = ()
    notices: Annotated[tuple[str, ...], OMIT_EMPTY] = ()
    corrections: Annotated[tuple[Correction, ...], OMIT_EMPTY] = ()


@record
class NoteHeading:
    """A heading of a note, and its line."""

    heading: str
    line: int


@record
class NotePart:
    """Part of a note. Lines are 1-based and inclusive; `next_offset` is where the next page begins, missing
    at the end of the part that was asked for. The first page of several has the `headings` of the part: each
    can be read by itself."""

    path: str
    start_line: int
    end_line: int
    total_lines: int
    text: str
    modified_time: str
    next_offset: Annotated[int, OMIT_EMPTY] = 0
    headings: Annotated[tuple[NoteHeading, ...], OMIT_EMPTY] = ()


@record
class ReadNote:
    """One of several notes that were asked for: its text up to `next_offset`, from where `read_note` goes on,
    or the `error` that says why there is none."""

    path: str
    text: str = ""
    total_lines: int = 0
    modified_time: Annotated[str, OMIT_EMPTY] = ""
    next_offset: Annotated[int, OMIT_EMPTY] = 0
    error: Annotated[str, OMIT_EMPTY] = ""


@record
class NotesRead:
    """Several notes, in the order in which they were asked for. `left_out` further notes were asked for; the
    first of them is number `next_offset`."""

    notes: tuple[ReadNote, ...]
    left_out: Annotated[int, OMIT_EMPTY] = 0
    next_offset: Annotated[int, OMIT_EMPTY] = 0


@record
class FetchedMetadata:
    """Data that a connector may show with a note. `headings` are present if the text was cut: an id may end
    with `#` and one of them."""

    path: str
    modified_time: str
    headings: Annotated[tuple[str, ...], OMIT_EMPTY] = ()


@record
class FetchedNote:
    """A note in the form that the connectors of ChatGPT expect."""

    id: str
    title: str
    text: str
    url: str
    metadata: FetchedMetadata


@record
class StrategyChange:
    """The result of a request to split notes with another strategy."""

    strategy: str
    previous: str
    changed: bool
    message: str


TaskState = Literal["open", "done", "due", "overdue", "all"]
"""Which tasks are listed. "due": open, with a date; "overdue": open, with a date before today."""


@record
class VaultTask:
    """A task of a note as written, on one line; `due` is its date (YYYY-MM-DD), "" if it has none."""

    path: str
    line: int
    text: str
    due: str
    is_done: bool


@record
class PropertySummary:
    """A property: the notes that have it, its most frequent type and values."""

    name: str
    notes: int
    type: str
    examples: tuple[str, ...]


@record
class VaultOverview:
    """The contents of a vault. Folders and tags have the number of their notes, those of folders including
    the folders below; `daily_notes` is the folder of the notes that are named by a day (None: there are
    none), `recent` the last changes, `open_tasks` the number of open tasks by note."""

    notes: int
    languages: Mapping[str, int]
    folders: Mapping[str, int]
    daily_notes: str | None
    tags: Mapping[str, int]
    properties: tuple[PropertySummary, ...]
    recent: tuple[tuple[str, str], ...]
    open_tasks: Mapping[str, int]
    overdue: int
