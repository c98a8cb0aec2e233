"""Tests often run as root, whom no permission stops: here a test acts as a user whom they do."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


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
