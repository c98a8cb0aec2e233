"""The text of a snippet or a quote: what a person reads, without the markup."""

from __future__ import annotations

from vault_indexer.search.present.readable import readable


def test_what_begins_within_code_is_code_up_to_the_fence() -> None:
    source = "*a* = 1\n```\n*b* text\n"
    assert readable(source, "```").text == "*a* = 1\nb text\n"
    assert readable(source).text == "a = 1\n*b* text\n"


def test_the_rows_of_a_table_without_outer_bars_are_rows() -> None:
    shown = readable("before\n\nx | y\n---|---\n1 | *2*\nmore | text\n\nbehind | it\n")
    rows = [shown.text[start:end] for start, end in shown.units]
    assert rows == ["before", "x y", "1 2", "more text", "behind | it"]
