"""What the API answers to whom it lets in; and that it stays answerable under load and at its end."""

import json
import stat
import time
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import quote

import pytest
from serve_api import PICTURES, Api, end, serve
from waiting import DEADLINE_S

from vault_indexer.serve.http.guard import MAX_LONG_LIVED


def test_many_at_once_are_all_answered(api: Api) -> None:
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda n: api.ask(f"/v1/search?q=telescope+{n}").status, range(96)))
    assert answers == [200] * 96


def test_long_orders_leave_threads_for_others(api: Api) -> None:
    headers = {"Authorization": f"Bearer {api.token}", "Content-Type": "application/json"}
    with ExitStack() as held:
        for _ in range(MAX_LONG_LIVED):
            holder = held.enter_context(closing(api.connect()))
            holder.request("POST", "/v1/verify", b"{", {**headers, "Content-Length": "5"})
        deadline = time.monotonic() + 60
        while (found := api.post("/v1/verify", b"{}")).status == 200 and time.monotonic() < deadline:
            pass
        assert (found.status, found.kind, found.headers["retry-after"]) == (503, "busy", "1")
        assert api.ask("/v1/status").status == 200
    while (found := api.post("/v1/verify", b"{}")).status == 503 and time.monotonic() < deadline:
        pass
    assert found.status == 200


@pytest.mark.long
def test_events_do_not_hold_up_the_end_and_port_and_token_survive_it(tmp_path: Path) -> None:
    process, api = serve(tmp_path)
    with closing(api.connect()) as connection:
        connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {api.token}"})
        response = connection.getresponse()
        assert (response.status, response.readline()) == (200, b"event: status\n")
        first = json.loads(response.readline().removeprefix(b"data: "))
        (api.vault / "New.md").write_text("# New\n\nA comet.\n")
        notes, deadline = first["notes"], time.monotonic() + DEADLINE_S
        while notes == first["notes"] and time.monotonic() < deadline:
            line = response.readline()
            if line.startswith(b"data: "):
                notes = json.loads(line.removeprefix(b"data: ")).get("notes", notes)
        assert notes == first["notes"] + 1
        end(process)
    assert stat.S_IMODE((api.index_dir / "address.json").stat().st_mode) == 0o600
    process, again = serve(tmp_path)
    end(process)
    assert (again.port, again.token) == (api.port, api.token)


def test_a_pause_has_an_end_and_takes_no_orders(api: Api) -> None:
    """What else a pause is: test_daemon_told.py."""
    try:
        timed = api.post("/v1/pause", b'{"seconds": 600}').json
        assert (timed["paused"], str(timed["paused_until"])[-1]) == (True, "Z")
        notices = api.ask("/v1/search?q=bread").json["notices"]
        assert any("indexing is paused until 2" in notice for notice in notices)
        for order in ("verify", "rebuild"):
            refused = api.post(f"/v1/{order}", b"{}")
            assert (refused.status, refused.kind) == (503, "unavailable")
    finally:
        assert api.post("/v1/resume", b"{}").json["paused"] is False


def test_a_picture_travels_as_json(api: Api) -> None:
    found = api.ask("/v1/picture?path=dot.png")
    assert found.headers["content-type"] == "application/json"
    assert found.json["media_type"] == "image/png"
    assert found.json["bytes"] == len(PICTURES["dot.png"])
    assert b64decode(str(found.json["data"])) == PICTURES["dot.png"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("page.png", "does not match its suffix"),
        ("plan.pdf", "no such picture"),
        ("Sky.md", "no such picture"),
        ("nowhere.png", "no such picture"),
        ("../config.toml", "no such picture"),
        ("/etc/passwd", "outside the vault"),
        (".obsidian/secret.md", "no such picture"),
    ],
)
def test_no_other_file_is_a_picture(api: Api, path: str, said: str) -> None:
    refused = api.ask(f"/v1/picture?path={quote(path)}")
    assert refused.status == 404
    assert said in str(refused.json["error"])


def test_a_part_of_a_note_is_shown_alone(api: Api) -> None:
    whole = api.ask("/v1/view?path=Sky").json["blocks"]
    assert api.ask("/v1/view?path=Sky&part=Sky").json["blocks"] == whole
    refused = api.ask("/v1/view?path=Sky&part=Moon")
    assert (refused.status, refused.kind) == (404, "unknown_note")
    assert "no heading Moon" in str(refused.json["error"])


@pytest.mark.parametrize(
    "keys",
    [{"q": ""}, {"q": "x" * 5000}, {"q": "a before:soon"}, {"q": "a", "limit": 201}, {"q": "a", "k": 1}, {}],
)
def test_a_bad_question_is_refused_before_a_stream_begins(api: Api, keys: dict[str, object]) -> None:
    answer = api.post("/v1/ask", json.dumps({**keys, "stream": True}).encode())
    assert (answer.status, answer.kind in ("usage", "query", "request")) == (422, True)
