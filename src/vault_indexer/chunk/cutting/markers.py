"""Reads the files of `discourse_markers`: which words continue, which conclude, in which language."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

_PACKAGE = "vault_indexer.chunk.cutting.discourse_markers"
_DETECTED_FROM = 20_000
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_OPENING = re.compile(r"[\s>*_\"'“‘«(\[¡¿-]*")


@dataclass(frozen=True, slots=True)
class Markers:
    """The markers of one language, and its commonest words to know it by."""

    continuation: re.Pattern[str]
    conclusion: re.Pattern[str]
    common: frozenset[str]

    def continues(self, paragraph: str) -> bool:
        """Whether a paragraph opens as the continuation of another."""
        return _opens(self.continuation, paragraph)

    def concludes(self, paragraph: str) -> bool:
        """Whether a paragraph opens as a conclusion."""
        return _opens(self.conclusion, paragraph)


def _opens(pattern: re.Pattern[str], paragraph: str) -> bool:
    opening = _OPENING.match(paragraph)
    return bool(pattern.match(paragraph, opening.end() if opening else 0))


def load_markers() -> Mapping[str, Markers]:
    """The markers of every language there is a file for, by its code."""
    found: dict[str, Markers] = {}
    for file in sorted(files(_PACKAGE).iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".toml"):
            table = tomllib.loads(file.read_text(encoding="utf-8"))
            found[file.name.removesuffix(".toml")] = Markers(
                _any_of(table["continuation"]), _any_of(table["conclusion"]), frozenset(table["common"])
            )
    return found


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    alternatives = "|".join(re.escape(phrase).replace("\\ ", r"\s+") for phrase in longest_first)
    return re.compile(rf"(?:{alternatives})\b", re.IGNORECASE)


def detect(text: str, markers: Mapping[str, Markers]) -> str:
    """The language whose commonest words the text has most of; "" where that is not clear.

    Clear means: at least a tenth of the words, and a fifth more than the next language.
    """
    words = Counter(word.lower() for word in _WORD.findall(text[:_DETECTED_FROM]))
    total = sum(words.values())
    ranked = sorted(
        ((sum(words[word] for word in entry.common), language) for language, entry in markers.items()),
        reverse=True,
    )
    if not ranked or ranked[0][0] * 10 < max(total, 1):
        return ""
    clear = len(ranked) == 1 or ranked[0][0] >= 1.2 * ranked[1][0]
    return ranked[0][1] if clear else ""
