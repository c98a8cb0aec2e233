"""`indexer pause` and `resume`, through a daemon that runs as a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_sandbox import Ran, Sandbox
from golden_cases import check_golden
from waiting import wait_until

from vault_indexer.cli.commands.status import seconds
from vault_indexer.errors import UsageError


@pytest.fixture
def running(served: Sandbox) -> Iterator[Sandbox]:
    wait_until(
        lambda: served.indexer("status", "--json").data["pending"] == 0
    )  # the look at its start is done
    yield served
    assert served.indexer("resume").code == 0


def found_in(ran: Ran, word: str) -> bool:
    """Whether a hit holds the word."""
    return any(word in hit["content"] for hit in ran.data["results"])


@pytest.mark.long
def test_searches_go_on_and_say_so_and_what_changes_is_kept(running: Sandbox) -> None:
    paused = running.indexer("pause")
    assert (paused.code, paused.out) == (0, "")
    assert "Indexing is paused until `indexer resume`." in paused.err
    running.write("Paused.md", "# Paused\n\nAbout a zeppelin.\n")
    wait_until(lambda: running.indexer("status", "--json").data["pending"] == 1)
    status = running.indexer("status")
    assert "1 change not indexed yet" in status.out
    assert "until `indexer resume`" in status.out
    data = running.indexer("status", "--json").data
    assert (data["paused"], data["paused_until"], data["state"]) == (True, "", "paused")

    fresh = running.indexer("search", "zeppelin", "--fresh", "--json")
    notices = fresh.data["notices"]
    assert notices[0] == "results may be out of date: indexing is paused"
    assert "indexing is paused until `indexer resume`: 1 change is not indexed yet" in notices[1]
    assert not found_in(fresh, "zeppelin")

    for command in (("rebuild",), ("check", "--repair")):
        refused = running.indexer(*command)
        assert refused.code == 3
        assert refused.complains("indexing is paused", "indexer resume")

    resumed = running.indexer("resume")
    assert resumed.code == 0
    assert "Indexing resumed" in resumed.err
    wait_until(lambda: found_in(running.indexer("search", "zeppelin", "--json"), "zeppelin"))
    after = running.indexer("status", "--json").data
    assert (after["paused"], after["pending"]) == (False, 0)


def test_a_time_is_read_as_a_person_writes_it() -> None:
    def read(length: str) -> str:
        try:
            return str(seconds(length))
        except UsageError as error:
            return str(error).removeprefix(f"--for {length}: ")

    check_golden(Path(__file__).parent / "fixtures" / "lengths.md", {"": read})
