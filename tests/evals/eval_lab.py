"""A vault of a few notes, a service that answers from a script, and golden cases on disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import numpy as np
from numpy.typing import NDArray

from vault_evals.agents import AgentAnswer, CitedSpan, Finding
from vault_evals.cases import AgentInput, AgentName
from vault_indexer.errors import UnknownNoteError
from vault_indexer.model import (
    IndexCounts,
    IndexState,
    LinksAnswer,
    RelatedNote,
    SearchAnswer,
    SearchRequest,
    StatusReport,
)

BREAD = dedent(
    """\
    # Bread

    Flour, water, salt.

    ## Kneading

    Knead the dough until it is smooth. Let it rest in a warm place for an hour. ^rest

    ## Baking

    Bake it at 250 degrees for forty minutes under the lid.
    """
)
SKY = "# Sky\n\nThe telescope shows the rings of Saturn on a clear night.\n"
NOTES = {"Kitchen/Bread.md": BREAD, "Sky.md": SKY}


@dataclass
class TextNotes:
    """A NoteSource of texts."""

    texts: Mapping[str, str]

    def paths(self) -> Sequence[str]:
        return sorted(self.texts)

    def text(self, path: str) -> str | None:
        return self.texts.get(path)


@dataclass
class ScriptedAgents:
    """Agents with one answer for each text that they are asked; they count what they are asked."""

    answers: dict[str, AgentAnswer | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def answer(self, agent: AgentName, question: AgentInput) -> AgentAnswer:  # noqa: ARG002
        text = question.query or question.note or question.question
        self.asked.append(text)
        found = self.answers.get(text, AgentAnswer())
        if isinstance(found, Exception):
            raise found
        return found


@dataclass
class FakeService:
    """An EvalService over a folder, whose index holds `notes`. `vectors` are those of texts."""

    vault: Path
    notes: dict[str, str] = field(default_factory=lambda: dict(NOTES))
    vectors: dict[str, list[float]] = field(default_factory=dict)
    embedded: list[str] = field(default_factory=list)

    def search(self, request: SearchRequest) -> SearchAnswer:
        return SearchAnswer(request.query, 0.0, IndexState(1, 1, 0), ())

    def related(self, note: str, limit: int = 10) -> tuple[RelatedNote, ...]:  # noqa: ARG002
        return ()

    def links(self, note: str) -> LinksAnswer:
        return LinksAnswer(note, (), (), (), (), 0, 0, 0)

    def status(self) -> StatusReport:
        return StatusReport(str(self.vault), "", "idle", 1, 1, 0, IndexCounts(len(self.notes), 0, 0, 0))

    def note_paths(self) -> list[str]:
        return sorted(self.notes)

    def indexed_text(self, note: str) -> str:
        if note not in self.notes:
            raise UnknownNoteError(note)
        return self.notes[note]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        return np.array([self.vectors.get(text, [1.0, 0.0]) for text in texts], np.float32)


def span_of(text: str, quote: str, path: str = "Kitchen/Bread.md") -> CitedSpan:
    start = text.index(quote)
    return CitedSpan(path, start, start + len(quote), quote)


def found(*paths: str, text: str = "") -> AgentAnswer:
    return AgentAnswer(tuple(Finding(path, text) for path in paths), text)


def shown(answer: AgentAnswer) -> str:
    """What an answer finds, says and cites, and whether it declines, each where there is some."""
    findings = [f"{one.path} {one.text!r} {one.part}".rstrip() for one in answer.findings]
    cited = [
        f"{one.path} {one.start} to {one.end} {one.quote!r} {one.sha256}".rstrip() for one in answer.citations
    ]
    said = {
        "finds ": ", ".join(findings),
        "says ": answer.text and repr(answer.text),
        "cites ": ", ".join(cited),
        "declines": " " * answer.declined,
    }
    return "; ".join(f"{verb}{what}".rstrip() for verb, what in said.items() if what) or "empty"


def write_vault(folder: Path, notes: Mapping[str, str] = NOTES) -> Path:
    for path, text in notes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return folder


def write_case(folder: Path, name: str, text: str) -> Path:
    """A case below the folder; the text may be set in."""
    file = folder / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dedent(text), encoding="utf-8")
    return file


def simple_case(folder: Path, name: str, *, path: str = "Sky.md", vault: str = "") -> Path:
    """A case of layer 1 named `name`, which asks its own name and expects a path."""
    text = f"""\
        id: {name}
        agent: search
        layer: 1
        input: {{query: {name}}}
        expected: {{expected_paths: [{path}]}}
        metadata: {{vault: "{vault}"}}
        """
    return write_case(folder, f"l1/{name}", text)
