"""Honest paraphrases of sentences, from a file that a person can edit, and falsifications made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent.parent / "answer" / "paraphrases.txt"

OTHER_NAMES = {
    "en": ("Robert Clayton", "Ingrid", "Valencia", "November"),
    "es": ("Rodrigo Fuentes", "Beatriz", "Valencia"),
    "zh": ("伦敦", "李建国", "亚历山大", "陈小明", "罗伯特"),
    "ru": ("Виктор Соколов", "Ирина", "Казань"),
}
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|had|can|will|does|did|do|must|should)\s*\Z")
_NAME = re.compile(r"<([^>]+)>")
_REMOVABLE = re.compile(r"\[([^\]]+)\]")
_NUMBER = re.compile(r"\d+(?:[., ]\d{3})*")


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A sentence of a note and a marked paraphrase of it."""

    language: str
    source: str
    marked: str

    @property
    def honest(self) -> str:
        """The paraphrase without its marks."""
        return _plain(self.marked)

    def falsified(self) -> Iterator[tuple[str, str]]:
        """Kind (`number`, `name`, `negation`) and text of each falsification."""
        plain_names = _NAME.sub(r"\1", self.marked)
        for number, match in enumerate(_NUMBER.finditer(plain_names)):
            changed = other_number(match[0], number)
            yield "number", _plain(plain_names[: match.start()] + changed + plain_names[match.end() :])
        others = OTHER_NAMES[self.language]
        for match in _NAME.finditer(self.marked):
            for other in others:
                yield "name", _plain(self.marked[: match.start()] + other + self.marked[match.end() :])
        for match in re.finditer(r"\^", self.marked):
            before, after = self.marked[: match.start()], self.marked[match.end() :]
            for word in self._negators(before, after):
                yield "negation", _plain(f"{before}{word}{after}")
        for match in _REMOVABLE.finditer(self.marked):
            yield "negation", _plain(self.marked[: match.start()] + self.marked[match.end() :])

    def _negators(self, before: str, after: str) -> tuple[str, ...]:
        match self.language:
            case "en":
                return ("not",) if _AUXILIARY.search(before) else ("never", "did not")
            case "es":
                return ("no", "nunca")
            case "zh":
                return ("不",) if after[:1] in tuple("是会能可需") else ("没有", "并未")
            case _:
                return ("не", "никогда не")


def read_paraphrases() -> list[Paraphrase]:
    """All paraphrases of the file, in order."""
    found: list[Paraphrase] = []
    language = source = ""
    for line in FILE.read_text("utf-8").splitlines():
        if line.startswith("= "):
            found.append(Paraphrase(language, source, line[2:]))
        elif " | " in line and not line.startswith("#"):
            language, _, source = line.partition(" | ")
    return found


def _plain(marked: str) -> str:
    text = _REMOVABLE.sub(r"\1", _NAME.sub(r"\1", marked.replace("^ ", "").replace("^", "")))
    return " ".join(text.split())


def other_number(number: str, turn: int) -> str:
    """Another number of as many digits: one digit is raised, the first or the last."""
    at = 0 if turn % 2 else len(number) - 1
    return number[:at] + str(int(number[at]) % 9 + 1) + number[at + 1 :]
