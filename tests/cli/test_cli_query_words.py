"""A query may begin with `-`, or hold a word that does; options are still options."""

from __future__ import annotations

import io

import pytest
from cli_sandbox import Sandbox
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.cli.output.plain_help import query_last, query_text
from vault_indexer.contract.marks import MAX_QUERY_BYTES
from vault_indexer.errors import UsageError

VALUES = {"--limit": 1, "-n": 1, "--fresh": 0, "--vault": 1, "-h": 0}


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (("apple", "-work"), "apple -work"),
        (("-tag:kitchen", "bread"), "-tag:kitchen bread"),
        (("-notes", "-n", "1"), "-notes"),
        (("-n1", "-hidden"), "-hidden"),
        (("bread", "-5"), "bread -5"),
        (("bread", "--", "--limit"), "bread --limit"),
        (("bread -oven",), "bread -oven"),
    ],
)
def test_a_word_with_a_dash_is_part_of_the_query(
    arguments: tuple[str, ...], query: str, indexed: Sandbox
) -> None:
    place = ("--vault", str(indexed.vault), "--index-dir", str(indexed.index_dir), "--json")
    ran = indexed.run("search", *place, *arguments)
    assert ran.code in (0, 1), ran.err
    assert ran.data["query"] == query


@given(st.lists(st.sampled_from(["-work", "bread", "-", "-n 7", "--limit 2", "--fresh", "-n3"])))
def test_options_come_first_and_words_keep_their_order(arguments: list[str]) -> None:
    found = query_last(" ".join(arguments).split(), VALUES)
    end = found.index("--")
    words = [argument for argument in arguments if argument in ("-work", "bread", "-")]
    options = [argument for argument in arguments if argument not in words]
    assert (" ".join(found[:end]), found[end + 1 :]) == (" ".join(options), words)


@pytest.mark.parametrize(
    ("arguments", "ordered"),
    [
        ("", "--"),
        ("bread -n5 -work", "-n5 -- bread -work"),
        ("bread -n 5 rye", "-n 5 -- bread rye"),
        ("bread --fresh rye", "--fresh -- bread rye"),
        ("bread --limti=3 -5", "--limti=3 -- bread -5"),
        ("-nx -n1x -h1", "-h1 -- -nx -n1x"),
        ("-- --fresh -n", "-- --fresh -n"),
        ("bread -- -i", "-- bread -i"),
        ("bread --limit", "--limit"),
        ("-h bread -n", "-h -n"),
        ("-ö - -1", "-- -ö - -1"),
    ],
)
def test_options_stand_before_the_words(arguments: str, ordered: str) -> None:
    assert query_last(arguments.split(), VALUES) == ordered.split()


@pytest.mark.parametrize("letter", ["i", "Z", "a", "z", "A"])
def test_a_letter_that_is_no_option_is_refused(letter: str) -> None:
    with pytest.raises(UsageError) as refused:
        query_last(["bread", f"-{letter}"], VALUES)
    assert str(refused.value) == (
        f'there is no option -{letter}; for notes without the word "{letter}", '
        f"end the command with: -- -{letter}"
    )


def test_a_dash_alone_is_the_query_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("  rye \n\tbread\n"))
    assert query_text(["-", "rye"]) == "- rye"
    assert query_text(["-"]) == "rye bread"
    monkeypatch.setattr("sys.stdin", io.StringIO("x" * (MAX_QUERY_BYTES + 5)))
    assert len(query_text(["-"])) == MAX_QUERY_BYTES + 1, "no more than shows that it is too long"
