"""What the guard decides by the head of a request alone."""

from dataclasses import replace

import pytest

from vault_indexer.serve.http.guard import (
    MAX_BODY_BYTES,
    MAX_QUERY_STRING_BYTES,
    GuardRules,
    Refusal,
    headers_by_name,
    refusal,
    token_of,
    wrong_token,
)

RULES = GuardRules(
    "secret",
    80,
    frozenset({"app://obsidian.md"}),
    4,
    0.05,
    public=frozenset({"/", "/page"}),
    hosts=frozenset({"b.example", "a.example:443"}),
    checks_host=lambda path: path != "/healthz",
    methods={"/v1/x": frozenset({"POST", "GET"}), "/page": frozenset({"GET"})},
    where_token="ask for one",
)


def decide(method: str = "GET", path: str = "/v1/x", query: bytes = b"", **headers: str) -> Refusal | None:
    """What is decided of a request with the right Host and token unless the headers say otherwise; "" leaves
    one out, and "\\n" stands between two of one name."""
    given = {"host": "localhost:80", "authorization": "Bearer secret", **headers}
    raw = [
        (name.replace("_", "-").title().encode(), value.encode("latin-1"))
        for name, values in given.items()
        for value in values.split("\n")
        if value
    ]
    scope = {"method": method, "path": path, "query_string": query}
    return refusal(RULES, scope, headers_by_name(raw))


@pytest.mark.parametrize("host", ["127.0.0.1:80", "LOCALHOST:80", "[::1]:80", " b.example ", "A.example:443"])
def test_the_names_of_loopback_and_those_of_the_rules_are_hosts(host: str) -> None:
    assert decide(host=host) is None


@pytest.mark.parametrize(
    "host", ["", "localhost", "localhost:81", "b.example:80", "localhost:80\nlocalhost:80"]
)
def test_any_other_host_is_refused_and_the_right_ones_are_named(host: str) -> None:
    refused = decide(host=host)
    assert refused == Refusal(
        421,
        "host",
        "the header Host must be 127.0.0.1:80, localhost:80 or [::1]:80, or one of: a.example:443, b.example",
    )
    assert decide(path="/healthz", host=host) is None
    own = replace(RULES, hosts=frozenset())
    alone = refusal(own, {"method": "GET", "path": "/", "query_string": b""}, {})
    assert alone is not None
    assert alone.message == "the header Host must be 127.0.0.1:80, localhost:80 or [::1]:80"


@pytest.mark.parametrize(
    ("origin", "is_refused"),
    [
        ("app://obsidian.md", False),
        ("http://localhost:80", False),
        ("https://localhost:80", True),
        ("localhost:80", True),
        ("http://127.0.0.1:80", True),
        ("app://obsidian.md\nhttp://evil.example", True),
        ("app://obsidian.md\nhttp://localhost:80", False),
    ],
)
def test_each_origin_is_that_of_this_server_or_allowed(origin: str, is_refused: bool) -> None:
    refused = decide(origin=origin, path="/")
    listed = "the origin of this page is not listed in server.allowed_origins"
    assert refused == (Refusal(403, "origin", listed) if is_refused else None)


ASKED = {"origin": "app://obsidian.md", "access_control_request_method": "POST", "authorization": ""}


def test_a_preflight_needs_no_token_and_grants_two_methods_and_two_headers() -> None:
    granted = decide("OPTIONS", "/v1/x", b"", **ASKED)
    headers = (
        ("access-control-allow-methods", "GET, POST"),
        ("access-control-allow-headers", "authorization, content-type, if-none-match"),
        ("access-control-max-age", "600"),
    )
    assert granted == Refusal(204, "", "", headers)
    private = decide("OPTIONS", "/v1/x", b"", **ASKED, access_control_request_private_network="true")
    assert private == Refusal(204, "", "", (*headers, ("access-control-allow-private-network", "true")))


@pytest.mark.parametrize(
    ("method", "left_out"), [("GET", ""), ("OPTIONS", "origin"), ("OPTIONS", "access_control_request_method")]
)
def test_what_is_no_preflight_needs_the_token(method: str, left_out: str) -> None:
    asked = {name: value for name, value in ASKED.items() if name != left_out}
    assert decide(method, "/v1/x", b"", **asked) == wrong_token("ask for one")


def test_the_refusal_of_a_token_says_where_one_is_from() -> None:
    assert wrong_token("look there") == Refusal(
        401,
        "token",
        "the header Authorization: Bearer TOKEN is missing or wrong; look there",
        (("www-authenticate", "Bearer"),),
    )
    assert GuardRules("t", 1, frozenset(), 1, 1.0).where_token == "the token is in daemon.json"


@pytest.mark.parametrize(
    ("method", "path", "is_free"),
    [
        ("GET", "/", True),
        ("HEAD", "/page", False),
        ("HEAD", "/", True),
        ("GET", "/page", True),
        ("POST", "/", False),
        ("GET", "/v1/x", False),
    ],
)
def test_public_files_are_read_without_a_token(method: str, path: str, is_free: bool) -> None:
    refused = decide(method, path, authorization="")
    assert (refused is None) == is_free
    assert refused is None or refused.status == (405 if path == "/page" else 401)


@pytest.mark.parametrize(
    ("given", "token"),
    [
        ("Bearer secret", "secret"),
        ("bearer  secret ", "secret"),
        ("BEARER a b", "a b"),
        ("Basic secret", ""),
        ("secret", ""),
        ("Bearer", ""),
        ("", ""),
        ("Bearer secret\nBearer secret", ""),
    ],
)
def test_the_token_of_a_request(given: str, token: str) -> None:
    raw = [(b"Authorization", one.encode()) for one in given.split("\n")] if given else []
    assert token_of(headers_by_name(raw)) == token


def test_a_server_with_many_users_knows_their_tokens() -> None:
    assert RULES.accepts("secret")
    assert not RULES.accepts("other")
    assert not RULES.accepts("sécret…")
    many = replace(RULES, knows_token=lambda token: token in ("a", "b"))
    assert [many.accepts(token) for token in ("a", "b", "secret")] == [True, True, False]


def test_a_wrong_method_is_told_the_right_ones() -> None:
    refused = decide("DELETE" + "X" * 30)
    named = "DELETE" + "X" * 14
    assert refused == Refusal(
        405, "request", f"/v1/x only supports GET, POST, not {named}", (("allow", "GET, POST"),)
    )
    assert decide("HEAD", "/elsewhere") is None


@pytest.mark.parametrize(
    ("size", "status"), [(MAX_QUERY_STRING_BYTES, None), (MAX_QUERY_STRING_BYTES + 1, 414)]
)
def test_a_query_string_has_a_bound(size: int, status: int | None) -> None:
    assert MAX_QUERY_STRING_BYTES == 32_768
    refused = decide(query=b"x" * size)
    assert (refused and refused.status) == status
    if refused:
        assert refused.kind == "too_long"
        assert refused.message == "the query string has 32769 bytes: at most 32768 are allowed"


@pytest.mark.parametrize(
    ("declared", "is_refused"),
    [
        ("0", False),
        (f"{MAX_BODY_BYTES}", False),
        (f"{MAX_BODY_BYTES + 1}", True),
        ("1" + "0" * 5000, True),
        ("0" * 30 + "1", False),
        ("-1", True),
        ("1e3", True),
        ("²", True),
    ],
)
def test_a_body_says_how_long_it_is_in_digits_and_has_a_bound(declared: str, is_refused: bool) -> None:
    assert MAX_BODY_BYTES == 1_048_576
    refused = decide("POST", content_length=declared, content_type="application/json")
    too_large = Refusal(413, "too_large", "the body has more than 1048576 bytes")
    assert refused == (too_large if is_refused else None)


@pytest.mark.parametrize(
    ("kind", "is_json"),
    [
        ("application/json", True),
        ("Application/JSON ; charset=utf-8", True),
        ("application/jsonp", False),
        ("text/plain", False),
        ("", False),
        ("application/json\napplication/json", False),
    ],
)
def test_an_order_is_json(kind: str, is_json: bool) -> None:
    refused = decide("POST", content_type=kind)
    said = "the header Content-Type must be application/json"
    assert refused == (None if is_json else Refusal(415, "content_type", said))
    assert decide("GET", content_type=kind) is None
    assert decide("OPTIONS", "/elsewhere", content_type=kind) is None
    assert decide("HEAD", "/elsewhere", content_type=kind) is None


def test_headers_are_kept_by_name_in_their_order() -> None:
    raw = [(b"Accept", b" a "), (b"X-\xe9", b"\xe9"), (b"ACCEPT", b"b")]
    assert headers_by_name(raw) == {"accept": ("a", "b"), "x-é": ("é",)}
