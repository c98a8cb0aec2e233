"""Which numbers, dates and times a text states, where each stands, and when one states another."""

from __future__ import annotations

import pytest

from vault_indexer.answer.check.dates import find_dates, missing_date
from vault_indexer.answer.check.numbers import Quantity, quantities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # digits, their groups and fractions
        ("12,34", [("12.34", "", 0, 5)]),
        ("12 345 678", [("12345678", "", 0, 10)]),
        ("1,500.25", [("1500.25", "", 0, 8)]),
        # signs
        ("-5", [("-5", "", 0, 2)]),
        ("a -5", [("-5", "", 2, 4)]),
        ("a-5", [("5", "", 2, 3)]),
        ("5-7", [("5", "", 0, 1), ("7", "", 2, 3)]),
        ("x minus 5 y", [("-5", "", 2, 9)]),
        ("in the far north minus 5", [("-5", "", 17, 24)]),
        ("在零下5度", [("-5", "degree", 1, 5)]),
        ("零下五度", [("-5", "degree", 0, 4)]),
        ("二〇", [("20", "", 0, 2)]),
        # units
        ("5 kmx", [("5", "", 0, 1)]),
        ("5°C", [("5", "degree", 0, 3)]),
        ("5 years", [("5", "year", 0, 7)]),
        ("999 years", [("999", "year", 0, 9)]),
        ("1999 years", [("1999", "", 0, 4)]),
        ("20分钟以后", [("20", "min", 0, 4)]),
        ("20分钟的", [("20", "min", 0, 4)]),
        ("$5", [("5", "dollar", 0, 2)]),
        ("a $ 5", [("5", "dollar", 2, 5)]),
        ("€5 m", [("5", "euro", 0, 2)]),
        # words, and what multiplies a number
        ("2 million cars", [("2000000", "", 0, 9)]),
        ("1.5 million km", [("1500000", "km", 0, 14)]),
        ("two thousand", [("2000", "", 0, 12)]),
        ("2万", [("20000", "", 0, 2)]),
        ("3億", [("300000000", "", 0, 2)]),
        # Chinese
        ("一", []),
        ("十", [("10", "", 0, 1)]),
        ("十五", [("15", "", 0, 2)]),
        ("三百零五", [("305", "", 0, 4)]),
        ("二千三百", [("2300", "", 0, 4)]),
        ("三万二千", [("32000", "", 0, 4)]),
        ("三亿五万", [("300050000", "", 0, 4)]),
        ("万", [("10000", "", 0, 1)]),
        ("三百零六万", [("3060000", "", 0, 5)]),
        ("两百万", [("2000000", "", 0, 3)]),
        ("二〇二六", [("2026", "", 0, 4)]),
    ],
)
def test_a_number_has_its_value_its_unit_and_its_place(
    text: str, found: list[tuple[str, str, int, int]]
) -> None:
    assert [(one.value, one.unit, one.start, one.end) for one in quantities(text)] == found


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("once", "es", ["11"]),
        ("once", "en", []),
        ("once", "", []),
        ("dos millones", "es", ["2000000"]),
        ("двенадцать", "", ["12"]),
        ("1 234,5 in the 16th", "", ["1234.5", "16"]),
    ],
)
def test_a_number_word_counts_in_its_language(text: str, language: str, values: list[str]) -> None:
    assert [one.value for one in quantities(text, language)] == values


def test_numbers_in_digits_and_words_are_in_the_order_of_the_text() -> None:
    assert [one.value for one in quantities("two of 3 and 四十 of 5")] == ["2", "3", "40", "5"]


@pytest.mark.parametrize(
    ("value", "unit", "kind"),
    [
        ("1000", "", "year"),
        ("2099", "", "year"),
        ("999", "", ""),
        ("2100", "", ""),
        ("1999", "km", "km"),
    ],
)
def test_a_number_without_a_unit_may_be_a_year(value: str, unit: str, kind: str) -> None:
    assert Quantity(value, unit, 0, 1).kind == kind


def parts(**found: int) -> dict[str, int]:
    return found


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("2021-5-3", "en", [("2021-5-3", parts(year=2021, month=5, day=3))]),
        ("2021-05-033", "en", []),
        ("12021-05-03", "en", []),
        ("3. 5. 21", "en", [("3. 5. 21", parts(day=3, month=5, year=2021))]),
        ("3.5.99", "en", [("3.5.99", parts(day=3, month=5, year=2099))]),
        ("3.5.210", "en", []),
        ("on 3/5/21", "en", [("3/5/21", parts(day=3, month=5, year=2021))]),
        ("1/3/5/2021", "en", []),
        ("3/5/21/4", "en", []),
        ("24:00", "en", [("24:00", parts(hour=24, minute=0))]),
        ("25:30", "en", []),
        ("4:305", "en", []),
        ("1,4:30", "en", []),
        ("at 3 pm", "en", [("3 pm", parts(hour=15, minute=0))]),
        ("at 3 P.M. on", "en", [("3 P.M.", parts(hour=15, minute=0))]),
        ("3 o'clock", "en", [("3", parts(hour=3, minute=0))]),
        ("5:30 pm", "en", [("5:30 pm", parts(hour=17, minute=30))]),
        ("14 h 20", "fr", [("14 h 20", parts(hour=14, minute=20))]),
        ("8.30 Uhr", "de", [("8.30 Uhr", parts(hour=8, minute=30))]),
        ("8.30", "de", []),
        ("20 Uhr", "de", [("20 Uhr", parts(hour=20, minute=0))]),
        ("3rd of May 2021", "en", [("3rd of May 2021", parts(day=3, year=2021, month=5))]),
        ("May 3rd, 2021", "en", [("May 3rd, 2021", parts(day=3, year=2021, month=5))]),
        ("may 3 and june", "en", []),
        ("Junes", "en", []),
        ("xJune", "en", []),
        ("33 3 June", "en", [("3 June", parts(day=3, month=6))]),
        ("winter 2020", "en", [("winter", parts(season=4))]),
        ("Spring", "en", [("Spring", parts(season=1))]),
        ("1º de mayo del 2021", "es", [("1º de mayo del 2021", parts(day=1, year=2021, month=5))]),
        ("am 3. Mai 2021", "de", [("3. Mai 2021", parts(day=3, year=2021, month=5))]),
        ("1er mai 2020", "fr", [("1er mai 2020", parts(day=1, year=2020, month=5))]),
        ("2021年5月3号", "zh", [("2021年5月3号", parts(year=2021, month=5, day=3))]),
        ("15時20分", "zh", [("15時20分", parts(hour=15, minute=20))]),
        ("下午3点", "zh", [("3点", parts(hour=15, minute=0))]),
        ("下午12点", "zh", [("12点", parts(hour=12, minute=0))]),
        ("星期一的", "zh", [("星期一", parts(weekday=1))]),
        (
            "13 June 2021 at 4:30 and on Monday",
            "en",
            [
                ("13 June 2021", parts(day=13, year=2021, month=6)),
                ("4:30", parts(hour=4, minute=30)),
                ("Monday", parts(weekday=1)),
            ],
        ),
        # a name is a word of its own, where words have blanks between them
        ("Der Maimorgen im Mai", "de", [("Mai", {"month": 5})]),
        ("我们冬天去", "zh", [("冬天", {"season": 4})]),
    ],
)
def test_a_date_has_the_parts_that_are_stated(
    text: str, language: str, found: list[tuple[str, dict[str, int]]]
) -> None:
    mentions = find_dates(text, language)
    assert [(one.text, dict(one.parts)) for one in mentions] == found
    assert [text[one.start : one.end] for one in mentions] == [shown for shown, _ in found]


@pytest.mark.parametrize(
    ("claim", "note", "years", "missing"),
    [
        ("in May 2021", "in May 2021", (), ""),
        ("in May", "in June", (), "May"),
        ("in May and June", "in May", (), "June"),
        ("in May 2021", "in May", (), "May 2021"),
        ("in May 2021", "in May", (2021,), ""),
        ("in May 2021", "in May", (2020,), "May 2021"),
        ("in May 2021", "in May 2020", (2021,), "May 2021"),
        ("in May", "on 3 May", (), ""),
        ("on 3 May", "in May", (), "3 May"),
        ("at 0:00", "at 24:00", (), ""),
        ("in May 2021", "in May and in June 2021", (), ""),
        ("in May", "nothing", (), "May"),
        ("at 4:30", "at 16:30", (), ""),
        ("at 4:30 pm", "at 4:30", (), ""),
        ("at 4:30", "at 17:30", (), "4:30"),
        ("at 4:30", "at 16:31", (), "4:30"),
    ],
)
def test_the_first_date_that_is_not_stated_is_named(
    claim: str, note: str, years: tuple[int, ...], missing: str
) -> None:
    assert missing_date(find_dates(claim, "en"), find_dates(note, "en"), frozenset(years)) == missing
