"""Rows for a person: what fits into the columns of a terminal, and what is cut where it does not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

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
from vault_indexer.cli.output.terminal import text


class Screen:
    """A console of so many columns that keeps the lines it was sent; without columns, a pipe."""

    def __init__(self, columns: int | None) -> None:
        self._sent = io.StringIO()
        self.console = Console(
            file=self._sent,
            width=columns or 1000,
            force_terminal=columns is not None,
            color_system=None,
            highlight=False,
            markup=False,
        )

    @property
    def lines(self) -> list[str]:
        return self._sent.getvalue().split("\n")[:-1]


@pytest.mark.parametrize(
    ("columns", "path", "end", "indent", "line"),
    [
        (None, "a/b.md", "words", 2, "  a/b.md  words"),
        (None, "a/b.md", "", 0, "a/b.md"),
        (30, "a/b.md", "words", 2, "  a/b.md                 words"),
        (30, "a/b.md", "", 2, "  a/b.md"),
        (30, "a/123456789012345678.md", "words", 0, "a/123456789012345678.md  words"),
        (30, "a/1234567890123456.md", "words", 1, " a/1234567890123456.md   words"),
        (30, "a/1234567890123456789.md", "words", 1, " a/12345678…23456789.md  words"),
        (30, "a/123456789012345678901234567.md", "", 1, " a/123456789012…78901234567.md"),
        (24, "a/1234567890123456789.md", "words", 0, "a/1234567…3456789.md  wo"),
    ],
)
def test_a_path_and_what_is_said_of_it_are_one_line(
    columns: int | None, path: str, end: str, indent: int, line: str
) -> None:
    screen = Screen(columns)
    print_ends(screen.console, path, "", end, indent=indent)
    assert screen.lines == [line]


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
    columns: int | None, name: str, value: str, indent: int, lines: list[str]
) -> None:
    screen = Screen(columns)
    print_row(screen.console, name, value, "", indent=indent)
    assert screen.lines == lines


ROWS = (("1", "A.md", "", "see A"), ("22", "Longer/B.md", "embed", "and more words of it"))
IN_COLUMNS = ["1   A.md                see A", "22  Longer/B.md  embed  and more words of it"]


def cells(*rows: tuple[str, ...]) -> list[list[Text]]:
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
def test_rows_are_columns_where_all_have_room(columns: int | None, head: int, lines: list[str]) -> None:
    screen = Screen(columns)
    print_rows(screen.console, cells(*ROWS), head=head)
    assert screen.lines == lines


def test_what_a_program_reads_is_never_cut() -> None:
    screen = Screen(None)
    print_rows(screen.console, cells(("a " * 600, "b")), head=1)
    print_ends(screen.console, "c " * 600, "", "d")
    print_row(screen.console, "e", "f " * 600, "")
    assert screen.lines == ["a " * 600 + "  b", "c " * 600 + "  d", "e  " + "f " * 600]


def test_one_very_long_cell_does_not_push_the_others_away() -> None:
    screen = Screen(None)
    print_rows(screen.console, cells(("a" * 61, "b"), ("c", "d"), ("e" * 60, "f")), head=1)
    assert screen.lines == [f"{'a' * 61}  b", f"c{' ' * 61}d", f"{'e' * 60}  f"]


def test_a_column_without_any_text_takes_no_room() -> None:
    screen = Screen(None)
    print_rows(screen.console, cells(("a", "", "b"), ("cc", "", "d")), head=1)
    assert screen.lines == ["a   b", "cc  d"]


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


@pytest.mark.parametrize(
    ("width", "span", "line"),
    [
        (62, (0, 3), NUMBERS),
        (61, (0, 3), "one two three four five six seven eight nine ten eleven twel…"),
        (30, (0, 3), "one two three four five six s…"),
        (30, (26, 29), "one two three four five six s…"),
        (30, (24, 30), "…four five six seven eight ni…"),
        (30, (40, 45), "…seven eight nine ten eleven …"),
        (30, (56, 62), "…ten eleven twelve"),
        (20, (30, 40), "…six seven eight ni…"),
        (10, (30, 40), "…six seven eight ni…"),
        (20, (0, 22), "…one two three four…"),
        (20, (4, 19), "one two three four …"),
    ],
)
def test_a_long_line_is_cut_so_that_what_matters_is_seen(
    width: int, span: tuple[int, int], line: str
) -> None:
    assert cut_text(text((NUMBERS, "")), width, span).plain == line


def test_a_line_of_one_word_is_cut_at_its_end() -> None:
    assert cut_text(text(("x" * 40, "")), 30, (35, 38)).plain == f"…{'x' * 28}…"


def test_a_space_at_the_beginning_of_a_line_is_cut_first() -> None:
    assert cut_text(text((f" {NUMBERS}", "")), 20, (2, 23)).plain == "…one two three four…"


def test_the_home_folder_is_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    paths = (tmp_path, tmp_path / "a/b", f"{tmp_path}2/a", tmp_path.parent, f"{tmp_path}a", "/z", "a")
    shown = [from_home(str(path)) for path in paths]
    assert shown == ["~", "~/a/b", f"{tmp_path}2/a", str(tmp_path.parent), f"{tmp_path}a", "/z", "a"]


def test_a_chunk_is_one_line_with_its_place_and_its_size() -> None:
    pipe = Screen(None)
    print_chunk(pipe.console, 9, 11, "Bread > Kneading", f"Knead\n the  dough.{' ' * 1000}")
    print_chunk(pipe.console, 12345, 67890, "", "Bake.")
    assert pipe.lines == [
        "     9-11   1,018  Bread > Kneading: Knead the dough.",
        "12345-67890       5  Bake.",
    ]
    narrow = Screen(30)
    print_chunk(narrow.console, 1, 2, "Bread", "Knead the dough.")
    assert narrow.lines == ["      1-2      16  Bread: Kne…"]
