"""What the API answers to whom it lets in; and that it stays answerable under load and at its end."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from serve_api import Api, end, serve
from waiting import DEADLINE_S

from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.serve.api.endpoints import ENDPOINTS, SEARCH
from vault_indexer.serve.api.respond import extension_routes
from vault_indexer.serve.client import DaemonClient
from vault_indexer.serve.http.guard import MAX_LONG_LIVED


def client(api: Api) -> DaemonClient:
    return DaemonClient(DaemonInfo(1, f"http://127.0.0.1:{api.port}", api.token, str(api.vault), ""))


def test_odd_words_travel_whole(api: Api) -> None:
    for query in ('Grüße & "quoted" #tag +x=1 %41', "日本語 검색", "a\tb"):
        assert client(api).ask(SEARCH, q=query)["query"] == query


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


def test_many_at_once_are_all_answered(api: Api) -> None:
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda n: api.ask(f"/v1/search?q=telescope+{n}").status, range(96)))
    assert answers == [200] * 96


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
        assert (found.status, found.kind, found.headers["retry-after"]) == (503, "busy", "1")
        assert api.ask("/v1/status").status == 200
    while (found := api.post("/v1/verify", b"{}")).status == 503 and time.monotonic() < deadline:
        pass
    assert found.status == 200


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
