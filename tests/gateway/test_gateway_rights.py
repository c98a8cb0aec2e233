"""Hostile users: nobody reads a vault, or learns of one, without a right to it."""

import re
from collections.abc import Callable

import pytest
from gateway_lab import ANA, BEN, OPS, Gateway, Team, User, gateway, id_of, publish

SECRET = "Sky/Saturn.md"
NAMES = [
    "observatory",
    "keeper/observatory",
    "*",
    "nowhere",
    'kitchen"',
    'x"] or vault in ["keeper-observatory',
    "kitchen' or '1'='1",
    "keeper-observatory",
    id_of("observatory"),
    "%",
    "kitchen\\",
    "../observatory",
    "OBSERVATORY",
    "kitchen,observatory",
    "observatory\u0000",
]


def test_vaults_are_listed_by_right(shared_gateway: Gateway) -> None:
    for user, names in ((ANA, ["kitchen"]), (BEN, ["kitchen", "observatory"]), (OPS, [])):
        assert [row["name"] for row in shared_gateway.vaults(user)] == names


@pytest.mark.parametrize("name", NAMES)
def test_a_forbidden_vault_is_like_one_that_is_not_there(shared_gateway: Gateway, name: str) -> None:
    nowhere = shared_gateway.search(ANA, "Saturn", vault="nothing-of-this-name")
    found = shared_gateway.search(ANA, "Saturn", vault=name)
    assert (found.status, found.body) == (404, nowhere.body)
    own = "x-request-id"
    assert {**found.headers, own: ""} == {**nowhere.headers, own: ""}


@pytest.mark.parametrize(
    "filters",
    [
        {"folder": '") or array_contains_any(folders, ["Sky'},
        {"folder": "../../observatory/Sky"},
        {"folder": '"] or vault != "'},
        {"folder": "\\"},
        {"q": 'Saturn tag:"planet\\") or (vault != \\"x"'},
        {"q": "Saturn path:/.*/"},
        {"q": "Saturn", "limit": 200},
        {"folder": "a\u0000b"},
    ],
)
def test_no_filter_leaves_the_scope(shared_gateway: Gateway, filters: dict[str, str | int]) -> None:
    query = str(filters.pop("q", "Saturn"))
    found = shared_gateway.search(ANA, query, **filters)
    assert found.status in ((422,) if "\0" in str(filters) else (200, 422))
    assert SECRET not in found.body.decode()


def test_only_the_right_token_is_a_user(shared_gateway: Gateway) -> None:
    for headers in (
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer "},
        {"Authorization": f"Basic {BEN.token}"},
        {"Authorization": f"Bearer {BEN.token}x"},
        {"Authorization": f"Bearer {BEN.token[:-1]}"},
        {"Authorization": f"Bearer {BEN.name}"},
        {"Authorization": f"Bearer {BEN.token} {ANA.token}"},
        {"X-User": "ben", "X-Forwarded-User": "ben"},
        {"Cookie": f"token={BEN.token}"},
    ):
        for path in ("/v1/search?q=x", "/v1/vaults", "/metrics", "/openapi.json", "/nowhere"):
            found = shared_gateway.get(path, headers=headers)
            assert (found.status, found.kind) == (401, "token")
    digest = re.findall(r"[0-9a-f]{64}", BEN.toml)[0]
    assert shared_gateway.get("/v1/vaults", User("x", digest, ())).status == 401
    assert shared_gateway.get(f"/v1/search?q=x&token={BEN.token}").status == 401
    found = shared_gateway.get("/v1/search", ANA, {"X-User": "ben"}, q="Saturn")
    assert (found.status, SECRET in found.body.decode()) == (200, False)


def test_the_guard_of_the_daemon_stands_here_too(shared_gateway: Gateway) -> None:
    for route, headers, host, status in (
        ("/v1/vaults", {}, "evil.example", 421),
        ("/openapi.json", {}, "evil.example", 421),
        ("/v1/vaults", {"Origin": "https://evil.example"}, None, 403),
        (f"/v1/search?q={'x' * 5000}", {}, None, 422),
        (f"/v1/search?q={'x' * 40_000}", {}, None, 414),
        ("/v1/search?q=x&fresh=true", {}, None, 422),
        ("/v1/search?q=x&limit=100000", {}, None, 422),
        ("/v1/search", {}, None, 422),
        ("/v1/bodies?keys=1", {}, None, 404),
    ):
        assert shared_gateway.get(route, BEN, headers, host).status == status, route[:40]


def test_of_two_vaults_of_one_name_the_id_names_one(new_team: Callable[[], Team]) -> None:
    twice = new_team()
    publish(twice, "kitchen", "here")
    publish(twice, "kitchen", "there")
    one_of_both = User("b", "token-b", ("here/kitchen",))
    with gateway(twice, [one_of_both]) as one:
        (vault,) = one.vaults(one_of_both)
        assert (vault["keeper"], vault["name"], vault["id"]) == ("here", "kitchen", id_of("kitchen", "here"))
        for named, status in (
            (id_of("kitchen", "here"), 200),
            ("there/kitchen", 404),
            (id_of("kitchen", "there"), 404),
        ):
            assert one.search(one_of_both, "dough", vault=named).status == status
