"""An agent searches through a gateway, with the rights of its user."""

import json
from typing import Any

from gateway_lab import ANA, BEN, Gateway, User


def call(of: Gateway, user: User, method: str, **parameters: Any) -> dict[str, Any]:
    answer = of.rpc(user, method, **parameters)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = json.loads(answer.body)["result"]
    return found


def tool(of: Gateway, user: User, name: str, **arguments: Any) -> dict[str, Any]:
    return call(of, user, "tools/call", name=name, arguments=arguments)


def test_the_tools_are_the_routes(shared_gateway: Gateway) -> None:
    tools = {one["name"]: one for one in call(shared_gateway, BEN, "tools/list")["tools"]}
    assert set(tools) == {"search", "vaults", "note", "related", "ask"}
    assert tools["note"]["inputSchema"]["required"] == ["path"]
    assert all(one["annotations"]["readOnlyHint"] for one in tools.values())


def test_an_agent_has_the_rights_of_its_user(shared_gateway: Gateway) -> None:
    found = tool(shared_gateway, BEN, "search", q="rings of Saturn")["structuredContent"]
    assert found["results"][0]["path"] == "Sky/Saturn.md"
    assert set(found["results"][0]) <= {
        *("vault", "keeper", "path", "title", "header_path", "start_line", "end_line", "line"),
        *("relevance", "snippet"),
    }
    mine = tool(shared_gateway, ANA, "search", q="rings of Saturn")["structuredContent"]
    assert {hit["vault"] for hit in mine["results"]} == {"kitchen"}
    note = tool(shared_gateway, BEN, "note", path="Bread.md")["structuredContent"]
    assert note["text"].endswith("until it is smooth.\n")


def test_a_call_that_fails_says_why_in_one_line(shared_gateway: Gateway) -> None:
    for user, name, arguments, said in (
        (ANA, "note", {"path": "Sky/Saturn.md"}, "no note 'Sky/Saturn.md' in the vaults that you may read"),
        (BEN, "note", {}, "path"),
        (BEN, "search", {"q": "dough links-to:Bread"}, "a gateway cannot evaluate links-to:Bread"),
        (BEN, "related", {"path": "Bread.md", "limit": 0}, "limit"),
    ):
        failed = tool(shared_gateway, user, name, **arguments)
        assert failed["isError"]
        assert said in failed["content"][0]["text"]
        assert "\n" not in failed["content"][0]["text"]


def test_without_a_token_there_is_no_server(shared_gateway: Gateway) -> None:
    assert shared_gateway.rpc(User("nobody", "no such token", ()), "tools/list").status == 401
    assert shared_gateway.get("/mcp", BEN).status == 405
