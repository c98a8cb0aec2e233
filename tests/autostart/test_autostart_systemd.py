"""The unit under a real systemd of the user, which runs in a mount namespace of its own: needs root."""

import dataclasses
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_sandbox import Sandbox, make
from waiting import wait_until

pytestmark = pytest.mark.slow

SYSTEMD = Path("/lib/systemd/systemd")
# systemd starts for a user only where it also started the machine, or where it seems so.
START = "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec /lib/systemd/systemd --user"


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """A vault with an odd name, and a `systemctl` that enters the namespace."""
    needed = [name for name in ("systemctl", "unshare", "nsenter") if shutil.which(name) is None]
    if needed or not SYSTEMD.exists() or os.geteuid() != 0:
        pytest.skip(f"needs root and systemd{', '.join(['', *needed])}")
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    made = dataclasses.replace(
        make(tmp_path / 'an "odd" 100% $HOME'), variables={"XDG_RUNTIME_DIR": str(runtime)}
    )
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", START],
        env=made.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as systemd:
        try:
            wait_until(lambda: (runtime / "systemd" / "private").exists() or systemd.poll() is not None)
            if systemd.poll() is not None:
                pytest.skip("systemd does not start for a user here")
            (tmp_path / "bin").mkdir()
            entering = tmp_path / "bin" / "systemctl"
            real = shutil.which("systemctl")
            entering.write_text(f'#!/bin/sh\nexec nsenter --mount --target {systemd.pid} {real} "$@"\n')
            entering.chmod(0o755)
            path = f"{entering.parent}{os.pathsep}{os.environ['PATH']}"
            yield dataclasses.replace(made, variables={**made.variables, "PATH": path})
        finally:
            systemd.send_signal(signal.SIGRTMIN + 4)  # end all units, then itself
            try:
                systemd.wait(60)
            except subprocess.TimeoutExpired:
                systemd.kill()


def test_systemd_starts_restarts_and_ends_the_daemon(sandbox: Sandbox) -> None:
    built = sandbox.indexer("rebuild")
    assert built.code == 0, built.err
    printed = sandbox.indexer("service", "install", "--print")
    unit = Path(printed.err.partition(": ")[2].strip())
    drop_in = unit.with_name(f"{unit.name}.d") / "soon.conf"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text("[Service]\nRestartSec=100ms\n")

    def daemon() -> object:
        return sandbox.indexer("service", "status", "--json").data["daemon"]

    def pid() -> int:
        found = sandbox.indexer("service", "status", "--json").data["pid"]
        assert isinstance(found, int)
        return found

    installed = sandbox.indexer("service", "install")
    assert installed.code == 0, installed.err
    wait_until(daemon, "the daemon answers")
    first = pid()
    status = Path(f"/proc/{first}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    assert os.getpriority(os.PRIO_PROCESS, first) >= 10

    again = sandbox.indexer("service", "install")
    assert ("already installed" in again.err, pid()) == (True, first)

    os.kill(first, signal.SIGKILL)
    wait_until(lambda: pid() not in (0, first) and daemon(), "systemd starts it again")
    assert sandbox.indexer("search", "telescope").code == 0

    assert sandbox.indexer("stop").code == 0
    wait_until(lambda: pid() == 0, "a clean end is no failure")
    stopped = sandbox.indexer("service", "status", "--json").data
    assert (stopped["running"], stopped["enabled"]) == (False, True)

    removed = sandbox.indexer("service", "uninstall")
    assert removed.code == 0, removed.err
    assert not unit.exists()
