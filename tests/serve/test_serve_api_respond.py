"""What each endpoint asks of a vault, and what it makes of the answer, beyond what the goldens show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from vault_indexer import model
from vault_indexer.contract.parameters import Value
from vault_indexer.serve.api.endpoints import ALL_LINKS, EXPLAIN, SEARCH, STATUS, VERIFY, Endpoint
from vault_indexer.serve.api.respond import AnswerContext, answer
from vault_indexer.vaults import Vaults

TARGETS = (model.UnresolvedTarget("a", 3, ()), model.UnresolvedTarget("b", 2, ()))


@dataclass
class AskedVaults:
    """The part of the vaults, and of the service of one, that the endpoints ask; it remembers what it is
    asked."""

    asked: list[Any] = field(default_factory=list)
    problems: tuple[model.Problem, ...] = ()
    are_several: bool = False
    names: Sequence[str] = ("own", "work")

    def service(self, name: str) -> AskedVaults:
        assert name in ("", "own")
        return self

    def status(self, name: str) -> model.StatusReport:
        return model.StatusReport(f"/{name}", "/i", "ready", 1, 1, 3, model.IndexCounts(1, 1, 0, 0))

    def search(self, request: model.SearchRequest, name: str, *, is_cancelled: object) -> model.SearchAnswer:
        del is_cancelled
        self.asked.append((request, name))
        return model.SearchAnswer(request.query, 0.0, model.IndexState(1, 1, 0), ())

    def explain(self, note: str, request: model.SearchRequest, *, is_cancelled: object) -> object:
        del is_cancelled
        self.asked.append((note, request))
        return "explained"

    def mentions(self, note: str, limit: int) -> object:
        self.asked.append((note, limit))
        return "mentions"

    def unresolved_links(self) -> Sequence[model.UnresolvedTarget]:
        return TARGETS

    def verify(self, *, repair: bool) -> tuple[model.Problem, ...]:
        self.asked.append(repair)
        return self.problems


@pytest.fixture
def vaults() -> AskedVaults:
    return AskedVaults()


def ask(vaults: AskedVaults, endpoint: Endpoint[Any], **given: Value) -> Any:
    context = AnswerContext(cast("Vaults", vaults), model.DaemonState(running=True, pid=7), vault="own")
    return answer(endpoint, context, endpoint.all_arguments(given))


@pytest.mark.parametrize(
    ("fields", "stale", "by_field", "keys"),
    [
        ("", True, True, None),
        ("path,stale", True, False, {"path", "stale", "vault"}),
        ("why,shares", False, True, {"why", "shares", "vault"}),
        ("title", False, False, {"title", "vault"}),
    ],
)
def test_a_search_looks_up_only_what_its_keys_need(
    vaults: AskedVaults, fields: str, stale: bool, by_field: bool, keys: set[str] | None
) -> None:
    assert ask(vaults, SEARCH, q="x", fields=fields).keys == (None if keys is None else frozenset(keys))
    ((request, name),) = vaults.asked
    assert (request.query, request.stale, request.by_field, name) == ("x", stale, by_field, "own")


def test_the_status_is_that_of_the_vault_and_of_the_daemon(vaults: AskedVaults) -> None:
    found = ask(vaults, STATUS)
    assert (found.vault, found.daemon) == ("/own", model.DaemonState(running=True, pid=7))


def test_an_explanation_corrects_as_the_search_does(vaults: AskedVaults) -> None:
    assert ask(vaults, EXPLAIN, path="Sky", q="x", correct=False) == "explained"
    assert vaults.asked == [("Sky", model.SearchRequest("x", correct=False))]


def test_lists_of_links_have_a_limit(vaults: AskedVaults) -> None:
    for limit in ({}, {"limit": 2}):
        assert ask(vaults, ALL_LINKS, path="Sky", view="mentions", **limit) == "mentions"
    assert vaults.asked == [("Sky", 50), ("Sky", 2)]
    assert ask(vaults, ALL_LINKS, view="unresolved", limit=1) == model.UnresolvedLinks(
        5, 2, True, TARGETS[:1]
    )


def test_an_index_is_whole_where_nothing_is_wrong(vaults: AskedVaults) -> None:
    assert ask(vaults, VERIFY, repair=True).ok
    vaults.problems = (model.Problem("catalog", "x", "y"),)
    found = ask(vaults, VERIFY)
    assert (found.ok, found.problems, vaults.asked) == (False, vaults.problems, [True, False])
