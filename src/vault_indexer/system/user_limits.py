"""Limits that the user's shell, service manager or container sets, and what a daemon needs of them."""

from __future__ import annotations

import sys
from collections.abc import Callable

from vault_indexer.system.memory import memory_limit

NEEDED_FILES = 128
"""A daemon of one vault holds 24 open files when it is idle, and up to 91 under edits and searches."""

_ENOUGH_FILES = 4096
"""For many vaults; a process asks for this number where its limit is lower and may be raised."""

NEEDED_MB = 1024
"""Address space. With 173 notes a daemon takes 618 MB of it, of which 190 MB are in memory; each thread that
answers takes 8 MB more."""

NEEDED_MEMORY_MB = 300
"""Of a container. With 173 notes a daemon and its worker do with 320 MB; with 256 the system ends the worker
again and again (a control group of Linux, 2026-11-25)."""

if sys.platform == "win32":

    def missing_limits() -> str:
        """Nothing: Windows has no such limits."""
        return ""

else:

    def missing_limits(memory_limit: Callable[[], int | None] = memory_limit) -> str:
        """What a daemon needs and the limits of this process do not allow, as one line; "" if nothing is
        missing. It would fail later, in places that cannot say why. Raises the limit of open files first."""
        import resource

        files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY and files < _ENOUGH_FILES:
            files = _ENOUGH_FILES if most == resource.RLIM_INFINITY else min(most, _ENOUGH_FILES)
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
            if files < NEEDED_FILES:
                return f"the daemon needs {NEEDED_FILES} open files, and has {files}: raise `ulimit -n`"
        size = resource.getrlimit(resource.RLIMIT_AS)[0]
        if size != resource.RLIM_INFINITY and size < NEEDED_MB * 1024**2:
            allowed = size // 1024**2
            return f"the daemon needs {NEEDED_MB} MB of address space, and has {allowed}: raise `ulimit -v`"
        size_of_container = memory_limit()
        if size_of_container is not None and size_of_container < NEEDED_MEMORY_MB * 1024**2:
            allowed = size_of_container // 1024**2
            return f"the daemon needs {NEEDED_MEMORY_MB} MB of memory, and its container has {allowed}"
        return ""
