"""What a note is refused for, what only costs it a diagnostic, and what a canvas becomes."""

import json

import pytest

from vault_indexer.errors import NoteError
from vault_indexer.model import ElementKind, LinkKind
from vault_indexer.parse import PARSERS, parse_any, parse_canvas, parse_note
from vault_indexer.parse.frontmatter import body_start


def test_not_utf8_names_the_byte() -> None:
    with pytest.raises(NoteError, match=r"a/b\.md: not UTF-8 \(byte offset 3: "):
        parse_note("a/b.md", b"abc\xff")


def test_binary_is_refused() -> None:
    with pytest.raises(NoteError, match=r"b\.md: binary \(a NUL byte at offset 2\)"):
        parse_note("b.md", b"ab\x00c")


def test_a_byte_order_mark_is_dropped_and_line_breaks_stay() -> None:
    note = parse_note("b.md", b"\xef\xbb\xbf---\r\na: 1\r\n---\r\n# T\r\n\rx")
    assert note.text == "---\r\na: 1\r\n---\r\n# T\r\n\rx"
    assert note.frontmatter == {"a": 1}
    assert note.text[note.body_start :] == "# T\r\n\rx"
    assert note.headings[0].line == 4


@pytest.mark.parametrize(
    ("path", "title"), [("a/My note.md", "My note"), ("X.MD", "X"), ("v1.2 n.md", "v1.2 n")]
)
def test_the_title_falls_back_to_the_file_name(path: str, title: str) -> None:
    assert parse_note(path, b"text").title == title


def bomb(count: int) -> str:
    """Lists of nine aliases each of the list before: nine times as long with every line."""
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, count)]
    return "\n".join(["a0: &a0 lol", *lines])


def staircase(count: int) -> str:
    """Each line is a level deeper than the one before, by its alias."""
    return "\n".join(["a0: &a0 []", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, count))])


@pytest.mark.parametrize(
    ("yaml", "detail", "line"),
    [
        ("a: " + "[" * 51 + "]" * 51, "nested more than 50 levels deep", 2),
        ("a: " + "[" * 60_000, "nested more than 50 levels deep", 2),
        ("\n".join(" " * depth + "k:" for depth in range(60)), "nested more than 50 levels deep", 52),
        ("- " * 30_000, "nested more than 50 levels deep", 2),
        ("a: " + "x" * 65_536, "longer than 64 KiB", 1),
        ("a: " + "[" * 51 + "{b: c", "nested more than 50 levels deep", 2),
        ("ok: 1\n\na: *x", "no anchor `&x` before `*x`", 4),
        ("a: &x [1, *x]", "no anchor `&x` before `*x`", 2),
        ("a: &x [" + "x" * 60_000 + "]\nb: [*x, *x,\n*x, *x, *x]", "longer than 256 KiB with its aliases", 4),
        (bomb(9), "longer than 256 KiB with its aliases (`*name`)", 7),
        (staircase(51), "nested more than 50 levels deep", 51),
        ("a: 1\n--- b", "not valid YAML: more than one document", 3),
        ("a: 1\nb: 'open", "not valid YAML: found unexpected end of stream", 4),
        ("- 1\n- 2", "not a list of properties (`name: value`)", 1),
    ],
)
def test_frontmatter_that_is_refused_leaves_the_note(yaml: str, detail: str, line: int) -> None:
    note = parse_note("n.md", f"---\n{yaml}\n---\n# Body\n".encode())
    (problem,) = note.diagnostics
    assert problem.kind == "frontmatter"
    assert problem.detail.startswith(detail)
    assert problem.line == line
    assert note.frontmatter == {}
    assert note.title == "Body"


@pytest.mark.parametrize(("length", "is_read"), [(2130, True), (2131, False)])
def test_values_and_characters_count_with_their_aliases(length: int, is_read: bool) -> None:
    """Nine values and five times the anchor's, which is one value, too."""
    source = f"c: {'x' * length}\na: &x {'x' * 52_000}\nb: [*x, *x, *x, *x]"
    assert 9 + length + 5 * 52_001 == 256 * 1024 + (not is_read)
    note = parse_note("n.md", f"---\n{source}\n---\n".encode())
    assert bool(note.frontmatter) == is_read
    assert bool(note.diagnostics) != is_read


def test_aliases_within_the_limits_are_expanded() -> None:
    values = parse_note("n.md", f"---\n{bomb(4)}\n---\n".encode()).frontmatter
    assert json.dumps(values["a3"]).count("lol") == 9**3
    values = parse_note("n.md", f"---\n{staircase(49)}\n---\n".encode()).frontmatter
    assert json.dumps(values["a48"]).count("[") == 49


def test_properties_with_odd_names_are_kept() -> None:
    values = parse_note("n.md", b"---\ntitle: {{title}}\n? [a, 1]\n: b\n1.5: c\n~: d\n---\n").frontmatter
    assert values == {"title": {'{"title": null}': None}, '["a", 1]': "b", "1.5": "c", "null": "d"}


def test_frontmatter_holds_json_values_only() -> None:
    source = "---\n1: a\ntrue: b\nbig: 123456789012345678901234567890\ninf: .inf\nnan: .nan\n"
    source += "set: !!set {x, y}\nbytes: !!binary aGk=\n2024-01-02: 2024-01-02T03:04:05Z\n---\n"
    values = parse_note("n.md", source.encode()).frontmatter
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["big"] == 123456789012345678901234567890
    assert sorted(values["set"]) == ["x", "y"]  # type: ignore[arg-type, type-var]
    assert values["bytes"] == "hi"
    assert values["2024-01-02"] == "2024-01-02T03:04:05+00:00"


def test_containers_nested_too_deep_are_text_and_said_so() -> None:
    note = parse_note("n.md", b"ok\n\n" + b"> " * 400 + b"# deep [[link]]\n\n# After\n")
    assert [problem.kind for problem in note.diagnostics] == ["nesting"]
    assert note.diagnostics[0].line == 3
    assert [heading.text for heading in note.headings] == ["After"]
    assert [link.target for link in note.links] == ["link"]


def test_language_is_what_the_note_declares() -> None:
    assert parse_note("n.md", b"---\nlang: de\n---\n").language == "de"
    assert parse_note("n.md", b"---\nLang: es\n---\n").language == "es"
    assert parse_note("n.md", b"---\nlanguage: fr\n---\n").language == "fr"
    assert parse_note("n.md", b"Guten Tag").language == ""


@pytest.mark.parametrize(
    ("yaml", "title"),
    [
        ("title: A b", "A b"),
        ("TITLE: ' A b '", "A b"),
        ("title: 1984", "1984"),
        ("title: true", "Heading"),
        ("title: [a]", "Heading"),
        ("title: ' '", "Heading"),
        ("titles: a", "Heading"),
        ("Title: ''\ntitle: b", "b"),
    ],
)
def test_a_title_is_a_text_or_a_number_of_the_property(yaml: str, title: str) -> None:
    assert parse_note("n.md", f"---\n{yaml}\n---\n# Heading\n".encode()).title == title


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("\n\n# One\n\n# Two\n", "One"),
        ("## Two\n\n# One\n", "n"),
        ("Text.\n\n# One\n", "n"),
        ("#\n\n# One\n", "n"),
        ("> # Quoted\n\n# One\n", "n"),
    ],
)
def test_the_title_is_a_first_heading_of_level_1_that_the_body_begins_with(body: str, title: str) -> None:
    assert parse_note("a/n.md", body.encode()).title == title


@pytest.mark.parametrize(
    ("yaml", "tags"),
    [
        ("tags: a, b c,#d", ("a", "b", "c", "d")),
        ("tags: [a b, '#c', ' d ', e/, 1984, true, null]\nTag: f", ("c", "d", "e", "f")),
        ("tags: 12", ()),
        ("tag: [1/2, '#12/3/4', 1/, /1]", ("1/2", "12/3/4")),
        ("tags: [a!, a.b, '##a', y2k]", ("y2k",)),
        ("tags: {a: b}", ()),
        ("tagged: a", ()),
    ],
)
def test_tags_of_the_properties(yaml: str, tags: tuple[str, ...]) -> None:
    assert parse_note("n.md", f"---\n{yaml}\n---\n".encode()).tags == tags


@pytest.mark.parametrize(
    ("yaml", "aliases"),
    [
        ("aliases: One thing, Another , ,One thing", ("One thing", "Another")),
        ("aliases: [' One, two ', 3, true]\nAlias: Four", ("One, two", "3", "Four")),
        ("alias: 1.5", ("1.5",)),
        ("alias: {a: b}", ()),
    ],
)
def test_aliases_of_the_properties(yaml: str, aliases: tuple[str, ...]) -> None:
    assert parse_note("n.md", f"---\n{yaml}\n---\n".encode()).aliases == aliases


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("---\na: 1\n---\nText.", 13),
        ("---\r\na: 1\r\n... \r\nText.", 17),
        ("---\n---", 7),
        ("---\na: 1\n", 0),
        (" ---\na: 1\n---\nText.", 0),
        ("Text.", 0),
    ],
)
def test_the_body_begins_behind_the_frontmatter(text: str, start: int) -> None:
    assert body_start(text) == start
    assert parse_note("n.md", text.encode()).body_start == start


CANVAS = {
    "nodes": [
        {"id": "2", "type": "file", "file": "b/Note.md", "subpath": "#Part", "x": 0, "y": 10},
        {"id": "1", "type": "text", "text": "# Card\nSee [[Other]] #tag\n```\nopen", "x": 5, "y": 0},
        {"id": "3", "type": "file", "file": "pic [1].png", "x": 9, "y": 20},
        {"id": "4", "type": "group", "label": "Box", "x": 0, "y": 30},
        {"id": "5", "type": "link", "url": "https://example.org", "x": 0, "y": 40},
        "no card",
    ],
    "edges": [
        {"id": "e1", "fromNode": "1", "toNode": "2", "label": "leads to"},
        {"id": "e2", "fromNode": "1", "toNode": "4"},
        {"id": "e3", "fromNode": "9", "toNode": "3"},
    ],
}


def test_a_canvas_becomes_text_that_can_be_searched() -> None:
    note = parse_canvas("a/Board.canvas", json.dumps(CANVAS).encode())
    assert note.title == "Board"
    assert note.doc_id == "a/Board.canvas"
    assert note.text.startswith(
        "# Card\nSee [[Other]] #tag\n```\nopen\n\nb/Note.md\n\npic [1].png\n\nBox\n\n"
    )
    assert note.tags == ("tag",)
    assert [(link.kind, link.target, link.subpath) for link in note.links] == [
        (LinkKind.WIKILINK, "Other", ""),
        (LinkKind.EMBED, "b/Note.md", "Part"),
        (LinkKind.EMBED, "pic [1].png", ""),
        (LinkKind.WIKILINK, "b/Note.md", "Part"),
        (LinkKind.WIKILINK, "pic [1].png", ""),
    ]
    assert [note.text[link.start : link.end] for link in note.links[1:]] == [
        link.target for link in note.links[1:]
    ]
    assert note.links[3].display == "leads to"
    assert [section.title for section in note.sections][:2] == ["Card", ""]
    assert note.sections[1].header_path == ()
    assert {element.kind for element in note.elements} == {
        ElementKind.HEADING,
        ElementKind.PARAGRAPH,
        ElementKind.CODE,
    }


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        (b"{", "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"nodes": 1, "edges": {"a": 2}}', None),
        (b"", None),
        (b'{"nodes": [{"type": "text", "text": "\\ud800\\u0000", "x": NaN, "y": 1e999}]}', None),
        (b'{"nodes": [{"type": "text", "text": 5, "y": 1' + b"0" * 4000 + b"}]}", None),
    ],
)
def test_a_broken_canvas_gives_a_diagnostic_and_never_an_exception(source: bytes, detail: str | None) -> None:
    note = parse_canvas("x.canvas", source)
    assert [problem.detail[: len(detail)] for problem in note.diagnostics if detail] == (
        [detail] if detail else []
    )
    note.text.encode()


def test_the_extension_chooses_the_parser() -> None:
    assert parse_any("a.CANVAS", b"{}").text == ""
    assert parse_any("a.md", b"{}").text == "{}"
    assert parse_any("a.txt", b"# x").title == "x"


def test_the_manifest_learns_what_parsed() -> None:
    assert set(PARSERS) == {"tree-sitter-markdown", "vault-indexer"}
    assert all(PARSERS.values())
