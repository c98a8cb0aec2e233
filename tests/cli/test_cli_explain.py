"""`search QUERY --explain NOTE`: where a note is in an answer, or what keeps it out."""

from __future__ import annotations

import json

import pytest
from cli_sandbox import Sandbox


@pytest.fixture
def indexed(reader: Sandbox) -> Sandbox:
    """Both ways to an answer have to be alike."""
    return reader


def test_a_note_that_is_there(indexed: Sandbox) -> None:
    ran = indexed.indexer("search", "kneading", "dough", "--explain", "Kitchen/Bread", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert (told["path"], told["rank"], told["shown"]) == ("Kitchen/Bread.md", 1, True)
    assert told["why"]["keyword"]["terms"]
    assert told["candidates"] == 3
    assert "Kitchen/Bread.md   place 1 of " in indexed.indexer("search", "kneading", "--explain", "Bread").out


def test_a_note_that_a_filter_keeps_out(indexed: Sandbox) -> None:
    ran = indexed.indexer("search", "kneading path:Sky/", "--explain", "Bread")
    assert ran.code == 1
    assert "it does not match the filter path:Sky/" in ran.out


@pytest.mark.parametrize("named", ["Hidden/Diary.md", "Hidden/Diary", "diary"])
def test_a_note_that_a_list_excludes(copied: Sandbox, named: str) -> None:
    copied.write("Hidden/Diary.md", "# Diary\n\nKneading again.\n")
    copied.write(".indexerignore", "Hidden/\n")
    ran = copied.indexer("search", "kneading", "--explain", named)
    assert ran.code != 0
    said = "Hidden/Diary.md is not in the index: .indexerignore excludes it by 'Hidden/'"
    assert ran.complains(said)


def test_a_mistake_in_the_query_points_at_its_column(indexed: Sandbox) -> None:
    for options in (("--explain", "Bread"), ()):
        ran = indexed.indexer("search", *options, "bread before:soon")
        assert ran.code == 2
        assert ran.complains("column 14", "soon")
