"""The facts of a clause: numbers, dates, units, names, code, and how it denies, limits and obliges.

`conflict` compares them with one statement. Numbers and dates are compared as a whole, with sign and unit,
and have to stand there at words that the clause shares.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vault_indexer.answer.check.dates import DateMention, find_dates, missing_date
from vault_indexer.answer.check.details import capitalised_words, unknown_code, unknown_names
from vault_indexer.answer.check.lexicon import UNSPACED_LANGUAGES, WordClass, blank, lexicon
from vault_indexer.answer.check.numbers import Quantity, quantities
from vault_indexer.answer.check.polarity import same_polarity
from vault_indexer.answer.check.words import (
    clauses,
    clauses_about,
    content_words,
    overlap,
    without_limits,
)

_CLEARLY_MORE = 3
"""A fact belongs to something else if another part of the note shares more than so many times as many words
with the clause. Chosen on the tuning half of `benchmarks/claims`."""

_LIMITING: Sequence[WordClass] = ("most", "some", "few")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a note whose facts are known: its text, the headings above it, and both with the markup
    of the note in `whole`. `clauses` are of the text, `words` the content words of the whole."""

    text: str
    heading: str
    whole: str
    language: str
    clauses: tuple[str, ...]
    words: Mapping[str, str]

    @classmethod
    def read(cls, text: str, heading: str, quote: str, language: str) -> Statement:
        """A sentence as it is read, the headings above, and the sentence as it stands in the note."""
        text, heading, quote = (unicodedata.normalize("NFKC", one) for one in (text, heading, quote))
        whole = f"{text} \n{heading} \n{quote}"
        return cls(
            text, heading, whole, language, tuple(clauses(text, language)), content_words(whole, language)
        )

    def added_limits(self, clause: str) -> tuple[str, ...]:
        """The words of a clause that oblige or generalise, where this statement has none of the kind."""
        own, whole = lexicon(self.language), _without_months(self.whole, self.language)
        clause = _without_months(clause, self.language)
        found: list[str] = []
        names: Sequence[WordClass] = ("all", "necessary", "possible")
        for name in names:
            if not own.find(name, whole):
                found += [clause[start:end] for start, end in own.find(name, clause)]
        return tuple(found)


def _without(text: str, dates: Iterable[DateMention]) -> str:
    """The text with blanks for these dates of it."""
    return blank(text, ((one.start, one.end) for one in dates))


def _without_dates(text: str, language: str) -> str:
    """The text with blanks for its dates."""
    return _without(text, find_dates(text, language))


def _without_months(text: str, language: str) -> str:
    """The text with blanks for its dates, as English "May" is no "may" there. A month alone that begins a
    line stays: it may be none, as in "May contain nuts"."""

    def is_sure(date: DateMention) -> bool:
        return len(date.parts) > 1 or bool(text[: date.start].rpartition("\n")[2].strip())

    return _without(text, filter(is_sure, find_dates(text, language)))


def conflict(clause: str, claim: str, statement: Statement) -> str:
    """Why a clause of a claim is not what the statement says, as a clause for a person; "" if no fact
    differs."""
    clause, claim = (unicodedata.normalize("NFKC", one) for one in (clause, claim))
    found = (check(clause, statement) for check in _CHECKS)
    return next(filter(None, found), "") or _limit_conflict(clause, claim, statement)


def _number_conflict(clause: str, statement: Statement) -> str:
    language = statement.language
    dates, stated_dates = find_dates(clause, language), find_dates(statement.whole, language)
    years = frozenset(int(one.value) for one in quantities(statement.whole, language) if one.kind == "year")
    if missing := missing_date(dates, stated_dates, years):
        return f"the date or time {missing} is not in what it cites"
    own = quantities(_without(clause, dates), language)
    stated = quantities(_without_dates(statement.text, language), language)
    stated += quantities(statement.heading, language)
    # Each as often as it stands there: "from 3 to 5" is not "from 5 to 5".
    values = Counter(one.value for one in stated)
    values.update(str(value) for one in stated_dates for value in one.parts.values())
    if lacking := sorted(Counter(one.value for one in own) - values):
        return f"the number {lacking[0]} is not in what it cites"
    return _unit_conflict(own, stated)


def _unit_conflict(own: Sequence[Quantity], stated: Sequence[Quantity]) -> str:
    everywhere = {one.unit for one in stated}
    for quantity in own:
        units = {one.unit for one in stated if one.value == quantity.value}
        is_other = bool(quantity.unit and units) and quantity.unit not in units
        if is_other and ("" not in units or quantity.unit not in everywhere):
            return f"{quantity.value} is not in {quantity.unit} in what it cites"
    return ""


def _code_conflict(clause: str, statement: Statement) -> str:
    code = unknown_code(clause, statement.whole)
    return f"{code[0]!r} is not in what it cites" if code else ""


def _name_conflict(clause: str, statement: Statement) -> str:
    language = statement.language
    masked = _without_dates(clause, language)
    if language in UNSPACED_LANGUAGES:
        masked = without_limits(masked, language)
    names = unknown_names(masked, statement.whole, statement.language)
    return f"the name {names[0]} is not in what it cites" if names else ""


def _polarity_conflict(clause: str, statement: Statement) -> str:
    language = statement.language
    about = clauses_about(clause, statement.clauses, language)
    if content_words(clause, language) and not same_polarity(clause, about, language):
        return "it denies what the note says, or the reverse"
    return ""


def _limit_conflict(clause: str, claim: str, statement: Statement) -> str:
    own, language = lexicon(statement.language), statement.language
    about = "\n".join(clauses_about(clause, statement.clauses, language))
    clause, claim, about, stated = (
        _without_months(one, language) for one in (clause, claim, about, statement.text)
    )

    def has(name: WordClass, text: str) -> bool:
        return bool(own.find(name, text))

    for name in _LIMITING:
        if (has(name, clause) and not has(name, stated)) or (has(name, about) and not has(name, claim)):
            return "it speaks of more or of fewer than the note does"
    if has("all", clause) and not has("all", stated) and any(has(one, about) for one in _LIMITING):
        return "it speaks of more than the note does"
    if has("only", clause) and not has("only", stated):
        return "it excludes what the note does not"
    if has("possible", about) and not has("possible", claim):
        return "it is surer than the note"
    if has("necessary", about) and has("possible", clause) and not has("necessary", clause):
        return "it leaves open what the note demands"
    return ""


def _binding_conflict(clause: str, statement: Statement) -> str:
    """A fact that the note states of something else: the parts of the note that hold it share hardly a word
    with the clause, while another part shares many and has another fact of the kind."""
    language = statement.language
    shared = {one: overlap(one, clause, language) for one in statement.clauses}
    if len(shared) == 1:
        return ""
    for find_facts in (_date_facts, _quantity_facts, _name_facts):
        of_clauses = {one: find_facts(one, language) for one in shared}
        for fact in find_facts(clause, language):
            holders = [shared[one] for one, facts in of_clauses.items() if fact in facts]
            others = [
                shared[one]
                for one, facts in of_clauses.items()
                if fact not in facts and any(kind == fact[0] for kind, _ in facts)
            ]
            if holders and max(others, default=0) > _CLEARLY_MORE * max(holders):
                return f"the note says {fact[1]} of something else"
    return ""


Fact = tuple[str, str]
"""Its kind, and how it is shown."""


def _date_facts(text: str, language: str) -> list[Fact]:
    return [
        (one.kind, " ".join(f"{value}" for _, value in sorted(one.parts.items())))
        for one in find_dates(text, language)
    ]


def _quantity_facts(text: str, language: str) -> list[Fact]:
    return [(one.kind, one.value) for one in quantities(_without_dates(text, language), language)]


def _name_facts(text: str, language: str) -> list[Fact]:
    if language == "de":  # every noun has a capital there
        return []
    masked = _without_dates(text, language)
    return [("name", name) for name in capitalised_words(masked, language)]


_CHECKS: Sequence[Callable[[str, Statement], str]] = (
    _number_conflict,
    _code_conflict,
    _name_conflict,
    _polarity_conflict,
    _binding_conflict,
)
