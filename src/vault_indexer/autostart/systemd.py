"""Linux: a unit of the user's own systemd."""

from __future__ import annotations

import re
from pathlib import Path

from vault_indexer.autostart.supervisor import (
    CONFIGURATION_IS_WRONG,
    END_S,
    NICE,
    RESTART_S,
    RESTARTS,
    RESTARTS_WITHIN_S,
    Environment,
    ServiceSpec,
    ServiceStatus,
    Supervisor,
    ask,
    refuse_control_characters,
    tell,
    unit_name,
    write_definition,
)
from vault_indexer.errors import ServiceError
from vault_indexer.text.phrases import quantity

_SYSTEMCTL = ("systemctl", "--user")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:=@+,-]+")
_SHOWN = "LoadState,UnitFileState,ActiveState,SubState,MainPID,Result,NRestarts"

# Only what a user's systemd can do, and what costs a daemon that reads notes nothing; decision 38 has the
# reason for each that is left out. The colon keeps `$` in a path from naming a variable.
_UNIT = """\
# Written by `indexer service install`, which overwrites it: change it with `systemctl --user edit`.
[Unit]
Description={description}
StartLimitIntervalSec={within}
StartLimitBurst={restarts}

[Service]
Type=exec
ExecStart=:{command}
WorkingDirectory=/
{environment}\
Restart=on-failure
RestartSec={pause}
RestartPreventExitStatus={wrong}
TimeoutStopSec={end}
Nice={nice}
CPUWeight=20
IOWeight=20
IOSchedulingClass=best-effort
IOSchedulingPriority=7
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


class Systemd(Supervisor):
    """The systemd that runs for a user who is logged in, or always, with lingering."""

    def __init__(self, environment: Environment) -> None:
        self._units = environment.config_home / "systemd" / "user"
        self._user = environment.user

    def name_of(self, vault: Path | None) -> str:
        return f"{unit_name(vault)}.service"

    def place(self, name: str) -> str:
        return str(self._units / name)

    def definition(self, spec: ServiceSpec) -> str:
        variables = sorted(spec.environment.variables.items())
        return _UNIT.format(
            description=_text(spec.description),
            command=" ".join(map(_quoted, spec.command)),
            environment="".join(f"Environment={_quoted(f'{key}={value}')}\n" for key, value in variables),
            within=RESTARTS_WITHIN_S,
            restarts=RESTARTS,
            pause=RESTART_S,
            wrong=CONFIGURATION_IS_WRONG,
            end=END_S,
            nice=NICE,
        )

    def install(self, spec: ServiceSpec) -> bool:
        """See `Supervisor`. A unit that had given up is started again."""
        self._check_reachable()
        name, text = self.name_of(spec.vault), self.definition(spec).encode()
        file = self._units / name
        changed = not file.is_file() or file.read_bytes() != text
        if changed:
            write_definition(file, text)
            tell(*_SYSTEMCTL, "daemon-reload")
        tell(*_SYSTEMCTL, "enable", name)
        ask(*_SYSTEMCTL, "reset-failed", name)  # fails where it never ran
        tell(*_SYSTEMCTL, "restart" if changed else "start", name)
        return changed

    def uninstall(self, name: str) -> bool:
        file = self._units / name
        if not file.exists():
            return False
        self._check_reachable()
        tell(*_SYSTEMCTL, "disable", "--now", name)
        file.unlink(missing_ok=True)
        tell(*_SYSTEMCTL, "daemon-reload")
        # A unit that has failed stays listed otherwise. For any other unit the command fails, which is
        # expected.
        ask(*_SYSTEMCTL, "reset-failed", name)
        return True

    def status(self, name: str) -> ServiceStatus:
        self._check_reachable()
        lines = ask(*_SYSTEMCTL, "show", name, f"--property={_SHOWN}").output.splitlines()
        found = dict(line.partition("=")[::2] for line in lines)
        state = found.get("ActiveState", "")
        result = found.get("Result", "success")
        detail = f"{state} ({found.get('SubState', '')})" + (f", {result}" if result != "success" else "")
        restarts = int(found.get("NRestarts") or 0)
        return ServiceStatus(
            installed=(self._units / name).exists(),
            enabled=found.get("UnitFileState") == "enabled",
            running=state == "active",
            pid=int(found.get("MainPID") or 0),
            detail=detail + (f", {quantity(restarts, 'restart')}" if restarts else ""),
        )

    def log_command(self, name: str, lines: int, *, follow: bool) -> list[str]:
        options = ["--follow"] if follow else ["--no-pager"]
        return ["journalctl", "--user", "--unit", name, "--lines", str(lines), "--output=short-iso", *options]

    def _check_reachable(self) -> None:
        result = ask(*_SYSTEMCTL, "show", "--property=Version")
        if result.status:
            raise ServiceError(
                f"systemd runs no services for {self._user}: {result.reason}\n"
                f"Log in as {self._user} itself, not through su or sudo; or let an administrator run "
                f"`loginctl enable-linger {self._user}` and set XDG_RUNTIME_DIR to /run/user/UID.\n"
                "Without systemd (in a container, for example) let something else run `indexer start`."
            )


def _text(line: str) -> str:
    """A value that is one text: only `%` means something, and a backslash at the end of the line."""
    return refuse_control_characters(line).replace("\\", "\\\\").replace("%", "%%")


def _quoted(word: str) -> str:
    r"""One word of a command line or of `Environment=`, in double quotes unless it is plain. `\` and `"` are
    escaped as in C; `%` begins a specifier, so it is doubled."""
    if _PLAIN_WORD.fullmatch(refuse_control_characters(word)):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
