"""Commands that are made of rows of the table of endpoints: what they ask and what a person reads."""

from __future__ import annotations

import json

import pytest
from answering_daemon import AnsweringDaemon, AskedFor, Reply
from command_here import CommandHere

from vault_indexer.serve.api.endpoints import CHUNKS, CLUSTERS, HEALTH

HEALTH_OF = {
    "notes": 1200,
    "chunks": 3400,
    "median": 1050,
    "largest": 12000,
    "orphans": 1,
    "wanted": [{"target": "Gone", "count": 3}, {"target": "Lost", "count": 1}],
    "wanted_count": 2,
}
CHUNKS_OF = {
    "path": "Kitchen/Bread.md",
    "strategy": "word",
    "chunks": [
        {"start_line": 1, "end_line": 12, "header_path": "Bread", "content": "Flour and\n water."},
        {"start_line": 13, "end_line": 14, "header_path": "", "content": "Bake."},
    ],
}
CLUSTERS_OF = {
    "clusters": [{"name": "Kitchen", "notes": 1, "links": 2}, {"name": "Sky", "notes": 1200, "links": 1}]
}


@pytest.mark.parametrize(
    ("arguments", "parameters", "lines"),
    [
        (
            ("health",),
            {},
            [
                "1,200 notes",
                "3,400 chunks  1,050 characters in the middle, 12,000 at most",
                "1 orphan",
                "2 targets of broken links  Gone 3, Lost 1",
            ],
        ),
        (
            ("chunks", "Bread", "--strategy", "word"),
            {"path": "Bread", "strategy": "word"},
            [
                "Kitchen/Bread.md  2 chunks, word",
                "     1-12      17  Bread: Flour and water.",
                "    13-14       5  Bake.",
            ],
        ),
        (("chunks", "{vault}/Kitchen/Bread.md"), {"path": "Kitchen/Bread.md"}, None),
        (
            ("clusters", "--by", "community"),
            {"by": "community"},
            ["Kitchen  1 note       2 links among them", "Sky      1,200 notes  1 link among them"],
        ),
        (("clusters", "--folder", "a b"), {"folder": "a b"}, None),
        (("clusters",), {}, None),
    ],
)
def test_a_row_of_the_table_is_a_command(
    here: CommandHere,
    daemon: AnsweringDaemon,
    arguments: tuple[str, ...],
    parameters: dict[str, object],
    lines: list[str] | None,
) -> None:
    for endpoint, answer in ((HEALTH, HEALTH_OF), (CHUNKS, CHUNKS_OF), (CLUSTERS, CLUSTERS_OF)):
        daemon.reply(endpoint, Reply(200, json.dumps(answer).encode()))
    ran = here.indexer(*(one.format(vault=here.sandbox.vault) for one in arguments))
    assert (ran.code, ran.err) == (0, "")
    if lines is not None:
        assert ran.out.splitlines() == lines
    path = {"health": HEALTH.path, "chunks": CHUNKS.path, "clusters": CLUSTERS.path}[arguments[0]]
    assert daemon.requests == [AskedFor(path, parameters)]


def test_as_json_the_answer_is_printed_as_it_is(here: CommandHere, daemon: AnsweringDaemon) -> None:
    daemon.reply(CLUSTERS, Reply(200, json.dumps(CLUSTERS_OF).encode()))
    assert here.indexer("clusters", "--json").data == CLUSTERS_OF
    shown = here.terminal("clusters", "--json").out
    hint = "indexer clusters goes with the next version. Run: indexer open, which shows the graph\n"
    assert shown.startswith(f'{hint}{{\n  "clusters": [')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chunks",), "Missing argument 'NOTE'"),
        (("clusters", "--by", "size"), "'size' is not one of"),
        (("chunks", "Bread", "--strategy", "none", "--nearly"), "No such option: --nearly"),
    ],
)
def test_what_the_row_does_not_have_is_refused(
    here: CommandHere, daemon: AnsweringDaemon, arguments: tuple[str, ...], said: str
) -> None:
    ran = here.indexer(*arguments)
    assert (ran.code, ran.out, said in ran.err) == (2, "", True)
    assert daemon.requests == []
