"""The text that a reader sees of inline content, and which of its characters are markup."""

from __future__ import annotations

import pytest
from golden_cases import check_golden
from parse_goldens import FIXTURES

from vault_indexer.parse.link_syntax import link_definitions, markdown_target
from vault_indexer.parse.plain import MAX_RUNS, plain, unescape_prose, wikilink_parts, wikilink_text


def test_inline_content_is_read_as_the_golden_says() -> None:
    check_golden(
        FIXTURES / "plain.md",
        {
            "A reader sees no markup": plain,
            "Labels": lambda text: plain(text, {"one": "https://example.org"}),
            "Wikilinks": lambda text: f"{wikilink_parts(text)} {wikilink_text(text)}",
            "Destinations": lambda text: str(markdown_target(text)),
            "Definitions": lambda text: str(link_definitions(text, [(0, len(text))])),
            "Entities are decoded but not in code": unescape_prose,
        },
    )


def test_definitions_are_those_of_the_spans() -> None:
    assert link_definitions("[a]: x [a]: y", [(0, 6), (7, 13)]) == {"a": "x"}
    assert link_definitions("[a] x [b]: y", [(0, 5), (6, 12)]) == {"b": "y"}


def test_of_very_many_delimiters_none_is_paired() -> None:
    words = "*a* " * (MAX_RUNS // 2)
    assert plain(words) == words.replace("*", "").strip()
    assert plain(f"{words}*b*") == f"{words}*b*"


@pytest.mark.parametrize(("blanks", "is_label"), [(997, True), (998, False)])
def test_a_label_has_999_characters_at_most(blanks: int, is_label: bool) -> None:
    label = f"a{' ' * blanks}b"
    assert plain(f"[{label}]", {"a b": "x"}) == (label if is_label else f"[{label}]")
    assert plain(f"[c][{label}]", {"a b": "x"}) == ("c" if is_label else f"[c][{label}]")
    assert plain(f"[c][ ] [{label}][]", {"a b": "x", "c": "y"}) == (
        f"c {label}" if is_label else f"c [{label}][]"
    )
