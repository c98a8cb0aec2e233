"""Hostile users: nobody reads a vault, or learns of one, without a right to it."""

import re

import pytest
from gateway_lab import ANA, BEN, OPS, Gateway, Team, User, gateway, id_of, publish

STRANGER = User("stranger", "no-token", ("*",))
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
    def names(user: User) -> list[object]:
        vaults = shared_gateway.get("/v1/vaults", user).json["vaults"]
        assert isinstance(vaults, list)
        return [one["name"] for one in vaults]

    assert names(ANA) == ["kitchen"]
    assert names(BEN) == ["kitchen", "observatory"]
    assert names(OPS) == []


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
    ],
)
def test_no_filter_leaves_the_scope(shared_gateway: Gateway, filters: dict[str, str | int]) -> None:
    query = str(filters.pop("q", "Saturn"))
    found = shared_gateway.search(ANA, query, **filters)
    assert found.status in (200, 422)
    assert SECRET not in found.body.decode()


def test_filters_that_no_server_can_hold_are_the_users_mistake(shared_gateway: Gateway) -> None:
    assert shared_gateway.search(ANA, "Saturn", folder="a\u0000b").status == 422


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
    assert shared_gateway.get("/v1/search", ANA, {"X-User": "ben"}, q="Saturn").status == 200
    assert SECRET not in shared_gateway.get("/v1/search", ANA, {"X-User": "ben"}, q="Saturn").body.decode()


def test_the_guard_of_the_daemon_stands_here_too(shared_gateway: Gateway) -> None:
    assert shared_gateway.get("/v1/vaults", BEN, host="evil.example").status == 421
    assert shared_gateway.get("/openapi.json", BEN, host="evil.example").status == 421
    assert shared_gateway.get("/v1/vaults", BEN, {"Origin": "https://evil.example"}).status == 403
    assert shared_gateway.search(BEN, "x" * 5000).status == 422
    assert shared_gateway.search(BEN, "x" * 40_000).status == 414
    assert shared_gateway.search(BEN, "x", fresh="true").status == 422
    assert shared_gateway.search(BEN, "x", limit=100_000).status == 422
    assert shared_gateway.get("/v1/bodies", BEN, keys="1").status == 404


def test_of_two_vaults_of_one_name_the_id_names_one(team: Team) -> None:
    twice = Team(team.folder / "twice", team.uri, "twice")
    twice.folder.mkdir()
    publish(twice, "kitchen", "here")
    publish(twice, "kitchen", "there")
    one_of_both = User("b", "token-b", ("here/kitchen",))
    with gateway(twice, [one_of_both]) as one:
        found = one.get("/v1/vaults", one_of_both).json["vaults"]
        assert isinstance(found, list)
        assert [(vault["keeper"], vault["name"]) for vault in found] == [("here", "kitchen")]
        assert found[0]["id"] == id_of("kitchen", "here")
        assert one.search(one_of_both, "dough", vault=id_of("kitchen", "here")).status == 200
        assert one.search(one_of_both, "dough", vault="there/kitchen").status == 404
        assert one.search(one_of_both, "dough", vault=id_of("kitchen", "there")).status == 404
