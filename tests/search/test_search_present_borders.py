"""A text is cut where no character that a reader sees is divided."""

import pytest

from vault_indexer.search.present.borders import cluster_end, cluster_start

WHOLE = [
    pytest.param("e\u0301\u0323", id="accents"),
    pytest.param("\r\n", id="line-break"),
    pytest.param("👩\u200d🚀", id="joined-emoji"),
    pytest.param("👍🏻", id="lightest-skin"),
    pytest.param("👍🏿", id="darkest-skin"),
    pytest.param("🏴\U000e0067\U000e0062\U000e007f", id="flag-of-tags"),
    pytest.param("🏴\U000e0020", id="first-tag"),
    pytest.param("🇩🇪", id="flag"),
    pytest.param("\U0001f1e6\U0001f1ff", id="first-and-last-letter-of-flags"),
    pytest.param("क्ष", id="conjunct"),
    pytest.param("ｶﾞ", id="voiced-half-width"),
    pytest.param("ﾊﾟ", id="half-voiced-half-width"),
    pytest.param("กำ", id="thai-vowel"),
    pytest.param("ກຳ", id="lao-vowel"),
    pytest.param("ب\u200c", id="non-joiner"),
    pytest.param("\u1100\u1160", id="first-jamo"),
    pytest.param("\u11ff\u11ff", id="last-jamo"),
    pytest.param("가\u11a8", id="syllable-and-final"),
    pytest.param("힣\u11a8", id="last-syllable-and-final"),
]
APART = [
    ("\u10ff", "\u1160"),
    ("\u1100", "\u115f"),
    ("\u1100", "\u1200"),
    ("\u1200", "\u1160"),
    ("\uabff", "\u11a8"),
    ("\ud7a4", "\u11a8"),
    ("é", "é"),
    ("👍", "👍"),
    ("👍", "\U0001f3fa"),
    ("👍", "\U0001f400"),
    ("👍", "\U000e001f"),
    ("👍", "\U000e0080"),
    ("\U0001f1e5", "🇪"),
    ("🇩", "\U0001f200"),
    ("🇩🇪", "🇫🇷"),
    ("日", "本"),
    ("é", "x"),
    ("\r", "é"),
]


@pytest.mark.parametrize("cluster", WHOLE)
def test_a_cut_within_a_character_moves_to_its_borders(cluster: str) -> None:
    text = f"é{cluster}é"
    last = 1 + len(cluster)
    for offset in range(2, last):
        assert cluster_start(text, offset, len(text)) == last
        assert cluster_end(text, offset, 0) == 1
    for offset in (0, 1, last, len(text)):
        assert cluster_start(text, offset, len(text)) == offset
        assert cluster_end(text, offset, 0) == offset


@pytest.mark.parametrize(("before", "after"), APART)
def test_a_cut_between_two_characters_stays(before: str, after: str) -> None:
    text = before + after
    assert cluster_start(text, len(before), len(text)) == len(before)
    assert cluster_end(text, len(before), 0) == len(before)


def test_a_row_of_flags_is_cut_between_two_of_them() -> None:
    flags = "🇩🇪🇫🇷🇯🇵"
    assert [cluster_start(flags, at, len(flags)) for at in range(7)] == [0, 2, 2, 4, 4, 6, 6]
    assert [cluster_end(flags, at, 0) for at in range(7)] == [0, 0, 2, 2, 4, 4, 6]
    assert cluster_start(f"é{flags}", 2, 7) == 3


def test_no_character_is_divided_at_the_ends_of_a_text() -> None:
    for text in ("\u0301日本", "\u200d日", "日\u0301", "🇩日🇪"):
        assert (cluster_start(text, 0, len(text)), cluster_end(text, 0, 0)) == (0, 0)
        assert cluster_start(text, len(text), len(text)) == cluster_end(text, len(text), 0) == len(text)


def test_a_cut_moves_no_further_than_it_may() -> None:
    marks = "e" + "\u0301" * 64 + "x"
    assert cluster_start(marks, 1, len(marks)) == 65
    assert cluster_start(marks, 1, 64) == 1
    assert cluster_start("é" + marks, 1, len(marks)) == 1
    assert cluster_end(marks, 64, 0) == 0
    assert cluster_end(marks, 64, 1) == 64
    more = "e" + "\u0301" * 65 + "x"
    assert (cluster_start(more, 1, len(more)), cluster_end(more, 65, 0)) == (1, 65)
