"""The text of a snippet or a quote: what a person reads, without the markup."""

from __future__ import annotations

from golden_cases import check_golden
from parse_goldens import FIXTURES

from vault_indexer.parse.readable import code_blocks, open_fence, readable


def marked(source: str, fence: str = "") -> str:
    """The shown text with bars around its units. Each of its characters is one of the source."""
    shown = readable(source, fence)
    places = [shown.place(offset) for offset in range(len(source) + 1)]
    assert places == sorted(places)
    for offset, char in enumerate(shown.text):
        at = shown.source(offset)
        if source[at] != char:
            assert char == " "
        elif char != " ":
            assert places[at] == offset
    text = shown.text
    for start, end in reversed(shown.units):
        text = f"{text[:start]}|{text[start:end]}|{text[end:]}"
    return text


def code(source: str) -> str:
    return "; ".join(f"{lead!r} {source[start:end]!r}" for start, end, lead in code_blocks(source))


def test_a_snippet_shows_what_the_golden_says() -> None:
    check_golden(
        FIXTURES / "readable.md",
        {
            "Markdown": marked,
            "Within a fence": lambda source: marked(source, "```"),
            "Blocks of code and what leads their lines": code,
            "A fence is open until its mark stands alone": lambda source: open_fence(source, ""),
            "Within ``` it is open, too": lambda source: open_fence(source, "```"),
        },
    )


def test_a_place_that_is_not_shown_is_where_the_text_goes_on() -> None:
    shown = readable("> [!note] Title\n> *b*\n")
    assert shown.text == "Title\nb\n"
    assert [shown.place(offset) for offset in range(24)] == [*[0] * 11, 1, 2, 3, 4, 5, *[6] * 4, 7, 7, 8, 8]
    assert [shown.source(offset) for offset in range(8)] == [10, 11, 12, 13, 14, 15, 19, 21]
    empty = readable("")
    assert (empty.source(0), empty.place(0), empty.place(5)) == (0, 0, 0)


def test_code_that_begins_in_a_fence_ends_where_that_is_closed() -> None:
    assert list(code_blocks("a\n```\nb", "```")) == [(0, 6, "")]
    assert list(code_blocks("a\n```\nb\n```\nc", "````")) == [(0, 13, "")]
