"""The program and its tests are no larger than benchmarks/size.toml allows."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest
from python_source import ROOT


@pytest.fixture(scope="module")
def size() -> ModuleType:
    spec = importlib.util.spec_from_file_location("size", ROOT / "benchmarks" / "size.py")
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_nothing_is_larger_than_its_limit(size: ModuleType) -> None:
    assert size.excess(size.sizes()) == [], "`make size` shows all counts, CONTRIBUTING.md says what to do"


def test_growth_and_a_new_package_are_found(size: ModuleType) -> None:
    counted = size.sizes()
    grown = counted["vault_indexer"] | {"modules": 10**6}
    found = size.excess(counted | {"vault_indexer": grown, "vault_extra": {"modules": 1}})
    assert [line.partition(" allowed")[0] for line in found] == [
        f"vault_indexer: 1,000,000 modules, {counted['vault_indexer']['modules']:,}",
        "vault_extra: 1 modules, no limit given",
    ]
