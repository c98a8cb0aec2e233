"""The languages of a catalog, counted now and then."""

from __future__ import annotations

import pytest

from vault_indexer.store.catalog.catalog_cache import CountedLanguages

COUNTS = {"de": 300, "en": 700, "fr": 300}


def test_the_most_frequent_comes_first() -> None:
    assert CountedLanguages(COUNTS, 5).in_order == ("en", "de", "fr")


@pytest.mark.parametrize(
    ("present", "last_id", "stale"),
    [
        ({"de", "en", "fr"}, 1300, False),
        ({"de", "en", "fr"}, 1312, False),
        ({"de", "en", "fr"}, 1313, True),
        ({"de", "en", "fr"}, 1299, True),
        ({"de", "en"}, 1300, True),
        ({"de", "en", "fr", "it"}, 1300, True),
    ],
)
def test_they_are_counted_again_after_a_hundredth_or_another_language(
    present: set[str], last_id: int, stale: bool
) -> None:
    assert CountedLanguages(COUNTS, 1300).is_stale(present, last_id) == stale


def test_of_a_few_notes_each_counts() -> None:
    few = CountedLanguages({"en": 3}, 3)
    assert not few.is_stale({"en"}, 3)
    assert few.is_stale({"en"}, 4)
    assert not CountedLanguages({"en": 299}, 3).is_stale({"en"}, 4)
    assert CountedLanguages({"en": 199}, 3).is_stale({"en"}, 4)


def test_shares_are_parts_of_the_notes_whose_language_is_known() -> None:
    found = CountedLanguages({"de": 1, "en": 3}, 9)
    assert found.shares == {"de": 0.25, "en": 0.75}
    assert found.counts == {"de": 1, "en": 3}
    none = CountedLanguages({}, 0)
    assert (none.shares, none.in_order, none.rare) == ({}, (), frozenset())


@pytest.mark.parametrize(
    ("counts", "rare"),
    [
        ({"en": 8, "it": 1}, set()),
        ({"en": 9, "it": 1}, {"it"}),
        ({"en": 8, "it": 2}, set()),
        ({"en": 48, "fr": 2, "it": 1}, {"it"}),
        ({"en": 97, "it": 2}, set()),
        ({"en": 98, "it": 2}, {"it"}),
        ({"en": 146, "fr": 3, "it": 2}, {"fr", "it"}),
        ({"en": 145, "fr": 3, "it": 1}, {"it"}),
    ],
)
def test_a_language_of_one_note_in_fifty_may_be_a_mistake(counts: dict[str, int], rare: set[str]) -> None:
    assert CountedLanguages(counts, 0).rare == rare
