"""The tools of a server: with several vaults each has a parameter for the vault."""

from __future__ import annotations

from typing import Any

from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.mcp.views import tool_views


def test_each_tool_takes_a_vault_where_there_are_several() -> None:
    """But for `fetch`, whose id begins with the name of the vault."""
    for vaults, choices in (((), None), (("work",), None), (("garden", "work"), ("garden", "work"))):
        for view in tool_views(ENDPOINTS, strategies=("word",), vaults=vaults):
            found = {one.name: one.choices for one in view.endpoint.parameters}
            assert found.get("vault") == (None if view.name == "fetch" else choices), (view, vaults)


def test_only_answers_from_all_vaults_name_the_vault_of_each_place() -> None:
    one = {view.name: view.keep for view in tool_views(ENDPOINTS)}
    several: Any = {view.name: view.keep for view in tool_views(ENDPOINTS, vaults=("garden", "work"))}
    answer = several["ask"]
    for place in (answer["passages"], answer["sentences"]["citations"]):
        assert place.pop("vault", "missing") is None
    assert one == several


def test_an_endpoint_that_a_server_lacks_is_no_tool() -> None:
    names = [view.name for view in tool_views(ENDPOINTS)]
    assert names[:2] == ["search", "ask"]
    rows = [one for one in ENDPOINTS if one.name not in ("ask", "related")]
    assert [view.name for view in tool_views(rows)] == [one for one in names if one not in ("ask", "related")]
