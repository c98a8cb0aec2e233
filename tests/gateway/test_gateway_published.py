"""Which vaults are published, and who may read them, while rows come, go, grow old and are read late."""

import logging
import threading
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from vault_gateway.access import PublishedVaults, Users
from vault_gateway.milvus import VaultState
from vault_gateway.milvus.retrieval import VaultScope
from vault_gateway.settings import GatewayUser
from vault_indexer.errors import UnknownVaultError

HELP, OTHER = "help-00000000000000aa", "help-00000000000000bb"
STATE = VaultState(HELP, "Help", "alpha", "c", "m", "", ("en",), 2, 5, 1, 3, seen_ms=1_000_000)
ANA = GatewayUser(name="ana", token_sha256="0" * 64, vaults=(HELP,))


class Server:
    """What of the parts of a gateway the list of vaults asks."""

    def __init__(self, *states: VaultState, good_s: float = 0.0) -> None:
        self.rows = {one.vault: one for one in states}
        self.late: Mapping[str, VaultState] = {}
        """What a reading shows that is not strongly consistent, if it is late."""
        self.figures: tuple[int, ...] = ()
        self.now_s = 1_000.0
        self.hold: threading.Event | None = None
        self.reading = threading.Event()
        metrics = SimpleNamespace(states=lambda **_: None, vaults=self._count)
        calls = SimpleNamespace(metrics=metrics, run=lambda _, call: call())
        self.published = PublishedVaults(
            cast("Any", self),
            cast("Any", calls),
            cast("Any", SimpleNamespace(current=Users([ANA]), withdrawn=frozenset())),
            cast("Any", SimpleNamespace(states_s=good_s, stale_after_s=600)),
            now_s=lambda: self.now_s,
        )

    def _count(self, published: Mapping[str, VaultState], *figures: int) -> None:
        self.figures = (len(published), *figures)

    def all(self, consistency: str = "") -> Mapping[str, VaultState]:
        self.reading.set()
        if self.hold is not None:
            self.hold.wait()
        return dict(self.late if self.late and not consistency else self.rows)

    def states(self, scope: VaultScope, consistency: str = "") -> Mapping[str, VaultState]:
        return {vault: one for vault, one in self.all(consistency).items() if vault in scope.vaults}


def test_a_right_does_not_move_to_another_vault_of_the_name(caplog: pytest.LogCaptureFixture) -> None:
    server = Server(STATE)
    assert set(server.published.of(ANA)) == {HELP}
    server.rows = {OTHER: replace(STATE, vault=OTHER, keeper="beta")}
    with caplog.at_level(logging.WARNING):
        assert server.published.of(ANA) == {}
        assert server.published.of(ANA) == {}
    assert caplog.messages == [f"the right of ana to {HELP} matches no published vault"]
    assert server.published.look() == ("rights that match no published vault: 1",)
    assert server.figures == (1, 0, 1)
    with pytest.raises(UnknownVaultError):
        server.published.of(ANA, "Help")


def test_a_withdrawn_vault_is_not_found_even_if_the_server_has_it() -> None:
    server = Server(STATE)
    cast("Any", server.published)._users.withdrawn = frozenset([HELP])
    assert server.published.of(ANA) == {}
    assert server.published.look() == ("rights that match no published vault: 1",)


@pytest.mark.parametrize("older", [{"epoch": 1, "seq": 9}, {"seq": 4}])
def test_an_older_state_counts_if_the_server_was_restored_and_not_if_it_is_read_late(
    older: dict[str, int],
) -> None:
    server = Server(STATE)
    server.published.all()
    server.late = {HELP: replace(STATE, **older)}  # type: ignore[arg-type]
    assert server.published.all()[HELP] == STATE
    assert server.published.reread({HELP: STATE}) == {HELP: STATE}
    server.rows = server.late
    assert server.published.reread({HELP: STATE}) == server.late
    assert server.published.all() == server.late
    server.rows, server.late = {HELP: replace(STATE, epoch=3, seq=0)}, {}
    assert server.published.all()[HELP].epoch == 3


def test_a_request_sees_the_vaults_as_they_are_now_and_not_as_they_are_listed() -> None:
    server = Server(STATE, replace(STATE, vault=OTHER), good_s=60.0)
    listed = server.published.all()
    server.rows = {HELP: replace(STATE, epoch=3, seq=0), OTHER: STATE}
    assert server.published.all() == listed
    assert server.published.reread({HELP: STATE}) == {HELP: replace(STATE, epoch=3, seq=0)}
    server.rows = {}
    assert server.published.reread(listed) == {}


def test_a_keeper_that_was_not_seen_for_too_long_is_stale() -> None:
    server = Server(STATE)
    server.now_s = 1_599.0
    assert not server.published.is_stale(server.published.all()[HELP])
    server.now_s = 1_601.0
    assert server.published.is_stale(server.published.all()[HELP])
    assert server.figures == (1, 1, 0)


def test_nobody_waits_for_a_server_that_hangs_while_there_is_a_list() -> None:
    server = Server(STATE)
    server.published.all()
    server.hold = threading.Event()
    server.reading.clear()
    thread = threading.Thread(target=server.published.all)
    thread.start()
    assert server.reading.wait(10)
    assert set(server.published.all()) == {HELP}
    server.hold.set()
    thread.join()
