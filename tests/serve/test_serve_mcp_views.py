"""The tools of a server: with several vaults each has a parameter for the vault."""

from __future__ import annotations

from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.mcp.views import tool_views


def test_each_tool_takes_a_vault_where_there_are_several() -> None:
    """But for `fetch`, whose id begins with the name of the vault."""
    for vaults, choices in (((), None), (("work",), None), (("garden", "work"), ("garden", "work"))):
        for view in tool_views(ENDPOINTS, strategies=("word",), has_evals=True, vaults=vaults):
            found = {one.name: one.choices for one in view.endpoint.parameters}
            assert found.get("vault") == (None if view.name == "fetch" else choices), (view, vaults)
