"""The kind of answer that a question asks for (a person, a number, a time, a reason …), and whether a
sentence contains one.

The words are in a table for each language (`questions`). Names, numbers with their units, dates and times are
found by the check of written sentences.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise, takewhile
from typing import Literal

from vault_indexer.answer.check.dates import find_dates
from vault_indexer.answer.check.facts import capitalised_words
from vault_indexer.answer.check.lexicon import Phrases, blank, lexicon, read_list
from vault_indexer.answer.check.numbers import Quantity, quantities
from vault_indexer.answer.check.words import CODE
from vault_indexer.search import function_words, is_common_word
from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect
from vault_indexer.text.tokens import analyze

Kind = str
"""A section of the tables, such as "who" or "count"; "" if a question asks for anything else."""

Said = Literal["", "any", "word", "name", "value"]
"""How a sentence answers the kind of question: not at all; any sentence does; by a word such as "because"; by
a word that may be a name; by a full name, number, date or unit."""

_PACKAGE = "vault_indexer.answer.questions"
_TIMES = "ms s min h day week month year"
_UNITS: Mapping[Kind, frozenset[str]] = {
    kind: frozenset(units.split())
    for kind, units in {
        "price": "euro dollar pound franc yen yuan rouble",
        "weight": "mg g kg t lb oz",
        "temperature": "degree fahrenheit kelvin",
        "distance": "mm cm m km mile ft inch",
        "age": "day week month year",
        "duration": _TIMES,
        "often": _TIMES,
    }.items()
}
"""The units of the values that answer each kind of question, named as in `units.toml`."""

_NUMBERED = ("count", "amount", "version")

_VERSION = re.compile(
    r"(?<![\w.])v?\d+(?:\.\d+)+(?![\w])|(?<!\w)v\d+\b|(?i:version|release|versión|fassung)\s+v?\d"
)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_NUMBER_OF_ITEM = re.compile(r"(?m)^\s*\d{1,3}[.)]\s")
_PERSON = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]+")
_CAPITALISED = re.compile(r"(?:\s+[^\W\d_a-z]\w+)+")
_MODIFIER = re.compile(r"\b(?:[Tt]he|[Aa]n?)\s+[A-Z]\w*(?=\s+[a-z])")
_LABEL = re.compile(r"[^\n;:]+:\s*\Z|--[\w-]+[ =]\Z")
_NO_COUNT = re.compile(r"\b[^\W\d_]+\d+\b|\b\d{1,2}:\d\d\b")
"""A flight or a time of day, whose numbers count nothing."""

_POUND = re.compile(r"[\d./½¼¾ ]+(?i:pounds?)\s+(?!a\b|an\b|per\b|each\b|for\b)[a-z]")
"""A weight ("1 pound ground beef"), where "£1" and "1 pound a day" are prices."""

_LEAST_NOUN = 3
_PLURAL = re.compile(r"[^siu]s\Z")
_END = re.compile(r"[!?\n]|\.\s")
_BORDER = re.compile(rf";|{_END.pattern}")
_NEAR = 40
"""The maximum characters between a number and the noun that it counts."""


@record
class QuestionTable:
    """The words of one language, by kind."""

    asks: Mapping[Kind, Phrases]
    says: Mapping[Kind, Phrases]
    means: Mapping[Kind, frozenset[str]]


@cache
def question_tables() -> Mapping[str, QuestionTable]:
    """Returns the tables by language (ISO 639-1)."""
    found = {}
    for file in files(_PACKAGE).iterdir():
        if file.name.endswith(".toml"):
            language = file.name.removesuffix(".toml")
            found[language] = _read_table(tomllib.loads(file.read_text(encoding="utf-8")), language)
    return dict(sorted(found.items()))


def _read_table(table: Mapping[str, Mapping[str, str]], language: str) -> QuestionTable:
    def phrases(key: str) -> dict[Kind, Phrases]:
        return {
            kind: Phrases.read(read_list(own, key), language, is_inflected=False)
            for kind, own in table.items()
        }

    means = {
        kind: frozenset(term for word in read_list(own, "means") for term in _terms(word, language))
        for kind, own in table.items()
    }
    return QuestionTable(phrases("asks"), phrases("says"), means)


@record
class AskedKind:
    """The kind of answer that a question asks for ("" for any), the text after the asking phrase, the index
    terms of the counted noun, the terms that a sentence with such a value need not contain, and those of the
    question words, which no answer contains."""

    kind: Kind
    language: str
    question: str
    rest: str = ""
    counted: frozenset[str] = frozenset()
    implied: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()

    @classmethod
    def read(cls, question: str) -> AskedKind:
        tables = question_tables()
        language = detect(question, tuple(tables)) or "en"
        for code in dict.fromkeys((language, *tables)):
            if found := _first_phrase(question, tables[code], code):
                kind, start, end = found
                is_counted = kind == "count" or question[start:end].lower() in _OF_NOUNS
                rest, table = question[end:], tables[code]
                noun = _noun_after(rest, kind, code) if is_counted else frozenset()
                asking = _question_words(table, kind, code)
                return cls(kind, code, question, rest, noun, table.means[kind], asking)
        return cls("", language, question)

    def said_by(self, text: str, heading: str, language: str, ordinary: frozenset[str] = frozenset()) -> Said:
        """Returns how surely a text, below a heading, contains something of the asked kind that is not in the
        question. `ordinary` are the index terms of words that also occur in lower case in the notes, so they
        are not names."""
        if not self.kind or self.kind == "how":
            return "any"
        # The number of a list item answers no question about a number. Blanks keep the positions valid.
        text = _NUMBER_OF_ITEM.sub(lambda match: " " * len(match[0]), text)
        language = language or self.language
        table = question_tables().get(language)
        says = table.says[self.kind].find(text, language) if table else []
        says = [span for span in says if not self._is_asked(text[slice(*span)], language)]
        if self.kind in ("count", "amount") and says and self.counted:
            says = [span for span in says if self._is_near(span, text, language)]
        finder = _FINDERS.get(self.kind)
        if self.kind == "who" and (name := _name_found(self, text, heading, language, ordinary)):
            return name
        if finder and finder(self, text, heading, language):
            return "value"
        return "word" if says else ""

    def is_asked_by(self, heading: str, language: str) -> bool:
        """Whether a heading asks for the same kind ("Why the lid") or names it ("Reasons")."""
        table = question_tables().get(language or self.language)
        if table is None or not self.kind:
            return False
        return bool(table.asks[self.kind].find(heading, language)) or not table.means[self.kind].isdisjoint(
            _terms(heading, language)
        )

    def is_of_person(self, label: str, language: str) -> bool:
        """Whether a person is asked for and the label is a word for one ("author")."""
        table = question_tables().get(language or self.language)
        return self.kind == "who" and table is not None and bool(table.says["who"].find(label, language))

    def _is_asked(self, phrase: str, language: str) -> bool:
        """Whether a phrase is of the question's own words, other than function words such as "in"."""
        idle = function_words(language)
        telling = [word for word in _WORD.findall(phrase) if fold(normalize(word)) not in idle]
        asked = _terms(self.rest, self.language) if telling else frozenset()
        return bool(telling) and not any(asked.isdisjoint(_terms(word, language)) for word in telling)

    def _numbers(self, text: str, language: str) -> list[Quantity]:
        """Returns the numbers of the text, without dates and the numbers of the question."""
        dates = [(one.start, one.end) for one in find_dates(text, language)]
        own = {one.value for one in quantities(self.question, self.language)}
        return [one for one in quantities(blank(text, dates), language) if one.value not in own]

    def _is_near(self, span: tuple[int, int], text: str, language: str) -> bool:
        border = _BORDER if self.kind == "count" else _END  # an amount may be in the next cell of a row
        before = border.split(text[max(0, span[0] - _NEAR) : span[0]])[-1]
        behind = border.split(text[span[1] : span[1] + _NEAR])[0]
        return not self.counted.isdisjoint(_terms(before + text[slice(*span)] + behind, language))


def is_label_row(first: str, second: str, values: Iterable[str]) -> bool:
    """Whether the first row of a table is a label and a value: neither is a word for a column ("Value",
    "Price"), and the value has a number or those below are not of one kind ("120 ft", "Self")."""
    names_columns = any(
        lexicon(language).find("columns", f"{first}. {second}")
        or any(not means.isdisjoint(_terms(second, language)) for means in table.means.values())
        for language, table in question_tables().items()
    )
    units = {next((one.unit or "number" for one in quantities(value)), "") for value in values}
    kinds = {"time" if unit in _UNITS["often"] else unit for unit in units}
    is_value = any(map(str.isdigit, second)) and not second.isdigit()
    return not names_columns and (is_value or len(kinds) > 1)


_OF_NOUNS = frozenset({"how much", "wie viel", "wieviel", "cuánto", "cuánta", "combien", "combien de"})


def _first_phrase(question: str, table: QuestionTable, language: str) -> tuple[Kind, int, int] | None:
    found = [
        (start, -end, kind)
        for kind, phrases in table.asks.items()
        for start, end in phrases.find(question, language)
    ]
    if not found:
        return None
    start, end, kind = min(found)
    if kind == "amount":  # "how much does it cost", "how much does it weigh"
        kind = next((one for _, _, one in sorted(found) if one in _UNITS), kind)
    return kind, start, -end


def _question_words(table: QuestionTable, kind: Kind, language: str) -> frozenset[str]:
    """Returns the terms of words such as "whom". A single word of another kind may be a noun ("price")."""
    phrases = table.asks[kind].phrases if kind not in _UNITS and kind not in _NUMBERED else ()
    words = [phrase[0] for phrase in phrases if len(phrase) == 1]
    return frozenset[str]().union(*(_terms(word, language) for word in words))


def _noun_after(rest: str, kind: Kind, language: str) -> frozenset[str]:
    """Returns the terms of the word after an asking phrase: "downloads" after "how many", but "points" in
    "how many hit points". After "how much" it may be a verb, which is no noun to look for."""
    idle = function_words(language)
    after = [match[0] for match in _WORD.finditer(rest) if len(match[0]) >= _LEAST_NOUN]
    found = next(iter(after), "")
    if kind == "count" and language == "en":
        noun = takewhile(lambda word: word.lower() not in idle, after)
        found = next((word for word in noun if _PLURAL.search(word)), found)
    if kind == "amount" and fold(normalize(found)) in idle:
        return frozenset()
    return _terms(found, language)


def _terms(word: str, language: str) -> frozenset[str]:
    """Returns the index terms of a word, also those of its stem as a word."""
    found = analyze(word, language)
    return frozenset(found).union(term.removeprefix("~") for term in found)


def _name_found(asked: AskedKind, text: str, heading: str, language: str, ordinary: frozenset[str]) -> Said:
    """Returns "value" if there is the full name of a person, "name" for a single capitalised word.

    Words of the question, ordinary ones, and words with other capitals, digits or hyphens, as product names
    have, do not count. In English, nor does a word between an article and one in lower case ("the Verbose
    parameter")."""
    own = {fold(normalize(word)) for word in _WORD.findall(asked.question)}
    dates = find_dates(text, language)  # "Thursday" is no person
    text = blank(text, ((one.start, one.end) for one in dates))
    places = (_CAPITALISED.match(text, end) for _, end in lexicon(language).find("places", text))
    text = blank(text, (place.span() for place in places if place))  # "in Poole"
    if language == "en":
        text = _MODIFIER.sub("", text)
    above = capitalised_words(f"a {heading}", "" if language == "de" else language)
    names = [*capitalised_words(text, language), *(name for name in above if not is_common_word(name))]
    found = [
        name
        for name in names
        if _PERSON.fullmatch(name)
        and fold(normalize(name)) not in own
        and ordinary.isdisjoint(analyze(name, language))
    ]
    runs = (rf"{re.escape(one)}\s+(?:[^\W\d_]\.\s+)*{re.escape(two)}" for one, two in pairwise(found))
    is_full = any(re.search(run, text) or re.search(run, heading) for run in runs)
    return "value" if is_full else "name" if found else ""


def _has_date(asked: AskedKind, text: str, _heading: str, language: str) -> bool:
    stated = [one.text for one in find_dates(text, language) if one.text not in asked.question]
    return bool(stated) or any(one.kind in ("year", "h") for one in asked._numbers(text, language))


def _has_time_of_day(asked: AskedKind, text: str, _heading: str, language: str) -> bool:
    times = [one.text for one in find_dates(text, language) if "hour" in one.parts]
    is_hour = any(one.unit == "h" for one in asked._numbers(text, language))
    return is_hour or any(one not in asked.question for one in times)


def _has_place(_asked: AskedKind, text: str, _heading: str, _language: str) -> bool:
    return bool(CODE.search(text))


def _has_count(asked: AskedKind, text: str, _heading: str, language: str) -> bool:
    codes = [match.span() for match in _NO_COUNT.finditer(text)]
    numbers = [
        one
        for one in asked._numbers(text, language)
        if one.unit or not any(start <= one.start < end for start, end in codes)
    ]
    if asked.kind == "count":  # "12 hours" is no number of themes
        spans = {one: _terms(text[one.start : one.end], language) for one in numbers if one.unit}
        units = {own.unit for noun in asked.counted for own in quantities(f"1 {noun}") if own.unit}
        if any(one.unit in units for one in numbers):  # "250 g" are grams
            return True
        numbers = [one for one in numbers if not asked.counted.isdisjoint(spans.get(one, asked.counted))]
    return any(not asked.counted or asked._is_near((one.start, one.end), text, language) for one in numbers)


def _has_unit(units: frozenset[str]) -> Callable[[AskedKind, str, str, str], bool]:
    """Returns a function that finds numbers in these units, or without one behind a word for the kind: as a
    label ("temperature: 1280"), behind a flag, or for a price anywhere before it, because no list contains
    all currencies ("costs 450 crowns")."""

    def has_unit(asked: AskedKind, text: str, _heading: str, language: str) -> bool:
        return any(
            (one.unit in units and not _POUND.match(text, one.start))
            or (not one.unit and is_named(asked, text[: one.start], language))
            for one in asked._numbers(text, language)
        )

    def is_named(asked: AskedKind, before: str, language: str) -> bool:
        label = _LABEL.search(before)
        named = before if asked.kind == "price" else label[0] if label else ""
        column = quantities(f"1 {label[0].strip(' :')}") if label else ()
        is_of_unit = any(one.unit in units for one in column)  # "£: 812"
        return is_of_unit or not asked.implied.isdisjoint(_terms(named, language))

    return has_unit


def _has_version(asked: AskedKind, text: str, _heading: str, _language: str) -> bool:
    return any(match[0] not in asked.question for match in _VERSION.finditer(text))


_FINDERS: Mapping[Kind, Callable[[AskedKind, str, str, str], bool]] = {
    "when": _has_date,
    "past": _has_date,
    "clock": _has_time_of_day,
    "where": _has_place,
    "count": _has_count,
    "amount": _has_count,
    "version": _has_version,
    **{kind: _has_unit(units) for kind, units in _UNITS.items()},
}
