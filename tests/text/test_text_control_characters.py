"""Text that a terminal can show, and how much of a text is letters."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.text.control_characters import clean, clean_lines, json_text
from vault_indexer.text.language import function_words, interrogatives, is_function_word
from vault_indexer.text.phrases import iso_moment, iso_time
from vault_indexer.text.scripts import letters


def test_what_a_terminal_obeys_becomes_a_blank_and_what_reorders_a_line_goes() -> None:
    for obeyed in "\0\x1f\x7f\x80\x9f\n\t\u2028\u2029\ud800":
        assert (clean(f"a{obeyed}b"), clean(f"a{obeyed}b", "?")) == ("a b", "a?b"), ascii(obeyed)
    for reordering in "\u202a\u202e\u2066\u206f":
        assert clean(f"a{reordering}b") == "ab", ascii(reordering)
    others = " ~\xa0\xad\u200d\u200e\u2027\u202f\u2065\u2070"
    assert clean(others) == others
    assert clean_lines("a\tb\n\u202ec\r\n") == "a b\nc \n"


def test_json_escapes_what_a_terminal_obeys_and_nothing_else() -> None:
    assert json_text("é\x1b\x7f\u202e\u200e\u061c\u2028 \xa0") == (
        '"é\\u001b\\u007f\\u202e\\u200e\\u061c\\u2028 \xa0"'
    )
    data = {"b": [1, 2], "a": None}
    assert json_text(data) == '{"b": [1, 2], "a": null}'
    assert json_text(data, is_compact=True) == '{"b":[1,2],"a":null}'
    assert json_text(data, is_sorted=True) == '{"a": null, "b": [1, 2]}'
    assert json_text({"a": 1}, indent=1) == '{\n "a": 1\n}'
    with pytest.raises(TypeError):
        json_text({1, 2})


def test_letters_and_function_words_are_those_of_the_golden() -> None:
    def count(text: str) -> str:
        return str(letters(text))

    golden = Path(__file__).parent / "fixtures" / "letters.md"
    check_golden(golden, {"letters": count, "function word": of_parts(is_function_word)})


def test_times_are_written_in_utc_to_the_second() -> None:
    assert iso_time(1_700_000_000_999_999_999) == "2023-11-14T22:13:20Z"
    assert iso_time(-1) == "1969-12-31T23:59:59Z"
    assert iso_moment(datetime(2024, 3, 5, 12, 0, 1, 987654, UTC)) == "2024-03-05T12:00:01Z"
    assert (
        iso_moment(datetime(2024, 3, 5, 12, 0, 1, 987654, UTC), "milliseconds") == "2024-03-05T12:00:01.987Z"
    )


def test_the_words_that_ask_are_known_by_language() -> None:
    assert interrogatives("en") == {"many", "much", "often", "name", "type", "kind"}
    assert {"woher", "heissen", "anzahl"} <= interrogatives("de")
    assert not interrogatives("xx")
    assert "wo" in function_words("de") and "wo" not in interrogatives("de")
