"""What the API answers to whom it lets in; and that it stays answerable under load and at its end."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from serve_api import Api, end, serve
from waiting import DEADLINE_S, wait_until

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.errors import DaemonError, UsageError
from vault_indexer.serve.api.endpoints import (
    ENDPOINTS,
    LINKS,
    MENTIONS,
    ORPHANS,
    RELATED,
    SEARCH,
    STATUS,
    UNRESOLVED,
)
from vault_indexer.serve.api.respond import extension_routes
from vault_indexer.serve.client import DaemonClient, NotListeningError
from vault_indexer.serve.http.guard import MAX_LONG_LIVED


def client(api: Api) -> DaemonClient:
    return DaemonClient(DaemonInfo(1, f"http://127.0.0.1:{api.port}", api.token, str(api.vault), ""))


def test_search_links_related_note(api: Api) -> None:
    hits = api.ask("/v1/search?q=telescope&limit=1&by=note").json["results"]
    assert isinstance(hits, list)
    assert [hit["path"] for hit in hits] == ["Sky.md"]
    assert [link["path"] for link in client(api).ask(LINKS, path="Sky")["backlinks"]] == ["Bread.md"]
    assert [near["path"] for near in client(api).ask(RELATED, path="Sky", limit=5)["results"]] == ["Bread.md"]
    note = api.ask("/v1/note?path=Sky.md").json
    assert note["text"] == "# Sky\n\nThe telescope shows the rings of Saturn.\n"


def test_the_views_of_links(api: Api) -> None:
    assert client(api).ask(LINKS, path="Bread")["outgoing"][0]["resolved"] == "Sky.md"
    assert client(api).ask(UNRESOLVED) == {"links": 0, "targets": 0, "more": False, "unresolved": []}
    assert client(api).ask(ORPHANS) == {"orphans": [], "count": 0, "more": False}
    answer = client(api).ask(MENTIONS, path="Sky", limit=5)
    assert (answer["path"], answer["mentions"], answer["more"]) == ("Sky.md", [], False)
    for wrong in ("view=all", "path=Sky&limit=0", "path=Sky&depth=2", "view=mentions"):
        assert api.ask(f"/v1/links?{wrong}").status == 422, wrong


def test_odd_words_travel_whole(api: Api) -> None:
    for query in ('Grüße & "quoted" #tag +x=1 %41', "日本語 검색", "a\tb"):
        assert client(api).ask(SEARCH, q=query)["query"] == query


def test_status_names_the_daemon(api: Api) -> None:
    status = client(api).ask(STATUS)
    assert status["notes"] == 2
    assert status["daemon"]["running"] is True
    assert status["daemon"]["url"] == f"http://127.0.0.1:{api.port}"


def test_the_openapi_document_names_every_route(api: Api) -> None:
    paths = api.ask("/openapi.json").json["paths"]
    assert isinstance(paths, dict)
    routes = {(path, method.upper()) for path, methods in paths.items() for method in methods}
    assert routes == {
        ("/v1/events", "GET"),
        ("/v1/proof", "GET"),
        *((one.path, one.method) for one in ENDPOINTS),
        *((route.endpoint.path, route.endpoint.method) for route in extension_routes() if route.is_public),
    }


def test_a_rebuild_that_is_waited_for_reports(api: Api) -> None:
    report = api.post("/v1/rebuild", b"{}")
    assert report.status == 200
    assert report.json["notes"] == 2
    started = api.post("/v1/rebuild", b'{"wait": false}')
    assert started.status == 202
    assert client(api).rebuild(lambda _: None, RebuildOptions())["notes"] == 2


def test_the_client_raises_our_errors(api: Api) -> None:
    with pytest.raises(UsageError, match="no such note"):
        client(api).ask(LINKS, path="Nowhere")
    with pytest.raises(UsageError, match="limit"):
        client(api).ask(SEARCH, q="x", limit=1000)
    stranger = DaemonInfo(1, f"http://127.0.0.1:{api.port}", "wrong", "", "")
    with pytest.raises(DaemonError, match="token"):
        DaemonClient(stranger).ask(STATUS)
    with pytest.raises(NotListeningError):
        DaemonClient(DaemonInfo(1, "http://127.0.0.1:9", "x", "", "")).ask(STATUS)


def test_many_at_once_are_all_answered(api: Api) -> None:
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda n: api.ask(f"/v1/search?q=telescope+{n}").status, range(96)))
    assert answers == [200] * 96


@pytest.mark.long
def test_more_than_allowed_at_once_are_told_to_wait(tmp_path: Path) -> None:
    process, api = serve(tmp_path, tuning="[server]\nmax_concurrent = 1\n")
    try:
        # A body that does not come keeps the one place taken.
        holder = api.connect()
        holder.putrequest("GET", "/v1/status", skip_host=True)
        holder.putheader("Host", f"127.0.0.1:{api.port}")
        holder.putheader("Authorization", f"Bearer {api.token}")
        holder.putheader("Content-Length", "5")
        holder.endheaders(b"ab")
        wait_until(lambda: api.ask("/v1/status").status != 200, "the place is taken")
        found = api.ask("/v1/status")
        assert found.status == 503
        assert found.kind == "busy"
        assert found.headers["retry-after"] == "1"
        holder.close()
        wait_until(lambda: api.ask("/v1/status").status == 200, "the place is free again")
    finally:
        end(process)


def test_long_orders_leave_threads_for_others(api: Api) -> None:
    with ExitStack() as held:
        for _ in range(MAX_LONG_LIVED):
            holder = held.enter_context(closing(api.connect()))
            holder.putrequest("POST", "/v1/verify", skip_host=True)
            holder.putheader("Host", f"127.0.0.1:{api.port}")
            holder.putheader("Authorization", f"Bearer {api.token}")
            holder.putheader("Content-Type", "application/json")
            holder.putheader("Content-Length", "5")
            holder.endheaders(b"{")
        deadline = time.monotonic() + 60
        while (found := api.post("/v1/verify", b"{}")).status == 200 and time.monotonic() < deadline:
            pass
        assert (found.status, found.kind) == (503, "busy")
        assert api.ask("/v1/status").status == 200
    while (found := api.post("/v1/verify", b"{}")).status == 503 and time.monotonic() < deadline:
        pass
    assert found.status == 200


@pytest.mark.long
def test_a_request_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    process, api = serve(tmp_path, tuning="[server]\ntimeout_s = 0.5\n")
    try:
        found = api.ask("/v1/status", body=b"ab", headers={"Content-Length": "5"})
        assert found.status == 504
        assert found.kind == "timeout"
        # Half a second may be too little for any answer while the machine is busy.
        wait_until(lambda: api.ask("/v1/status").status == 200, "an answer within the time")
    finally:
        end(process)


@pytest.mark.long
def test_events_tell_changes_and_do_not_hold_up_the_end(tmp_path: Path) -> None:
    process, api = serve(tmp_path)
    connection = api.connect()
    connection.request(
        "GET", "/v1/events", headers={"Authorization": f"Bearer {api.token}", "Host": f"127.0.0.1:{api.port}"}
    )
    response = connection.getresponse()
    assert response.status == 200
    assert response.getheader("content-type", "").startswith("text/event-stream")
    assert response.readline() == b"event: status\n"
    first = json.loads(response.readline().removeprefix(b"data: "))
    (api.vault / "New.md").write_text("# New\n\nA comet.\n")
    notes, deadline = first["notes"], time.monotonic() + DEADLINE_S
    while notes == first["notes"] and time.monotonic() < deadline:
        line = response.readline()
        if line.startswith(b"data: "):
            notes = json.loads(line.removeprefix(b"data: "))["notes"]
    assert notes == first["notes"] + 1
    end(process)
    connection.close()
