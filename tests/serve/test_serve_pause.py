"""The routes of a pause are guarded as every order is, and say what they did."""

import pytest
from serve_api import Api


def test_pause_and_resume(api: Api) -> None:
    try:
        paused = api.post("/v1/pause", b"{}")
        assert (paused.status, set(paused.json)) == (200, {"paused", "paused_until", "pending"})
        assert (paused.json["paused"], paused.json["paused_until"]) == (True, "")
        timed = api.post("/v1/pause", b'{"seconds": 600}').json
        assert timed["paused"] is True
        assert str(timed["paused_until"]).endswith("Z")
        assert api.ask("/v1/status").json["paused"] is True
        notices = api.ask("/v1/search?q=bread").json["notices"]
        assert isinstance(notices, list)
        assert any("indexing is paused until 2" in notice for notice in notices)
        for order in ("verify", "rebuild"):
            refused = api.post(f"/v1/{order}", b"{}")
            assert (refused.status, refused.kind) == (503, "unavailable")
    finally:
        resumed = api.post("/v1/resume", b"{}")
    assert (resumed.status, resumed.json["paused"]) == (200, False)


@pytest.mark.parametrize(
    "body",
    [
        b'{"seconds": 0}',
        b'{"seconds": -1}',
        b'{"seconds": 1e9}',
        b'{"seconds": NaN}',
        b'{"seconds": true}',
        b'{"seconds": "1"}',
        b'{"minutes": 1}',
    ],
)
def test_a_pause_without_sense_is_refused(api: Api, body: bytes) -> None:
    answer = api.post("/v1/pause", body)
    assert (answer.status, answer.kind) == (422, "request")
    assert api.ask("/v1/status").json["paused"] is False
