"""The roles that docs/gateway.md gives to gateways and keepers suffice, and a gateway's writes nothing."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gateway_lab import BEN, Team, publish

from vault_gateway.milvus import MilvusConnection
from vault_gateway.server import GatewayFile, gateway_parts
from vault_gateway.wire import GatewaySearchRequest

DOCS = Path(__file__).parents[2] / "docs" / "gateway.md"

NEEDED = {
    "query": "Query",
    "query_iterator": "Query",
    "search": "Search",
    "hybrid_search": "Search",
    "has_collection": "DescribeCollection",
    "list_collections": "ShowCollections",
    "load_collection": "Load",
    "create_collection": "CreateCollection",
    "create_alias": "CreateAlias",
    "upsert": "Upsert",
    "delete": "Delete",
    "flush": "Flush",
}
"""Which privilege of Milvus each operation needs."""

GROUPS = {
    "CollectionReadOnly": {"Query", "Search", "DescribeCollection"},
    "DatabaseReadOnly": {"ShowCollections"},
}
"""What of these is in the groups that Milvus has."""


def granted(role: str) -> set[str]:
    """The privileges that the page gives to a role."""
    text = DOCS.read_text("utf-8")
    (code,) = [one for one in re.findall(r"```python\n(.*?)```", text, re.S) if "create_role" in one]
    loop = next(one for one in ast.walk(ast.parse(code)) if isinstance(one, ast.For))
    assert isinstance(loop.iter, ast.Tuple)
    for row in loop.iter.elts:
        name, _, listed = row.elts  # type: ignore[attr-defined]
        if ast.literal_eval(name) == role:
            names = [one.value for one in ast.walk(listed) if isinstance(one, ast.Constant)]
            return {privilege for one in names for privilege in GROUPS.get(str(one), {str(one)})}
    raise AssertionError(role)


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is called of pymilvus."""
    called: list[str] = []
    once = MilvusConnection._once

    def recorded(self: MilvusConnection, operation: str, *values: Any, **named: Any) -> Any:
        called.append(operation)
        return once(self, operation, *values, **named)

    monkeypatch.setattr(MilvusConnection, "_once", recorded)
    return called


def test_the_roles_suffice(new_team: Callable[[], Team], tmp_path: Path, operations: list[str]) -> None:
    team = new_team()
    publish(team, "kitchen")
    assert {"create_collection", "create_alias", "upsert", "delete", "flush"} <= set(operations)
    assert {NEEDED[one] for one in operations} <= granted("vault_keeper")
    operations.clear()
    config = tmp_path / "gateway.toml"
    config.write_text(f'[milvus]\nuri = "{team.uri}"\ncollection_prefix = "{team.prefix}"\n{BEN.toml}')
    with gateway_parts(GatewayFile.read(config), {}) as parts:
        user = parts.users.current.by_token(BEN.token)
        assert user is not None
        parts.published.look()
        for query, folder in (("dough", ""), ("dough", "Soups"), ("a tag:food", "")):
            parts.search.search(user, GatewaySearchRequest(query, folder=folder))
    assert {"query", "search"} <= set(operations)
    assert {NEEDED[one] for one in operations} <= granted("vault_gateway")
    assert not {"Upsert", "Insert", "Delete", "CreateCollection"} & granted("vault_gateway")
