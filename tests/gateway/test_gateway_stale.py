"""A vault whose keeper has not reported for too long: its hits and the list of vaults say so."""

from dataclasses import replace
from pathlib import Path

import pytest
from gateway_lab import BEN, Gateway, Team, gateway, id_of, notices, publish, results
from waiting import wait_until


def vaults(one: Gateway) -> dict[str, dict[str, object]]:
    """The list of vaults, by name."""
    answer = one.get("/v1/vaults", BEN)
    assert answer.status == 200, answer.body
    listed = answer.json["vaults"]
    assert isinstance(listed, list)
    return {row["name"]: row for row in listed}


@pytest.mark.long
def test_hits_and_the_list_say_that_a_keeper_is_away(team: Team, tmp_path: Path) -> None:
    stale = Team(tmp_path, team.uri, "stale")
    publish(stale, "kitchen")
    publish(stale, "observatory", "other")
    state = stale.vaults.state(id_of("kitchen"))
    assert state is not None
    with gateway(stale, [BEN]) as one:
        assert notices(one.search(BEN, "dough")) == ""
        assert {row["is_stale"] for row in vaults(one).values()} == {False}

        away = replace(state, seen_ms=state.seen_ms - 660_000)  # of the ten minutes that it may be away
        stale.vaults.overwrite(away)
        wait_until(lambda: vaults(one)["kitchen"]["is_stale"], "the list says so")
        assert vaults(one)["kitchen"]["seen_at"] == away.seen_at
        assert vaults(one)["kitchen"]["published_at"] == state.published_at
        assert vaults(one)["observatory"]["is_stale"] is False
        found = one.search(BEN, "dough")
        assert notices(found) == (
            f"keeper/kitchen may be out of date: its keeper was last seen at {away.seen_at}"
        )
        shown = {hit["vault"]: hit["published_at"] for hit in results(found)}
        assert set(shown) == {"kitchen", "observatory"}
        assert shown["kitchen"] == state.published_at
        assert notices(one.search(BEN, "dough", vault="observatory")) == ""
