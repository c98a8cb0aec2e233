"""A proxy or browser between a client and the daemon may not keep what notes say, nor take it for a page."""

import socket
from collections.abc import Mapping

from serve_api import Answer, Api
from waiting import DEADLINE_S

JSON = {"Content-Type": "application/json", "Accept": "application/json"}
LIST = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
PREFLIGHT = {"Origin": "app://obsidian.md", "Access-Control-Request-Method": "GET"}


def is_private(headers: Mapping[str, str]) -> bool:
    return (headers.get("cache-control"), headers.get("x-content-type-options")) == ("no-store", "nosniff")


def test_no_answer_of_the_api_is_stored_or_taken_for_a_page(api: Api) -> None:
    answers: list[tuple[Answer, int]] = [
        (api.ask("/v1/search?q=bread"), 200),
        (api.ask("/openapi.json"), 200),
        (api.ask("/mcp", "POST", LIST, JSON), 200),
        (api.ask("/v1/status", "OPTIONS", headers=PREFLIGHT), 204),
        (api.ask("/v1/status", headers={"Authorization": ""}), 401),
        (api.ask("/v1/status", headers={"Origin": "https://attacker.example"}), 403),
        (api.ask("/v1/nothing"), 404),
        (api.ask("/v1/status", "DELETE", headers=JSON), 405),
        (api.post("/mcp", LIST, "text/plain"), 415),
        (api.ask("/v1/status", host="attacker.example"), 421),
        (api.ask("/v1/search"), 422),
    ]
    assert [found.status for found, _ in answers] == [status for _, status in answers]
    assert [found.status for found, _ in answers if not is_private(found.headers)] == []


def test_an_answer_to_what_is_no_request_is_private_too(api: Api) -> None:
    with socket.create_connection(("127.0.0.1", api.port), DEADLINE_S) as client:
        client.sendall(b"no request\r\n\r\n")
        head = client.makefile("rb").read().lower()
    assert b" 400 " in head and b"cache-control: no-store" in head and b"nosniff" in head


def test_the_files_of_the_page_are_asked_for_again(api: Api) -> None:
    headers = api.ask("/").headers
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-cache", "nosniff")
    assert "etag" in headers
