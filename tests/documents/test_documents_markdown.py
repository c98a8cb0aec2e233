"""Plain text in Markdown: it shows exactly itself, and nothing in it is syntax."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.documents import part_at, part_spans, span_of_parts
from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Document, Part, escape, to_markdown
from vault_indexer.parse import parse_note, render_markdown

PIECES = (
    "[[Alpha]]", "![[x]]", "[a](b)", "#tag", "# Head", "## ", "---", "===", "- [ ] do", "+ y", "> q",
    "1. x", "2)", "`", "```", "*", "**b**", "_x_", "a_b", "~~", "==h==", "%%c%%", "$5", "$$", "key:: v",
    "[k:: v]", "<b>", "<!-- c", "&amp;", "|a|b|", "^id", "[^1]", "[^1]: n", "\\", "{{x}}",
    "http://a.b/c_d_", "https://x.y", "☐", "字#标签", "a", "word", " ", "\t", "\n", "\n\n", "\r\n", "    ",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_escaped_text_shows_itself_and_means_nothing(text: str) -> None:
    markdown = escape(text)
    note = parse_note("a.md", f"x\n\n{markdown}\n".encode())
    assert (note.tags, note.headings, note.blocks) == ((), (), ())
    assert [link for link in note.links if not link.target.startswith("http")] == []
    assert {element.kind.value for element in note.elements} <= {"paragraph"}
    assert "".join(render_markdown(markdown).text.split()) == "".join(text.split())


def test_cells_stay_in_their_column() -> None:
    rows = [["Name", "a|b"], ["two\nlines", "[[x]]", "third"]]
    writer = MarkdownWriter()
    writer.table([[Inline(cell) for cell in row] for row in rows])
    note = parse_note("a.md", writer.text().encode())
    assert [element.kind.value for element in note.elements] == ["table"]
    assert note.links == ()
    assert render_markdown(writer.text()).text.split() == ["Name", "a|b", "two", "lines", "[[x]]", "third"]


def test_properties_of_the_document_are_frontmatter() -> None:
    document = Document(
        (Part("Text."),),
        title='Say "yes": a title',
        authors=("Ann", "Bo"),
        created="2024-05-06",
        keywords=("machine learning", "2024", "C++"),
        warnings=("pages 3 to 9",),
    )
    note = parse_note("a.md", to_markdown(document).encode())
    assert note.frontmatter == {
        "title": 'Say "yes": a title',
        "author": ["Ann", "Bo"],
        "created": "2024-05-06",
        "keywords": ["machine learning", "2024", "C++"],
        "tags": ["machine-learning", "C"],
        "not_read": ["pages 3 to 9"],
    }
    assert note.text[note.body_start :].strip() == "Text."


@pytest.mark.parametrize(
    ("parts", "body"),
    [
        ((), "\n"),
        ((Part("One."), Part("Two.")), "One.\n\n\f\n\nTwo.\n"),
        ((Part("One"), Part("sentence.", continues=True)), "One \fsentence.\n"),
        ((Part("One."), Part("", continues=True), Part("Three.")), "One.\n\n\f\n\n\n\n\f\n\nThree.\n"),
    ],
)
def test_a_form_feed_ends_each_part_but_the_last(parts: tuple[Part, ...], body: str) -> None:
    markdown = to_markdown(Document(parts))
    note = parse_note("a.md", markdown.encode())
    assert note.text[note.body_start :].lstrip("\n") == body.lstrip("\n")
    assert ("not_read" in note.frontmatter) == (not body.strip())


IN_PARTS = "One.\n\n\f\n\nTwo \fand three.\n"


def test_each_position_is_in_one_part() -> None:
    assert [IN_PARTS[start:end].split() for start, end in part_spans(IN_PARTS)] == [
        ["One."],
        ["Two"],
        ["and", "three."],
    ]
    assert part_at("a.pdf", IN_PARTS, IN_PARTS.index("Two")) == "page 2"
    assert part_at("a.PPTX", IN_PARTS, IN_PARTS.index("three")) == "slide 3"
    assert part_at("a.txt", IN_PARTS, 3) == ""


@pytest.mark.parametrize(
    ("parts", "words"), [("1", ["One."]), (" 2 - 3 ", ["Two", "and", "three."]), ("1–2", ["One.", "Two"])]
)
def test_a_range_of_parts_is_one_span(parts: str, words: list[str]) -> None:
    start, end = span_of_parts(IN_PARTS, parts)
    assert IN_PARTS[start:end].split() == words


@pytest.mark.parametrize("parts", ["0", "4", "2-1", "2-4", "two", "1,2"])
def test_a_range_that_does_not_exist_is_refused_with_what_does(parts: str) -> None:
    with pytest.raises(ValueError, match="from 1 to 3"):
        span_of_parts(IN_PARTS, parts)
