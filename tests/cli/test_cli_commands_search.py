"""`search`, `ask`, `related` and `links`, through the daemon and in process: answers and exit status."""

from __future__ import annotations

import json

import pytest
from cli_sandbox import Sandbox
from waiting import wait_until


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


def test_a_likely_spelling_is_searched_as_well_unless_the_option_says_no(indexed: Sandbox) -> None:
    corrected = json.loads(indexed.indexer("search", "telescpoe", "--json").out)
    assert corrected["corrections"] == [{"from": "telescpoe", "to": "telescope"}]
    assert corrected["results"][0]["why"]["keyword"]["terms"].keys() == {"telescope"}
    as_written = json.loads(indexed.indexer("search", "telescpoe", "--no-correct", "--json").out)
    assert as_written["corrections"] == []
    assert all(hit["why"]["keyword"] is None for hit in as_written["results"])
    said = indexed.indexer("search", "telescpoe")
    assert "No note contains 'telescpoe': also searched for 'telescope'" in said.err


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


def test_related_and_links(indexed: Sandbox) -> None:
    near = indexed.indexer("related", "Night sky", "--json")
    assert near.code == 0, near.err
    assert "Kitchen/Bread.md" in {note["path"] for note in json.loads(near.out)["results"]}
    links = indexed.indexer("links", "Kitchen/Bread.md", "--json").data
    assert {"path", "outgoing", "backlinks", "unresolved", "diagnostics", "more"} <= set(links)
    welcome = json.loads(indexed.indexer("links", "Welcome", "--json").out)
    assert [link["target"] for link in welcome["unresolved"]] == ["Nowhere"]
    assert "broken: 1" in indexed.indexer("links", "Welcome").out


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


def test_related_says_why(indexed: Sandbox) -> None:
    near = json.loads(indexed.indexer("related", "Night sky", "--json").out)["results"][0]
    assert near["links"] == ["linked from"]
    assert near["shared"] == ["Kitchen/Bread.md"]
    assert near["why"]["link"] > 0
    assert "linked from, cosine" in indexed.indexer("related", "Night sky").out


def test_a_note_that_is_there(indexed: Sandbox) -> None:
    ran = indexed.indexer("search", "kneading", "dough", "--explain", "Kitchen/Bread", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert (told["path"], told["rank"], told["shown"]) == ("Kitchen/Bread.md", 1, True)
    assert told["why"]["keyword"]["terms"]
    assert told["candidates"] == 3
    assert "Kitchen/Bread.md   rank 1 of " in indexed.indexer("search", "kneading", "--explain", "Bread").out


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


DIAGRAM = "assets/diagram.png"


@pytest.fixture(scope="module")
def pictures(served: Sandbox) -> Sandbox:
    """A vault with a daemon, and an attachment that it knows."""
    served.write(DIAGRAM, "bytes")
    # On a machine with other work a search with --fresh may answer before the file is in, and says so.
    wait_until(lambda: found(served, "file:.png"), "an attachment is found")
    return served


def found(sandbox: Sandbox, query: str) -> list[tuple[object, object]]:
    """Path and kind of each hit."""
    ran = sandbox.indexer("search", "--json", "--fresh", query)
    assert ran.code in (0, 1), ran.err
    results = ran.data["results"]
    assert isinstance(results, list)
    return [(hit["path"], hit["kind"]) for hit in results]


@pytest.mark.long
def test_hits_of_files_in_json_and_text(pictures: Sandbox) -> None:
    assert found(pictures, "file:.png") == [(DIAGRAM, "attachment")]
    assert found(pictures, "diagram png")[0] == (DIAGRAM, "attachment")
    assert found(pictures, "kneading dough")[0] == ("Kitchen/Bread.md", "note")
    text = pictures.indexer("search", "file:.png")
    assert text.out.splitlines() == [f"{DIAGRAM}  name"]
    assert "Bread.md" in pictures.indexer("search", "kneading dough").out
    places = pictures.indexer("search", "--paths", "file:.png")
    assert places.out.strip().endswith("diagram.png:1")


@pytest.mark.long
def test_explain_of_a_file(pictures: Sandbox) -> None:
    shown = pictures.indexer("search", "diagram", "--explain", DIAGRAM)
    assert shown.code == 0, shown.err
    assert "only its name is searched" in shown.out
    absent = pictures.indexer("search", "diagram of bread", "--explain", DIAGRAM)
    assert absent.code == 1
    assert "its name lacks of, bread" in absent.out


@pytest.mark.long
def test_files_come_move_and_go(pictures: Sandbox) -> None:
    pictures.write("assets/tomato.gif", "bytes")
    assert found(pictures, "file:.gif") == [("assets/tomato.gif", "attachment")]
    (pictures.vault / "assets/tomato.gif").rename(pictures.vault / "assets/potato.gif")
    assert found(pictures, "file:.gif") == [("assets/potato.gif", "attachment")]
    pictures.write("Welcome.md", "# Welcome\n\nAn edit of a note.\n")
    assert found(pictures, "file:.gif") == [("assets/potato.gif", "attachment")]
    (pictures.vault / "assets/potato.gif").unlink()
    wait_until(lambda: not found(pictures, "file:.gif"), "a deleted attachment is no longer found")


@pytest.mark.long
def test_quotes_with_their_places(indexed: Sandbox) -> None:
    ran = indexed.indexer("ask", "What does the telescope show on a clear night?")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[:3] == [
        "From your notes, word for word:",
        '  "The telescope shows the rings of Saturn on a clear night."',
        "      Sky/Night sky.md:3",
    ]


@pytest.mark.long
def test_json_has_each_sentence_with_its_citations(indexed: Sandbox) -> None:
    ran = indexed.indexer("ask", "--json", "-n", "3", "What does the telescope show on a clear night?")
    assert ran.code == 0, ran.err
    assert ran.data["kind"] == "quotes"
    assert ran.data["verdict"] in ("strong", "likely")
    sentences = ran.data["sentences"]
    assert isinstance(sentences, list)
    citation = sentences[0]["citations"][0]
    text = (indexed.vault / citation["path"]).read_text("utf-8")
    assert text[citation["start_pos"] : citation["end_pos"]] == citation["quote"] == sentences[0]["text"]
    assert (sentences[0]["verdict"], sentences[0]["reason"]) == ("quoted", "")
    passages = ran.data["passages"]
    assert isinstance(passages, list)
    assert 0 < len(passages) <= 3


@pytest.mark.long
def test_a_question_without_an_answer_is_declined(indexed: Sandbox) -> None:
    ran = indexed.indexer("ask", "Which quarterback won the Superbowl against Denver?")
    assert ran.code == 1
    assert ran.complains("No note answers this. No note has the words ", '"quarterback"', '"Superbowl"')
    assert ran.complains("Closest")
    assert ".md  " in ran.out
    told = indexed.indexer("ask", "--json", "Which quarterback won the Superbowl against Denver?")
    assert (told.code, told.data["kind"]) == (1, "declined")


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
