"""The agent of launchd is ended where it runs, and only there; the program records how it is called."""

import os
from pathlib import Path

import pytest
from fake_programs import fake_programs

from vault_indexer.autostart.launchd import Launchd
from vault_indexer.autostart.supervisor import Environment


def test_an_agent_is_ended_only_where_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = fake_programs(tmp_path / "bin", "launchctl")
    monkeypatch.setenv("PATH", programs.path)
    agent, name = Launchd(Environment(tmp_path, "u")), "vault-indexer-notes"
    service = f"gui/{os.getuid()}/{name}"
    assert agent.uninstall(name)
    assert programs.take_calls() == [["launchctl", "print", service], ["launchctl", "bootout", service]]
    programs.answer(launchctl_print=(113, "", "Could not find service\n"))
    assert not agent.uninstall(name)
    assert programs.take_calls() == [["launchctl", "print", service]]
