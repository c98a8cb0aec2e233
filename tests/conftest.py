"""How the suite is divided, and how property tests run.

- `make test` runs what takes little processor time: 300 seconds in all, on one core or several.
- `make check` runs `tests/gates`; the others leave them out.
- `long` marks what does not fit into that, or repeats with more input what a short test shows already.
  `make test-all` runs it, and the property tests once more with more examples (the profile `thorough`).
- `slow` marks crashes, faults and large vaults. `make torture` runs them.
- `data` marks what needs `../shared/data`, and is skipped without it.

No test is timed, and no wait is short: a busy machine is no counterexample. Waits go through
`support/waiting.py`.
"""

from __future__ import annotations

import gc

from hypothesis import HealthCheck, settings

# Examples that take long to draw say something about the machine, not about the code.
settings.register_profile(
    "quick", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=200)
# `--hypothesis-profile` overrides this.
settings.load_profile("quick")


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end: let no garbage collection look at them again."""
    gc.collect()
    gc.freeze()
