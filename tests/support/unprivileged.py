"""Tests often run as root, whom no permission stops: here a test acts as a user whom they do."""

import ctypes
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534

_CAPABILITIES_3 = 0x20080522
_PAST_PERMISSIONS = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: capabilities(7)


@contextmanager
def permissions_count() -> Iterator[None]:
    """For the time of the block the permissions of root's own files stop this thread, and those that it
    starts. Linux only."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    effective = data[0]
    data[0] = effective & ~_PAST_PERMISSIONS
    try:
        if libc.capset(header, data) != 0:
            raise OSError(ctypes.get_errno(), "capset")
        yield
    finally:
        data[0] = effective
        libc.capset(header, data)


@contextmanager
def folder_of_a_plain_user() -> Iterator[Path]:
    """A folder in which permissions count; for the time of the block this process is a plain user."""
    place = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(place, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield place
    finally:
        if is_root:
            os.seteuid(0)
        for folder, _, _ in os.walk(place):
            Path(folder).chmod(0o700)
        shutil.rmtree(place)
