"""Laws that hold for every note, whatever its bytes."""

import json
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from vault_indexer.errors import NoteError
from vault_indexer.model import Element, ElementKind, Note
from vault_indexer.parse import parse_any, parse_note
from vault_indexer.text.yaml_values import load_mapping

PIECES = st.sampled_from(
    [
        *("# ", "## a\n", "- ", "* ", "1. ", "> ", "a", "b c", "\n", "\n\n", "    ", "\t", "```", "~~~"),
        *("---\n", "===", "***", "<div>", "<!--", "-->", "|", "| a |", "|---|", "|||", "`", "[a]"),
        *("[a]: /u", "\\", "*", "[[", "]]", "![[x#y|z]]", "[t](u%20v.md)", "#tag", "^id", "%%", "$$", "$"),
        *("é", "😀", "\r", "\r\n", "\x0c", "\x7f", "\u2028", "\ufeff", "key: v\n", "[^1]: ", "- [ ] "),
        *("<a href='b'>", "&amp;", "~~", "=="),
    ]
)
MARKDOWN = st.lists(PIECES, max_size=24).map("".join)


def parsed(text: str) -> Note:
    return parse_note("folder/n.md", text.encode())


@given(st.binary(max_size=400), st.sampled_from(["n.md", "n.canvas"]))
@example(b"\xff\xfe", "n.md")
@example(b"[" * 100_000, "n.canvas")
@example(b"---\na: " + b"[" * 60_000 + b"\n---\n", "n.md")
@example(b"> " * 5000 + b"a", "n.md")
@example(b"- " * 5000 + b"a", "n.md")
def test_any_bytes_give_a_note_or_a_note_error(data: bytes, path: str) -> None:
    try:
        note = parse_any(path, data)
    except NoteError as error:
        assert str(error).startswith(path)
    else:
        assert note.path == path


@given(MARKDOWN)
def test_elements_cover_the_body_in_order(text: str) -> None:
    note = parsed(text)
    assert note.text == text.removeprefix("\ufeff")
    position = note.body_start
    for element in note.elements:
        assert element.start >= position
        assert element.end > element.start
        assert not note.text[position : element.start].strip()
        check_parts(element)
        position = element.end
    assert not note.text[position:].strip()


def check_parts(element: Element) -> None:
    position = element.start
    for part in element.parts:
        assert part.kind is ElementKind.ITEM
        assert position <= part.start < part.end <= element.end
        check_parts(part)
        position = part.end


@given(MARKDOWN)
def test_sections_follow_each_other_and_the_outline(text: str) -> None:
    note = parsed(text)
    outline = [heading for heading in note.headings if not heading.nested]
    assert [section.title for section in note.sections if section.level] == [h.text for h in outline]
    for before, after in pairwise(note.sections):
        assert before.end == after.start
    if note.sections:
        assert not note.text[note.body_start : note.sections[0].start].strip()
        assert note.sections[-1].end == len(note.text)
    else:
        assert not note.text[note.body_start :].strip()
    for index, section in enumerate(note.sections):
        assert section.index == index
        assert section.start <= section.body_start <= section.end
        if section.parent is None:
            assert section.header_path == ((section.title,) if section.level else ())
        else:
            parent = note.sections[section.parent]
            assert parent.level < section.level
            assert section.header_path == (*parent.header_path, section.title)


@given(MARKDOWN)
def test_spans_and_lines_are_true(text: str) -> None:
    note = parsed(text)
    for link in note.links:
        source = note.text[link.start : link.end]
        assert source[0] in "[!" and source[-1] in ")]"
        assert link.line == line_of(note.text, link.start)
        assert link.target or link.subpath
    for heading in note.headings:
        assert heading.line == line_of(note.text, heading.start)
        assert note.text[heading.start : heading.end].strip()
    for block in note.blocks:
        assert note.text[block.start : block.end].strip()
    assert len({tag.casefold() for tag in note.tags}) == len(note.tags)


def line_of(text: str, position: int) -> int:
    return 1 + len((text[:position].replace("\r\n", "\n").replace("\r", "\n") + "x").split("\n")) - 1


@given(MARKDOWN)
def test_non_ascii_text_moves_nothing(text: str) -> None:
    """Positions are characters: the same note with each letter made wide has everything at the same place."""
    plain = parsed(text.replace("é", "a").replace("😀", "a"))
    wide = parsed(text.replace("é", "a").replace("😀", "a").replace("b c", "é 語"))
    assert [(e.kind, e.start, e.end) for e in plain.elements] == [
        (e.kind, e.start, e.end) for e in wide.elements
    ]
    assert [(h.level, h.start, h.line) for h in plain.headings] == [
        (h.level, h.start, h.line) for h in wide.headings
    ]


PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Cf", "Zl", "Zp"]), max_size=12)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(-1e9, 1e9), PRINTABLE)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(PRINTABLE, inner), max_leaves=12
)


@given(st.dictionaries(PRINTABLE, VALUES, max_size=4))
@example({"?foo": ["?a", "\ue000?", "- \t"]})
def test_properties_written_as_json_are_those_values(values: dict[str, object]) -> None:
    assert load_mapping(json.dumps(values, ensure_ascii=False)) == values
