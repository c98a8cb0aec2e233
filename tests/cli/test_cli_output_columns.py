"""Rows for a person: what fits into the columns of a terminal, and what is cut where it does not."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from cli_sandbox import TERMINAL_VARIABLES
from command_here import TerminalText
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text
from shown_text import STYLES

from vault_indexer.cli.output.columns import (
    cell_width,
    cut_text,
    from_home,
    print_chunk,
    print_ends,
    print_row,
    print_rows,
    shorten_path,
)
from vault_indexer.cli.output.terminal import out, text
from vault_indexer.text.control_characters import clean

Printed = Callable[[int | None, Callable[[Console], None]], list[str]]


@pytest.fixture
def lines_of(monkeypatch: pytest.MonkeyPatch) -> Printed:
    """The lines that a function prints at a terminal of so many columns, without styles; in a pipe for
    None."""

    def printed(columns: int | None, show: Callable[[Console], None]) -> list[str]:
        for name in TERMINAL_VARIABLES:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", str(columns))
        sent = io.StringIO() if columns is None else TerminalText()
        with redirect_stdout(sent):
            show(out())
        return STYLES.sub("", sent.getvalue()).split("\n")[:-1]

    return printed


@pytest.mark.parametrize("columns", [20, 30, 40])
@given(
    words=st.lists(st.text("abc-/ é日", min_size=1, max_size=60), min_size=2, max_size=4),
    indent=st.integers(0, 9),
)
def test_a_narrow_terminal_is_shown_every_character(columns: int, words: list[str], indent: int) -> None:
    def visible(width: int | None) -> str:
        sent = io.StringIO() if width is None else TerminalText()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(sent):
            for name in TERMINAL_VARIABLES:
                patch.delenv(name, raising=False)
            patch.setenv("TERM", "xterm-256color")
            patch.setenv("COLUMNS", str(width))
            console = out()
            print_ends(console, words[0], "", words[1], indent=indent)
            print_row(console, words[0], " ".join(words[1:]), "", indent=indent)
            print_rows(console, [[text((word, "")) for word in words]], head=2)
            console.print(text((" ".join(words), "")))
        return "".join(STYLES.sub("", sent.getvalue()).split())

    assert visible(columns) == visible(None)


@pytest.mark.parametrize(
    ("columns", "name", "value", "indent", "lines"),
    [
        (None, "name", "one  two", 2, ["  name  one  two"]),
        (None, "name", "", 1, [" name"]),
        (None, "", "value", 0, ["value"]),
        (30, "", "value", 0, ["value"]),
        (30, "name", "one two three four five six", 2, ["  name  one two three four", "        five six"]),
        (24, "name", "one two three four five", 0, ["name  one two three four", "      five"]),
        (30, "n", "x" * 30, 0, [f"n  {'x' * 27}", "   xxx"]),
    ],
)
def test_a_value_is_wrapped_below_itself(
    lines_of: Printed, columns: int | None, name: str, value: str, indent: int, lines: list[str]
) -> None:
    assert lines_of(columns, lambda console: print_row(console, name, value, "", indent=indent)) == lines


ROWS = (("1", "A.md", "", "see A"), ("22", "Longer/B.md", "embed", "and more words of it"))
IN_COLUMNS = ["1   A.md                see A", "22  Longer/B.md  embed  and more words of it"]


def cells(*rows: tuple[str, ...]) -> list[list[Text]]:
    """Made where they are printed: a terminal shows rich's texts."""
    return [[text((cell, "")) for cell in row] for row in rows]


@pytest.mark.parametrize(
    ("columns", "head", "lines"),
    [
        (None, 2, IN_COLUMNS),
        (44, 2, IN_COLUMNS),
        (
            43,
            2,
            ["1   A.md", "    see A", "22  Longer/B.md", "    embed", "    and more words of it"],
        ),
        (43, 3, ["1   A.md", "    see A", "22  Longer/B.md  embed", "    and more words of it"]),
        (
            12,
            2,
            ["1   A.md", "    see A", "22  Longer/B.md", "    embed", "    and more words of it"],
        ),
    ],
)
def test_rows_are_columns_where_all_have_room(
    lines_of: Printed, columns: int | None, head: int, lines: list[str]
) -> None:
    assert lines_of(columns, lambda console: print_rows(console, cells(*ROWS), head=head)) == lines


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([("a " * 600, "b")], ["a " * 600 + "  b"]),
        (
            [("a" * 61, "b"), ("c", "d"), ("e" * 60, "f")],
            [f"{'a' * 61}  b", f"c{' ' * 61}d", f"{'e' * 60}  f"],
        ),
        ([("a", "", "b"), ("cc", "", "d")], ["a   b", "cc  d"]),
    ],
    ids=["nothing is cut", "a very long cell is out of line alone", "an empty column takes no room"],
)
def test_what_a_program_reads_is_columns(
    lines_of: Printed, rows: list[tuple[str, ...]], lines: list[str]
) -> None:
    assert lines_of(None, lambda console: print_rows(console, cells(*rows), head=1)) == lines


@given(st.text(st.sampled_from("ab/日é"), max_size=30), st.integers(1, 40))
def test_a_path_is_shortened_in_its_middle_and_to_its_room(path: str, width: int) -> None:
    shown = shorten_path(path, width)
    assert cell_width(shown) <= width
    if shown != path:
        left, _, right = shown.partition("…")
        assert cell_width(path) > width
        assert path.startswith(left) and path.endswith(right)
        assert cell_width(left) <= cell_width(right) + 1
        assert cell_width(shown) >= width - 2


@pytest.mark.parametrize(
    ("width", "shown"),
    [(1, "…"), (2, "…9"), (3, "0…9"), (4, "0…89"), (9, "0123…6789"), (10, "0123456789"), (11, "0123456789")],
)
def test_a_shortened_path_has_as_much_of_both_ends(width: int, shown: str) -> None:
    assert shorten_path("0123456789", width) == shown


NUMBERS = "one two three four five six seven eight nine ten eleven twelve"


def test_lines_fit_a_terminal_as_the_golden_says(lines_of: Printed) -> None:
    def cut(width: str, start: str, end: str) -> str:
        found = []
        for stream in (TerminalText(), io.StringIO()):
            with redirect_stdout(stream):
                found.append(cut_text(text((NUMBERS, "")), int(width), (int(start), int(end))).plain)
        assert found[0] == found[1]
        return found[0]

    def ends(columns: str, path: str, end: str, indent: str) -> str:
        width = None if columns == "pipe" else int(columns)
        shown = lines_of(width, lambda console: print_ends(console, path, "", end, indent=int(indent)))
        return repr("\n".join(shown))

    check_golden(
        Path(__file__).parent / "fixtures" / "columns.md",
        {
            "A long line is cut so that what matters is seen": of_parts(cut),
            "A path and what is said of it are one line": of_parts(ends),
        },
    )


@pytest.mark.parametrize(
    ("words", "width", "span", "line"),
    [
        ("x" * 40, 30, (35, 38), f"…{'x' * 28}…"),
        (f" {NUMBERS}", 20, (2, 23), "…one two three four…"),
    ],
    ids=["one word", "a space at the beginning"],
)
def test_a_line_without_a_space_before_the_span_is_cut_there(
    words: str, width: int, span: tuple[int, int], line: str
) -> None:
    with redirect_stdout(TerminalText()):
        assert cut_text(text((words, "")), width, span).plain == line


@given(st.text(st.sampled_from("a \tb日é"), max_size=12), st.text(st.sampled_from("a 日"), max_size=5))
def test_a_plain_line_is_as_wide_as_a_styled_one(first: str, second: str) -> None:
    plain, styled = text((first, "red")), Text(clean(first))
    for line in (plain, styled):
        line.append_text(text((second, ""))) if line is plain else line.append(second)
        line.rstrip()
    assert (plain.plain, plain.cell_len, plain.copy().plain) == (styled.plain, styled.cell_len, styled.plain)
    assert plain[1:3].plain == styled[1:3].plain


def test_the_home_folder_is_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    paths = (tmp_path, tmp_path / "a/b", f"{tmp_path}2/a", tmp_path.parent, f"{tmp_path}a", "/z", "a")
    shown = [from_home(str(path)) for path in paths]
    assert shown == ["~", "~/a/b", f"{tmp_path}2/a", str(tmp_path.parent), f"{tmp_path}a", "/z", "a"]


def test_a_chunk_is_one_line_with_its_place_and_its_size(lines_of: Printed) -> None:
    def show(console: Console) -> None:
        print_chunk(console, 9, 11, "Bread > Kneading", f"Knead\n the  dough.{' ' * 1000}")
        print_chunk(console, 12345, 67890, "", "Bake.")

    assert lines_of(None, show) == [
        "     9-11   1,018  Bread > Kneading: Knead the dough.",
        "12345-67890       5  Bake.",
    ]
    narrow = lines_of(30, lambda console: print_chunk(console, 1, 2, "Bread", "Knead the dough."))
    assert narrow == ["      1-2      16  Bread: Kne…"]
