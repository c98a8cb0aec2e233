"""Windows: a task that starts when the user logs on.

Generated and read back on Linux only: no Windows machine has run it yet. The elements are those of the Task
Scheduler schema, version 1.2 ([MS-TSCH] 2.5).
"""

from __future__ import annotations

import ntpath
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

from vault_indexer.autostart.supervisor import (
    RESTARTS,
    Environment,
    ServiceSpec,
    ServiceStatus,
    Supervisor,
    ask,
    refuse_control_characters,
    tell,
)

NAMESPACE = "http://schemas.microsoft.com/windows/2004/02/mit/task"
_RESTART = "PT1M"
"""The shortest pause that the schema allows."""

_SETTINGS = {
    "MultipleInstancesPolicy": "IgnoreNew",
    "DisallowStartIfOnBatteries": "false",
    "StopIfGoingOnBatteries": "false",
    "StartWhenAvailable": "true",
    "ExecutionTimeLimit": "PT0S",
    "Priority": "7",  # below normal: 0 is the highest, 10 the lowest; that of disk accesses is also low
}


class TaskScheduler(Supervisor):
    """The tasks of one user. It requires no administrator: the task belongs to this user and starts when this
    user logs on."""

    def __init__(self, environment: Environment) -> None:
        self._user = environment.user

    def place(self, name: str) -> str:
        return f"task {name}"

    def definition(self, spec: ServiceSpec) -> str:
        name = self.name_of(spec.vault)
        program, *arguments = (refuse_control_characters(word) for word in spec.command)
        arguments += ["--log-file", str(spec.log_file(name))]
        task = ET.Element("Task", version="1.2", xmlns=NAMESPACE)
        _add(task, "RegistrationInfo", {"Description": spec.description})
        _add(_add(task, "Triggers"), "LogonTrigger", {"Enabled": "true", "UserId": self._user})
        principal = _add(
            _add(task, "Principals"),
            "Principal",
            {"UserId": self._user, "LogonType": "InteractiveToken", "RunLevel": "LeastPrivilege"},
        )
        principal.set("id", "Author")
        settings = _add(task, "Settings", _SETTINGS)
        _add(settings, "RestartOnFailure", {"Interval": _RESTART, "Count": str(RESTARTS)})
        actions = _add(task, "Actions")
        actions.set("Context", "Author")
        command = {"Command": _without_console(program), "Arguments": subprocess.list2cmdline(arguments)}
        _add(actions, "Exec", command)
        ET.indent(task)
        return f'<?xml version="1.0" encoding="UTF-16"?>\n{ET.tostring(task, encoding="unicode")}\n'

    def install(self, spec: ServiceSpec) -> bool:
        """See `Supervisor`. Windows rewrites the definition, so the task is always created again."""
        name = self.name_of(spec.vault)
        with tempfile.TemporaryDirectory(prefix="vault-indexer-") as folder:
            file = Path(folder) / "task.xml"
            file.write_bytes(self.definition(spec).encode("utf-16"))
            tell("schtasks", "/Create", "/TN", name, "/XML", str(file), "/F")
        tell("schtasks", "/Run", "/TN", name)
        return True

    def uninstall(self, name: str) -> bool:
        if not self.status(name).installed:
            return False
        ask("schtasks", "/End", "/TN", name)  # fails where it does not run
        tell("schtasks", "/Delete", "/TN", name, "/F")
        return True

    def status(self, name: str) -> ServiceStatus:
        """See `Supervisor`. Windows reports the state only in the user's language, and no process. The
        daemon's `daemon.json` shows whether it runs."""
        result = ask("schtasks", "/Query", "/TN", name, "/FO", "CSV", "/NH")
        there = result.status == 0
        return ServiceStatus(
            installed=there,
            enabled=there,
            detail=result.output.strip().rpartition(",")[2].strip('"') if there else "",
        )


def _add(parent: ET.Element, name: str, texts: dict[str, str] | None = None) -> ET.Element:
    added = ET.SubElement(parent, name)
    for key, text in (texts or {}).items():
        ET.SubElement(added, key).text = text
    return added


def _without_console(program: str) -> str:
    """`pythonw.exe` in place of `python.exe`, if it exists: otherwise a window would stay open."""
    folder, name = ntpath.split(program)
    windowless = ntpath.join(folder, "pythonw.exe")
    return windowless if name.lower() == "python.exe" and Path(windowless).is_file() else program
