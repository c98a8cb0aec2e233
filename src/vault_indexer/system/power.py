"""Whether the machine runs on its battery."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_POWER_SUPPLIES = Path("/sys/class/power_supply")
_ASK_S = 2.0


def is_on_battery(supplies: Path = _POWER_SUPPLIES) -> bool:
    """False where there is no battery, or it cannot be told."""
    if sys.platform == "win32":
        import ctypes

        status = (ctypes.c_ubyte * 12)()  # SYSTEM_POWER_STATUS, whose first byte is 0 offline
        return bool(ctypes.windll.kernel32.GetSystemPowerStatus(status)) and status[0] == 0
    if sys.platform == "darwin":
        return "'Battery Power'" in _output_of("pmset", "-g", "batt")
    return any(_read(status) == "Discharging" for status in supplies.glob("*/status"))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _output_of(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_ASK_S, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
