"""Sentences of notes, honest paraphrases and falsifications by kind, from files that a person can edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.answer.check import Claim, Evidence, Finding, check_claim

FOLDER = Path(__file__).parent.parent.parent / "benchmarks" / "claims"
LANGUAGES = ("de", "en", "es", "fr", "ru", "zh")
HONEST = "honest"


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text, its kind, and the sentences that it cites. `half` is 0 for the tuning half, 1 for the other."""

    language: str
    sources: tuple[str, ...]
    kind: str
    text: str
    half: int

    def check(self) -> Finding:
        """What the check says of the text as a claim that cites the sources."""
        ids = tuple(f"s{number}" for number in range(len(self.sources)))
        offered = {
            name: Evidence(source, source, "", self.language)
            for name, source in zip(ids, self.sources, strict=True)
        }
        return check_claim(Claim(self.text, ids, self.sources[0]), offered)


def read_claim_set(half: int) -> list[CheckedText]:
    """The texts of one half: the sources of even (0) or odd (1) number in each file."""
    return [one for language in LANGUAGES for one in _read(language) if one.half == half]


def _read(language: str) -> Iterator[CheckedText]:
    blocks = (FOLDER / f"{language}.txt").read_text("utf-8").split("\n\n")[1:]
    for number, block in enumerate(blocks):
        lines = block.strip().splitlines()
        sources = tuple(line[2:] for line in lines if line.startswith("> "))
        for line in lines[len(sources) :]:
            is_honest = line.startswith("= ")
            kind, _, text = (HONEST, "", line[2:]) if is_honest else line.partition(" | ")
            cited = sources if kind == "merge" else (_nearest(text, sources),)
            yield CheckedText(language, cited, kind, text, number % 2)


def _nearest(text: str, sources: tuple[str, ...]) -> str:
    """The source that shares most pairs of characters with the text."""
    return max(sources, key=lambda source: len(_pairs(source) & _pairs(text)))


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}
