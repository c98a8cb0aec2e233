"""What each endpoint asks of a vault, and what it makes of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from vault_indexer.contract.parameters import Value
from vault_indexer.model import (
    DaemonState,
    IndexCounts,
    IndexState,
    Orphan,
    Orphans,
    Problem,
    SearchAnswer,
    SearchRequest,
    StatusReport,
    UnresolvedLinks,
    UnresolvedTarget,
)
from vault_indexer.serve.api.endpoints import (
    ALL_LINKS,
    EXPLAIN,
    PAUSE,
    RELATED,
    RESUME,
    SEARCH,
    STATUS,
    VERIFY,
    Endpoint,
)
from vault_indexer.serve.api.respond import AnswerContext, answer
from vault_indexer.vaults import Vaults

REPORT = StatusReport("/v", "/i", "ready", 1, 1, 3, IndexCounts(1, 1, 0, 0))


@dataclass
class AskedService:
    """The part of the service that the endpoints ask; it remembers what it is asked."""

    asked: list[object] = field(default_factory=list)
    problems: tuple[Problem, ...] = ()
    vault: str = "/v"

    def path_of(self, note: str) -> str:
        return f"{note}.md"

    def related(self, note: str, limit: int) -> tuple[object, ...]:
        self.asked.append((note, limit))
        return ()

    def explain(self, note: str, request: SearchRequest, *, is_cancelled: object) -> object:
        self.asked.append((note, request, is_cancelled))
        return "explained"

    def mentions(self, note: str, limit: int) -> object:
        self.asked.append((note, limit))
        return "mentions"

    def unresolved_links(self) -> Sequence[UnresolvedTarget]:
        return [cast("UnresolvedTarget", _Target(3)), cast("UnresolvedTarget", _Target(2))]

    def orphans(self) -> Sequence[Orphan]:
        return [Orphan("a.md", "a"), Orphan("b.md", "b")]

    def links(self, note: str) -> _Links:
        return _Links(note)

    def verify(self, *, repair: bool) -> tuple[Problem, ...]:
        self.asked.append(repair)
        return self.problems

    def status(self) -> StatusReport:
        return replace(REPORT, vault=self.vault)

    def pause(self, seconds: float | None) -> StatusReport:
        self.asked.append(seconds)
        return replace(REPORT, paused=True, paused_until="soon")

    def resume(self) -> StatusReport:
        return REPORT


@dataclass(frozen=True)
class _Target:
    count: int


@dataclass(frozen=True)
class _Links:
    note: str

    def first(self, limit: int | None) -> object:
        return self.note, limit


@dataclass
class AskedVaults:
    """The part of the vaults that the endpoints ask."""

    own: AskedService = field(default_factory=AskedService)
    are_several: bool = False
    names: Sequence[str] = ("own", "work")
    asked: list[tuple[SearchRequest, str]] = field(default_factory=list)

    def service(self, name: str) -> AskedService:
        assert name in ("", "own")
        return self.own

    def status(self, name: str) -> StatusReport:
        return replace(REPORT, vault=f"/{name}")

    def search(self, request: SearchRequest, name: str, *, is_cancelled: object) -> SearchAnswer:
        del is_cancelled
        self.asked.append((request, name))
        return SearchAnswer(request.query, 0.0, IndexState(1, 1, 0), ())


@pytest.fixture
def vaults() -> AskedVaults:
    return AskedVaults()


def context_of(vaults: AskedVaults, vault: str = "") -> AnswerContext:
    return AnswerContext(cast("Vaults", vaults), DaemonState(running=True, pid=7), vault=vault)


def ask(vaults: AskedVaults, endpoint: Endpoint[Any], **given: Value) -> object:
    return answer(endpoint, context_of(vaults, "own"), endpoint.all_arguments(given))


@pytest.mark.parametrize(
    ("fields", "stale", "by_field", "keys"),
    [
        ("", True, True, None),
        ("path,stale", True, False, {"path", "stale"}),
        ("why,shares", False, True, {"why", "shares"}),
        ("title", False, False, {"title"}),
    ],
)
def test_a_search_looks_up_only_what_its_keys_need(
    vaults: AskedVaults, fields: str, stale: bool, by_field: bool, keys: set[str] | None
) -> None:
    found = ask(vaults, SEARCH, q="x", fields=fields)
    assert isinstance(found, SearchAnswer)
    assert found.keys == (None if keys is None else frozenset(keys))
    ((request, name),) = vaults.asked
    assert (request.query, request.stale, request.by_field, name) == ("x", stale, by_field, "own")


def test_the_status_is_that_of_the_vault_and_of_the_daemon(vaults: AskedVaults) -> None:
    found = ask(vaults, STATUS)
    assert isinstance(found, StatusReport)
    assert (found.vault, found.daemon) == ("/own", DaemonState(running=True, pid=7))


def test_a_note_is_asked_for_by_its_path(vaults: AskedVaults) -> None:
    found: Any = ask(vaults, RELATED, path="Sky", limit=3)
    assert (found.note, found.results, vaults.own.asked) == ("Sky.md", (), [("Sky.md", 3)])


def test_an_explanation_corrects_as_the_search_does(vaults: AskedVaults) -> None:
    assert ask(vaults, EXPLAIN, path="Sky", q="x", correct=False) == "explained"
    ((note, request, _),) = cast("list[tuple[str, SearchRequest, object]]", vaults.own.asked)
    assert (note, request) == ("Sky", SearchRequest("x", correct=False))


def test_each_view_of_the_links_has_its_answer(vaults: AskedVaults) -> None:
    assert ask(vaults, ALL_LINKS, path="Sky") == ("Sky", None)
    assert ask(vaults, ALL_LINKS, path="Sky", limit=2) == ("Sky", 2)
    assert ask(vaults, ALL_LINKS, path="Sky", view="mentions") == "mentions"
    assert ask(vaults, ALL_LINKS, path="Sky", view="mentions", limit=2) == "mentions"
    assert vaults.own.asked == [("Sky", 50), ("Sky", 2)]
    unresolved = ask(vaults, ALL_LINKS, view="unresolved", limit=1)
    assert unresolved == UnresolvedLinks(5, 2, True, (cast("UnresolvedTarget", _Target(3)),))
    assert ask(vaults, ALL_LINKS, view="orphans", limit=1) == Orphans((Orphan("a.md", "a"),), 2, True)


def test_an_index_is_whole_where_nothing_is_wrong(vaults: AskedVaults) -> None:
    found: Any = ask(vaults, VERIFY, repair=True)
    assert (found.ok, found.problems, vaults.own.asked) == (True, (), [True])
    vaults.own.problems = (Problem("catalog", "x", "y"),)
    found = ask(vaults, VERIFY)
    assert (found.ok, found.problems, vaults.own.asked) == (False, vaults.own.problems, [True, False])


def test_a_pause_tells_its_end_and_what_waits(vaults: AskedVaults) -> None:
    paused: Any = ask(vaults, PAUSE, seconds=1.5)
    assert (paused.paused, paused.paused_until, paused.pending) == (True, "soon", 3)
    resumed: Any = ask(vaults, RESUME)
    assert (resumed.paused, resumed.paused_until, resumed.pending) == (False, "", 3)
    assert vaults.own.asked == [1.5]
