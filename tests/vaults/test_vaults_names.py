"""The vaults of a server by name: which one a request means, and what is said where none can be asked."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from vault_indexer.config import Settings
from vault_indexer.errors import IndexUnusableError, UsageError
from vault_indexer.model import SearchRequest, VaultSummary
from vault_indexer.service import VaultService
from vault_indexer.vaults import Vaults


@dataclass(frozen=True)
class Shut:
    """A vault that cannot be asked now."""

    name: str
    path: Path = Path("notes")

    def service(self) -> VaultService:
        raise IndexUnusableError(f"{self.name} is broken")

    def summary(self) -> VaultSummary:
        return VaultSummary(self.name, str(self.path), "unusable", 0, 0, "broken")


@dataclass(frozen=True)
class Open(Shut):
    """A vault with a service."""

    def service(self) -> VaultService:
        return cast("VaultService", self)


def test_vaults_are_in_the_order_of_their_names() -> None:
    vaults = Vaults([Shut("b"), Shut("c"), Shut("a")])
    assert vaults.names == ("a", "b", "c")
    assert [one.name for one in vaults.holders()] == ["a", "b", "c"]
    assert [one.name for one in vaults.holders("b")] == ["b"]
    assert [one.name for one in vaults.summaries()] == ["a", "b", "c"]
    assert (vaults.may_change, Vaults([], may_change=True).may_change) == (False, True)


def test_a_request_has_to_say_which_vault_it_means_unless_there_is_one() -> None:
    assert [Vaults([Shut(name) for name in names]).are_several for names in ("", "a", "ab")] == [
        True,
        False,
        True,
    ]
    one, two = Vaults([Open("a")]), Vaults([Open("a"), Shut("b")])
    assert (one.holder().name, one.holder("a").name, two.holder("b").name) == ("a", "a", "b")
    assert (cast("Open", one.service()).name, cast("Open", two.service("a")).name) == ("a", "a")
    with pytest.raises(UsageError, match=r"^vault = '' is missing: choose one of a, b$"):
        two.service()
    with pytest.raises(UsageError, match=r"^vault = '' is missing: there are no vaults$"):
        Vaults([]).holder()
    with pytest.raises(IndexUnusableError, match=r"^b is broken$"):
        two.service("b")


def test_a_name_that_no_vault_has_is_refused_and_sixty_characters_of_it_are_shown() -> None:
    vaults = Vaults([Shut("a"), Shut("b")])
    for ask in (vaults.named, vaults.holder, vaults.holders, vaults.service):
        with pytest.raises(UsageError, match=r"^no vault 'x{60}' is served here: choose one of a, b$"):
            ask("x" * 61)
    with pytest.raises(UsageError, match=r"there are no vaults$"):
        Vaults([]).named("a")
    with pytest.raises(UsageError, match="no vault ''"):
        vaults.named("")


def test_where_no_vault_can_be_searched_the_answer_says_why_for_each() -> None:
    said = "^the vault a is not searched: a is broken; the vault b is not searched: b is broken$"
    with pytest.raises(IndexUnusableError, match=said):
        Vaults([Shut("b"), Shut("a")]).search(SearchRequest("x"))
    with pytest.raises(IndexUnusableError, match=r"^there are no vaults$"):
        Vaults([]).search(SearchRequest("x"))
    with pytest.raises(IndexUnusableError, match=r"^a is broken$"):
        Vaults([Shut("a")]).search(SearchRequest("x"))
    with pytest.raises(IndexUnusableError, match=r"^b is broken$"):
        Vaults([Shut("a"), Shut("b")]).search(SearchRequest("x"), "b")


def test_other_vaults_end_the_problem_of_the_configuration() -> None:
    vaults = Vaults([Shut("a")])
    assert vaults.problem == ""
    vaults.report_problem("not read")
    assert (vaults.problem, vaults.names) == ("not read", ("a",))
    vaults.replace([Shut("c"), Shut("b")], Settings())
    assert (vaults.problem, vaults.names) == ("", ("b", "c"))


def test_a_vault_alone_is_called_by_its_folder() -> None:
    opened = cast("VaultService", SimpleNamespace(vault=Path("/home/My Notes")))
    assert (Vaults.of(opened).names, Vaults.of(opened, "d").names) == (("my-notes",), ("d",))
    assert Vaults.of(opened).service() is opened
