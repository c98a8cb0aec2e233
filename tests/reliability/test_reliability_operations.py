"""Paranoid mode: after any history of the vault the index equals a fresh build, byte for byte."""

import random
import time
from functools import partial
from pathlib import Path

import pytest
from file_operations import do_one
from hypothesis import Phase, given, settings
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

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.session import DaemonSession

pytestmark = pytest.mark.slow


def is_settled(session: DaemonSession) -> bool:
    status = session.status()
    return status.state == "ready" and not status.pending


def _soon(rng: random.Random) -> float:
    return time.monotonic() + rng.random() * 3


def _moved_on(session: DaemonSession, seq: int, until: float) -> bool:
    return session.status().seq > seq or time.monotonic() > until


def settle(session: DaemonSession, deadline_s: float = 90) -> None:
    """The daemon has looked at everything there is and holds nothing back."""
    wait_until(lambda: is_settled(session), deadline_s, "the daemon is idle")
    assert session.wait_fresh(deadline_s)
    wait_until(lambda: is_settled(session), deadline_s, "the daemon is idle again")


def test_random_operations_under_the_daemon(tmp_path: Path) -> None:
    rng = random.Random(20_260)
    vault = make_vault(tmp_path / "vault", rng, 60)
    target = resolve_target(vault, tmp_path / "index", None, environ={}, options=OPTIONS)
    session = DaemonSession(Assembly.of(target))
    done: list[str] = []
    try:
        wait_until(lambda: is_settled(session), 120, "the first build")
        total = sized(150, 1000)
        while len(done) < total:
            for _ in range(rng.randint(1, 25)):
                done.append(do_one(vault, rng))
            # Sometimes the daemon gets to index in between, sometimes more happens while it does.
            if rng.random() < 0.6:
                wait_until(
                    partial(_moved_on, session, session.status().seq, _soon(rng)), 10, "a commit or a while"
                )
        settle(session)
        found = told_by(session)
        problems = session.verify(repair=False)
    finally:
        session.close()
    assert len(done) >= total
    assert_equal(found, told_by_a_fresh_build(vault, tmp_path / "fresh"))
    assert problems == ()


# No shrinking: a smaller history would be welcome, but each try costs seconds.
@settings(max_examples=sized(5, 60), deadline=None, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**32), steps=st.lists(st.integers(1, 6), min_size=1, max_size=6))
def test_any_history_without_the_watcher(
    seed: int, steps: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same law over the index alone: between two looks at the vault lie one to six operations."""
    rng, room = random.Random(seed), tmp_path_factory.mktemp("history")
    vault = make_vault(room / "vault", rng, 25)
    with opened(assembly_of(vault, room / "index")) as session:
        for count in steps:
            for _ in range(count):
                do_one(vault, rng)
            session.wait_fresh(0)
        found = told_by(session)
        assert session.verify(repair=False) == ()
    assert_equal(found, told_by_a_fresh_build(vault, room / "fresh"))
