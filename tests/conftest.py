"""How the suite is divided, and how property tests run.

- `make test` runs what takes little processor time: some twenty minutes in all on two cores.
- `make check` runs `tests/gates`; the others leave them out.
- `long` marks what does not fit into that, or repeats with more input what a short test shows already.
  `make test-all` runs it.
- `slow` marks crashes, faults and large vaults. `make torture` runs them.
- A test that needs an extra is skipped without it. `pytest --skipped` runs what the last run skipped.
- `portable` marks what runs on Windows and macOS as well: by a test's own mark, and all tests of the folders
  in `PORTABLE`, which are about text alone.
- `data` marks what needs `../shared/data`, and is skipped without it.

No test is timed, and no wait is short: a busy machine is no counterexample. Waits go through
`support/waiting.py`.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Examples that take long to draw say something about the machine, not about the code.
# The same examples in each run: what passed here passes elsewhere. `make hunt` looks for new ones.
settings.register_profile(
    "quick", deadline=None, max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("hunt", settings.get_profile("quick"), max_examples=1000, derandomize=False)
# `--hypothesis-profile` overrides this.
settings.load_profile("quick")


PORTABLE = frozenset({"answer", "chunk", "parse", "search", "store", "text"})
"""Folders of tests that need Python and a disk: no signal, no permission bits, no program of the system."""


SKIPPED = "vault-indexer/skipped"
"""Where pytest's cache keeps which tests the last run skipped, by id, and files by path."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--skipped", action="store_true", help="run only what the last run skipped")


class Skipped:
    """Notes what is skipped. With xdist only its controller hears of all tests."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self._ids.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._ids.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        cache = session.config.cache
        if cache is not None and not session.config.option.collectonly:
            cache.set(SKIPPED, sorted(self._ids))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skipped())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of these folders as portable; keep what is asked for."""
    tests = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(tests) and item.path.relative_to(tests).parts[0] in PORTABLE:
            item.add_marker(pytest.mark.portable)
    if config.getoption("skipped") and config.cache is not None:
        wanted = set(config.cache.get(SKIPPED, []))
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            path = item.nodeid.partition("::")[0]
            (left if wanted.isdisjoint((item.nodeid, path)) else kept).append(item)
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end: let no garbage collection look at them again."""
    gc.collect()
    gc.freeze()
