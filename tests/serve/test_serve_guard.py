"""Every way a browser, a stranger or a clumsy client reaches the server: refused before any handler runs."""

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256

import pytest
from serve_api import Api

ROUTES = [
    *("/v1/search?q=x", "/v1/status", "/v1/links?path=Sky", "/v1/events", "/openapi.json"),
    *("/page/nowhere.js", "/nowhere"),
]
PAGE = ["/", "/page/app.js", "/page/style.css", "/page/vendor/d3-force.js"]
"""What a browser gets before it has the token: it holds nothing of the vault."""

OBSIDIAN = "app://obsidian.md"


@pytest.mark.parametrize("route", [*ROUTES, *PAGE])
def test_a_rebound_name_is_not_us(api: Api, route: str) -> None:
    for host in ("evil.example", f"evil.example:{api.port}", "127.0.0.1", "127.0.0.1:1", ""):
        found = api.ask(route, host=host)
        assert found.status in (421, 400) if host == "" else found.status == 421, host


def test_our_own_names_are_us(api: Api) -> None:
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        assert api.ask("/v1/status", host=f"{name}:{api.port}").status == 200


@pytest.mark.parametrize("route", [*ROUTES, *PAGE])
@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example", "http://127.0.0.1:1", "http://localhost:PORT", "https://127.0.0.1:PORT"),
        *("http://127.0.0.1:PORT/", "http://127.0.0.1:PORT.evil.example", "127.0.0.1:PORT", "null"),
        *("app://obsidian.md.evil.example", "APP://OBSIDIAN.MD", "http://localhost"),
    ],
)
def test_a_foreign_page_is_refused(api: Api, route: str, origin: str) -> None:
    found = api.ask(route, headers={"Origin": origin.replace("PORT", str(api.port))})
    assert found.status == 403
    assert found.kind == "origin"
    assert "access-control-allow-origin" not in found.headers


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_the_own_page_may_ask(api: Api, name: str) -> None:
    """A module script and a POST send the origin, even to the server that sent the page."""
    host = f"{name}:{api.port}"
    own = {"Origin": f"http://{host}"}
    assert api.ask("/page/app.js", headers={**own, "Authorization": ""}, host=host).status == 200
    assert api.ask("/v1/status", headers=own, host=host).status == 200
    assert api.ask("/v1/status", headers={**own, "Authorization": ""}, host=host).status == 401
    order = {**own, "Content-Type": "application/json"}
    assert api.ask("/v1/verify", "POST", b"{}", order, host=host).status == 200


@pytest.mark.parametrize("path", PAGE)
def test_the_page_needs_no_token_and_forbids_all_that_is_not_its_own(api: Api, path: str) -> None:
    found = api.ask(path, headers={"Authorization": ""})
    assert found.status == 200
    assert found.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; frame-src 'self'; media-src 'self'; worker-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in found.headers
    assert api.token.encode() not in found.body
    assert str(api.vault).encode() not in found.body
    assert api.ask(path, "HEAD", headers={"Authorization": ""}).body == b""
    again = api.ask(path, headers={"Authorization": "", "If-None-Match": found.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


def test_the_document_of_diagrams_runs_its_two_scripts_in_a_sandbox_and_fetches_nothing(api: Api) -> None:
    found = api.ask("/page/diagrams.html", headers={"Authorization": ""})
    assert found.status == 200
    scripts = re.findall(rb"<script>(.*?)</script>", found.body, re.DOTALL)
    assert len(scripts) == 2
    hashes = " ".join(f"'sha256-{b64encode(sha256(one).digest()).decode()}'" for one in scripts)
    assert found.headers["content-security-policy"] == (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
    )
    assert api.ask("/page/diagrams-frame.js", headers={"Authorization": ""}).status == 401


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_only_reading_the_page_is_free(api: Api, method: str) -> None:
    found = api.ask("/", method, b"{}", {"Authorization": "", "Content-Type": "application/json"})
    assert (found.status, found.kind) == (401, "token")


@pytest.mark.parametrize(
    "path",
    ["/page/", "/page/../guard.py", "/page/..%2fguard.py", "/page/tsconfig.json", "/page/vendor/LICENSE.txt"],
)
def test_no_other_file_is_part_of_the_page(api: Api, path: str) -> None:
    assert api.ask(path, headers={"Authorization": ""}).status == 401
    assert api.ask(path).status == 404


def test_a_foreign_preflight_is_refused(api: Api) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST", "Authorization": ""}
    found = api.ask("/v1/rebuild", "OPTIONS", headers=asked)
    assert found.status == 403
    assert not [name for name in found.headers if name.startswith("access-control")]


def test_obsidian_may_ask_and_read(api: Api) -> None:
    asked = {"Origin": OBSIDIAN, "Access-Control-Request-Method": "GET", "Authorization": ""}
    preflight = api.ask("/v1/search", "OPTIONS", headers=asked)
    assert preflight.status == 204
    assert preflight.headers["access-control-allow-origin"] == OBSIDIAN
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    for token, status in ((f"Bearer {api.token}", 200), ("Bearer wrong", 401)):
        found = api.ask("/v1/status", headers={"Origin": OBSIDIAN, "Authorization": token})
        assert found.status == status
        assert found.headers["access-control-allow-origin"] == OBSIDIAN
        assert found.headers["vary"] == "Origin"
        assert "access-control-allow-credentials" not in found.headers


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_is_told_without_the_token(api: Api, route: str) -> None:
    wrong = [
        "",
        "Bearer ",
        "Bearer wrong",
        f"Bearer {api.token}x",
        f"Basic {api.token}",
        api.token,
        "Bearer é",
    ]
    for given in wrong:
        found = api.ask(route, headers={"Authorization": given.encode().decode("latin-1")})
        assert found.status == 401, given
        assert found.kind == "token"
        assert api.token.encode() not in found.body


def test_a_token_in_the_query_or_a_cookie_is_none(api: Api) -> None:
    for name in ("token", "access_token", "authorization"):
        assert api.ask(f"/v1/status?{name}={api.token}", headers={"Authorization": ""}).status == 401
    assert api.ask("/v1/status", headers={"Authorization": "", "Cookie": f"token={api.token}"}).status == 401


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

    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    found = api.ask("/v1/rebuild", "POST", chunks(), headers)
    assert found.status == 413
    assert found.kind == "too_large"


def test_a_small_chunked_body_is_read(api: Api) -> None:
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    found = api.ask("/v1/verify", "POST", iter([b'{"repa', b'ir": false}']), headers)
    assert found.status == 200
    assert found.json["ok"] is True


def test_a_long_query_string(api: Api) -> None:
    found = api.ask(f"/v1/search?q={'a' * (32 << 10)}")
    assert found.status == 414
    assert found.kind == "too_long"


@pytest.mark.parametrize("letter", ["a", "%D0%B6", "%E6%97%A5", "%F0%9F%8D%9E"])
def test_a_query_is_measured_in_bytes_after_decoding(api: Api, letter: str) -> None:
    size = letter.count("%") or 1
    longest = letter * (4096 // size) + "a" * (4096 % size)
    assert api.ask(f"/v1/search?q={longest}").status == 200
    refused = api.ask(f"/v1/search?q={longest}a")
    assert (refused.status, refused.kind) == (422, "usage")
    assert b"the query has 4097 bytes: the maximum is 4096" in refused.body


@pytest.mark.parametrize(
    "path",
    [
        *("../config.toml", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "Sky.md%00", ".obsidian/secret.md", ""),
        "nowhere",
    ],
)
def test_no_path_leads_out_of_the_notes(api: Api, path: str) -> None:
    for route in ("note", "links", "related"):
        found = api.ask(f"/v1/{route}?path={path}")
        assert found.status in (404, 422), route
        assert str(api.vault).encode() not in found.body


@pytest.mark.parametrize("route", ["note?", "links?", "links?view=mentions&", "related?", "explain?q=x&"])
def test_a_note_that_is_not_there_is_not_found(api: Api, route: str) -> None:
    found = api.ask(f"/v1/{route}path=nowhere")
    assert (found.status, found.kind) == (404, "unknown_note")
    assert api.ask(f"/v1/{route}path=").status == 422


@pytest.mark.parametrize("route", ["note?", "links?", "links?view=mentions&", "related?", "explain?q=x&"])
def test_an_absolute_path_leads_to_notes_of_the_index_only(api: Api, route: str) -> None:
    inside = api.ask(f"/v1/{route}path={api.vault}/Sky.md")
    assert inside.status == 200
    assert "Sky.md" in (inside.json.get("path"), inside.json.get("note"))
    for path in (f"{api.vault}/.obsidian/secret.md", f"{api.vault}/../config.toml", "/etc/passwd"):
        found = api.ask(f"/v1/{route}path={path}")
        assert (found.status, found.kind) == (404, "unknown_note")
    assert b"'/etc/passwd' is outside the vault" in found.body


def test_the_page_of_a_vault_says_nothing_of_other_vaults(api: Api) -> None:
    without = {"Authorization": ""}
    page = api.ask("/vault/x/", headers=without)
    assert page.status == 200
    assert page.body == api.ask("/", headers=without).body
    assert api.ask("/vault/x/v1/status", headers=without).status == 401
