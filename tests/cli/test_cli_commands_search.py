"""`search`, through the daemon and in process, and `ask` with a model: answers and exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon
from cli_sandbox import Sandbox
from command_here import CommandHere
from sessions import compare_session, sessions

FIRST_INDEX = Path(__file__).parent / "fixtures" / "sessions" / "first_index.md"


def test_hits_are_in_the_order_of_their_scores_and_stand_where_they_say(reader: Sandbox) -> None:
    ran = reader.indexer("search", "kneading dough", "--json")
    assert ran.code == 0
    hits = ran.data["results"]
    assert hits[0]["path"] == "Kitchen/Bread.md"
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    text = (reader.vault / "Kitchen/Bread.md").read_text(encoding="utf-8")
    assert text[hits[0]["start_pos"] : hits[0]["end_pos"]] in hits[0]["content"]


@pytest.mark.long
@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("heading", sessions(FIRST_INDEX))
def test_what_is_indexed_first_is_found(
    here: CommandHere, heading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare_session(FIRST_INDEX, heading, here, AnsweringDaemon("http://none"), monkeypatch)


def test_options_stand_before_the_command_too_and_variables_name_the_place(reader: Sandbox) -> None:
    assert reader.run(*reader.place, "--json", "search", "telescope").data["query"] == "telescope"
    variables = {"INDEXER_VAULT": str(reader.vault), "INDEXER_INDEX_DIR": str(reader.index_dir)}
    assert Sandbox(reader.root, variables).run("search", "telescope").code == 0


@pytest.mark.parametrize("named", ["Hidden/Diary.md", "Hidden/Diary", "diary"])
def test_a_note_that_a_list_excludes(copied: Sandbox, named: str) -> None:
    copied.write("Hidden/Diary.md", "# Diary\n\nKneading again.\n")
    copied.write(".indexerignore", "Hidden/\n")
    ran = copied.indexer("search", "kneading", "--explain", named)
    assert ran.code != 0
    said = "Hidden/Diary.md is not in the index: .indexerignore excludes it by 'Hidden/'"
    assert ran.complains(said)


@pytest.mark.long
def test_a_model_that_is_not_set_up_is_one_clear_line(copied: Sandbox) -> None:
    copied.write(".indexer.toml", "")
    config = copied.root / "config.toml"
    config.write_text(
        '[llm]\nprovider = "openai"\nmodel = "none"\nurl = "http://127.0.0.1:9/v1"\n'
        'api_key_env = "NO_SUCH_KEY"\n'
    )
    asked = ("ask", "--config", str(config), "What does the telescope show on a clear night?")
    ran = copied.indexer(*asked)
    assert (ran.code, ran.out) == (3, "")
    assert ran.complains("indexer:")
    assert len(ran.err.strip().splitlines()) == 1, ran.err
    without = copied.indexer(*asked, "--no-model")
    assert without.code == 0, without.err
    assert "rings of Saturn" in without.out
