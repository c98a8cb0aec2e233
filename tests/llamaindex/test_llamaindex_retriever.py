"""`VaultRetriever` narrows a search by metadata filters, and answers without blocking an event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from golden_cases import check_golden
from indexed_vault import write_notes
from llama_index.core.vector_stores import FilterCondition as Condition
from llama_index.core.vector_stores import FilterOperator as Op
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from vault_indexer import Vault, VaultNodeParser, VaultRetriever, open_vault
from vault_indexer.errors import UsageError
from vault_indexer.model import SearchAnswer, SearchRequest

pytestmark = pytest.mark.long

NOTES = {
    "garden/Leek.md": "---\nrating: 4\nstatus: in progress\ntags: [food/green]\n---\nPlant it in spring.\n",
    "garden/Kale.md": "---\nrating: 2\nstatus: done\nold name: borecole\n---\nPlant it in autumn. #food\n",
    "Tulip (red).md": '---\nrating: 3\nstatus:\nmotto: say "yes"\n---\nPlant it in autumn.\n',
    "Rose.md": "Plant it in spring. A note without properties.\n",
}
LEEK, KALE, TULIP, ROSE = NOTES


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    folder = tmp_path_factory.mktemp("retriever")
    notes = write_notes(folder / "notes", NOTES)
    with open_vault(notes, folder / "index", index={"workers": 1}) as opened:
        yield opened


def where(
    *terms: tuple[str, Op, Any] | MetadataFilters, condition: Condition = Condition.AND
) -> MetadataFilters:
    return MetadataFilters(
        filters=[
            term
            if isinstance(term, MetadataFilters)
            else MetadataFilter(key=term[0], operator=term[1], value=term[2])
            for term in terms
        ],
        condition=condition,
    )


def filters_of(given: Any) -> MetadataFilters:
    """Of `[key, operator, value]`, or of several of them below `and`, `or` or `not`."""
    if isinstance(given, list):
        return where((given[0], Op(given[1]), given[2]))
    ((condition, terms),) = given.items()
    parts = [filters_of(one) if isinstance(one, dict) else (one[0], Op(one[1]), one[2]) for one in terms]
    return where(*parts, condition=Condition(condition))


def test_filters_restrict_the_nodes(vault: Vault) -> None:
    def left(given: str) -> str:
        nodes = VaultRetriever(vault, filters=filters_of(json.loads(given))).retrieve("plant")
        return ", ".join(sorted({node.metadata["path"] for node in nodes}))

    check_golden(Path(__file__).parent / "fixtures" / "filters.md", {"": left})


@pytest.mark.parametrize(
    ("query", "paths"),
    [("spring OR autumn", {LEEK, KALE}), ('5" spring', {LEEK}), ("", {LEEK, KALE}), ("-autumn", {LEEK})],
)
def test_filters_apply_to_the_whole_query(vault: Vault, query: str, paths: set[str]) -> None:
    nodes = VaultRetriever(vault, filters=where(("tags", Op.EQ, "food"))).retrieve(query)
    assert {node.metadata["path"] for node in nodes} == paths


@pytest.mark.parametrize(
    "term",
    [
        ("path", Op.GT, "a"),
        ("tags", Op.IN, []),
        ("status", Op.EQ, None),
        ("a]b", Op.EQ, "x"),
        ("status", Op.EQ, "two\nlines"),
        ("modified_time", Op.EQ, "2026-01-01"),
        ("tags", Op.IS_EMPTY, None),
    ],
)
def test_a_filter_that_no_query_expresses_is_refused(vault: Vault, term: tuple[str, Op, Any]) -> None:
    with pytest.raises(UsageError, match=f"metadata filter {term[0]}"):
        VaultRetriever(vault, filters=where(term)).retrieve("plant")


def test_similarity_top_k_counts_nodes(vault: Vault) -> None:
    for count in (1, 3):
        assert len(VaultRetriever(vault, similarity_top_k=count).retrieve("plant")) == count


def test_a_search_leaves_the_event_loop_free(vault: Vault) -> None:
    """The search waits until a task of the same loop has run."""
    loop_ran = threading.Event()

    class Waiting:
        def search(self, query: SearchRequest, /) -> SearchAnswer:
            assert loop_ran.wait(60), "the event loop is blocked"
            return vault.search(query)

    async def retrieve() -> int:
        asyncio.get_running_loop().call_soon(loop_ran.set)
        return len(await VaultRetriever(Waiting()).aretrieve("plant"))

    assert asyncio.run(retrieve()) == len(NOTES)


def test_unknown_arguments_are_refused(vault: Vault) -> None:
    with pytest.raises(TypeError, match="top_k"):
        VaultRetriever(vault, top_k=3)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="unknown argument stratgy"):
        VaultNodeParser(stratgy="token")  # type: ignore[call-arg]
