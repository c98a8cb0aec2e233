"""Moments, numbers and dates as a query or a property writes them."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from golden_cases import check_golden

from vault_indexer.search.query.ast import is_moment, iso_date, moment_ns, number

ZONE = timezone(timedelta(hours=2))
NOW = datetime(2024, 3, 1, 9, 30, 15, 250, tzinfo=ZONE)


def test_moments_and_dates_are_those_of_the_golden() -> None:
    def moment(text: str) -> str:
        nanoseconds = moment_ns(text, NOW)
        return str(datetime.fromtimestamp(0, ZONE) + timedelta(microseconds=nanoseconds / 1000))

    check_golden(
        Path(__file__).parent / "fixtures" / "moments.md",
        {
            "Moments": moment,
            "No moments": lambda text: str(is_moment(text)),
            "Dates in a form that sorts by time": lambda text: str(iso_date(text)),
        },
    )
    assert iso_date(20260131) is None


def test_a_moment_far_away_is_the_first_or_last_that_can_be_kept() -> None:
    assert moment_ns("0001", NOW) == -moment_ns("9999", NOW) < moment_ns("1678", NOW)
    assert moment_ns("9999", NOW) < 1 << 63


@pytest.mark.parametrize(
    ("value", "found"),
    [
        *((3, 3.0), (0.5, 0.5), (" 1e3 ", 1000.0), ("-2", -2.0), (True, None), ([1], None), (None, None)),
        # what is not finite is no number
        *((value, None) for value in ("inf", "-inf", "nan", float("inf"), 10**400, "1" * 400, "x", "")),
    ],
)
def test_a_number_is_one_or_a_text_that_is_one(value: object, found: float | None) -> None:
    assert number(value) == found
