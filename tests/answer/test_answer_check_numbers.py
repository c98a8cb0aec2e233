"""Which numbers, dates and times a text states, where each stands, and when one states another."""

from __future__ import annotations

from pathlib import Path

from golden_cases import check_golden, of_parts

from vault_indexer.answer.check.dates import find_dates, missing_date
from vault_indexer.answer.check.numbers import Quantity, quantities


def numbers(text: str) -> list[tuple[str, str, int, int]]:
    return [(one.value, one.unit, one.start, one.end) for one in quantities(text)]


def dates(text: str, language: str) -> str:
    found = find_dates(text, language)
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
    return ", ".join(f"{one.text} {dict(one.parts)}" for one in found)


def missing(claim: str, note: str, years: str) -> str:
    of_note = frozenset(map(int, years.split()))
    return missing_date(find_dates(claim, "en"), find_dates(note, "en"), of_note)


def test_numbers_and_dates_are_read_as_the_golden_says() -> None:
    check_golden(
        Path(__file__).parent / "fixtures" / "check_numbers.md",
        {
            "A number has its value, its unit and its place": of_parts(numbers),
            "A number word counts in its language": of_parts(
                lambda *parts: [one.value for one in quantities(*parts)]
            ),
            "A number without a unit may be a year": of_parts(
                lambda value, unit: Quantity(value, unit, 0, 1).kind
            ),
            "A date has the parts that are stated": of_parts(dates),
            "The first date that is not stated is named": of_parts(missing),
        },
    )


def test_numbers_in_digits_and_words_are_in_the_order_of_the_text() -> None:
    assert [one.value for one in quantities("two of 3 and 四十 of 5")] == ["2", "3", "40", "5"]
