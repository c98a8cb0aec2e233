"""Milvus ends, hangs and comes back; gateways end and agree with each other; keepers and tables are away."""

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from gateway_lab import BEN, OPS, Gateway, Team, gateway, id_of, notices, publish, results
from milvus_server import milvus_server
from tcp_proxy import tcp_proxy
from test_gateway_figures import samples
from waiting import DEADLINE_S, wait_until


@pytest.mark.long
def test_searches_fail_while_milvus_is_away_and_go_on_after(team_server: object, tmp_path: Path) -> None:
    with milvus_server(tmp_path / "data") as server:
        team = Team(tmp_path, server.uri, "faults")
        publish(team, "kitchen")
        with gateway(team, [BEN, OPS]) as one:
            assert one.paths(BEN, "dough")
            server.kill()
            wait_until(lambda: one.search(BEN, "dough").status == 503)
            for path in ("/v1/vaults", "/readyz", "/v1/search?q=dough"):
                wait_until(lambda path=path: one.get(path, BEN).status == 503)  # type: ignore[misc]
                found = one.get(path, BEN)
                assert (found.status, found.kind) == (503, "backend")
                assert int(found.headers["retry-after"]) > 0
                assert str(server.port) not in found.body.decode()
            assert one.get("/healthz").status == 200
            assert samples(one.get("/metrics", OPS))["vault_indexer_gateway_ready", ()] == 0
            server.start()
            wait_until(lambda: one.search(BEN, "dough").status == 200)
            assert one.paths(BEN, "dough")
            assert one.get("/readyz").status == 200


@pytest.mark.long
def test_a_server_that_hangs_holds_up_one_request_at_a_time(team: Team) -> None:
    with tcp_proxy(team.port) as proxy, gateway(team, [BEN], uri=proxy.uri) as one:
        assert one.paths(BEN, "dough")
        proxy.hang()
        wait_until(lambda: one.search(BEN, "dough").status == 503)
        began = time.monotonic()
        found = [one.search(BEN, "dough").status for _ in range(20)]
        assert set(found) == {503}
        # One of them may have waited for the server, a second after the last that did.
        assert time.monotonic() - began < 20
        proxy.let_pass()
        wait_until(lambda: one.search(BEN, "dough").status == 200)


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("_chunks_", "published again"),
        ("_notes_", "published again"),
        ("_blobs_", "published again"),
        ("_vaults_", "no vault that you may read is published"),
    ],
)
def test_an_answer_says_that_a_table_was_dropped(new_team: Callable[[], Team], table: str, said: str) -> None:
    own = new_team()
    publish(own, "kitchen")
    connection = own.vaults.connection
    names = [str(name) for name in connection.call("list_collections")]
    for name in names:
        if name.startswith(f"{own.prefix}{table}"):
            connection.call("drop_collection", name)
    with gateway(own, [BEN]) as one:
        assert said in notices(one.search(BEN, "dough"))
        assert said in notices(one.post("/v1/ask", BEN, {"q": "How long do lentils boil?"}))
        for route in ("/v1/note", "/v1/related"):
            found = one.get(route, BEN, path="Bread.md")
            assert (found.status, said in found.body.decode()) == (404, True)


def test_two_gateways_give_one_answer_and_end_at_once(team: Team, shared_gateway: Gateway) -> None:
    with gateway(team, [BEN]) as other:
        for query in ("rings of Saturn", "dough", "dome path:Long"):
            assert results(other.search(BEN, query)) == results(shared_gateway.search(BEN, query))
        began = time.monotonic()
        other.process.send_signal(signal.SIGTERM)
        assert other.process.wait(DEADLINE_S) == 0
        assert time.monotonic() - began < 2 * 5  # two seconds on a machine of its own


@pytest.fixture(scope="module")
def mixed(new_team: Callable[[], Team]) -> Iterator[tuple[Team, Gateway]]:
    """Two vaults with vectors of two models, and their gateway."""
    team = new_team()
    publish(team, "kitchen", provider="multilingual")
    publish(team, "observatory")
    with gateway(team, [BEN]) as one:
        yield team, one


@pytest.mark.long
def test_hits_of_two_models_are_ordered_by_relevance(mixed: tuple[Team, Gateway]) -> None:
    _, one = mixed
    found = one.search(BEN, "rings of Saturn")
    assert "the vaults use different models (keeper/kitchen; keeper/observatory)" in notices(found)
    assert "the vaults have 2 embedding models" in str(one.get("/readyz").json["warnings"])
    relevance = [float(str(hit["relevance"])) for hit in results(found)]
    assert relevance == sorted(relevance, reverse=True)
    assert results(found)[0]["path"] == "Sky/Saturn.md"
    assert {hit["vault"] for hit in results(found)} == {"kitchen", "observatory"}
    assert "only words" not in notices(found)
    assert notices(one.search(BEN, "rings of Saturn", vault="kitchen")) == ""


@pytest.mark.long
def test_hits_and_the_list_say_that_a_keeper_is_away(mixed: tuple[Team, Gateway]) -> None:
    team, one = mixed

    def listed() -> dict[object, dict[str, object]]:
        return {row["name"]: row for row in one.vaults(BEN)}

    state = team.vaults.state(id_of("kitchen"))
    assert state is not None
    assert {row["is_stale"] for row in listed().values()} == {False}
    away = replace(state, seen_ms=state.seen_ms - 660_000)  # of the ten minutes that it may be away
    team.vaults.overwrite(away)
    wait_until(lambda: listed()["kitchen"]["is_stale"], "the list says so")
    kitchen = listed()["kitchen"]
    assert (kitchen["seen_at"], kitchen["published_at"]) == (away.seen_at, state.published_at)
    assert listed()["observatory"]["is_stale"] is False
    found = one.search(BEN, "dough")
    assert f"keeper/kitchen may be out of date: its keeper was last seen at {away.seen_at}" in notices(found)
    assert {hit["vault"]: hit["published_at"] for hit in results(found)}["kitchen"] == state.published_at
    assert notices(one.search(BEN, "dough", vault="observatory")) == ""
