"""macOS: an agent of launchd, which runs while the user is logged in at the screen.

Generated and read back on Linux only: no Mac has run it yet.
"""

from __future__ import annotations

import os
import plistlib
import re
import sys
import time
from pathlib import Path

from vault_indexer.autostart.supervisor import (
    END_S,
    NICE,
    RESTART_S,
    Environment,
    ServiceSpec,
    ServiceStatus,
    Supervisor,
    ask,
    refuse_control_characters,
    tell,
    write_definition,
)
from vault_indexer.errors import ServiceError

_TRIES = 5
_PAUSE_S = 0.5
"""launchd takes a moment to forget an agent; until then it does not take one of the same name."""


class Launchd(Supervisor):
    """launchd's domain of the user who is logged in at the screen. It restarts a failing program forever,
    with a pause: it has no limit."""

    def __init__(self, environment: Environment) -> None:
        self._agents = environment.home / "Library" / "LaunchAgents"

    def place(self, name: str) -> str:
        return str(self._agents / f"{name}.plist")

    def definition(self, spec: ServiceSpec) -> str:
        name = self.name_of(spec.vault)
        words = (*spec.command, "--log-file", str(spec.log_file(name)))
        keys: dict[str, object] = {
            "Label": name,
            "ProgramArguments": [refuse_control_characters(word) for word in words],
            "WorkingDirectory": "/",
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": RESTART_S,
            "ExitTimeOut": END_S,
            "ProcessType": "Background",
            "LowPriorityIO": True,
            "Nice": NICE,
            "StandardErrorPath": str(spec.log_folder / f"{name}.err"),
        }
        if spec.environment.variables:
            keys["EnvironmentVariables"] = dict(spec.environment.variables)
        return plistlib.dumps(keys, sort_keys=False).decode()

    def install(self, spec: ServiceSpec) -> bool:
        name, text = self.name_of(spec.vault), self.definition(spec).encode()
        domain, file = _domain(), Path(self.place(name))
        changed = not file.is_file() or file.read_bytes() != text
        is_loaded = ask("launchctl", "print", f"{domain}/{name}").status == 0
        if is_loaded and not changed:
            tell("launchctl", "kickstart", f"{domain}/{name}")
            return False
        write_definition(file, text)
        if is_loaded:
            tell("launchctl", "bootout", f"{domain}/{name}")
        tell("launchctl", "enable", f"{domain}/{name}")
        _bootstrap(domain, file)
        return changed

    def uninstall(self, name: str) -> bool:
        file, service = Path(self.place(name)), f"{_domain()}/{name}"
        is_loaded = ask("launchctl", "print", service).status == 0
        if is_loaded:
            tell("launchctl", "bootout", service)
        is_there = file.exists()
        file.unlink(missing_ok=True)
        return is_there or is_loaded

    def status(self, name: str) -> ServiceStatus:
        """See `Supervisor`. launchd's output is meant for people and is not an interface: if it changes, only
        the process and its state are unknown."""
        result = ask("launchctl", "print", f"{_domain()}/{name}")
        loaded = result.status == 0
        pid = re.search(r"^\s*pid = (\d+)", result.output, re.MULTILINE) if loaded else None
        state = re.search(r"^\s*state = (.+)$", result.output, re.MULTILINE) if loaded else None
        return ServiceStatus(
            installed=Path(self.place(name)).exists(),
            enabled=loaded,
            running=pid is not None,
            pid=int(pid[1]) if pid else 0,
            detail=state[1].strip() if state else "loaded" if loaded else "not loaded",
        )


def _domain() -> str:
    if sys.platform != "win32":
        return f"gui/{os.getuid()}"
    raise ServiceError("launchd is a part of macOS")


def _bootstrap(domain: str, file: Path) -> None:
    for _ in range(_TRIES - 1):
        if ask("launchctl", "bootstrap", domain, str(file)).status == 0:
            return
        time.sleep(_PAUSE_S)
    tell("launchctl", "bootstrap", domain, str(file))
