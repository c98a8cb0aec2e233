"""Sentences of notes, honest paraphrases and falsifications by kind, from files that a person can edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.answer.check import Claim, Evidence, Finding, check_claim

FOLDER = Path(__file__).parent.parent.parent / "benchmarks" / "claims"
PARAPHRASES = FOLDER / "paraphrases"
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
    files = (FOLDER / f"{language}.txt" for language in LANGUAGES)
    return [one for file in files for one in _read(file) if one.half == half]


def read_paraphrased_claims() -> list[CheckedText]:
    """The texts of the second set, each of which cites all of its sources."""
    return [one for file in PARAPHRASES.glob("*.txt") for one in _read(file)]


def _read(file: Path) -> Iterator[CheckedText]:
    blocks = file.read_text("utf-8").split("\n\n")[1:]
    for number, block in enumerate(blocks):
        lines = block.strip().splitlines()
        sources = tuple(line[2:] for line in lines if line.startswith("> "))
        for line in lines[len(sources) :]:
            is_honest = line.startswith("= ")
            kind, _, text = (HONEST, "", line[2:]) if is_honest else line.partition(" | ")
            cites_all = kind == "merge" or file.parent == PARAPHRASES
            cited = sources if cites_all else (_nearest(text, sources),)
            yield CheckedText(file.stem, cited, kind, text, number % 2)


def _nearest(text: str, sources: tuple[str, ...]) -> str:
    """The source that shares most pairs of characters with the text."""
    return max(sources, key=lambda source: len(_pairs(source) & _pairs(text)))


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}
