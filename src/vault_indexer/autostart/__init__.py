"""The daemon as a service of the user, which the system starts at login and after a failure.

One module for each system (systemd, launchd, Windows' task scheduler) with a subclass of `Supervisor`.
"""

from __future__ import annotations

from vault_indexer.autostart.choose import SUPERVISORS, supervisor, supervisor_of_platform
from vault_indexer.autostart.supervisor import Environment, ServiceSpec, ServiceStatus, Supervisor

__all__ = [
    "SUPERVISORS",
    "Environment",
    "ServiceSpec",
    "ServiceStatus",
    "Supervisor",
    "supervisor",
    "supervisor_of_platform",
]
