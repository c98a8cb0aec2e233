"""Paranoid mode: after any history of the vault the index equals a fresh build, byte for byte."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from file_operations import do_one
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reliability_lab import (
    OPTIONS,
    assembly_of,
    assert_equal,
    make_vault,
    opened,
    sized,
    told_by,
    told_by_a_fresh_build,
    wait_until,
)

from vault_indexer.bootstrap import open_daemon, resolve_target
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.slow


def is_settled(service: VaultService) -> bool:
    status = service.status()
    return status.state == "ready" and not status.pending


def settle(service: VaultService, deadline_s: float = 90) -> None:
    """The daemon has looked at everything there is and holds nothing back."""
    wait_until(lambda: is_settled(service), deadline_s, "the daemon is idle")
    answer = service.search(SearchRequest("anchor", fresh=True), fresh_deadline_s=deadline_s)
    assert not [told for told in answer.notices if "not indexed within" in told]
    wait_until(lambda: is_settled(service), deadline_s, "the daemon is idle again")


def test_random_operations_under_the_daemon(tmp_path: Path) -> None:
    rng = random.Random(20_260)
    vault = make_vault(tmp_path / "vault", rng, 60)
    target = resolve_target(vault, tmp_path / "index", None, environ={}, options=dict(OPTIONS))
    service = open_daemon(target)
    done: list[str] = []
    try:
        wait_until(lambda: is_settled(service), 120, "the first build")
        total = sized(120, 1000)
        while len(done) < total:
            for _ in range(rng.randint(1, 25)):
                done.append(do_one(vault, rng))
            # Sometimes the daemon gets to index in between, sometimes more happens while it does.
            if rng.random() < 0.6:
                seen, until = service.status().seq, time.monotonic() + rng.random() * 3
                wait_until(
                    lambda seen=seen, until=until: service.status().seq > seen or time.monotonic() > until,
                    10,
                    "a commit, or some time",
                )
        settle(service)
        found = told_by(service)
        problems = service.verify()
    finally:
        service.close()
    assert len(done) >= total
    assert_equal(found, told_by_a_fresh_build(vault, tmp_path / "fresh"))
    assert problems == ()


@settings(
    max_examples=sized(6, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32), steps=st.lists(st.integers(1, 6), min_size=1, max_size=6))
def test_any_history_without_the_watcher(
    seed: int, steps: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same law over the index alone: between two looks at the vault lie one to six operations."""
    rng, room = random.Random(seed), tmp_path_factory.mktemp("history")
    vault = make_vault(room / "vault", rng, 25)
    with opened(assembly_of(vault, room / "index")) as service:
        for count in steps:
            for _ in range(count):
                do_one(vault, rng)
            service.search(SearchRequest("anchor", fresh=True))
        found = told_by(service)
        assert service.verify() == ()
    assert_equal(found, told_by_a_fresh_build(vault, room / "fresh"))
