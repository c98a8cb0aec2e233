"""Limits that the user's shell or service manager sets, and what a daemon needs of them."""

from __future__ import annotations

import sys

NEEDED_FILES = 128
"""A daemon of one vault holds 24 open files when it is idle, and up to 91 under edits and searches."""

_ENOUGH_FILES = 4096
"""For many vaults; a process asks for so many where its limit is lower and may be raised."""

NEEDED_MB = 1024
"""Address space. With 173 notes a daemon takes 618 MB of it, of which 190 MB are in memory; each thread that
answers takes 8 MB more."""


if sys.platform == "win32":

    def missing_limits() -> str:
        """Nothing: Windows has no such limits."""
        return ""

else:

    def missing_limits() -> str:
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
        return ""
