"""`search`, `related` and `links`: what is printed, where, and the exit status."""

from __future__ import annotations

import json

import pytest
from cli_sandbox import Sandbox


@pytest.fixture
def indexed(reader: Sandbox) -> Sandbox:
    """Both ways to an answer have to be alike."""
    return reader


HIT_KEYS = {
    *("path", "title", "header_path", "chunk_id", "chunk_index", "start_pos", "end_pos", "start_line"),
    *("end_line", "score", "snippet", "content", "modified_time", "tags", "stale", "why"),
}


def test_search_json_is_the_contract(indexed: Sandbox) -> None:
    ran = indexed.indexer("search", "kneading dough", "--json")
    assert ran.code == 0
    assert set(ran.data) >= {"query", "took_ms", "index", "results"}
    assert set(json.loads(ran.out)["index"]) == {"generation", "seq", "pending"}
    hits = json.loads(ran.out)["results"]
    assert hits[0]["path"] == "Kitchen/Bread.md"
    assert set(hits[0]) >= HIT_KEYS
    assert set(hits[0]["why"]) >= {"vector", "keyword", "graph", "recency"}
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    text = (indexed.vault / "Kitchen/Bread.md").read_text(encoding="utf-8")
    assert text[hits[0]["start_pos"] : hits[0]["end_pos"]] in hits[0]["content"]


def test_search_for_a_person_names_place_and_words(indexed: Sandbox) -> None:
    ran = indexed.indexer("search", "rings", "of", "Saturn")
    assert ran.code == 0
    assert ran.out.startswith("Sky/Night sky.md  words, meaning")
    assert "\n   3  The telescope shows the rings of Saturn" in ran.out
    assert "\x1b" not in ran.out


def test_explain_says_why(indexed: Sandbox) -> None:
    ran = indexed.indexer("search", "telescope", "--explain", "Night sky")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "Sky/Night sky.md   place 1 of 3")
    assert '  words   "telescope"' in ran.out.splitlines()


def test_a_likely_spelling_is_searched_as_well_unless_the_option_says_no(indexed: Sandbox) -> None:
    corrected = json.loads(indexed.indexer("search", "telescpoe", "--json").out)
    assert corrected["corrections"] == [{"from": "telescpoe", "to": "telescope"}]
    assert corrected["results"][0]["why"]["keyword"]["terms"].keys() == {"telescope"}
    as_written = json.loads(indexed.indexer("search", "telescpoe", "--no-correct", "--json").out)
    assert as_written["corrections"] == []
    assert all(hit["why"]["keyword"] is None for hit in as_written["results"])
    said = indexed.indexer("search", "telescpoe")
    assert "No note holds 'telescpoe': searched for 'telescope' as well" in said.err


@pytest.mark.parametrize(("copies", "said"), [(1, "and 1 copy"), (2, "and 2 copies")])
def test_notes_with_the_same_text_are_one_hit(sandbox: Sandbox, copies: int, said: str) -> None:
    bread = (sandbox.vault / "Kitchen/Bread.md").read_text("utf-8")
    for number in range(copies):
        (sandbox.vault / f"Kitchen/Bread {number}.md").write_text(bread, "utf-8")
    shown = sandbox.indexer("search", "flour and a ripe starter", "--limit", "5")
    assert shown.code == 0, shown.err
    assert [line for line in shown.out.splitlines() if said in line and "Bread" in line]
    assert len([line for line in shown.out.splitlines() if "Kitchen/Bread" in line]) == 1
    files = sandbox.indexer("search", "flour and a ripe starter", "--files").out
    assert files.count("Kitchen/Bread") == 1 + copies, "a script gets every file"
    found = json.loads(sandbox.indexer("search", "flour and a ripe starter", "--json").out)["results"]
    assert {len(hit.get("copies", ())) for hit in found if "Bread" in hit["path"]} == {copies}


def test_by_note_gives_each_note_once(indexed: Sandbox) -> None:
    ran = indexed.indexer("search", "bread dough", "--by", "note", "--json")
    paths = [hit["path"] for hit in json.loads(ran.out)["results"]]
    assert len(paths) == len(set(paths)) > 0


def test_options_stand_before_the_command_too(indexed: Sandbox) -> None:
    place = ("--vault", str(indexed.vault), "--index-dir", str(indexed.index_dir), "--json")
    assert indexed.run(*place, "search", "telescope").data["query"] == "telescope"


def test_variables_name_the_place(indexed: Sandbox) -> None:
    variables = {"INDEXER_VAULT": str(indexed.vault), "INDEXER_INDEX_DIR": str(indexed.index_dir)}
    ran = Sandbox(indexed.root, variables).run("search", "telescope", "--json")
    assert ran.code == 0, ran.err


def test_the_first_search_builds_the_index(sandbox: Sandbox) -> None:
    ran = sandbox.indexer("search", "telescope", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["results"][0]["path"] == "Sky/Night sky.md"
    assert ran.data["notices"] == ["Indexed 3 notes (first use)."]


@pytest.mark.long
def test_a_note_written_since_is_found(sandbox: Sandbox) -> None:
    assert sandbox.indexer("rebuild").code == 0
    sandbox.write("Sky/Comet.md", "# Comet\n\nA comet has a long bright tail.\n")
    hits = json.loads(sandbox.indexer("search", "comet", "--json").out)["results"]
    assert hits[0]["path"] == "Sky/Comet.md"


@pytest.mark.long
def test_control_characters_of_a_note_do_not_reach_the_terminal(sandbox: Sandbox) -> None:
    sandbox.write("Evil.md", "# Evil\n\nA zeppelin \x1b[31mflies\x07 here.\n")
    ran = sandbox.indexer("search", "zeppelin")
    assert "zeppelin" in ran.out
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out


def test_nothing_found_is_the_answer_no(sandbox: Sandbox) -> None:
    for path in list(sandbox.vault.rglob("*.md")):
        path.unlink()
    ran = sandbox.indexer("search", "telescope")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.complains('"telescope"')


def test_related_and_links(indexed: Sandbox) -> None:
    near = indexed.indexer("related", "Night sky", "--json")
    assert near.code == 0, near.err
    assert "Kitchen/Bread.md" in {note["path"] for note in json.loads(near.out)["results"]}
    links = indexed.indexer("links", "Kitchen/Bread.md", "--json").data
    assert {"path", "outgoing", "backlinks", "unresolved", "diagnostics", "more"} <= set(links)
    welcome = json.loads(indexed.indexer("links", "Welcome", "--json").out)
    assert [link["target"] for link in welcome["unresolved"]] == ["Nowhere"]
    assert "leads nowhere: 1" in indexed.indexer("links", "Welcome").out


def test_backlinks_keep_the_contract_and_tell_more(indexed: Sandbox) -> None:
    links = json.loads(indexed.indexer("links", "Kitchen/Bread.md", "--json").out)
    sky, welcome = links["backlinks"]
    assert {key: sky[key] for key in ("path", "line", "kind", "subpath")} == {
        "path": "Sky/Night sky.md",
        "line": 5,
        "kind": "wikilink",
        "subpath": "Kneading",
    }
    assert sky["snippet"] == "Bring a thermos and some [[Bread#Kneading|bread]]."
    assert sky["target_chunk_id"].startswith("Kitchen/Bread_chunk_")
    assert welcome["target_chunk_id"] is None


def test_links_of_a_note_are_printed_in_columns(indexed: Sandbox) -> None:
    lines = indexed.indexer("links", "Night sky").out.splitlines()
    assert lines == [
        "Sky/Night sky.md",
        "links to: 1",
        "      5  Kitchen/Bread.md#Kneading  line 9",
        "linked from: 1",
        "      3  Welcome.md  Start with [[Bread]] or read about the [[Night sky]].",
    ]


def test_unresolved_links_and_orphans_of_the_vault(indexed: Sandbox) -> None:
    unresolved = json.loads(indexed.indexer("links", "--unresolved", "--json").out)
    place = {"path": "Welcome.md", "line": 5, "kind": "wikilink"}
    assert unresolved == {
        "links": 1,
        "targets": 1,
        "more": False,
        "unresolved": [{"target": "Nowhere", "count": 1, "sources": [place]}],
    }
    assert "Nowhere  Welcome.md:5" in indexed.indexer("links", "--unresolved").out
    assert json.loads(indexed.indexer("links", "--orphans", "--json").out) == {
        "orphans": [],
        "count": 0,
        "more": False,
    }
    assert indexed.indexer("links", "--orphans").out == "notes without links: 0\n"


def test_mentions_of_a_note(indexed: Sandbox) -> None:
    ran = indexed.indexer("links", "--mentions", "Night sky", "--json")
    assert (ran.code, json.loads(ran.out)["names"]) == (1, ["Night sky"])
    assert "without linking it" in indexed.indexer("links", "Night sky", "--mentions").err


def test_links_wants_a_note_or_the_vault_and_one_view(indexed: Sandbox) -> None:
    for arguments, said in (
        ((), "Name a note"),
        (("Bread", "--orphans"), "leave out 'Bread'"),
        (("--orphans", "--unresolved"), "one at a time"),
        (("--mentions",), "Name a note"),
    ):
        ran = indexed.indexer("links", *arguments)
        assert (ran.code, ran.complains(said)) == (2, True), arguments


def test_related_says_why(indexed: Sandbox) -> None:
    near = json.loads(indexed.indexer("related", "Night sky", "--json").out)["results"][0]
    assert near["links"] == ["linked from"]
    assert near["shared"] == ["Kitchen/Bread.md"]
    assert near["why"]["link"] > 0
    assert "linked from, cosine" in indexed.indexer("related", "Night sky").out


def test_a_note_that_is_not_there_is_wrong_usage(indexed: Sandbox) -> None:
    for command in ("related", "links"):
        ran = indexed.indexer(command, "Nowhere")
        assert ran.code == 2
        assert ran.complains("no such note", "Nowhere")
