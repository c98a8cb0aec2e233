"""The systems that can start a service, by the name that a user gives."""

from __future__ import annotations

from collections.abc import Callable

from vault_indexer.autostart.launchd import Launchd
from vault_indexer.autostart.supervisor import Environment, Supervisor
from vault_indexer.autostart.systemd import Systemd
from vault_indexer.autostart.task_scheduler import TaskScheduler
from vault_indexer.errors import UsageError

SUPERVISORS: dict[str, Callable[[Environment], Supervisor]] = {
    "systemd": Systemd,
    "launchd": Launchd,
    "schtasks": TaskScheduler,
}


def supervisor_of_platform(platform: str) -> str:
    """Returns the name for a platform (`sys.platform`), "systemd" for any other."""
    return {"darwin": "launchd", "win32": "schtasks"}.get(platform, "systemd")


def supervisor(name: str, environment: Environment) -> Supervisor:
    """Returns the supervisor of this name. Raises UsageError."""
    if name not in SUPERVISORS:
        raise UsageError(f"no such system: {name!r}; allowed: {', '.join(SUPERVISORS)}")
    return SUPERVISORS[name](environment)
