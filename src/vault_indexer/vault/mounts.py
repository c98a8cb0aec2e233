"""Whether the system can tell of changes made elsewhere: network and shared file systems cannot."""

from __future__ import annotations

import os
from pathlib import Path

# Their content is changed by other machines (or the host of this one), which causes no local event.
_REMOTE = frozenset(
    {"9p", "afs", "ceph", "cifs", "coda", "davfs", "drvfs", "fakeowner", "glusterfs", "lustre", "ncpfs"}
    | {"nfs", "nfs4", "osxfs", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"}
)
_REMOTE_FUSE = frozenset(
    {"ceph", "davfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "google-drive-ocamlfuse", "grpcfuse"}
    | {"osxfs", "rclone", "s3fs", "sshfs", "vmhgfs-fuse"}
)


def remote_file_system(folder: Path, mounts: str) -> str | None:
    """The type of the network file system that holds `folder`, or None if it is a local one.

    `mounts` is text as in /proc/mounts; of several mounts that contain the folder the innermost counts, and
    of those on one point the last.
    """
    place = os.path.realpath(folder)
    best, found = -1, ""
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        point = _unescape(fields[1]).rstrip("/")
        if (place == point or place.startswith(f"{point}/")) and len(point) >= best:
            best, found = len(point), fields[2]
    kind, _, sub_kind = found.partition(".")
    return found if kind in _REMOTE or (kind == "fuse" and sub_kind in _REMOTE_FUSE) else None


def _unescape(field: str) -> str:
    """Spaces and the like stand as three octal digits."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def system_mounts() -> str:
    """The text of /proc/mounts; empty where there is none (then nothing counts as remote)."""
    try:
        return Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def system_watch_limit() -> int | None:
    """How many folders one user may watch on this system; None where there is no such limit."""
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
