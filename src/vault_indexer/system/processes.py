"""Other processes: starting one that outlives us, asking one to end."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from vault_indexer.system.memory import c_function

if TYPE_CHECKING:
    import subprocess


def python_command(*arguments: str, program: str = sys.executable) -> list[str]:
    """The command that runs this Python with the arguments. Every command of the package that starts Python
    comes from here: `-P` prevents it from importing modules from its working folder or next to its script,
    which may be files of a stranger's vault."""
    return [program, "-P", *arguments]


def command_words(line: str, *, windows: bool = sys.platform == "win32") -> list[str]:
    """The words of a command line, such as that of the variable EDITOR. A backslash separates folders on
    Windows. Raises ValueError for an unclosed quotation mark."""
    words = shlex.split(line, posix=not windows)
    return [word.replace('"', "") for word in words] if windows else words


def quoted_word(word: str, *, windows: bool = sys.platform == "win32") -> str:
    """The word as it is typed in a shell: sh, or both cmd and PowerShell."""
    if not windows:
        return shlex.quote(word)
    if re.fullmatch(r"[\w:\\./-]+", word):
        return word
    return f'"{word}\\"' if word.endswith("\\") else f'"{word}"'


if sys.platform == "win32":
    ENDING_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGTERM, signal.SIGBREAK)
else:
    ENDING_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGTERM,)
"""What asks this process to end, other than Ctrl-C."""


def ask_to_end(pid: int) -> None:
    """Sends SIGTERM, which on Windows ends the process at once: only a process of the same console could be
    asked (Ctrl-Break), and a daemon has none. Raises OSError."""
    os.kill(pid, signal.SIGTERM)


def start_in_background(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    """Starts a program in a folder. It outlives this one and its terminal; only its standard error is
    connected."""
    import subprocess

    flags = 0
    if sys.platform == "win32":
        # A console without a window, which what it starts shares: with DETACHED_PROCESS each of those would
        # open one.
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        creationflags=flags,
        start_new_session=sys.platform != "win32",
    )


IoPriority = Literal["idle", "low", "normal"]

_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON")
_ONE_THREAD = {
    **{f"{library}_NUM_THREADS": "1" for library in _LIBRARIES},
    "VECLIB_MAXIMUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""What numpy, FAISS, torch and tokenizers read when they are imported."""

# linux/ioprio.h: three bits of class, thirteen of level (0 to 7, the higher the later).
_IOPRIO_VALUES: dict[IoPriority, int] = {"idle": 3 << 13, "low": 2 << 13 | 7}
_WHO_PROCESS = 1
# The number of ioprio_set; libc has no name for the call.
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30, "riscv64": 30, "ppc64le": 273, "s390x": 282}

_GROWN = 1.1
"""A process is renewed only once it takes so many times what it took after its first job: a model that
alone is larger than the share would else be loaded again for every job."""


class Usage(NamedTuple):
    """The resources used by a process: processor time in seconds, and memory in use now in bytes."""

    seconds: float
    resident: int


class ProcessLimits(NamedTuple):
    """The limits of one process. `memory_bytes` is its share of `index.max_memory_mb`; 0 is no limit."""

    nice: int = 0
    io_priority: IoPriority = "normal"
    memory_bytes: int = 0

    def adopt(self) -> None:
        """Applies the limits to this process. Must be called before anything that starts threads is imported:
        the processes provide the parallelism, and each uses one core. Priorities are only ever lowered."""
        os.environ.update(_ONE_THREAD)
        with contextlib.suppress(OSError):  # it is a courtesy, not a condition
            lower_priority(self.nice)
        lower_io_priority(self.io_priority)


if sys.platform == "win32":

    def lower_priority(nice: int) -> None:
        """Lowers the priority of this process. Windows has priority classes: a nice value selects below
        normal (1 to 14) or idle. Raises OSError."""
        if nice <= 0:
            return
        import ctypes

        idle, below_normal = 0x40, 0x4000
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetPriorityClass.argtypes = (ctypes.c_void_p, ctypes.c_uint32)
        if not kernel.SetPriorityClass(kernel.GetCurrentProcess(), idle if nice >= 15 else below_normal):
            raise ctypes.WinError(ctypes.get_last_error())

    def usage_by_windows(pid: int) -> Usage | None:
        """The usage of a process of this user; None if there is no such process."""
        import ctypes

        class Counters(ctypes.Structure):  # PROCESS_MEMORY_COUNTERS; the last field stands for six
            _fields_ = (
                *((name, ctypes.c_uint32) for name in ("size", "faults")),
                *((name, ctypes.c_size_t) for name in ("peak", "resident")),
                ("others", ctypes.c_size_t * 6),
            )

        query_limited_information = 0x1000
        kernel = ctypes.WinDLL("kernel32")
        kernel.OpenProcess.restype = ctypes.c_void_p
        process = ctypes.c_void_p(kernel.OpenProcess(query_limited_information, False, pid))
        if not process:
            return None
        counters = Counters(size=ctypes.sizeof(Counters))
        times = [ctypes.c_uint64() for _ in range(4)]  # created, ended, in the kernel, in the program
        try:
            known = kernel.GetProcessTimes(process, *map(ctypes.byref, times))
            known = known and kernel.K32GetProcessMemoryInfo(process, ctypes.byref(counters), counters.size)
        finally:
            kernel.CloseHandle(process)
        seconds = (times[2].value + times[3].value) / 10**7
        return Usage(seconds, counters.resident) if known else None

    def _resident_now() -> int | None:
        usage = usage_by_windows(os.getpid())
        return None if usage is None else usage.resident

    def _peak_bytes() -> int:
        return 0

else:

    def lower_priority(nice: int) -> None:
        """For this process, unless it is lower already. Raises OSError."""
        os.setpriority(os.PRIO_PROCESS, 0, max(nice, os.getpriority(os.PRIO_PROCESS, 0)))

    def usage_by_windows(pid: int) -> Usage | None:  # noqa: ARG001
        """None: other systems report it in another way."""
        return None

    def _resident_now() -> int | None:
        try:
            pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        except (OSError, ValueError, IndexError):
            return None
        return pages * os.sysconf("SC_PAGE_SIZE")

    def _peak_bytes() -> int:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # macOS reports bytes, Linux kilobytes.
        return peak if sys.platform == "darwin" else peak * 1024


def keep_to_one_thread() -> None:
    """Makes libraries work in the thread that calls them, unless the environment specifies otherwise. For a
    process that answers many clients at once: the libraries' threads would wait for one another by spinning,
    which made a search take twice the processor time."""
    for name, value in _ONE_THREAD.items():
        os.environ.setdefault(name, value)


def lower_io_priority(wanted: IoPriority) -> bool:
    """Returns whether the system accepted it: only Linux supports it, and a sandbox may forbid the call.
    Whether a disk respects it depends on its scheduler (bfq and mq-deadline do, none does not)."""
    import platform

    number = _IOPRIO_SET.get(platform.machine())
    call = c_function("syscall")
    if wanted == "normal" or number is None or call is None:
        return False
    return bool(call(number, _WHO_PROCESS, 0, _IOPRIO_VALUES[wanted]) == 0)


class MemoryWatch:
    """Whether this process has outgrown its share; asked after each job."""

    def __init__(self, share: int, resident: Callable[[], int] | None = None) -> None:
        self._share = share
        self._resident = resident or resident_bytes
        self._first = 0

    def is_too_much(self) -> bool:
        if not self._share:
            return False
        taken = self._resident()
        self._first = self._first or taken
        return taken > self._share and taken > self._first * _GROWN


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def resident_bytes() -> int:
    """The memory in bytes that this process uses now, or its peak if the system does not report that."""
    now = _resident_now()
    return _peak_bytes() if now is None else now


def own_usage() -> Usage:
    """The usage of this process."""
    return Usage(time.process_time(), resident_bytes())


_POWER_SUPPLIES = Path("/sys/class/power_supply")
_ASK_S = 2.0


def is_on_battery(supplies: Path = _POWER_SUPPLIES) -> bool:
    """Whether the computer runs on battery power; False if it has no battery or this cannot be determined."""
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
    import subprocess

    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_ASK_S, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def open_missing_streams() -> None:
    """Opens the null device for missing standard streams. `pythonw.exe`, without a window, has none of the
    three; a parent on POSIX may have closed them. Otherwise the next file would get their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        nothing = os.open(os.devnull, os.O_RDWR)
        if nothing != number:
            os.dup2(nothing, number)
            os.close(nothing)
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def is_read(file: int) -> bool:
    """False for a pipe whose other end is closed: writing to it would be an error."""
    if sys.platform == "win32":  # it tells of such a pipe only when it is written to
        return True
    import select

    poll = select.poll()
    poll.register(file, select.POLLOUT)
    return not any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))
