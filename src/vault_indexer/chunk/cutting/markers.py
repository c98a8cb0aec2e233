"""Reads the files of `discourse_markers`: the words of each language that continue or conclude."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError
from vault_indexer.text.scripts import LETTER

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_PACKAGE = "vault_indexer.chunk.cutting.discourse_markers"
_FOLDER_KEY = "chunking.discourse.markers_dir"
_KEYS = ("continuation", "conclusion", "common")
_DETECTED_FROM = 20_000
_WORD = re.compile(rf"{LETTER}+(?:['’]{LETTER}+)*")
_OPENING = re.compile(r"[\s>*_\"'“‘«(\[¡¿-]*")


@dataclass(frozen=True, slots=True)
class Markers:
    """The markers of one language, and its most common words for detection."""

    continuation: re.Pattern[str]
    conclusion: re.Pattern[str]
    common: frozenset[str]

    def continues(self, paragraph: str) -> bool:
        return bool(_opening(self.continuation, paragraph))

    def conclusion_of(self, paragraph: str) -> str:
        """The words at the start of a paragraph that mark it as a conclusion, or ""."""
        return _opening(self.conclusion, paragraph)


def _opening(pattern: re.Pattern[str], paragraph: str) -> str:
    opening = _OPENING.match(paragraph)
    found = pattern.match(paragraph, opening.end() if opening else 0)
    return found[0] if found else ""


def load_markers(folder: str = "") -> Mapping[str, Markers]:
    """The markers of every language with a file, by its code (`en.toml`): built-in files, and those of a
    folder, which add or replace languages. Raises ProviderError for an unreadable file."""
    found = {name: _markers(tomllib.loads(text)) for name, text in _files(files(_PACKAGE))}
    if not folder:
        return found
    try:
        own = list(_files(Path(folder).expanduser()))
    except (OSError, ValueError) as error:
        raise ProviderError(f"{_FOLDER_KEY}: {folder} cannot be read: {error}") from error
    for name, text in own:
        found[name] = _own_markers(f"{folder}/{name}.toml", text)
    return found


def _files(folder: Traversable) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".toml"):
            yield file.name.removesuffix(".toml"), file.read_text(encoding="utf-8")


def _own_markers(file: str, text: str) -> Markers:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProviderError(f"{_FOLDER_KEY}: {file}: not valid TOML: {error}") from error
    for key in _KEYS:
        phrases = table.get(key)
        if not isinstance(phrases, list) or not all(
            isinstance(phrase, str) and phrase.strip() for phrase in phrases
        ):
            raise ProviderError(f"{_FOLDER_KEY}: {file}: {key} must be a list of words")
    unknown = sorted(table.keys() - set(_KEYS))
    if unknown:
        raise ProviderError(f"{_FOLDER_KEY}: {file}: {unknown[0]} is not known, only {', '.join(_KEYS)}")
    return _markers(table)


def _markers(table: Mapping[str, list[str]]) -> Markers:
    common = frozenset(word.lower() for word in table["common"])
    return Markers(_any_of(table["continuation"]), _any_of(table["conclusion"]), common)


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    alternatives = "|".join(_with_any_space(phrase) for phrase in longest_first)
    return re.compile(rf"(?:{alternatives})\b" if alternatives else r"(?!)", re.IGNORECASE)


def _with_any_space(phrase: str) -> str:
    """The phrase as a pattern, with any white space between its words and any apostrophe."""
    return re.escape(phrase).replace("\\ ", r"\s+").replace("'", "['’]")


def detect(text: str, markers: Mapping[str, Markers]) -> str:
    """The language whose most common words are most frequent in the text; "" if that is not clear.

    Clear means at least a tenth of the words, and a fifth more than the next language.
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
