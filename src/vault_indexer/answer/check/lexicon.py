"""Reads the files of `lexicons`: words for negation, reversal, limits and dates, in each language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import SPACED_LETTER
from vault_indexer.text.stem import stem

_PACKAGE = "vault_indexer.answer.check.lexicons"
_DEFAULT = "en"
UNSPACED_LANGUAGES = ("zh", "ja")
"""Languages whose words are searched for as substrings of the text."""

_LEAST_STEM = 4
"""Words with shorter stems match only as whole words, because "neg" is the stem of both "negar" and
"negra"."""

_LONGEST_PHRASE = 40
"""The maximum characters of a phrase of a list. The words of a whole sentence take ten times as long."""

WORD = re.compile(rf"{SPACED_LETTER}+(?:['’-]{SPACED_LETTER}+)*")
"""A word of a script with spaces."""

_CONTRACTED = re.compile(r"\b(\w+?)n['’]t\b")
_ELIDED = re.compile(r"\b(?:(jusqu|lorsqu|puisqu|quoiqu|qu)|[cdjlmnst])['’](?=\w)", re.IGNORECASE)

WordClass = Literal[
    "negators",
    "no_negations",
    "reversing",
    "implied",
    "possible",
    "necessary",
    "future",
    "former",
    "intended",
    "past",
    "present",
    "all",
    "most",
    "some",
    "few",
    "only",
    "light",
    "relations",
    "selecting",
    "columns",
    "joins",
    "sources",
    "targets",
    "replaced",
    "earlier",
    "later",
    "sequence",
    "causes",
    "until",
    "concessions",
    "conditions",
    "exceptions",
    "otherwise",
    "agents",
    "superlatives",
    "places",
    "pronouns",
    "belonging",
    "owners",
    "pointers",
]
Calendar = Literal["months", "weekdays", "seasons"]


@record
class Token:
    """A word of a text: its normalized form, its folded form, its stem, and its span in the text."""

    normal: str
    folded: str
    stem: str
    start: int
    end: int


def tokens(text: str, language: str) -> list[Token]:
    """Returns the words of a text. In French and Italian they do not include elided articles, and an elided
    conjunction is a word ("parce qu'il")."""
    words = []
    for match in WORD.finditer(text):
        start = match.start()
        if elided := elision(match[0], language):
            if elided[1]:
                joining = normalize(f"{elided[1]}e")
                words.append(Token(joining, fold(joining), joining, start, start + elided.end()))
            start += elided.end()
        normal = normalize(text[start : match.end()])
        words.append(Token(normal, fold(normal), stem(normal, language), start, match.end()))
    return words


def elision(word: str, language: str) -> re.Match[str] | None:
    """Returns the elided article or conjunction with which a word begins."""
    return _ELIDED.match(word) if language in ("fr", "it") else None


@record
class Phrases:
    """Words and phrases of one class. With `is_inflected` other forms of a single word also count, except of
    a word listed with "=" because its stem is that of another word ("=found", "founded"). An entry with a
    hyphen is the ending of a word, with its accents ("-ará")."""

    phrases: frozenset[tuple[str, ...]]
    stems: frozenset[str]
    pattern: re.Pattern[str] | None
    endings: tuple[str, ...] = ()

    @classmethod
    def read(cls, listed: Iterable[str], language: str, *, is_inflected: bool) -> Phrases:
        if language in UNSPACED_LANGUAGES:
            return cls(frozenset(), frozenset(), any_of(listed))
        endings = tuple(normalize(one[1:]) for one in listed if one.startswith("-"))
        normal = [normalize(one) for one in listed if not one.startswith("-")]
        own = frozenset(tuple(fold(one.lstrip("=")).split()) for one in normal)
        stems = (
            {stem(one, language) for one in normal if one[0] != "=" and " " not in one}
            if is_inflected
            else set()
        )
        return cls(own, frozenset(one for one in stems if len(one) >= _LEAST_STEM), None, endings)

    def find(self, text: str, language: str) -> list[tuple[int, int]]:
        """Returns the spans of the text in this class, in order. The longest phrase takes precedence."""
        if self.pattern is not None:
            return [match.span() for match in self.pattern.finditer(text)]
        return list(self._find_phrases(tokens(text, language)))

    def _find_phrases(self, words: Sequence[Token]) -> Iterator[tuple[int, int]]:
        longest = max(map(len, self.phrases), default=1)
        at = 0
        while at < len(words):
            size = next((n for n in range(longest, 0, -1) if self._is_at(words, at, n)), 0)
            if size:
                yield words[at].start, words[at + size - 1].end
            at += max(size, 1)

    def _is_at(self, words: Sequence[Token], at: int, size: int) -> bool:
        part = tuple(one.folded for one in words[at : at + size])
        is_form = size == 1 and (words[at].stem in self.stems or words[at].normal.endswith(self.endings))
        return (len(part) == size and part in self.phrases) or is_form


def any_of(listed: Iterable[str]) -> re.Pattern[str] | None:
    """Returns a pattern for any of these texts, the longest first, or None if there are none."""
    # An alternation takes the first text that matches, even if a longer one follows.
    longest_first = sorted({one for one in listed if one}, key=lambda one: (-len(one), one))
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


@record
class Lexicon:
    """The words of one language. `opposites` maps a stem to those of contrary words, `converse` to those that
    mean the same if the things they relate are exchanged ("above", "below"), `alike` to those of words that
    may answer a question with it ("wrote", "author"). `calendar` maps each form of a month (1 to 12), day (1
    to 7, 8 for a working day, 9 for the weekend) or season (1 to 4) to its number, `numbers` each number
    word, folded, to its value, without "one", an article or pronoun in most languages. `halves` are the words
    for a half of a unit, `behind_units` those that add a half to the unit before them,
    `synonyms` groups of words with one meaning."""

    language: str
    classes: Mapping[str, Phrases]
    prefixes: tuple[str, ...]
    suffixes: tuple[str, ...]
    opposites: Mapping[str, frozenset[str]]
    converse: Mapping[str, frozenset[str]]
    alike: Mapping[str, frozenset[str]]
    calendar: Mapping[str, Mapping[str, int]]
    minus: tuple[str, ...]
    numbers: Mapping[str, float]
    halves: tuple[str, ...]
    behind_units: tuple[str, ...]
    synonyms: tuple[str, ...]

    def find(self, name: WordClass, text: str) -> list[tuple[int, int]]:
        return self.classes[name].find(text, self.language)

    def starts_with(self, name: WordClass, text: str) -> bool:
        return any(start == 0 for start, _ in self.find(name, text[:_LONGEST_PHRASE]))

    def words(self, name: WordClass, text: str) -> list[str]:
        return [fold(normalize(text[start:end])) for start, end in self.find(name, text)]

    def without(self, name: WordClass, text: str) -> str:
        return blank(text, self.find(name, text))


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Returns the text with each span replaced by spaces of the same length."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def expand_contractions(text: str) -> str:
    """Expands English "isn't" to "is not"."""
    return _CONTRACTED.sub(r"\1 not", text)


@cache
def lexicon(language: str) -> Lexicon:
    """Returns the words of a language (ISO 639-1), or of English if there is no file for it."""
    file = files(_PACKAGE) / f"{'nb' if language == 'no' else language}.toml"
    if not language or not file.is_file():
        return lexicon(_DEFAULT)
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    inflected = ("reversing", "light", "relations", "necessary")
    classes = {
        name: Phrases.read(read_list(table, name), language, is_inflected=name in inflected)
        for name in get_args(WordClass)
    }
    calendar = {name: _numbered(read_list(table, name)) for name in get_args(Calendar)}
    prefixes, suffixes = (tuple(map(normalize, read_list(table, name))) for name in ("prefixes", "suffixes"))
    minus = tuple(read_list(table, "minus"))
    listed = read_list(table, "converse")
    opposites = _paired([*read_list(table, "opposites"), *listed], language, is_mutual=True)
    converse = _paired(listed, language, is_mutual=True)
    alike = _paired(read_list(table, "alike"), language, is_mutual=False)
    pairs = (one.split("/") for one in read_list(table, "numbers"))
    numbers = {fold(normalize(word)): float(value) if "." in value else int(value) for word, value in pairs}
    halves, behind_units = (tuple(read_list(table, name)) for name in ("halves", "behind_units"))
    return Lexicon(
        language,
        classes,
        prefixes,
        suffixes,
        opposites,
        converse,
        alike,
        calendar,
        minus,
        numbers,
        halves,
        behind_units,
        tuple(read_list(table, "synonyms")),
    )


@cache
def languages() -> tuple[str, ...]:
    names = (file.name for file in files(_PACKAGE).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_list(table: Mapping[str, str], name: str) -> list[str]:
    """Returns the entries of a list separated by commas and spaces. Ideographic commas can be entries."""
    return [one for part in table.get(name, "").split(", ") if (one := part.strip())]


def _numbered(listed: Sequence[str]) -> dict[str, int]:
    return {form: number for number, forms in enumerate(listed, start=1) for form in forms.split("/")}


def _paired(listed: Iterable[str], language: str, *, is_mutual: bool) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in listed:
        one, _, other = pair.partition("/")
        if language not in UNSPACED_LANGUAGES:
            one, other = stem(normalize(one), language), stem(normalize(other), language)
        found.setdefault(one, set()).add(other)
        if is_mutual:
            found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}
