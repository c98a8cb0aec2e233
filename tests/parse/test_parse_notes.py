"""What a note is refused for, what only costs it a diagnostic, and what a canvas becomes."""

import json
import re

import pytest
from golden_cases import check_golden
from parse_goldens import FIXTURES, described

from vault_indexer.errors import NoteError
from vault_indexer.model import JsonValue, Note
from vault_indexer.parse import parse_any, parse_canvas, parse_note
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.text.yaml_values import YamlRefusedError, load_mapping


def shown(text: str, path: str = "folder/note.md") -> str:
    """What is found in a note, in the body that begins where the search of bodies says, too."""
    note = parse_note(path, text.encode())
    assert note.body_start == body_start(note.text)
    return described(note)


def in_short(text: str) -> str:
    return "; ".join(shown(text).splitlines())


def body(text: str) -> str:
    note = parse_note("n.md", text.encode())
    assert note.body_start == body_start(note.text)
    return repr(note.text[note.body_start :])


def sections(text: str) -> str:
    note = parse_note("n.md", text.encode())
    return "; ".join(
        f"{one.level} {text[one.start : one.body_start]!r} {text[one.body_start : one.end]!r} {one.parent}"
        for one in note.sections
    )


def value(written: str) -> str:
    (found,) = parse_note("n.md", f"---\nkey: {written}\n---\n".encode()).frontmatter.values()
    return json.dumps(found)


def properties(text: str) -> str:
    note = f"---\n{text}\n---\n\n# Heading\n"
    with_returns = parse_note("folder/note.md", note.replace("\n", "\r\n").encode())
    found = shown(note)
    assert described(with_returns).replace("\\r", "") == found
    of_yaml = re.sub(r"(not valid YAML): (?!more)[^;]*", r"\1", "; ".join(found.splitlines()))
    return re.sub(r"; heading 1 @\d: Heading|; elements heading$", "", of_yaml)


def test_a_note_is_read_as_the_goldens_say() -> None:
    check_golden(FIXTURES / "parsing.md", {"": shown})
    check_golden(
        FIXTURES / "notes.md",
        {
            "": in_short,
            "Properties": properties,
            "Values are those of YAML 1.2": value,
            "TOML between plus signs": lambda text: in_short(f"+++\n{text}\n+++\nBody\n"),
            "Where the body begins": body,
            "Sections": sections,
        },
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("Привет, мир".encode("cp1251"), r"a/b\.md: not UTF-8 \(byte offset 0: "),
        (b"ab\x00c", r"a/b\.md: binary \(a NUL byte at offset 2\)"),
    ],
)
def test_another_encoding_and_binary_are_refused_and_the_byte_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(NoteError, match=reason):
        parse_note("a/b.md", data)


@pytest.mark.parametrize(
    ("data", "text", "lines"),
    [
        (b"\xef\xbb\xbf---\r\na: 1\r\n---\r\n\r", "---\r\na: 1\r\n---\r\n\r", []),
        (b"Quince \x93jelly\x94.", "Quince \ufffdjelly\ufffd.", [1]),
        (b"\xef\xbb\xbf# A\r\n\r\nCaf\xe9 [[b]]", "# A\r\n\r\nCaf\ufffd [[b]]", [3]),
        ("---\nt: über\n---\nx".encode("latin-1"), "---\nt: \ufffdber\n---\nx", [2]),
    ],
)
def test_a_byte_order_mark_is_dropped_and_a_few_wrong_bytes_are_replaced_and_named(
    data: bytes, text: str, lines: list[int]
) -> None:
    note = parse_note("a.md", data)
    found = [(one.kind, one.line) for one in note.diagnostics]
    assert (note.text, found) == (text, [("encoding", line) for line in lines])


@pytest.mark.parametrize(
    ("path", "title"), [("a/My note.md", "My note"), ("X.MD", "X"), ("v1.2 n.md", "v1.2 n")]
)
def test_the_title_falls_back_to_the_file_name(path: str, title: str) -> None:
    assert parse_note(path, b"text").title == title


def with_properties(yaml: str) -> Note:
    return parse_note("n.md", f"---\n{yaml}\n---\n# Body\n".encode())


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
        ("a: &x [" + "x" * 60_000 + "]\nb: [*x, *x,\n*x, *x, *x]", "longer than 256 KiB with its aliases", 4),
        (bomb(9), "longer than 256 KiB with its aliases (`*name`)", 7),
        (staircase(51), "nested more than 50 levels deep", 51),
    ],
)
def test_frontmatter_beyond_the_limits_leaves_the_note(yaml: str, detail: str, line: int) -> None:
    note = with_properties(yaml)
    (problem,) = note.diagnostics
    assert (problem.kind, problem.line, problem.detail.startswith(detail)) == ("frontmatter", line, True)
    assert (note.title, note.body_start, body_start(note.text)) == ("Body", 0, 0)
    assert note.elements[0].end == note.text.index("\n# Body")


def test_values_of_toml_that_nest_too_deep_are_text_and_the_others_are_read() -> None:
    text = "+++\na = 1\n" + "b." * 20_000 + "c = 1\n+++\nBody\n"
    note = parse_note("n.md", text.encode())
    assert (note.frontmatter["a"], [one.line for one in note.diagnostics], note.body_start) == (1, [1], 0)


@pytest.mark.parametrize(("length", "is_read"), [(2130, True), (2131, False)])
def test_values_and_characters_count_with_their_aliases(length: int, is_read: bool) -> None:
    """Nine values and five times the anchor's, which is one value, too."""
    source = f"c: {'x' * length}\na: &x {'x' * 52_000}\nb: [*x, *x, *x, *x]"
    assert 9 + length + 5 * 52_001 == 256 * 1024 + (not is_read)
    assert bool(with_properties(source).diagnostics) != is_read


def test_aliases_within_the_limits_are_expanded() -> None:
    assert json.dumps(with_properties(bomb(4)).frontmatter["a3"]).count("lol") == 9**3
    assert json.dumps(with_properties(staircase(49)).frontmatter["a48"]).count("[") == 49


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


def test_containers_nested_too_deep_are_text_and_said_so() -> None:
    note = parse_note("n.md", b"ok\n\n" + b"> " * 400 + b"# deep [[link]]\n\n# After\n")
    assert [(one.kind, one.line) for one in note.diagnostics] == [("nesting", 3)]
    assert [heading.text for heading in note.headings] == ["After"]
    assert [link.target for link in note.links] == ["link"]


def test_a_canvas_with_too_deep_lists_or_too_large_numbers_is_read() -> None:
    (problem,) = parse_canvas("x.canvas", b"[" * 100_000).diagnostics
    assert (problem.detail.partition(":")[0], problem.line) == ("not valid JSON", 1)
    assert not parse_canvas("x.canvas", b'{"nodes": [{"text": 5, "y": 1' + b"0" * 4000 + b"}]}").diagnostics


def test_the_extension_chooses_the_parser() -> None:
    assert [parse_any(path, b"{}").text for path in ("a.CANVAS", "a.md")] == ["", "{}"]
    assert parse_any("a.txt", b"# x").title == "x"
