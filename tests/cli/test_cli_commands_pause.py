"""`indexer pause` and `resume`, through a daemon that runs as a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cli_sandbox import Ran, Sandbox
from waiting import wait_until

from vault_indexer.cli.commands.pause import seconds
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
    results = ran.data["results"]
    assert isinstance(results, list)
    return any(word in hit["content"] for hit in results)


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
    assert isinstance(notices, list)
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


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        *(("90s", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), (" 1H5S ", 3605), ("1h1m1s", 3661)),
        *(("168h", 604_800), ("604800s", 604_800), ("1s", 1)),
    ],
)
def test_a_time_as_a_person_writes_it(length: str, expected: int) -> None:
    assert seconds(length) == expected


@pytest.mark.parametrize(
    "length", ["", "30", "m", "0m", "-5m", "1.5h", "30m1h", "168h1s", "604801s", "for ever", "٣m"]
)
def test_a_time_that_is_none_is_named(length: str) -> None:
    with pytest.raises(UsageError) as refused:
        seconds(length)
    assert str(refused.value) == f"--for {length}: must be a duration such as 90s, 30m or 1h30m, at most 168h"
