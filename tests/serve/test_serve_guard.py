"""Every way a browser, a stranger or a clumsy client reaches the server: refused before any handler runs."""

from collections.abc import Iterator

import pytest
from serve_api import Api

ROUTES = [
    *("/v1/search?q=x", "/v1/status", "/v1/links?path=Sky", "/v1/events", "/openapi.json", "/mcp"),
    *("/page/nowhere.js", "/nowhere"),
]
PAGE = ["/", "/page/app.js", "/page/style.css", "/page/vendor/d3-force.js"]
"""What a browser gets before it has the token: it holds nothing of the vault."""

JSON = {"Content-Type": "application/json"}
OBSIDIAN = "app://obsidian.md"
HOSTS = ("evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "")
ORIGINS = (
    *("https://evil.example", "http://127.0.0.1:1", "http://localhost:PORT", "https://127.0.0.1:PORT"),
    *("http://127.0.0.1:PORT/", "http://127.0.0.1:PORT.evil.example", "127.0.0.1:PORT", "null"),
    *("app://obsidian.md.evil.example", "APP://OBSIDIAN.MD", "http://localhost"),
)
TOKENS = ("", "Bearer ", "Bearer wrong", "Bearer TOKENx", "Basic TOKEN", "TOKEN", "Bearer Ã©")


@pytest.mark.parametrize("route", [*ROUTES, *PAGE])
def test_a_rebound_name_is_not_us_and_a_foreign_page_is_refused(api: Api, route: str) -> None:
    for host in HOSTS:
        found = api.ask(route, host=host.replace("PORT", str(api.port)))
        assert found.status in (421, 400) if host == "" else found.status == 421, host
    for origin in ORIGINS:
        found = api.ask(route, headers={"Origin": origin.replace("PORT", str(api.port))})
        assert (found.status, found.kind) == (403, "origin"), origin
        assert "access-control-allow-origin" not in found.headers


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_is_told_without_the_token(api: Api, route: str) -> None:
    for given in TOKENS:
        found = api.ask(route, headers={"Authorization": given.replace("TOKEN", api.token)})
        assert (found.status, found.kind) == (401, "token"), given
        assert api.token.encode() not in found.body


def test_a_token_in_the_query_or_a_cookie_is_none(api: Api) -> None:
    for name in ("token", "access_token", "authorization"):
        assert api.ask(f"/v1/status?{name}={api.token}", headers={"Authorization": ""}).status == 401
    assert api.ask("/v1/status", headers={"Authorization": "", "Cookie": f"token={api.token}"}).status == 401


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_the_own_page_may_ask(api: Api, name: str) -> None:
    """A module script and a POST send the origin, even to the server that sent the page."""
    host = f"{name}:{api.port}"
    own = {"Origin": f"http://{host}"}
    assert api.ask("/page/app.js", headers={**own, "Authorization": ""}, host=host).status == 200
    assert api.ask("/v1/status", headers=own, host=host).status == 200
    assert api.ask("/v1/status", headers={**own, "Authorization": ""}, host=host).status == 401
    assert api.ask("/v1/verify", "POST", b"{}", {**own, **JSON}, host=host).status == 200


def test_the_page_needs_no_token_and_holds_nothing_of_the_vault(api: Api) -> None:
    without = {"Authorization": ""}
    for path in PAGE:
        found = api.ask(path, headers=without)
        assert (found.status, "set-cookie" in found.headers) == (200, False)
        assert api.token.encode() not in found.body
        assert str(api.vault).encode() not in found.body
        assert api.ask(path, "HEAD", headers=without).body == b""
    for method in ("POST", "PUT", "DELETE"):
        refused = api.ask("/", method, b"{}", {**without, **JSON})
        assert (refused.status, refused.kind) == (401, "token")
    page = api.ask("/vault/x/", headers=without)
    assert (page.status, page.body) == (200, api.ask("/", headers=without).body), "nor of other vaults"
    assert api.ask("/vault/x/v1/status", headers=without).status == 401


@pytest.mark.parametrize(
    "path",
    [
        *("/page/", "/page/../guard.py", "/page/..%2fguard.py", "/page/tsconfig.json"),
        *("/page/vendor/LICENSE.txt", "/page/diagrams-frame.js"),
    ],
)
def test_no_other_file_is_part_of_the_page(api: Api, path: str) -> None:
    assert api.ask(path, headers={"Authorization": ""}).status == 401
    assert api.ask(path).status == 404


def test_obsidian_may_ask_and_read_and_a_foreign_page_may_not(api: Api) -> None:
    asked = {"Origin": OBSIDIAN, "Access-Control-Request-Method": "GET", "Authorization": ""}
    preflight = api.ask("/v1/search", "OPTIONS", headers=asked)
    assert (preflight.status, preflight.headers["access-control-allow-origin"]) == (204, OBSIDIAN)
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    for token, status in ((f"Bearer {api.token}", 200), ("Bearer wrong", 401)):
        found = api.ask("/v1/status", headers={"Origin": OBSIDIAN, "Authorization": token})
        assert (found.status, found.headers["access-control-allow-origin"]) == (status, OBSIDIAN)
        assert found.headers["vary"] == "Origin"
        assert "access-control-allow-credentials" not in found.headers
    foreign = api.ask("/v1/rebuild", "OPTIONS", headers={**asked, "Origin": "https://evil.example"})
    assert foreign.status == 403
    assert not [name for name in foreign.headers if name.startswith("access-control")]


def test_get_changes_nothing(api: Api) -> None:
    before = api.ask("/v1/status").json["generation"]
    assert api.ask("/v1/rebuild").status == 200
    assert api.ask("/v1/verify").status == 405
    assert api.ask("/v1/status").json["generation"] == before


def test_a_body_that_does_not_say_how_large_it_is(api: Api) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(16):
            yield b" " * (1 << 16)
        yield b"{}"

    headers = {**JSON, "Transfer-Encoding": "chunked"}
    found = api.ask("/v1/rebuild", "POST", chunks(), headers)
    assert (found.status, found.kind) == (413, "too_large")
    small = api.ask("/v1/verify", "POST", iter([b'{"repa', b'ir": false}']), headers)
    assert (small.status, small.json["ok"]) == (200, True)


@pytest.mark.parametrize("letter", ["a", "%D0%B6", "%E6%97%A5", "%F0%9F%8D%9E"])
def test_a_query_is_measured_in_bytes_after_decoding(api: Api, letter: str) -> None:
    size = letter.count("%") or 1
    longest = letter * (4096 // size) + "a" * (4096 % size)
    assert api.ask(f"/v1/search?q={longest}").status == 200
    refused = api.ask(f"/v1/search?q={longest}a")
    assert (refused.status, refused.kind) == (422, "usage")
    assert b"the query has 4097 bytes: the maximum is 4096" in refused.body
    long = api.ask(f"/v1/search?q={'a' * (32 << 10)}")
    assert (long.status, long.kind) == (414, "too_long")


@pytest.mark.parametrize("route", ["note?", "links?", "links?view=mentions&", "related?", "explain?q=x&"])
def test_a_path_leads_to_notes_of_the_index_only(api: Api, route: str) -> None:
    inside = api.ask(f"/v1/{route}path={api.vault}/Sky.md")
    assert inside.status == 200
    assert "Sky.md" in (inside.json.get("path"), inside.json.get("note"))
    assert api.ask(f"/v1/{route}path=").status == 422
    for path in (
        *("nowhere", "../config.toml", "..%2f..%2fetc%2fpasswd", "Sky.md%00", ".obsidian/secret.md"),
        *(f"{api.vault}/.obsidian/secret.md", f"{api.vault}/../config.toml", "/etc/passwd"),
    ):
        found = api.ask(f"/v1/{route}path={path}")
        assert (found.status, found.kind) in ((404, "unknown_note"), (422, "usage")), path
        assert path.startswith(str(api.vault)) or str(api.vault).encode() not in found.body
    assert b"'/etc/passwd' is outside the vault" in found.body
