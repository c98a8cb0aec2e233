"""The tools of a server: with several vaults each has a parameter for the vault."""

from __future__ import annotations

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
    several = {view.name: view.keep for view in tool_views(ENDPOINTS, vaults=("garden", "work"))}
    before, after = one.pop("ask"), several.pop("ask")
    assert one == several
    assert before is not None and after is not None
    for name in ("passages", "sentences"):
        inner, named = before[name], after[name]
        assert inner is not None and named is not None
        if name == "sentences":
            assert named.keys() == inner.keys()
            inner, named = inner["citations"], named["citations"]
            assert inner is not None and named is not None
        assert named.keys() == {"vault", *inner}
    assert {name: one for name, one in after.items() if name not in ("passages", "sentences")} == {
        name: one for name, one in before.items() if name not in ("passages", "sentences")
    }


def test_an_endpoint_that_a_server_lacks_is_no_tool() -> None:
    names = [view.name for view in tool_views(ENDPOINTS)]
    assert names[:2] == ["search", "ask"]
    rows = [one for one in ENDPOINTS if one.name not in ("ask", "related")]
    assert [view.name for view in tool_views(rows)] == [one for one in names if one not in ("ask", "related")]
