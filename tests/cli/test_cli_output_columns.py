"""Rows for a person: what fits into the columns of a terminal, and what is cut where it does not."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from command_here import TerminalText, set_terminal
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


def lines_of(columns: int | None, show: Callable[[Console], None]) -> list[str]:
    """The lines that a function prints at a terminal of so many columns, without styles; in a pipe for
    None."""
    sent = io.StringIO() if columns is None else TerminalText()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(sent):
        set_terminal(patch, columns or 80)
        show(out())
    return STYLES.sub("", sent.getvalue()).split("\n")[:-1]


@pytest.mark.parametrize("columns", [20, 30, 40])
@given(
    words=st.lists(st.text("abc-/ é日", min_size=1, max_size=60), min_size=2, max_size=4),
    indent=st.integers(0, 9),
)
def test_a_narrow_terminal_is_shown_every_character(columns: int, words: list[str], indent: int) -> None:
    def show(console: Console) -> None:
        print_ends(console, words[0], "", words[1], indent=indent)
        print_row(console, words[0], " ".join(words[1:]), "", indent=indent)
        print_rows(console, cells(words), head=2)
        console.print(text((" ".join(words), "")))

    narrow, pipe = ("".join(" ".join(lines_of(width, show)).split()) for width in (columns, None))
    assert narrow == pipe


ROWS = (("1", "A.md", "", "see A"), ("22", "Longer/B.md", "embed", "and more words of it"))


def cells(*rows: Sequence[str]) -> list[list[Text]]:
    """Made where they are printed: a terminal shows rich's texts."""
    return [[text((cell, "")) for cell in row] for row in rows]


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
def test_what_a_program_reads_is_columns(rows: list[tuple[str, ...]], lines: list[str]) -> None:
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


NUMBERS = "one two three four five six seven eight nine ten eleven twelve"


@pytest.mark.posix("a console as wide as it says")
def test_lines_fit_a_terminal_as_the_golden_says() -> None:
    def cut(width: str, start: str, end: str, line: str) -> str:
        found = []
        for stream in (TerminalText(), io.StringIO()):
            with redirect_stdout(stream):
                shown = cut_text(text((line or NUMBERS, "")), int(width), (int(start), int(end)))
                found.append(shown.plain)
        assert found[0] == found[1]
        return found[0]

    def show(columns: str, function: Callable[..., None], *given: object, **options: object) -> str:
        width = None if columns == "pipe" else int(columns)
        return "\n".join(lines_of(width, lambda console: function(console, *given, **options)))

    def ends(columns: str, path: str, end: str, indent: str) -> str:
        return repr(show(columns, print_ends, path, "", end, indent=int(indent)))

    def value(columns: str, name: str, words: str, indent: str) -> str:
        return repr(show(columns, print_row, name, words, "", indent=int(indent)))

    def rows(columns: str, head: str) -> str:
        return show(columns, lambda console: print_rows(console, cells(*ROWS), head=int(head)))

    check_golden(
        Path(__file__).parent / "fixtures" / "columns.md",
        {
            "A long line is cut so that what matters is seen": of_parts(cut),
            "A path and what is said of it are one line": of_parts(ends),
            "A value is wrapped below itself": of_parts(value),
            "Rows are columns where all have room": of_parts(rows),
            "A path is cut so that as much of both ends is seen": of_parts(
                lambda path, width: shorten_path(path, int(width))
            ),
        },
    )


@given(st.text(st.sampled_from("a \tb日é"), max_size=12), st.text(st.sampled_from("a 日"), max_size=5))
def test_a_plain_line_is_as_wide_as_a_styled_one(first: str, second: str) -> None:
    plain, styled = text((first, "red")), Text(clean(first))
    for line in (plain, styled):
        line.append_text(text((second, ""))) if line is plain else line.append(second)
        line.rstrip()
    assert (plain.plain, plain.cell_len, plain.copy().plain) == (styled.plain, styled.cell_len, styled.plain)
    assert plain[1:3].plain == styled[1:3].plain


@pytest.mark.posix("the variable HOME")
def test_the_home_folder_is_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    paths = (tmp_path, tmp_path / "a/b", f"{tmp_path}2/a", tmp_path.parent, f"{tmp_path}a", "/z", "a")
    shown = [from_home(str(path)) for path in paths]
    assert shown == ["~", "~/a/b", f"{tmp_path}2/a", str(tmp_path.parent), f"{tmp_path}a", "/z", "a"]


@pytest.mark.posix("a console as wide as it says")
def test_a_chunk_is_one_line_with_its_place_and_its_size() -> None:
    def show(console: Console) -> None:
        print_chunk(console, 9, 11, "Bread > Kneading", f"Knead\n the  dough.{' ' * 1000}")
        print_chunk(console, 12345, 67890, "", "Bake.")

    assert lines_of(None, show) == [
        "     9-11   1,018  Bread > Kneading: Knead the dough.",
        "12345-67890       5  Bake.",
    ]
    narrow = lines_of(30, lambda console: print_chunk(console, 1, 2, "Bread", "Knead the dough."))
    assert narrow == ["      1-2      16  Bread: Kne…"]
