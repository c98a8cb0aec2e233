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
