"""The daemon's processes are killed, as the system does when memory runs out: no edit is lost, none waits."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from vault_at_work import NOTES, StartedProcesses, daemon, fresh_export, holding, place, silent, wait_for

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")


def kill_children(started: StartedProcesses, least: int = 1) -> None:
    """All of them, once there are so many."""
    found: list[int] = []

    def are_there() -> bool:
        found[:] = started()
        return len(found) >= least

    wait_for(are_there)
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # ended with its parent
            continue


@pytest.mark.slow
def test_killed_processes_are_replaced_and_the_index_is_that_of_a_fresh_build(tmp_path: Path) -> None:
    started = StartedProcesses()
    where = place(tmp_path, {**NOTES, **{f"Note {n}.md": f"# Note {n}\n\nwren\n" for n in range(120)}})
    with daemon(where, processes=True) as service:
        kill_children(started)  # while the first worker starts
        where.write("Early.md", "# Early\n\nzirconium\n")
        wait_for(lambda: holding(service, "zirconium"))

        kill_children(started)  # idle
        where.write("Idle.md", "# Idle\n\nbasalt\n")
        wait_for(lambda: holding(service, "basalt"))

        for word in ("cobalt", "garnet", "quartz"):  # within a save
            where.write("Bread.md", f"# Bread\n\n{word}\n")
            wait_for(lambda: service.status().pending)
            kill_children(started)
            kill_children(started)
            wait_for(lambda word=word: holding(service, word))  # type: ignore[misc]

        generation = service.status().generation
        rebuilding = threading.Thread(target=service.rebuild, args=(silent,))
        rebuilding.start()
        wait_for(lambda: service.status().state == "rebuilding")
        kill_children(started, 2)
        where.write("Meanwhile.md", "# Meanwhile\n\nobsidian\n")
        rebuilding.join(90)
        wait_for(lambda: holding(service, "obsidian") and service.status().state == "ready")
        wait_for(lambda: not service.status().pending)
        assert service.status().generation > generation
        assert service.status().skipped == ()
        assert service.verify(repair=False) == ()
        assert list(service.export()) == fresh_export(where)
