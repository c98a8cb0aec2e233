"""What agents alone are answered: hits in few tokens, notes and parts of them, a change of the strategy, the
report of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from vault_indexer.contract.marks import OMIT_EMPTY, Digits
from vault_indexer.model.answers import Correction, Passage, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNote:
    """A hit in few tokens. `id` is what `fetch` takes: the path, behind the name of the vault where several
    are kept; `url` is the resource with its text. The text is either a `snippet` around the match, or the
    `content` of the chunk together with the time at which the note changed last. `passage` is the text around
    the hit, where that was asked for. `copies` are the paths of notes with the same text, 20 at most."""

    id: str
    title: str
    url: str
    path: str
    header_path: Annotated[str, OMIT_EMPTY] = ""
    start_line: int
    end_line: int
    relevance: Annotated[float, Digits(2)]
    snippet: Annotated[str, OMIT_EMPTY] = ""
    content: Annotated[str, OMIT_EMPTY] = ""
    modified_time: Annotated[str, OMIT_EMPTY] = ""
    passage: Annotated[Passage | None, OMIT_EMPTY] = None
    vault: Annotated[str, OMIT_EMPTY] = ""
    copies: Annotated[tuple[str, ...], OMIT_EMPTY] = ()


@dataclass(frozen=True, slots=True)
class FoundNotes:
    """A page of the hits of a search, best first. The first `likely` of them are likely, the others only the
    nearest. A key that says nothing is left out."""

    verdict: Verdict
    likely: int
    results: tuple[FoundNote, ...]
    missing_words: Annotated[tuple[str, ...], OMIT_EMPTY] = ()
    notices: Annotated[tuple[str, ...], OMIT_EMPTY] = ()
    corrections: Annotated[tuple[Correction, ...], OMIT_EMPTY] = ()


@dataclass(frozen=True, slots=True)
class NoteHeading:
    """A heading of a note, and its line."""

    heading: str
    line: int


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ReadNote:
    """One of several notes that were asked for: its text up to `next_offset`, from where `read_note` goes on,
    or the `error` that says why there is none."""

    path: str
    text: str = ""
    total_lines: int = 0
    modified_time: Annotated[str, OMIT_EMPTY] = ""
    next_offset: Annotated[int, OMIT_EMPTY] = 0
    error: Annotated[str, OMIT_EMPTY] = ""


@dataclass(frozen=True, slots=True)
class NotesRead:
    """Several notes, in the order in which they were asked for."""

    notes: tuple[ReadNote, ...]


@dataclass(frozen=True, slots=True)
class FetchedMetadata:
    """What a connector may show with a note. `headings` are there where the text was cut: an id may end
    with `#` and one of them."""

    path: str
    modified_time: str
    headings: Annotated[tuple[str, ...], OMIT_EMPTY] = ()


@dataclass(frozen=True, slots=True)
class FetchedNote:
    """A note in the form that the connectors of ChatGPT expect."""

    id: str
    title: str
    text: str
    url: str
    metadata: FetchedMetadata


@dataclass(frozen=True, slots=True)
class StrategyChange:
    """What became of the wish to split notes another way."""

    strategy: str
    previous: str
    changed: bool
    message: str
