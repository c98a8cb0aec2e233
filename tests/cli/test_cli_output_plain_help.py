"""The help of a command: what it shows of arguments and options, and what it leaves out."""

from __future__ import annotations

import io
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from golden_cases import check_golden, compare_golden
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from vault_indexer.cli.output.plain_help import (
    PlainCommand,
    PlainGroup,
    first_sentence,
    query_last,
    query_text,
)
from vault_indexer.cli.parameters import complete_strategy, strategies
from vault_indexer.contract.marks import MAX_QUERY_BYTES
from vault_indexer.errors import UsageError


class Kind(StrEnum):
    """What an option may be."""

    ONE = "one"
    TWO = "two"


def shown(program: typer.Typer) -> str:
    """The help of a program."""
    ran = CliRunner().invoke(program, ["--help"], prog_name="indexer", terminal_width=100)
    assert ran.exit_code == 0, ran.output
    return ran.output


@pytest.fixture
def find() -> typer.Typer:
    """A command with each kind of argument and option."""
    program = typer.Typer(rich_markup_mode=None, add_completion=False)

    @program.command("find", cls=PlainCommand)
    def find(
        query: Annotated[str, typer.Argument(help="What to find.")],
        folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where.")] = Path(),
        more: Annotated[str, typer.Argument(metavar="MORE", help="What else.")] = "",
        limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=9, help="At most N.")] = 5,
        bound: Annotated[float, typer.Option("--bound", help="The bound.")] = 0.25,
        none: Annotated[int, typer.Option("--none", help="By itself none.")] = 0,
        said: Annotated[int, typer.Option("--said", help="Said [the usual].")] = 3,
        file: Annotated[Path | None, typer.Option("--file", help="A file.")] = None,
        word: Annotated[str, typer.Option("--word", help="A word.")] = "w",
        named: Annotated[str, typer.Option("--named", metavar="NAME", help="A name.")] = "",
        kind: Annotated[Kind, typer.Option("--kind", help="A kind.")] = Kind.ONE,
        loud: Annotated[bool, typer.Option("--loud/--quiet", help="How.")] = True,
        often: Annotated[int, typer.Option("--often", count=True, help="How often.")] = 0,
        secret: Annotated[bool, typer.Option("--secret", hidden=True)] = False,
        vault: Annotated[str, typer.Option("--vault", help="The vault.")] = "",
    ) -> None:
        """Find things.

        In two
        paragraphs.
        """

    return program


@pytest.fixture
def keep() -> typer.Typer:
    """A group of commands."""
    program = typer.Typer(
        cls=PlainGroup, help="Keep things. Here.", rich_markup_mode=None, add_completion=False
    )
    program.command("add", help="Add one. It is written.")(lambda: None)
    program.command("list", help="List all")(lambda: None)
    program.command("old", hidden=True)(lambda: None)
    program.command("bare")(lambda: None)
    return program


def test_a_help_has_a_line_for_each_option_and_command_that_is_not_hidden(
    find: typer.Typer, keep: typer.Typer
) -> None:
    compare_golden(Path(__file__).parent / "fixtures" / "helps.txt", f"{shown(find)}\n\n{shown(keep)}")


@given(st.sampled_from(["", "token,", "a,b,"]), st.text("abcdehkmnoprtw_", max_size=3))
def test_a_list_of_strategies_is_completed_at_its_end(before: str, begun: str) -> None:
    assert complete_strategy(before + begun) == [
        before + name for name in strategies() if name.startswith(begun)
    ]


VALUES = {"--limit": 1, "-n": 1, "--fresh": 0, "--vault": 1, "-h": 0}


@given(st.lists(st.sampled_from(["-work", "bread", "-", "-n 7", "--limit 2", "--fresh", "-n3"])))
def test_options_come_first_and_words_keep_their_order(arguments: list[str]) -> None:
    found = query_last(" ".join(arguments).split(), VALUES)
    end = found.index("--")
    words = [argument for argument in arguments if argument in ("-work", "bread", "-")]
    options = [argument for argument in arguments if argument not in words]
    assert (" ".join(found[:end]), found[end + 1 :]) == (" ".join(options), words)


def test_the_first_sentence_stands_for_a_help_and_options_before_the_words() -> None:
    def ordered(arguments: str) -> str:
        try:
            return " ".join(query_last(arguments.split(), VALUES))
        except UsageError as refused:
            return str(refused)

    golden = Path(__file__).parent / "fixtures" / "options.md"
    check_golden(golden, {"Arguments": ordered, "The first sentence of a help": first_sentence})


def test_a_dash_alone_is_the_query_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("  rye \n\tbread\n"))
    assert query_text(["-", "rye"]) == "- rye"
    assert query_text(["-"]) == "rye bread"
    monkeypatch.setattr("sys.stdin", io.StringIO("x" * (MAX_QUERY_BYTES + 5)))
    assert len(query_text(["-"])) == MAX_QUERY_BYTES + 1, "no more than shows that it is too long"
