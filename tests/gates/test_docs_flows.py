"""The flows of docs/internals/architecture.md are what the code does: each step exists and uses the next."""

from __future__ import annotations

import pytest
from call_chains import broken_steps, flows, read_flow
from python_source import PACKAGE, ROOT, module, modules

FLOWS = flows((ROOT / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8"))
CODE = '''
class Box:
    def __init__(self) -> None:
        self._make = partial(_serve)

    def open(self) -> None:
        """Calls nothing."""
        return self._unlock()

    def _unlock(self) -> None:
        self._make().turn()

def _serve() -> None:
    key.handle()

def turn() -> None: ...
def handle() -> None: ...
def nothing() -> None: ...
'''


def test_the_architecture_has_three_flows() -> None:
    assert len(FLOWS) == 3
    assert all(len(flow.chains) >= 4 for flow in FLOWS)


def test_every_chain_begins_at_a_known_step() -> None:
    assert [step for flow in FLOWS for step in flow.loose] == []


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.chains[0][0])
def test_each_step_of_a_flow_uses_the_next(flow: object) -> None:
    chains = next(known.chains for known in FLOWS if known is flow)
    assert [broken for chain in chains for broken in broken_steps(chain, modules(PACKAGE))] == []


def test_a_step_is_followed_through_what_is_private() -> None:
    parts = [module(CODE, "a/b.py")]
    assert broken_steps(["a.b:Box.open", "a.b:turn"], parts) == []
    assert broken_steps(["a.b:Box.open", "a.b:handle"], parts) == []
    assert broken_steps(["a.b:Box", "a.b:turn"], parts) == []


def test_a_false_step_is_found() -> None:
    parts = [module(CODE, "a/b.py")]
    assert broken_steps(["a.b:Box.open", "a.b:nothing"], parts) == ["a.b:Box.open: does not use a.b:nothing"]
    assert broken_steps(["a.b:Box.close", "c.d:turn"], parts) == [
        "a.b:Box.close: does not exist",
        "c.d:turn: does not exist",
    ]
    assert read_flow("a:b\na:c  remark\n\na:c\na:d\n\n# new\na:x\n\na:y\na:z").loose == ["a:y"]
