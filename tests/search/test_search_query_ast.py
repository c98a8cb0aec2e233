"""Moments, numbers and dates as a query or a property writes them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from vault_indexer.search.query.ast import is_moment, iso_date, moment_ns, number

ZONE = timezone(timedelta(hours=2))
NOW = datetime(2024, 3, 1, 9, 30, 15, 250, tzinfo=ZONE)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        (" Today ", datetime(2024, 3, 1, tzinfo=ZONE)),
        ("yesterday", datetime(2024, 2, 29, tzinfo=ZONE)),
        ("12h", NOW - timedelta(hours=12)),
        ("7D", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(days=14)),
        ("3m", NOW - timedelta(days=90)),
        ("1y", NOW - timedelta(days=365)),
        ("2023", datetime(2023, 1, 1, tzinfo=ZONE)),
        ("2023-04", datetime(2023, 4, 1, tzinfo=ZONE)),
        ("2023-04-05", datetime(2023, 4, 5, tzinfo=ZONE)),
        ("2023-04-05T06:07", datetime(2023, 4, 5, 6, 7, tzinfo=ZONE)),
        ("2023-04-05T06:07:08.5Z", datetime(2023, 4, 5, 6, 7, 8, 500_000, tzinfo=UTC)),
        ("1969-12-31T23:59:59Z", datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_moment_is_its_beginning_in_the_zone_of_now(text: str, moment: datetime) -> None:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    assert moment_ns(text, NOW) == since // timedelta(microseconds=1) * 1000


def test_a_moment_far_away_is_the_first_or_last_that_can_be_kept() -> None:
    assert moment_ns("0001", NOW) == -moment_ns("9999", NOW) < moment_ns("1678", NOW)
    assert moment_ns("9999", NOW) < 1 << 63


@pytest.mark.parametrize("text", ["soon", "", "2023-13", "2023-02-30", "1x", "99999999y", "0000", "-1d"])
def test_what_is_no_moment_is_told_apart(text: str) -> None:
    assert not is_moment(text)
    assert is_moment("2023-12")


@pytest.mark.parametrize(
    ("value", "found"),
    [(3, 3.0), (0.5, 0.5), (" 1e3 ", 1000.0), ("-2", -2.0), (True, None), ([1], None), (None, None)],
)
def test_a_number_is_one_or_a_text_that_is_one(value: object, found: float | None) -> None:
    assert number(value) == found


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", float("inf"), 10**400, "1" * 400, "x", ""])
def test_what_is_not_finite_is_no_number(value: object) -> None:
    assert number(value) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (" 2026-01 ", "2026-01"),
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T09:30", "2026-01-31T09:30:00"),
        ("2026-01-31 09:30:00+02:00", "2026-01-31T09:30:00"),
        ("2026-02-30", None),
        ("2026-13", None),
        ("2026-01-31T25:00", None),
        ("20260131", None),
        ("x", None),
        (20260131, None),
    ],
)
def test_a_date_has_a_form_that_sorts_by_time(value: object, found: str | None) -> None:
    assert iso_date(value) == found
