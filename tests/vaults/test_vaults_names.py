"""The vaults of a server by name: which one a request means, and what is said where none can be asked."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from vault_indexer.config import Settings
from vault_indexer.errors import IndexUnusableError, UsageError
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService
from vault_indexer.vaults import ClosedVault, OpenVault, Vaults

SERVICE = cast("VaultService", SimpleNamespace(vault=Path("/home/My Notes")))


def shut(name: str) -> ClosedVault:
    """A vault that cannot be asked now."""
    return ClosedVault(name, Path("notes"), IndexUnusableError(f"{name} is broken"))


def test_vaults_are_in_the_order_of_their_names() -> None:
    vaults = Vaults([shut("b"), shut("c"), shut("a")])
    assert vaults.names == ("a", "b", "c")
    assert [one.name for one in vaults.holders()] == ["a", "b", "c"]
    assert [one.name for one in vaults.holders("b")] == ["b"]
    assert [one.name for one in vaults.summaries()] == ["a", "b", "c"]
    assert (vaults.may_change, Vaults([], may_change=True).may_change) == (False, True)


def test_a_request_has_to_say_which_vault_it_means_unless_there_is_one() -> None:
    for names, are_several in (("", True), ("a", False), ("ab", True)):
        assert Vaults([shut(name) for name in names]).are_several is are_several
    open_vault = OpenVault("a", Path("notes"), SERVICE)
    one, two = Vaults([open_vault]), Vaults([open_vault, shut("b")])
    assert (one.holder().name, one.holder("a").name, two.holder("b").name) == ("a", "a", "b")
    assert one.service() is two.service("a") is SERVICE
    with pytest.raises(UsageError, match=r"^vault = '' is missing: choose one of a, b$"):
        two.service()
    with pytest.raises(UsageError, match=r"^vault = '' is missing: there are no vaults$"):
        Vaults([]).holder()
    with pytest.raises(IndexUnusableError, match=r"^b is broken$"):
        two.service("b")


def test_a_name_that_no_vault_has_is_refused_and_sixty_characters_of_it_are_shown() -> None:
    vaults = Vaults([shut("a"), shut("b")])
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
        Vaults([shut("b"), shut("a")]).search(SearchRequest("x"))
    with pytest.raises(IndexUnusableError, match=r"^there are no vaults$"):
        Vaults([]).search(SearchRequest("x"))
    with pytest.raises(IndexUnusableError, match=r"^a is broken$"):
        Vaults([shut("a")]).search(SearchRequest("x"))
    with pytest.raises(IndexUnusableError, match=r"^b is broken$"):
        Vaults([shut("a"), shut("b")]).search(SearchRequest("x"), "b")


def test_other_vaults_end_the_problem_of_the_configuration() -> None:
    vaults = Vaults([shut("a")])
    assert vaults.problem == ""
    vaults.report_problem("not read")
    assert (vaults.problem, vaults.names) == ("not read", ("a",))
    vaults.replace([shut("c"), shut("b")], Settings())
    assert (vaults.problem, vaults.names) == ("", ("b", "c"))


def test_a_vault_alone_is_called_by_its_folder() -> None:
    assert (Vaults.of(SERVICE).names, Vaults.of(SERVICE, "d").names) == (("my-notes",), ("d",))
    assert Vaults.of(SERVICE).service() is SERVICE
