"""Notes that are only frontmatter, as databases of books and films are, through the real command."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from cli_sandbox import Sandbox
from waiting import PROCESS_S

pytestmark = pytest.mark.long

HOWARDS_END = "Books/Howards End.md"
PASSAGE = "Books/A Passage to India.md"
STALKER = "Films/Stalker.md"
METROPOLIS = "Films/Metropolis.md"
ESSAY = "Essays/On connecting.md"
EMPTY = "Films/Solaris.md"

NOTES = {
    HOWARDS_END: "---\nauthor: E. M. Forster\nyear: 1910\n"
    "aliases: [Schlegel sisters]\ntags: [novel, read/twice]\n"
    'publisher: "[[Edward Arnold|Arnold]]"\nstatus: finished\n---\n',
    PASSAGE: "---\r\nauthor: E. M. Forster\r\nyear: 1924\r\nkeywords:\r\n  - Marabar\r\n  - caves\r\n---\r\n",
    STALKER: "---\ndirector: Andrei Tarkovsky\nyear: 1979\ncrew:\n  camera: Alexander Knyazhinsky\n"
    "  music: [Eduard Artemyev]\nseen: true\n---\n",
    METROPOLIS: '---\ndirector: Fritz Lang\nnote: "caf\\u00e9 concert"\n---\n\n\n',
    ESSAY: "---\nsubject: Leonard Bast\nsource: lecture\n---\n"
    "# On connecting\n\nOnly the prose and the passion.\n",
    EMPTY: "",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """The notes above with a daemon that keeps them."""
    made = Sandbox(tmp_path_factory.mktemp("library"))
    for path, text in NOTES.items():
        file = made.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    for command in (("rebuild",), ("start", "--wait", str(PROCESS_S))):
        ran = made.indexer(*command)
        assert ran.code == 0, ran.err
    yield made
    assert made.indexer("stop").code == 0


def found(library: Sandbox, *words: str) -> list[str]:
    """The paths of the hits, best first."""
    ran = library.indexer("search", "--json", "--fresh", "--limit", "20", *words)
    assert ran.code in (0, 1), ran.err
    return [hit["path"] for hit in json.loads(ran.out)["results"]]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("schlegel sisters", HOWARDS_END),
        ("novel", HOWARDS_END),
        ("publisher arnold", HOWARDS_END),
        ("marabar caves", PASSAGE),
        ("knyazhinsky", STALKER),
        ("solaris", EMPTY),
    ],
)
def test_words_of_properties_find_the_note(library: Sandbox, query: str, path: str) -> None:
    assert found(library, query)[0] == path


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("[director]", {STALKER, METROPOLIS}),
        ("[author:forster]", {HOWARDS_END, PASSAGE}),
        ("[year:>1950]", {STALKER}),
        ('"E M Forster"', {HOWARDS_END, PASSAGE}),
        ('"Fritz Lang" OR "Leonard Bast"', {METROPOLIS, ESSAY}),
        ('path:s -"E M Forster" -director', {ESSAY, EMPTY}),
        ('"café concert"', {METROPOLIS}),
        ("match-case:marabar", set()),
        ('"Bast source"', set()),
        ("line:Bast", set()),
        ("section:Forster", set()),
        ("content:Bast", set()),
    ],
)
def test_filters_see_properties(library: Sandbox, query: str, paths: set[str]) -> None:
    assert set(found(library, "--by", "note", query)) == paths


def test_an_edit_of_a_property_is_seen(library: Sandbox) -> None:
    try:
        library.write(STALKER, NOTES[STALKER].replace("1979", "1980").replace("seen: true", "rating: superb"))
        assert found(library, '"rating superb"') == [STALKER]
        assert found(library, "seen OR 1979") == []
    finally:
        library.write(STALKER, NOTES[STALKER])


def test_the_stored_chunk_is_what_inspect_shows(library: Sandbox) -> None:
    inspected = library.indexer("inspect", *NOTES, "--json")
    assert inspected.code == 0, inspected.err
    expected = {}
    for line in inspected.out.splitlines():
        note = json.loads(line)
        expected[note["path"]] = [(chunk["chunk_id"], chunk["content"]) for chunk in note["chunks"]]
    ran = library.indexer("search", "--json", "--limit", "20", "path:s")
    shown = {hit["path"]: [(hit["chunk_id"], hit["content"])] for hit in json.loads(ran.out)["results"]}
    assert shown == expected


def test_the_index_is_sound(library: Sandbox) -> None:
    checked = library.indexer("check", "--json").data["vaults"][0]  # type: ignore[index]
    assert checked["index"] == {"ok": True, "problems": []}
    exported = library.indexer("export")
    assert exported.code == 0, exported.err
    assert all(path in exported.out for path in NOTES)
