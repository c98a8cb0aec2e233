"""What a note is refused for, what only costs it a diagnostic, and what a canvas becomes."""

import json

import pytest

from vault_indexer.errors import NoteError
from vault_indexer.model import JsonValue, LinkKind
from vault_indexer.parse import parse_any, parse_canvas, parse_note
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.text.yaml_values import YamlRefusedError, load_mapping


def test_another_encoding_is_refused_and_names_the_byte() -> None:
    with pytest.raises(NoteError, match=r"a/b\.md: not UTF-8 \(byte offset 0: "):
        parse_note("a/b.md", "Привет, мир".encode("cp1251"))


@pytest.mark.parametrize(
    ("data", "text", "line"),
    [
        (b"Quince \x93jelly\x94.", "Quince \ufffdjelly\ufffd.", 1),
        (b"\xef\xbb\xbf# A\r\n\r\nCaf\xe9 [[b]]", "# A\r\n\r\nCaf\ufffd [[b]]", 3),
        ("---\nt: über\n---\nx".encode("latin-1"), "---\nt: \ufffdber\n---\nx", 2),
    ],
)
def test_a_few_wrong_bytes_are_replaced_and_named(data: bytes, text: str, line: int) -> None:
    note = parse_note("a.md", data)
    assert note.text == text
    assert [(one.kind, one.line) for one in note.diagnostics] == [("encoding", line)]


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
        ("a: " + "x" * 65_536, "longer than 64 KiB", 1),
        ("a: " + "[" * 51 + "{b: c", "nested more than 50 levels deep", 2),
        ("ok: 1\n\na: *x", "no anchor `&x` before `*x`", 4),
        ("a: &x [1, *x]", "no anchor `&x` before `*x`", 2),
        ("a: &x [" + "x" * 60_000 + "]\nb: [*x, *x,\n*x, *x, *x]", "longer than 256 KiB with its aliases", 4),
        (bomb(9), "longer than 256 KiB with its aliases (`*name`)", 7),
        (staircase(51), "nested more than 50 levels deep", 51),
        ("a: 1\n--- b", "not valid YAML: more than one document", 3),
        ("a: 1\nb: 'open", "not valid YAML: found unexpected end of stream", 4),
        ("a: 1\nb: \x07", "not valid YAML: unacceptable character #x0007", 1),
    ],
)
def test_frontmatter_that_is_refused_leaves_the_note(yaml: str, detail: str, line: int) -> None:
    note = parse_note("n.md", f"---\n{yaml}\n---\n# Body\n".encode())
    (problem,) = note.diagnostics
    assert problem.kind == "frontmatter"
    assert problem.detail.startswith(detail)
    assert problem.line == line
    assert note.title == "Body"
    assert note.body_start == body_start(note.text) == 0
    assert note.elements[0].end == note.text.index("\n# Body")


@pytest.mark.parametrize(
    ("block", "values", "line"),
    [
        ("title: Re: jam\ntags: [a, b]", {"title": "Re: jam", "tags": ["a", "b"]}, 2),
        ("a: 1\nauthor: @ann # x\nb: `c`", {"a": 1, "author": "@ann # x", "b": "`c`"}, 3),
        ("day: {{date}}, {{time}}\nn: 1.10", {"day": "{{date}}, {{time}}", "n": "1.10"}, 2),
        ("tags:\n\t- a\n\t- b", {"tags": ["a", "b"]}, 3),
        ("tags:\n  - a\n - b\nc: d", {"tags": ["a", "b"], "c": "d"}, 4),
        ("tags:\n- @a\n- b: c: d", {"tags": ["@a", "b: c: d"]}, 3),
        ("a: 1\nsome prose\nb: 2", {"a": 1, "b": 2}, 4),
        ("tags: [a, b\nc: d", {"tags": "a, b", "c": "d"}, 3),
        ("a: 'open\nb: c\n'd e': f", {"a": "'open", "b": "c", "d e": "f"}, 4),
        ("t: x: y\nt: z", {"t": "z"}, 2),
        ("a: {b: [c\n  d: e\nf: g", {"a": "{b: [c", "f": "g"}, 3),
        ("a: &x [1]\nb: *y", {"a": [1], "b": "*y"}, 3),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_of_a_broken_block_the_lines_that_read_as_properties_are_and_all_is_text(
    block: str, values: dict[str, JsonValue], line: int, line_end: str
) -> None:
    text = f"---\n{block}\n---\n\n# Title\n".replace("\n", line_end)
    note = parse_note("n.md", text.encode())
    assert note.frontmatter == values
    assert [(one.kind, one.line) for one in note.diagnostics] == [("frontmatter", line)]
    assert note.body_start == body_start(text) == 0
    assert [heading.text for heading in note.headings] == ["Title"]
    assert [section.start for section in note.sections] == [0, text.index("# Title")]


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nDear diary, rain. [[a]] #tag\n\n---\n\nMore.\n",
        "---\n\n# Agenda\n\n- [ ] call [[a]] #tag\n\n---\n",
        "---\n- [[a]]\n- #tag\n...\n",
        "---\n# A comment or a heading with [[a]] #tag\n---\n",
        "+++\n\nProse [[a]] #tag\n\n+++\n",
        "---\n[[a]] #tag\nWe met at 10:30, she said: yes, and that is all of it.\n---\n",
    ],
)
def test_a_block_without_properties_is_body(text: str) -> None:
    note = parse_note("n.md", text.encode())
    assert note.frontmatter == {}
    assert note.body_start == body_start(text) == 0
    assert ([link.target for link in note.links], note.tags) == (["a"], ("tag",))
    assert [one.kind for one in note.diagnostics] == ["frontmatter"]


@pytest.mark.parametrize(
    ("block", "values", "line"),
    [
        (
            'title = "A"\ntags = [\n "b",\n]\n[p]\nx = 1.50',
            {"title": "A", "tags": ["b"], "p": {"x": "1.50"}},
            0,
        ),
        (
            "date = 2024-02-03T10:00:00Z\nd = 2024-02-03\nn = 2.5",
            {"date": "2024-02-03T10:00:00+00:00", "d": "2024-02-03", "n": 2.5},
            0,
        ),
        ("", {}, 0),
        ('title = Re: jam\ntags = [\n "b"]', {"title": "Re: jam", "tags": ["b"]}, 2),
        ("a = 1\n" + "b." * 20_000 + "c = 1", {"a": 1}, 1),
    ],
)
def test_toml_between_plus_signs_is_frontmatter(block: str, values: dict[str, JsonValue], line: int) -> None:
    text = f"+++\n{block}\n+++\nBody\n"
    note = parse_note("n.md", text.encode())
    assert {name: note.frontmatter.get(name) for name in values} == values
    assert [one.line for one in note.diagnostics] == ([line] if line else [])
    assert note.body_start == body_start(text) == (0 if line else text.index("Body"))


@pytest.mark.parametrize(("length", "is_read"), [(2130, True), (2131, False)])
def test_values_and_characters_count_with_their_aliases(length: int, is_read: bool) -> None:
    """Nine values and five times the anchor's, which is one value, too."""
    source = f"c: {'x' * length}\na: &x {'x' * 52_000}\nb: [*x, *x, *x, *x]"
    assert 9 + length + 5 * 52_001 == 256 * 1024 + (not is_read)
    note = parse_note("n.md", f"---\n{source}\n---\n".encode())
    assert bool(note.diagnostics) != is_read


def test_aliases_within_the_limits_are_expanded() -> None:
    values = parse_note("n.md", f"---\n{bomb(4)}\n---\n".encode()).frontmatter
    assert json.dumps(values["a3"]).count("lol") == 9**3
    values = parse_note("n.md", f"---\n{staircase(49)}\n---\n".encode()).frontmatter
    assert json.dumps(values["a48"]).count("[") == 49


def test_properties_with_odd_names_are_kept() -> None:
    source = "---\ntitle: {{title}}\n? [é, 1]\n: b\n1.5: c\n~: d\n---\n"
    values = parse_note("n.md", source.encode()).frontmatter
    assert values == {"title": "{{title}}", '["é", 1]': "b", "1.5": "c", "null": "d"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("yes", "yes"),
        ("", None),
        ("~", None),
        ("Null", None),
        ("nULL", "nULL"),
        ("-12", -12),
        ("+012", "+012"),
        ("007", "007"),
        ("0o17", "0o17"),
        ("0x1F", "0x1F"),
        ("0o8", "0o8"),
        ("-0x1F", "-0x1F"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        (".5", ".5"),
        ("1.10", "1.10"),
        ("1.1", 1.1),
        ("-1.5e3", "-1.5e3"),
        ("1e400", "1e400"),
        (".nan", ".nan"),
        ("2024-1-2", "2024-1-2"),
        ("2024-01-02", "2024-01-02"),
        ("[{{a}}, 'b']", ["{{a}}", "b"]),
        ("2024-13-45", "2024-13-45"),
        ("2024-01-02 03:04:05", "2024-01-02T03:04:05"),
        ("2024-01-02T03:04:05.5Z", "2024-01-02T03:04:05.500000+00:00"),
        ("2024-01-02 03:04:05 +99", "2024-01-02 03:04:05 +99"),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("!x 1", "1"),
        ("!!int 0x10", 16),
        ("!!int x", "x"),
        ("!!bool False", False),
        ("!!bool yes", "yes"),
        ("!!float 1", 1.0),
        ("!!null x", None),
        ("!!binary a", "a"),
        ("!!timestamp 2024-1-2", "2024-01-02"),
        ("!!timestamp today", "today"),
        ("!!set {a, b}", ["a", "b"]),
        ("!!omap [a: 1]", [{"a": 1}]),
        ("?a", "?a"),
        ("[?a, '?b', c?]", ["?a", "?b", "c?"]),
    ],
)
def test_a_value_is_what_yaml_1_2_says(written: str, value: JsonValue) -> None:
    (found,) = parse_note("n.md", f"---\nkey: {written}\n---\n".encode()).frontmatter.values()
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("source", "values", "line"),
    [
        ("a: {x: 1, x: 2}", {"a": {"x": 2}}, 1),
        ("a: 1\nb: 2\na: 3", {"a": 3, "b": 2}, 3),
        ("a: {x: 1}\nb: {x: 2}", {"a": {"x": 1}, "b": {"x": 2}}, None),
    ],
)
def test_of_a_key_that_is_given_twice_the_later_one_counts_or_it_is_an_error(
    source: str, values: dict[str, JsonValue], line: int | None
) -> None:
    assert load_mapping(source) == values
    if line is None:
        assert load_mapping(source, unique_keys=True) == values
        return
    with pytest.raises(YamlRefusedError, match="this key is given twice") as refused:
        load_mapping(source, unique_keys=True)
    assert refused.value.line == line


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
        ("\n\n# One\n\n## Two\n\n> # Three\n", "One"),
        ("# One\n\n# Two\n", "n"),
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
    ("yaml", "links"),
    [
        ('a: "[[x]]" # [[x]]', [("x", 2)]),
        ('a: "[[x]] and [[x]]"\nb: ["[[y|z]]"] # [[y|z]]', [("x", 2), ("x", 2), ("y", 3)]),
        ('a: {b: ["[[x#y]]", "[[#z]]"]}', [("x#y", 2), ("#z", 2)]),
        ("a: [[x]]\nb: [[y]] # [[y]]", []),
        ('a: "[[ | z]]"', []),
    ],
)
def test_a_link_in_a_text_of_the_properties_is_found_as_often_as_the_text_has_it(
    yaml: str, links: list[tuple[str, int]]
) -> None:
    note = parse_note("n.md", f"---\n{yaml}\n---\n".encode())
    assert {link.kind for link in note.links} <= {LinkKind.FRONTMATTER}
    assert [
        (f"{link.target}#{link.subpath}" if link.subpath else link.target, link.line) for link in note.links
    ] == links


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


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_section_begins_with_its_heading_and_its_body_on_the_next_line(end: str) -> None:
    text = end.join(["Before.", "# A", "a", "", "B", "---", "", "## C", "# D"])
    note = parse_note("n.md", text.encode())
    assert [
        (one.level, text[one.start : one.body_start], text[one.body_start : one.end]) for one in note.sections
    ] == [
        (0, "", f"Before.{end}"),
        (1, f"# A{end}", f"a{end}{end}"),
        (2, f"B{end}---{end}", end),
        (2, f"## C{end}", ""),
        (1, "# D", ""),
    ]
    assert [one.parent for one in note.sections] == [None, None, 1, 1, None]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("> - a ^x\n> - b ^y\n", {"x": "- a ^x", "y": "- b ^y"}),
        ("> 1. a ^x\n>    - c ^z\n> 2. b", {"x": "1. a ^x\n>    - c ^z", "z": "- c ^z"}),
        ("- > a ^x\n- b ^y\n", {"x": "- > a ^x", "y": "- b ^y"}),
        ("> # H ^x\n> b ^y", {"x": "# H ^x", "y": "> # H ^x\n> b ^y"}),
        ("> > a\n>\n> ^x\n\nb", {"x": "> > a\n>\n> ^x"}),
        ("> > - a ^x\n> >\n> > b ^y\n>\n", {"x": "- a ^x", "y": "> > - a ^x\n> >\n> > b ^y"}),
        ("> - a ^x\n>\n>   `c >`\n>\n> - d", {"x": "- a ^x\n>\n>   `c >`"}),
        ("> a ^x\n>\n", {"x": "> a ^x"}),
        ("  a  \n  b ^x  \n\nc", {"x": "  a  \n  b ^x  "}),
    ],
)
def test_an_id_names_its_block_and_nothing_of_the_next(text: str, spans: dict[str, str]) -> None:
    blocks = parse_note("n.md", text.encode()).blocks
    assert {one.id: text[one.start : one.end] for one in blocks} == spans


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$$\nx\n$$", "math"),
        ("$$ x $$\n\ny", "math paragraph"),
        ("$$$$\n\ny", "math paragraph"),
        ("  $$\nx\n$$  \n\n$$", "math paragraph"),
        ("$$\n\n$$\n\n$$ y $$", "math math"),
        ("a\n\n$$\nx\n\ny\n$$\n\nb", "paragraph math paragraph"),
        ("$$\nx\n\n- y\n\n$$\n\nb", "math paragraph"),
        ("$$\nx\n\n# H\n\n$$", "paragraph heading paragraph"),
        ("$$\nx\n\n> q\n\n$$", "paragraph quote paragraph"),
        ("$$\nx\n\n|a|\n|-|\n\n$$", "paragraph table paragraph"),
        ("$$\nx\n\n```\n$$\n```\n\n$$", "paragraph code paragraph"),
        ("$$ x $$ y", "paragraph"),
        ("$$\nx\n\ny $$ z\n\n$$", "paragraph paragraph paragraph"),
        ("$$\nx", "paragraph"),
        ("a $$\nx\n$$", "paragraph"),
    ],
)
def test_paragraphs_from_dollars_to_dollars_are_math(text: str, found: str) -> None:
    note = parse_note("n.md", text.encode())
    assert [one.kind.value for one in note.elements] == found.split()


@pytest.mark.parametrize(
    ("source", "details"),
    [
        (b"{\n\n", [("not valid JSON", 3)]),
        (b"[1]", [("not a JSON object", 1)]),
        (b"[" * 100_000, [("not valid JSON", 1)]),
        (b'{"nodes": 1, "edges": {"a": 2}}', []),
        (b"", []),
        (b'{"nodes": [{"type": "text", "text": "\\ud800\\u0000", "x": NaN, "y": 1e999}]}', []),
        (b'{"nodes": [{"type": "text", "text": 5, "y": 1' + b"0" * 4000 + b"}]}", []),
    ],
)
def test_a_broken_canvas_gives_a_diagnostic_and_never_an_exception(
    source: bytes, details: list[tuple[str, int]]
) -> None:
    note = parse_canvas("x.canvas", source)
    found = [(problem.detail, problem.line) for problem in note.diagnostics if "JSON" in problem.detail]
    assert [(detail.partition(":")[0].partition(" with")[0], line) for detail, line in found] == details
    note.text.encode()


def test_the_extension_chooses_the_parser() -> None:
    assert parse_any("a.CANVAS", b"{}").text == ""
    assert parse_any("a.md", b"{}").text == "{}"
    assert parse_any("a.txt", b"# x").title == "x"
