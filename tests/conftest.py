"""How the suite is divided, and how property tests run.

- `make test` runs what takes little processor time, and one path through each face of the program (`smoke`):
  four minutes in all on two cores.
- `make check` runs `tests/gates`; the others leave them out.
- `long` marks what waits for a daemon, a command, a model or another process, or repeats with more input what
  a short test shows already: by a test's own mark, or because it uses one of `PROCESSES` or `SERVER`.
  `make test-all` runs it.
- `slow` marks crashes, faults and large vaults. `make torture` runs them.
- A test that needs an extra is skipped without it. With `--skipped` what the last run skipped is long, too.
- `portable` marks what runs on Windows and macOS as well: by a test's own mark, and all tests of the folders
  in `PORTABLE`, which are about text alone.
- `posix` marks what is about POSIX, or what Wine lacks, and says what: skipped on Windows. `windows` marks
  what starts Windows' Python under Wine (`make test-windows`).
- `data` marks what needs `../shared/data`, and is skipped without it.

No test is timed, and no wait is short: a busy machine is no counterexample. Waits go through
`support/waiting.py`. `pytest --processor-time FILE` writes what each test costs.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
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


PROCESSES: Mapping[str, frozenset[str]] = {
    "cli": frozenset({"built", "sandbox"}),
    "security": frozenset({"api", "sandbox"}),
    "serve": frozenset({"api"}),
}
"""Fixtures of a folder that run commands and daemons as processes. `here` runs the command in this one."""

SERVER = "shared_server"
"""The fixture of a Milvus server: all that uses it is long."""

SKIPPED = "vault-indexer/skipped"
"""Where pytest's cache keeps which tests the last run skipped, by id, and files by path."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processor-time", type=Path, help="append seconds and name of each test to this file")
    parser.addoption("--skipped", action="store_true", help="what the last run skipped counts as long")


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
        cache = _cache(session.config)
        if cache is not None and not session.config.option.collectonly:
            cache.set(SKIPPED, sorted(self._ids))


def _cache(config: pytest.Config) -> pytest.Cache | None:
    """None with `-p no:cacheprovider`: then the configuration has no such attribute."""
    return getattr(config, "cache", None)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skipped())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is portable by its folder, and long by its fixtures or because it was skipped."""
    tests = Path(__file__).parent
    skipped = _skipped_before(config) if config.getoption("skipped") else set()
    for item in items:
        folder = item.path.relative_to(tests).parts[0] if item.path.is_relative_to(tests) else ""
        if folder in PORTABLE:
            item.add_marker(pytest.mark.portable)
        if os.name == "nt" and (posix := item.get_closest_marker("posix")):
            item.add_marker(pytest.mark.skip(reason=f"POSIX: {posix.args[0]}"))
        used = set(getattr(item, "fixturenames", ()))
        if PROCESSES.get(folder, frozenset()) & used and "here" not in used:
            item.add_marker(pytest.mark.long)
            item.add_marker(pytest.mark.process)
        if SERVER in used:
            item.add_marker(pytest.mark.long)
        if not skipped.isdisjoint((item.nodeid, item.nodeid.partition("::")[0])):
            item.add_marker(pytest.mark.long)


def _skipped_before(config: pytest.Config) -> set[str]:
    cache = _cache(config)
    if cache is None:
        raise pytest.UsageError("--skipped needs pytest's cache; leave out -p no:cacheprovider")
    return set(cache.get(SKIPPED, []))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Append the processor time of the test, of its fixtures and of the processes that it waited for."""
    file = item.config.getoption("processor_time")
    before = _processor_time()
    result = yield
    if file:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{_processor_time() - before:.3f}\t{item.nodeid}\n")
    return result


def _processor_time() -> float:
    times = os.times()
    return sum(times[:4])


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end: let no garbage collection look at them again."""
    gc.collect()
    gc.freeze()
